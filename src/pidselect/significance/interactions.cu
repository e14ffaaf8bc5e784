// The interaction scan: tables of pairs and triples of columns, in permutations of the target.

// Compiled for FIRST and SECOND planes of the columns, CLASSES of the target, the number of
// PERMUTATIONS that a thread counts at a time, and whether n ln n is read from shared memory.

#define COUNTED (CLASSES - 1)  // the first class is what the others leave
#define STEP 3                 // words at a time; their number is a multiple of it
#define LOWEST (-(1LL << 62))  // no interaction is below this

struct Columns {         // columns of as many planes
    const uint32 *bits;  // (n_planes, n_words, n)
    const int *size;     // (n_planes, n): samples
    const int *place;    // (n,): among all columns, ascending
    const int *owner;    // (n,): the feature
    int *common;         // (n_permutations, COUNTED, n_planes, n): samples of each class
    int64 *information;  // (n_permutations, n): n ln n over (x, y) less n ln n over x
    int64 n;
};

struct Target {
    const uint32 *bits;    // (n_words, COUNTED, n_permutations)
    const int64 *weight;   // (n_samples + 1,): n ln n
    int64 n_words;
    int64 n_permutations;  // a multiple of PERMUTATIONS
    int64 n_samples;
    int64 constant;        // the sum of n ln n over the classes less N ln N
    int64 size[CLASSES];
};

// The words of some permutations, read at once.
struct __align__(PERMUTATIONS < 4 ? 4 * PERMUTATIONS : 16) Words {
    uint32 of[PERMUTATIONS];
};

// Return n ln n, copied to shared memory if that is where it is read.
__device__ __forceinline__ const int64 *read_weight(const Target *target) {
#if IN_SHARED
    extern __shared__ double memory[];
    int64 *copy = (int64 *)memory;
    for (int n = threadIdx.x; n <= target->n_samples; n += blockDim.x) copy[n] = target->weight[n];
    __syncthreads();
    return copy;
#else
    return target->weight;
#endif
}

// Turn counts in planes, beside their sums in the last row and column, into those of all cells.
template <int A, int B>
__device__ __forceinline__ void complete(int (&cells)[A + 1][B + 1]) {
#pragma unroll
    for (int b = 0; b < B; ++b) cells[A][B] -= cells[A][b];
#pragma unroll
    for (int a = 0; a < A; ++a) {
#pragma unroll
        for (int b = 0; b < B; ++b) {
            cells[a][B] -= cells[a][b];
            cells[A][b] -= cells[a][b];
        }
        cells[A][B] -= cells[a][B];
    }
}

template <int A, int B>
__device__ __forceinline__ int64 sum_weight(const int (&cells)[A][B], const int64 *weight) {
    int64 total = 0;
#pragma unroll
    for (int a = 0; a < A; ++a)
#pragma unroll
        for (int b = 0; b < B; ++b) total += weight[cells[a][b]];
    return total;
}

// Count the samples in planes of two columns, by class, in some permutations. Three words make two
// counts of bits: of the sums of bits, and of their carries.
template <int A, int B, typename First, typename Second>
__device__ __forceinline__ void count_cells(
    First first, Second second, const Target *target, int start, int (&count)[PERMUTATIONS][COUNTED][A][B]
) {
#pragma unroll
    for (int m = 0; m < PERMUTATIONS; ++m)
#pragma unroll
        for (int k = 0; k < COUNTED; ++k)
#pragma unroll
            for (int a = 0; a < A; ++a)
#pragma unroll
                for (int b = 0; b < B; ++b) count[m][k][a][b] = 0;
    const int n_words = (int)target->n_words, stride = (int)target->n_permutations;
    const uint32 *bits = target->bits + start;
    for (int word = 0; word < n_words; word += STEP) {
        uint32 x[STEP][A], y[STEP][B];
#pragma unroll
        for (int s = 0; s < STEP; ++s) {
#pragma unroll
            for (int a = 0; a < A; ++a) x[s][a] = first(a, word + s);
#pragma unroll
            for (int b = 0; b < B; ++b) y[s][b] = second(b, word + s);
        }
#pragma unroll
        for (int k = 0; k < COUNTED; ++k) {
            Words classes[STEP];
#pragma unroll
            for (int s = 0; s < STEP; ++s)
                classes[s] = *(const Words *)(bits + ((int64)(word + s) * COUNTED + k) * stride);
#pragma unroll
            for (int m = 0; m < PERMUTATIONS; ++m)
#pragma unroll
                for (int a = 0; a < A; ++a)
#pragma unroll
                    for (int b = 0; b < B; ++b) {
                        const uint32 p = x[0][a] & y[0][b] & classes[0].of[m];
                        const uint32 q = x[1][a] & y[1][b] & classes[1].of[m];
                        const uint32 r = x[2][a] & y[2][b] & classes[2].of[m];
                        count[m][k][a][b] += __popc(p ^ q ^ r) + 2 * __popc((p & q) | (r & (p ^ q)));
                    }
        }
    }
}

// Keep the largest value of a warp; few are larger than those before.
__device__ __forceinline__ void keep_largest(int64 value, int64 *best) {
    if (!__any_sync(ALL_LANES, value > *(volatile int64 *)best)) return;
#pragma unroll
    for (int mask = LANES / 2; mask; mask /= 2) {
        const int64 other = __shfl_xor_sync(ALL_LANES, value, mask);
        value = other > value ? other : value;
    }
    if (threadIdx.x % LANES == 0) atomicMax(best, value);
}

// Fill `common` and `information` of columns with FIRST planes: a thread for each column, a row of
// blocks for each permutation.
extern "C" __global__ void count_classes(const Columns *columns, const Target *target) {
    const int64 n = columns->n, i = (int64)blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
    if (i >= n) return;
    const int64 *weight = target->weight;
    int64 n_rest = target->n_samples, rest[CLASSES], total = 0;
    for (int k = 0; k < CLASSES; ++k) rest[k] = target->size[k];
    for (int a = 0; a < FIRST; ++a) {
        const uint32 *bits = columns->bits + a * target->n_words * n + i;
        int left = columns->size[a * n + i];
        n_rest -= left;
        total -= weight[left];
        for (int k = 1; k < CLASSES; ++k) {
            const uint32 *classes = target->bits + (k - 1) * target->n_permutations + m;
            int count = 0;
            for (int64 word = 0; word < target->n_words; ++word)
                count += __popc(bits[word * n] & classes[word * COUNTED * target->n_permutations]);
            columns->common[((m * COUNTED + k - 1) * FIRST + a) * n + i] = count;
            rest[k] -= count;
            left -= count;
            total += weight[count];
        }
        rest[0] -= left;
        total += weight[left];
    }
    total -= weight[n_rest];
    for (int k = 0; k < CLASSES; ++k) total += weight[rest[k]];
    columns->information[m * n + i] = total;
}

// Compute the interaction of columns i and j in every permutation: `visit` has its number, the
// interaction, and the counts in the planes of both columns.
template <typename Visit>
__device__ __forceinline__ void visit_pair(
    const Columns *columns, int64 i, const Columns *others, int64 j, const Target *target,
    const int64 *weight, Visit visit
) {
    const int64 n = columns->n, n_others = others->n, n_words = target->n_words;
    const uint32 *bits = columns->bits + i, *other_bits = others->bits + j;
    const auto first = [=](int a, int word) { return bits[(a * n_words + word) * n]; };
    const auto second = [=](int b, int word) { return other_bits[(b * n_words + word) * n_others]; };

    int sizes[FIRST + 1][SECOND + 1];
#pragma unroll
    for (int a = 0; a < FIRST; ++a) {
        sizes[a][SECOND] = columns->size[a * n + i];
#pragma unroll
        for (int b = 0; b < SECOND; ++b) sizes[a][b] = 0;
    }
#pragma unroll
    for (int b = 0; b < SECOND; ++b) sizes[FIRST][b] = others->size[b * n_others + j];
    sizes[FIRST][SECOND] = (int)target->n_samples;
    for (int word = 0; word < n_words; ++word)
#pragma unroll
        for (int a = 0; a < FIRST; ++a)
#pragma unroll
            for (int b = 0; b < SECOND; ++b) sizes[a][b] += __popc(first(a, word) & second(b, word));
    complete<FIRST, SECOND>(sizes);
    const int64 constant = target->constant - sum_weight(sizes, weight);

    for (int64 start = 0; start < target->n_permutations; start += PERMUTATIONS) {
        int count[PERMUTATIONS][COUNTED][FIRST][SECOND];
        count_cells<FIRST, SECOND>(first, second, target, (int)start, count);
#pragma unroll
        for (int t = 0; t < PERMUTATIONS; ++t) {
            const int64 m = start + t;
            int64 total = constant - columns->information[m * n + i] - others->information[m * n_others + j];
            int rest[FIRST + 1][SECOND + 1];
#pragma unroll
            for (int a = 0; a <= FIRST; ++a)
#pragma unroll
                for (int b = 0; b <= SECOND; ++b) rest[a][b] = sizes[a][b];
#pragma unroll
            for (int k = 0; k < COUNTED; ++k) {
                const int *common = columns->common + (m * COUNTED + k) * FIRST * n + i;
                const int *other = others->common + (m * COUNTED + k) * SECOND * n_others + j;
                int cells[FIRST + 1][SECOND + 1];
#pragma unroll
                for (int a = 0; a < FIRST; ++a) {
                    cells[a][SECOND] = common[a * n];
#pragma unroll
                    for (int b = 0; b < SECOND; ++b) cells[a][b] = count[t][k][a][b];
                }
#pragma unroll
                for (int b = 0; b < SECOND; ++b) cells[FIRST][b] = other[b * n_others];
                cells[FIRST][SECOND] = (int)target->size[k + 1];
                complete<FIRST, SECOND>(cells);
                total += sum_weight(cells, weight);
#pragma unroll
                for (int a = 0; a <= FIRST; ++a)
#pragma unroll
                    for (int b = 0; b <= SECOND; ++b) rest[a][b] -= cells[a][b];
            }
            visit(m, total + sum_weight(rest, weight), count[t]);
        }
    }
}

// The largest interaction of columns with FIRST planes, `which`, and all columns with SECOND planes
// before them: a thread for each of these, a column of blocks for each of those. That of column
// `which[t]` is kept in row `row[t]` of `best`, of shape (n_rows, n_permutations).
extern "C" __global__ void scan_pairs(
    const Columns *columns, const Columns *others, const Target *target, const int *which, const int *row,
    int64 *best
) {
    const int64 i = which[blockIdx.x], begin = (int64)blockIdx.y * blockDim.x, wanted = begin + threadIdx.x;
    if (others->place[begin] >= columns->place[i]) return;
    const int64 *weight = read_weight(target);
    const int64 j = wanted < others->n ? wanted : others->n - 1;
    const bool is_pair = wanted < others->n && others->place[j] < columns->place[i] &&
                         others->owner[j] != columns->owner[i];
    if (!__any_sync(ALL_LANES, is_pair)) return;
    int64 *mine = best + row[blockIdx.x] * target->n_permutations;
    visit_pair(columns, i, others, j, target, weight, [=](int64 m, int64 total, const auto &count) {
        keep_largest(is_pair ? total : LOWEST, mine + m);
    });
}

#if FIRST == 1 && SECOND == 1

struct Pairs {           // all pairs of binary columns: those of column i begin at i (i - 1) / 2
    int *size;           // (n,): samples in the planes of both columns
    int *common;         // (n_permutations, COUNTED, n): of each class
    int64 *information;  // (n_permutations, n): n ln n over (pair, y) less n ln n over the pair
    int64 n;
};

// Fill the counts of pairs, with a block for some of those of a column.
extern "C" __global__ void count_pairs(const Columns *columns, const Target *target, const Pairs *pairs) {
    const int64 i = blockIdx.x, j = (int64)blockIdx.y * blockDim.x + threadIdx.x, n = columns->n;
    if (j >= i) return;
    const int64 pair = i * (i - 1) / 2 + j;
    int size = 0;
    for (int64 word = 0; word < target->n_words; ++word)
        size += __popc(columns->bits[word * n + i] & columns->bits[word * n + j]);
    pairs->size[pair] = size;
    const auto keep = [=](int64 m, int64 total, const auto &count) {
        const int64 *information = columns->information + m * n;
        pairs->information[m * pairs->n + pair] = total - target->constant + information[i] + information[j];
#pragma unroll
        for (int k = 0; k < COUNTED; ++k) pairs->common[(m * COUNTED + k) * pairs->n + pair] = count[k][0][0];
    };
    visit_pair(columns, i, columns, j, target, target->weight, keep);
}

// The cells of three binary columns, from the counts in the planes of all, of two, and of one.
struct Cells {
    int inside[2][2], outside[2][2];  // of the plane of column i

    __device__ __forceinline__ Cells(int all, int ij, int ih, int jh, int i, int j, int h, int n)
        : inside{{all, ij}, {ih, i}}, outside{{jh - all, j - ij}, {h - ih, n - i}} {
        complete<1, 1>(inside);
        complete<1, 1>(outside);
    }

    __device__ __forceinline__ void subtract(const Cells &other) {
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            inside[t / 2][t % 2] -= other.inside[t / 2][t % 2];
            outside[t / 2][t % 2] -= other.outside[t / 2][t % 2];
        }
    }

    __device__ __forceinline__ int64 weigh(const int64 *weight) const {
        return sum_weight(inside, weight) + sum_weight(outside, weight);
    }
};

// The largest interaction of triples: a column of blocks for two columns, `last[t]` and `middle[t]`,
// and a thread for each column before them, of the first `n_third`. It is kept in row `row[t]` of `best`.
extern "C" __global__ void scan_triples(
    const Columns *columns, const Pairs *pairs, const Target *target, const int *last, const int *middle,
    const int *row, int n_third, int64 *best
) {
    const int64 i = last[blockIdx.x], j = middle[blockIdx.x], n = columns->n, n_pairs = pairs->n;
    const int64 begin = (int64)blockIdx.y * blockDim.x, wanted = begin + threadIdx.x;
    const int64 stop = j < n_third ? j : n_third;
    if (begin >= stop) return;
    const int64 h = wanted < stop ? wanted : 0, *weight = read_weight(target);
    const int *owner = columns->owner, *size = columns->size;
    // Two of the columns are not given, the last ones: given columns have negative owners.
    const bool is_triple = wanted < stop && owner[j] >= 0 && owner[i] != owner[j] && owner[h] != owner[i]
        && owner[h] != owner[j];
    if (!__any_sync(ALL_LANES, is_triple)) return;
    const int64 ij = i * (i - 1) / 2 + j, ih = i * (i - 1) / 2 + h, jh = j * (j - 1) / 2 + h;
    const uint32 *bits = columns->bits;
    const auto both = [=](int, int word) { return bits[word * n + i] & bits[word * n + j]; };
    const auto third = [=](int, int word) { return bits[word * n + h]; };
    int all = 0;
    for (int word = 0; word < target->n_words; ++word) all += __popc(both(0, word) & third(0, word));
    const Cells sizes(
        all, pairs->size[ij], pairs->size[ih], pairs->size[jh], size[i], size[j], size[h],
        (int)target->n_samples
    );
    const int64 constant = -target->constant - sizes.weigh(weight);
    int64 *mine = best + row[blockIdx.x] * target->n_permutations;
    for (int64 start = 0; start < target->n_permutations; start += PERMUTATIONS) {
        int count[PERMUTATIONS][COUNTED][1][1];
        count_cells<1, 1>(both, third, target, (int)start, count);
#pragma unroll
        for (int t = 0; t < PERMUTATIONS; ++t) {
            const int64 m = start + t;
            const int64 *of_pair = pairs->information + m * n_pairs, *of_one = columns->information + m * n;
            int64 total = constant - of_pair[ij] - of_pair[ih] - of_pair[jh] + of_one[i] + of_one[j] + of_one[h];
            Cells rest = sizes;
#pragma unroll
            for (int k = 0; k < COUNTED; ++k) {
                const int *common = columns->common + (m * COUNTED + k) * n;
                const int *in_pair = pairs->common + (m * COUNTED + k) * n_pairs;
                const Cells cells(
                    count[t][k][0][0], in_pair[ij], in_pair[ih], in_pair[jh], common[i], common[j], common[h],
                    (int)target->size[k + 1]
                );
                total += cells.weigh(weight);
                rest.subtract(cells);
            }
            keep_largest(is_triple ? total + rest.weigh(weight) : LOWEST, mine + m);
        }
    }
}

#endif
