// Just enough of CUDA for its kernels to run on a CPU: the threads of a block take turns, and each
// runs until it has to wait for others. One block runs after the other.

#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__ alignas

struct Index {
    int x, y;
};

static Index threadIdx, blockIdx, blockDim, gridDim;
static double *dynamic_shared;

struct Barrier {
    int waiting = 0, passed = 0;
};

struct Thread {
    ucontext_t context;  // to begin with; from then on jumps do, which ask nothing of the system
    jmp_buf place;
    bool begun;
    std::vector<char> stack;
    bool done;
};

static ucontext_t scheduler;
static jmp_buf back;
static std::vector<Thread> threads;
static std::vector<Barrier> of_warps;
static Barrier of_block;
static std::vector<unsigned long long> posted;  // what each thread holds out to its warp
static std::function<void()> *body;

static void wait(Barrier &barrier, int members) {
    const int before = barrier.passed;
    if (++barrier.waiting == members) {
        barrier.waiting = 0;
        ++barrier.passed;
        return;
    }
    const int me = threadIdx.x;
    while (barrier.passed == before)
        if (!_setjmp(threads[me].place)) _longjmp(back, 1);
}

static void __syncthreads() { wait(of_block, blockDim.x); }

static void __syncwarp() { wait(of_warps[threadIdx.x / 32], 32); }

template <typename T, typename Read>
static auto together(T value, Read read) {
    unsigned long long bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    posted[threadIdx.x] = bits;
    __syncwarp();
    auto result = read([](int lane) {
        T other;
        std::memcpy(&other, &posted[threadIdx.x / 32 * 32 + lane], sizeof(T));
        return other;
    });
    __syncwarp();
    return result;
}

template <typename T>
static T __shfl_sync(unsigned, T value, int source) {
    return together(value, [&](auto of) { return of(source); });
}

template <typename T>
static T __shfl_xor_sync(unsigned, T value, int mask) {
    return together(value, [&](auto of) { return of(threadIdx.x % 32 ^ mask); });
}

static unsigned __match_any_sync(unsigned, int value) {
    return together(value, [&](auto of) {
        unsigned same = 0;
        for (int lane = 0; lane < 32; ++lane) same |= (unsigned)(of(lane) == value) << lane;
        return same;
    });
}

static unsigned __ballot_sync(unsigned, int value) {
    return together(value, [&](auto of) {
        unsigned set = 0;
        for (int lane = 0; lane < 32; ++lane) set |= (unsigned)(of(lane) != 0) << lane;
        return set;
    });
}

static bool __any_sync(unsigned, int value) { return __ballot_sync(0, value) != 0; }

static bool __all_sync(unsigned, int value) { return __ballot_sync(0, value) == 0xffffffffu; }

static int __popc(unsigned value) { return __builtin_popcount(value); }

static int __ffs(unsigned value) { return __builtin_ffs((int)value); }

static double __longlong_as_double(long long bits) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

template <typename T>
static T atomicAdd(T *where, T value) {
    const T before = *where;
    *where += value;
    return before;
}

template <typename T>
static T atomicMax(T *where, T value) {
    const T before = *where;
    if (value > before) *where = value;
    return before;
}

static void run_thread() {
    const int me = threadIdx.x;
    (*body)();
    threads[me].done = true;
    _longjmp(back, 1);
}

static void run_block() {
    of_block = Barrier();
    of_warps.assign((blockDim.x + 31) / 32, Barrier());
    for (auto &thread : threads) {
        thread.done = thread.begun = false;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        makecontext(&thread.context, run_thread, 0);
    }
    for (volatile bool open = true; open;) {
        open = false;
        for (volatile int t = 0; t < blockDim.x; ++t) {
            if (threads[t].done) continue;
            open = true;
            threadIdx.x = t;
            if (_setjmp(back)) continue;
            if (threads[t].begun) _longjmp(threads[t].place, 1);
            threads[t].begun = true;
            swapcontext(&scheduler, &threads[t].context);
        }
    }
}

// Run a kernel with all of its arguments bound.
static void run_grid(const int *sizes, std::function<void()> kernel) {
    gridDim = {sizes[0], sizes[1]};
    blockDim = {sizes[2], 1};
    threads.resize(blockDim.x);
    posted.resize(blockDim.x);
    for (auto &thread : threads) thread.stack.resize(1 << 16);
    std::vector<double> shared(sizes[3] / sizeof(double) + 1);
    dynamic_shared = shared.data();
    body = &kernel;
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block();
}
