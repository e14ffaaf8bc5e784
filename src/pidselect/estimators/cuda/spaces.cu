// Nearest neighbours on a GPU: the walks of the module _neighbours, a warp for each sample.
//
// The 32 threads of a warp serve one sample in 32 rearrangements of a candidate x: they go the same
// way through the same neighbours, whose values of x lie side by side in memory. Samples are
// numbered so that those near in (y, S) have near numbers; sums are whole numbers, so that no
// numbering and no order of visits leaves a trace. Distances are 64-bit numbers throughout and are
// only subtracted and compared: they equal those of the CPU to the last bit.
//
// What is set when this is compiled:
//   NEIGHBOURS  k
//   STRICT      1: samples count if nearer than the k-th neighbour; 0: if at most as far
//   GIVEN       0: S is empty and y one column of numbers, 1: S is one column of numbers,
//               2: anything else. With 0 and 1 samples are numbered along y and along S.
//   PLACE       an unsigned type that holds the number of any sample

typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef long long int64;

#define EVERYONE 0xffffffffu
#define LANES 32
#define STRIDE 8      // neighbours looked at between two checks whether a walk may stop
#define FEW 4         // lanes that still walk when all others are done get help
#ifndef PATIENCE
#define PATIENCE 256  // but not before so many neighbours
#endif
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)

// ------------------------------------------------------------------ what kernels are given

// Fields are 64 bits wide, so that a table of whole numbers can be taken for any of these.

struct Space {  // points between which distances are taken
    const double *values;  // [column][sample]
    const double *cap;     // [column]: the most that it can add to a distance
    const double *low;     // [column][tile]: where 32 samples in a row begin
    const double *high;    //                 and end
    int64 columns;
    int64 samples;
};

struct Lists {  // the samples nearer than `reach` to each sample, nearest first
    int *sample;       // [sample][stride]
    double *distance;  // [sample][stride]
    int *length;       // [sample]
    double *reach;     // [sample]
    int64 stride;      // a multiple of STRIDE
};

struct Surroundings {
    Space joint;  // (y, S)
    Space given;  // S
    Lists joint_lists;
    Lists given_lists;
    const int64 *weight;  // [count]
};

struct Candidate {
    const double *x;          // [group][sample][lane]
    const PLACE *place;       // [group][sample][lane]: how many samples come before along x
    const double *ascending;  // [place]
    double cap;
    const PLACE *at_places;   // [row][place]: the sample there
    const PLACE *along_line;  // [row][sample]: the place again, if S is a line
    int64 row_stride;         // of the last two, a multiple of PACKED
};

#define PACKED (16 / (int)sizeof(PLACE))

struct __align__(16) Pack {  // as many places as can be read at once
    PLACE places[PACKED];
};

struct Range {
    int first, last;
};

// ------------------------------------------------------------------ distances

__device__ __forceinline__ double step_apart(double a, double b, double cap) {
    return fmin(fabs(a - b), cap);
}

// Return the distance of two samples, or something not below `enough` as soon as that is clear.
__device__ __forceinline__ double apart(const Space &space, int i, int j, double enough) {
    double distance = 0.0;
    for (int64 column = 0; column < space.columns && distance < enough; ++column) {
        const double *values = space.values + column * space.samples;
        distance = fmax(distance, step_apart(values[j], values[i], space.cap[column]));
    }
    return distance;
}

// Return a distance that no sample of a tile is below.
__device__ __forceinline__ double apart_from_tile(const Space &space, int i, int tile) {
    const int64 tiles = (space.samples + LANES - 1) / LANES;
    double distance = 0.0;
    for (int64 column = 0; column < space.columns; ++column) {
        const double here = space.values[column * space.samples + i];
        const double below = space.low[column * tiles + tile] - here;
        const double above = here - space.high[column * tiles + tile];
        distance = fmax(distance, fmin(fmax(below, above), space.cap[column]));
    }
    return distance;
}

// Return how many of sorted distances are below a limit.
__device__ __forceinline__ int nearer_than(double limit, const double *ascending, int size) {
    int first = 0;
    while (size > 0) {
        const int half = size >> 1;
        if (ascending[first + half] < limit) {
            first += half + 1;
            size -= half + 1;
        } else {
            size = half;
        }
    }
    return first;
}

// Return the range of sorted values nearer than a limit to the one at a place.
__device__ __forceinline__ Range within(const double *ascending, int n, int at, double limit) {
    const double here = ascending[at];
    int step = 1, low = at, first = at + 1;
    while (low >= 0 && here - ascending[low] < limit) {
        first = low;
        low -= step;
        step *= 2;
    }
    low = low < 0 ? 0 : low + 1;
    while (low < first) {
        const int middle = (low + first) >> 1;
        if (here - ascending[middle] < limit) first = middle;
        else low = middle + 1;
    }
    int high = at, last = at;
    step = 1;
    while (high < n && ascending[high] - here < limit) {
        last = high + 1;
        high += step;
        step *= 2;
    }
    high = high < n ? high : n;
    while (last < high) {
        const int middle = (last + high) >> 1;
        if (ascending[middle] - here < limit) last = middle + 1;
        else high = middle;
    }
    Range range = {first < last ? first : last, last};
    return range;
}

__device__ __forceinline__ int others(Range range) {  // the sample itself is no neighbour
    const int count = range.last - range.first - 1;
    return count > 0 ? count : 0;
}

__device__ __forceinline__ bool holds(Range range, uint32 place) {
    return place - (uint32)range.first < (uint32)(range.last - range.first);
}

__device__ __forceinline__ double largest_of_warp(double value) {
    for (int offset = LANES / 2; offset > 0; offset >>= 1)
        value = fmax(value, __shfl_xor_sync(EVERYONE, value, offset));
    return value;
}

__device__ __forceinline__ int largest_of_warp(int value) {
    for (int offset = LANES / 2; offset > 0; offset >>= 1) {
        const int other = __shfl_xor_sync(EVERYONE, value, offset);
        value = value > other ? value : other;
    }
    return value;
}

__device__ __forceinline__ int sum_of_warp(int value) {
    for (int offset = LANES / 2; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(EVERYONE, value, offset);
    return value;
}

// Return a distance that no sample of a tile is above.
__device__ __forceinline__ double farthest_in_tile(const Space &space, int i, int tile) {
    const int64 tiles = (space.samples + LANES - 1) / LANES;
    double distance = 0.0;
    for (int64 column = 0; column < space.columns; ++column) {
        const double here = space.values[column * space.samples + i];
        const double below = here - space.low[column * tiles + tile];
        const double above = space.high[column * tiles + tile] - here;
        distance = fmax(distance, fmin(fmax(below, above), space.cap[column]));
    }
    return distance;
}

// Count the samples nearer than a limit, which is the same for the whole warp and above zero.
__device__ int count_near(const Space &space, int i, double limit) {
    const int lane = threadIdx.x % LANES, n = (int)space.samples;
    const int tiles = (n + LANES - 1) / LANES;
    int count = -1;  // the sample itself is no neighbour
    for (int start = 0; start < tiles; start += LANES) {
        const int mine = start + lane;
        const bool open = mine < tiles && apart_from_tile(space, i, mine) < limit;
        const bool whole = open && mine < n / LANES && farthest_in_tile(space, i, mine) < limit;
        count += LANES * __popc(__ballot_sync(EVERYONE, whole));
        for (uint32 some = __ballot_sync(EVERYONE, open && !whole); some; some &= some - 1) {
            const int j = (start + __ffs(some) - 1) * LANES + lane;
            const bool near = j < n && apart(space, i, j, limit) < limit;
            count += __popc(__ballot_sync(EVERYONE, near));
        }
    }
    return count;
}

// Call visit(j, distance) for every sample nearer than `widest` but i itself, tile by tile: slower
// than a list, but it knows no end.
template <typename Visit>
__device__ void visit_near(const Space &space, int i, double widest, Visit visit) {
    const int lane = threadIdx.x % LANES, n = (int)space.samples;
    const int tiles = (n + LANES - 1) / LANES;
    for (int start = 0; start < tiles; start += LANES) {
        const int mine = start + lane;
        const bool open = mine < tiles && apart_from_tile(space, i, mine) < widest;
        for (uint32 some = __ballot_sync(EVERYONE, open); some; some &= some - 1) {
            const int first = (start + __ffs(some) - 1) * LANES, j = first + lane;
            const double distance = j < n && j != i ? apart(space, i, j, widest) : INFINITE;
            for (uint32 near = __ballot_sync(EVERYONE, distance < widest); near; near &= near - 1) {
                const int source = __ffs(near) - 1;
                visit(first + source, __shfl_sync(EVERYONE, distance, source));
            }
        }
    }
}

// ------------------------------------------------------------------ once for y and S


// Sort in shared memory; the size is a power of two.
__device__ void sort_block(double *distance, int *sample, int size) {
    for (int width = 2; width <= size; width *= 2) {
        for (int gap = width / 2; gap > 0; gap /= 2) {
            for (int pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
                const int low = 2 * pair - (pair & (gap - 1)), high = low + gap;
                const bool up = (low & width) == 0;
                if ((distance[low] > distance[high]) == up) {
                    const double other = distance[low];
                    distance[low] = distance[high];
                    distance[high] = other;
                    if (sample) {
                        const int index = sample[low];
                        sample[low] = sample[high];
                        sample[high] = index;
                    }
                }
            }
            __syncthreads();
        }
    }
}

// List the nearest of every sample, a block for each. A share of all samples says how far about
// `wanted` of them reach; if more turn up than a list can hold, half as many are tried for.
extern "C" __global__ void list_neighbours(
    const Space *space_given, const Lists *lists_given, int wanted, int tried
) {
    const Space space = *space_given;
    const Lists lists = *lists_given;
    const int n = (int)space.samples, capacity = (int)lists.stride, i = blockIdx.x;
    extern __shared__ double memory[];  // room for max(capacity, tried) distances and samples
    double *distance = memory;
    int *sample = (int *)(memory + (capacity > tried ? capacity : tried));
    __shared__ int count;
    __shared__ double radius[16];

    if (n - 1 <= capacity) {
        if (threadIdx.x == 0) radius[0] = INFINITE;
    } else {
        // `tried` samples spread over all of them, and so over the space.
        for (int t = threadIdx.x; t < tried; t += blockDim.x) {
            const int j = (int)((int64)t * n / tried);
            distance[t] = j == i ? INFINITE : apart(space, i, j, INFINITE);
        }
        __syncthreads();
        sort_block(distance, 0, tried);
        if (threadIdx.x < 16) {
            const int64 rank = ((int64)wanted * tried / n) >> threadIdx.x;
            radius[threadIdx.x] = threadIdx.x < 15 ? distance[rank] : 0.0;
        }
    }
    __syncthreads();
    double reach = 0.0;
    int found = 0;
    for (int attempt = 0; attempt < 16; ++attempt) {
        reach = radius[attempt];
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            const double here = apart(space, i, j, reach);
            if (here < reach && j != i) {
                const int place = atomicAdd(&count, 1);
                if (place < capacity) {
                    distance[place] = here;
                    sample[place] = j;
                }
            }
        }
        __syncthreads();
        found = count;
        __syncthreads();
        if (found <= capacity) break;
    }
    int size = 1;
    while (size < found) size *= 2;
    for (int t = found + threadIdx.x; t < size; t += blockDim.x) distance[t] = INFINITE;
    __syncthreads();
    sort_block(distance, sample, size);
    for (int t = threadIdx.x; t < capacity; t += blockDim.x) {
        // Behind the end comes the sample itself, which is harmless wherever it is read.
        lists.sample[(int64)i * capacity + t] = t < found ? sample[t] : i;
        lists.distance[(int64)i * capacity + t] = t < found ? distance[t] : INFINITE;
    }
    if (threadIdx.x == 0) {
        lists.length[i] = found;
        lists.reach[i] = reach;
    }
}
