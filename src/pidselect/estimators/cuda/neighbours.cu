// Nearest neighbours on a GPU: the algorithm of knn/general.py, a warp for each sample.
//
// The 32 threads of a warp process one sample in 32 permutations of a candidate x: they scan the
// same neighbours, whose values of x are adjacent in memory. Samples are sorted so that those near
// in (y, S) have near indices; sums are integers and do not depend on that order. Distances are
// 64-bit numbers, which are only subtracted and compared: they equal those of the CPU to the bit.
//
// Definitions at compile time:
//   NEIGHBOURS  k
//   STRICT      1: samples nearer than the k-th neighbour are counted; 0: those as far, too
//   GIVEN       0: S is empty and y one numeric column; 1: S is one numeric column; 2: any other.
//               Samples are sorted by y for 0 and by S for 1.
//   INDEX       an unsigned type that holds the index of any sample

#define STRIDE 8      // neighbours scanned between two checks whether a scan may stop
#define FEW 4         // lanes not yet done that are finished by all threads of the warp
#ifndef MIN_SCAN
#define MIN_SCAN 256  // neighbours scanned before that
#endif
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)

// ------------------------------------------------------------------ arguments of kernels

// Fields are 64 bits wide: arguments are arrays of 64-bit integers.

struct Space {  // points in the maximum norm
    const double *values;  // [column][sample]
    const double *max_distance;  // [column]: largest distance
    const double *low;     // [column][tile]: bounding box of 32 consecutive samples
    const double *high;
    int64 columns;
    int64 samples;
};

struct NeighbourLists {  // the samples nearer than `radius` to each sample, nearest first
    int *sample;       // [sample][stride]
    double *distance;  // [sample][stride]
    int *length;       // [sample]
    double *radius;    // [sample]
    int64 stride;      // a multiple of STRIDE
};

struct TargetSpaces {
    Space joint;  // (y, S)
    Space given;  // S
    NeighbourLists joint_lists;
    NeighbourLists given_lists;
    const int64 *weight;  // [count]
};

struct Candidate {
    const double *x;          // [group][sample][lane]
    const INDEX *rank;        // [group][sample][lane]: in x
    const double *ascending;  // [rank]
    double max_distance;
    const INDEX *sample_by_rank;  // [row][rank]
    const INDEX *rank_by_given;   // [row][sample]: ranks in x, if S or y is sorted
    int64 row_stride;         // of the last two, a multiple of PACKED
};

#define PACKED (16 / (int)sizeof(INDEX))

struct __align__(16) Pack {  // indices read at a time
    INDEX ranks[PACKED];
};

struct Interval {
    int first, last;
};

// ------------------------------------------------------------------ distances

__device__ __forceinline__ double column_distance(double a, double b, double max_distance) {
    return fmin(fabs(a - b), max_distance);
}

// Return the distance of two samples, or any number not below `enough` if it is not.
__device__ __forceinline__ double distance_between(const Space &space, int i, int j, double enough) {
    double distance = 0.0;
    for (int64 column = 0; column < space.columns && distance < enough; ++column) {
        const double *values = space.values + column * space.samples;
        distance = fmax(distance, column_distance(values[j], values[i], space.max_distance[column]));
    }
    return distance;
}

// Return a lower bound of the distances to the samples of a tile.
__device__ __forceinline__ double tile_distance(const Space &space, int i, int tile) {
    const int64 tiles = (space.samples + LANES - 1) / LANES;
    double distance = 0.0;
    for (int64 column = 0; column < space.columns; ++column) {
        const double here = space.values[column * space.samples + i];
        const double below = space.low[column * tiles + tile] - here;
        const double above = here - space.high[column * tiles + tile];
        distance = fmax(distance, fmin(fmax(below, above), space.max_distance[column]));
    }
    return distance;
}

// Return how many sorted distances are below a limit.
__device__ __forceinline__ int count_less(double limit, const double *ascending, int size) {
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

// Return the interval of ranks nearer than a limit to the value at a rank.
__device__ __forceinline__ Interval interval_within(const double *ascending, int n, int at, double limit) {
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
    Interval range = {first < last ? first : last, last};
    return range;
}

__device__ __forceinline__ int others(Interval range) {  // without the sample itself
    const int count = range.last - range.first - 1;
    return count > 0 ? count : 0;
}

__device__ __forceinline__ bool holds(Interval range, uint32 rank) {
    return rank - (uint32)range.first < (uint32)(range.last - range.first);
}

__device__ __forceinline__ double largest_of_warp(double value) {
    for (int offset = LANES / 2; offset > 0; offset >>= 1)
        value = fmax(value, __shfl_xor_sync(ALL_LANES, value, offset));
    return value;
}

__device__ __forceinline__ int largest_of_warp(int value) {
    for (int offset = LANES / 2; offset > 0; offset >>= 1) {
        const int other = __shfl_xor_sync(ALL_LANES, value, offset);
        value = value > other ? value : other;
    }
    return value;
}

__device__ __forceinline__ int sum_of_warp(int value) {
    for (int offset = LANES / 2; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(ALL_LANES, value, offset);
    return value;
}

// Return an upper bound of the distances to the samples of a tile.
__device__ __forceinline__ double farthest_in_tile(const Space &space, int i, int tile) {
    const int64 tiles = (space.samples + LANES - 1) / LANES;
    double distance = 0.0;
    for (int64 column = 0; column < space.columns; ++column) {
        const double here = space.values[column * space.samples + i];
        const double below = here - space.low[column * tiles + tile];
        const double above = space.high[column * tiles + tile] - here;
        distance = fmax(distance, fmin(fmax(below, above), space.max_distance[column]));
    }
    return distance;
}

// Count the samples nearer than a limit, which is the same for the whole warp and above zero.
__device__ int count_near(const Space &space, int i, double limit) {
    const int lane = threadIdx.x % LANES, n = (int)space.samples;
    const int tiles = (n + LANES - 1) / LANES;
    int count = -1;  // without the sample itself
    for (int start = 0; start < tiles; start += LANES) {
        const int mine = start + lane;
        const bool open = mine < tiles && tile_distance(space, i, mine) < limit;
        const bool whole = open && mine < n / LANES && farthest_in_tile(space, i, mine) < limit;
        count += LANES * __popc(__ballot_sync(ALL_LANES, whole));
        for (uint32 some = __ballot_sync(ALL_LANES, open && !whole); some; some &= some - 1) {
            const int j = (start + __ffs(some) - 1) * LANES + lane;
            const bool near = j < n && distance_between(space, i, j, limit) < limit;
            count += __popc(__ballot_sync(ALL_LANES, near));
        }
    }
    return count;
}

// Call visit(j, distance) for every other sample nearer than `widest`, tile by tile.
template <typename Visit>
__device__ void visit_near(const Space &space, int i, double widest, Visit visit) {
    const int lane = threadIdx.x % LANES, n = (int)space.samples;
    const int tiles = (n + LANES - 1) / LANES;
    for (int start = 0; start < tiles; start += LANES) {
        const int mine = start + lane;
        const bool open = mine < tiles && tile_distance(space, i, mine) < widest;
        for (uint32 some = __ballot_sync(ALL_LANES, open); some; some &= some - 1) {
            const int first = (start + __ffs(some) - 1) * LANES, j = first + lane;
            const double distance = j < n && j != i ? distance_between(space, i, j, widest) : INFINITE;
            for (uint32 near = __ballot_sync(ALL_LANES, distance < widest); near; near &= near - 1) {
                const int source = __ffs(near) - 1;
                visit(first + source, __shfl_sync(ALL_LANES, distance, source));
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

// List the nearest neighbours of every sample, a block for each. The radius of about `wanted` of
// them is estimated from `tried` samples; while it holds more than the capacity, it is reduced to
// that of half as many.
extern "C" __global__ void list_neighbours(
    const Space *space_there, const NeighbourLists *lists_there, int wanted, int tried
) {
    const Space space = *space_there;
    const NeighbourLists lists = *lists_there;
    const int n = (int)space.samples, capacity = (int)lists.stride, i = blockIdx.x;
    extern __shared__ double memory[];  // max(capacity, tried) distances and samples
    double *distance = memory;
    int *sample = (int *)(memory + (capacity > tried ? capacity : tried));
    __shared__ int count;
    __shared__ double radii[16];

    if (n - 1 <= capacity) {
        if (threadIdx.x == 0) radii[0] = INFINITE;
    } else {
        for (int t = threadIdx.x; t < tried; t += blockDim.x) {
            const int j = (int)((int64)t * n / tried);
            distance[t] = j == i ? INFINITE : distance_between(space, i, j, INFINITE);
        }
        __syncthreads();
        sort_block(distance, 0, tried);
        if (threadIdx.x < 16) {
            const int64 rank = ((int64)wanted * tried / n) >> threadIdx.x;
            radii[threadIdx.x] = threadIdx.x < 15 ? distance[rank] : 0.0;
        }
    }
    __syncthreads();
    double radius = 0.0;
    int found = 0;
    for (int attempt = 0; attempt < 16; ++attempt) {
        radius = radii[attempt];
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            const double here = distance_between(space, i, j, radius);
            if (here < radius && j != i) {
                const int rank = atomicAdd(&count, 1);
                if (rank < capacity) {
                    distance[rank] = here;
                    sample[rank] = j;
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
        // Entries after the end are the sample itself.
        lists.sample[(int64)i * capacity + t] = t < found ? sample[t] : i;
        lists.distance[(int64)i * capacity + t] = t < found ? distance[t] : INFINITE;
    }
    if (threadIdx.x == 0) {
        lists.length[i] = found;
        lists.radius[i] = radius;
    }
}
