// Scoring of a candidate, compiled for a number of neighbours k.

#ifdef NEIGHBOURS

struct Nearest {  // the k smallest distances, ascending
    double values[NEIGHBOURS];

    __device__ __forceinline__ Nearest() {
#pragma unroll
        for (int t = 0; t < NEIGHBOURS; ++t) values[t] = INFINITE;
    }

    __device__ __forceinline__ double widest() const { return values[NEIGHBOURS - 1]; }

    __device__ __forceinline__ void remove_first() {
#pragma unroll
        for (int t = 1; t < NEIGHBOURS; ++t) values[t - 1] = values[t];
        values[NEIGHBOURS - 1] = INFINITE;
    }

    __device__ __forceinline__ void insert(double distance) {
        if (distance >= widest()) return;
#pragma unroll
        for (int t = 0; t < NEIGHBOURS; ++t) {
            const double kept = values[t];
            const bool nearer = distance < kept;
            values[t] = nearer ? distance : kept;
            distance = nearer ? kept : distance;
        }
    }
};

// One sample in a group of 32 permutations of x; pointers are at sample 0 of the group.
struct SampleScorer {
    const TargetSpaces &spaces;
    const double *x;
    const INDEX *rank;
    const double *ascending;
    double max_distance;
    const INDEX *sample_by_rank;
    const INDEX *rank_by_given;
    int64 row_stride;
    int i;
    int lane;

    __device__ __forceinline__ double value(int j) const { return x[(int64)j * LANES + lane]; }

    __device__ __forceinline__ uint32 rank_of(int j) const { return rank[(int64)j * LANES + lane]; }

    // The distance of the k-th neighbour in (x, y, S).
    __device__ double radius() const {
        Nearest nearest;
        double frontier;  // lower bound of the distances in (y, S) not yet scanned
        const double here = value(i);
#if GIVEN == 0
        // By ascending distance in y.
        const double *y = spaces.joint.values;
        const int n = (int)spaces.joint.samples;
        const double y_here = y[i];
        int below = i - 1, above = i + 1;
        while (true) {
            const double down = below >= 0 ? y_here - y[below] : INFINITE;
            const double up = above < n ? y[above] - y_here : INFINITE;
            frontier = fmin(down, up);
            const uint32 open = __ballot_sync(ALL_LANES, frontier < nearest.widest());
            if (!open || (above - below > MIN_SCAN && __popc(open) <= FEW)) break;
            const int step = down <= up ? -1 : 1;
            const int start = down <= up ? below : above;
            const int left = down <= up ? below + 1 : n - above;
            const int size = left < STRIDE ? left : STRIDE;
            double x_distance[STRIDE], y_distance[STRIDE];
#pragma unroll
            for (int t = 0; t < STRIDE; ++t) {
                const int j = start + step * (t < size ? t : 0);
                x_distance[t] = column_distance(value(j), here, max_distance);
                y_distance[t] = t < size ? fabs(y[j] - y_here) : INFINITE;
            }
#pragma unroll
            for (int t = 0; t < STRIDE; ++t) nearest.insert(fmax(x_distance[t], y_distance[t]));
            if (step < 0) below -= size;
            else above += size;
        }
#else
        const NeighbourLists &lists = spaces.joint_lists;
        const int *sample = lists.sample + i * lists.stride;
        const double *distance = lists.distance + i * lists.stride;
        const int length = lists.length[i];
        int t = 0;
        for (; t < length; t += STRIDE) {
            const uint32 open = __ballot_sync(ALL_LANES, distance[t] < nearest.widest());
            if (!open || (t > MIN_SCAN && __popc(open) <= FEW)) break;
            double x_distance[STRIDE];
#pragma unroll
            for (int s = 0; s < STRIDE; ++s)
                x_distance[s] = column_distance(value(sample[t + s]), here, max_distance);
#pragma unroll
            for (int s = 0; s < STRIDE; ++s) nearest.insert(fmax(x_distance[s], distance[t + s]));
        }
        frontier = t < length ? distance[t] : lists.radius[i];
#endif
        // Samples not yet scanned may be nearer; the k-th distance so far is an upper bound.
        double bound = nearest.widest();
        const uint32 open = __ballot_sync(ALL_LANES, bound > frontier);
        if (!open) return bound;
        if (__popc(open) <= FEW) {
            const Interval window = interval_in_x(bound);
            for (uint32 left = open; left; left &= left - 1) {
                const int who = __ffs(left) - 1;
                const double found = radius_from_x(who, of(window, who));
                if (lane == who) bound = fmin(bound, found);
            }
            return bound;
        }
        const double widest = nextafter(largest_of_warp(bound), INFINITE);
        Nearest among_all;
        visit_near(spaces.joint, i, widest, [&](int j, double base_distance) {
            among_all.insert(fmax(column_distance(value(j), here, max_distance), base_distance));
        });
        return among_all.widest();
    }

    // The same for one lane, by all threads of the warp, among the ranks of x in a window;
    // infinity if these are fewer than k.
    __device__ double radius_from_x(int who, Interval window) const {
        const INDEX *sample_at = sample_by_rank + who * row_stride;
        const double here = __shfl_sync(ALL_LANES, value(i), who);
        Nearest nearest;
        for (int rank = window.first + lane; rank < window.last; rank += LANES) {
            const int j = (int)sample_at[rank];
            if (j == i) continue;
            const double base_distance = distance_between(spaces.joint, i, j, nearest.widest());
            nearest.insert(fmax(column_distance(ascending[rank], here, max_distance), base_distance));
        }
        double smallest = 0.0;
        for (int t = 0; t < NEIGHBOURS; ++t) {
            smallest = -largest_of_warp(-nearest.values[0]);
            const uint32 same = __ballot_sync(ALL_LANES, nearest.values[0] == smallest);
            if (lane == __ffs(same) - 1) nearest.remove_first();
        }
        return smallest;
    }

    __device__ __forceinline__ Interval of(Interval range, int who) const {
        Interval other = {
            __shfl_sync(ALL_LANES, range.first, who), __shfl_sync(ALL_LANES, range.last, who)
        };
        return other;
    }

    // The interval of ranks in x nearer than the limit.
    __device__ __forceinline__ Interval interval_in_x(double limit) const {
        const int n = (int)spaces.joint.samples;
        Interval all = {0, n};
        return limit > max_distance ? all : interval_within(ascending, n, (int)rank_of(i), limit);
    }

    // Count the listed samples nearer than the limit, and those of them in an interval of x.
    __device__ __forceinline__ void count_listed(
        const Space &space, const NeighbourLists &lists, double limit, Interval x_interval, bool in_x, int &count,
        int &count_with_x
    ) const {
        const uint32 beyond = __ballot_sync(ALL_LANES, limit > lists.radius[i]);
        count_with_x = 0;
        if (__popc(beyond) > FEW) {
            count = 0;
            visit_near(space, i, largest_of_warp(limit), [&](int j, double distance) {
                if (distance < limit) {
                    ++count;
                    count_with_x += in_x && holds(x_interval, rank_of(j));
                }
            });
            return;
        }
        const int length = beyond >> lane & 1 ? 0 : lists.length[i];
        count = count_less(limit, lists.distance + i * lists.stride, length);
        if (in_x) {
            const int *sample = lists.sample + i * lists.stride;
            const int most = largest_of_warp(count);
            for (int t = 0; t < most; t += STRIDE) {
                uint32 there[STRIDE];
#pragma unroll
                for (int s = 0; s < STRIDE; ++s) there[s] = rank_of(sample[t + s]);
#pragma unroll
                for (int s = 0; s < STRIDE; ++s)
                    count_with_x += t + s < count && holds(x_interval, there[s]);
            }
        }
        for (uint32 left = beyond; left; left &= left - 1) {
            const int who = __ffs(left) - 1;
            const double limit_there = __shfl_sync(ALL_LANES, limit, who);
            const int alone = count_near(space, i, limit_there);
            const int with_x = in_x ? count_from_x(space, who, limit_there, of(x_interval, who)) : 0;
            if (lane == who) {
                count = alone;
                count_with_x = with_x;
            }
        }
    }

    // Count for one lane, by all threads of the warp, the near samples in a window of x.
    __device__ int count_from_x(const Space &space, int who, double limit, Interval window) const {
        const INDEX *sample_at = sample_by_rank + who * row_stride;
        int count = 0;
        for (int rank = window.first + lane; rank < window.last; rank += LANES) {
            const int j = (int)sample_at[rank];
            count += j != i && distance_between(space, i, j, limit) < limit;
        }
        return sum_of_warp(count);
    }

    // Count the samples of an interval of S or y, sample i included, in an interval of x: lane
    // by lane, with all threads of the warp.
    __device__ __forceinline__ int count_in_interval(Interval nearby, Interval x_interval) const {
        int mine = 0;
        for (int who = 0; who < LANES; ++who) {
            const Interval along = of(nearby, who), there = of(x_interval, who);
            const INDEX *row = rank_by_given + who * row_stride;
            int count = 0;
            for (int j = along.first / PACKED * PACKED + lane * PACKED; j < along.last;
                 j += LANES * PACKED) {
                const Pack pack = *(const Pack *)(row + j);
#pragma unroll
                for (int s = 0; s < PACKED; ++s)
                    count += holds(along, (uint32)(j + s)) && holds(there, pack.ranks[s]);
            }
            count = sum_of_warp(count);
            if (lane == who) mine = count;
        }
        return mine;
    }

    // The weights of the sample's counts: in S, less those in (y, S) and in (x, S).
    __device__ int64 weight_sum() const {
        const int n = (int)spaces.joint.samples;
        const int64 *weight = spaces.weight;
        const double k_th = radius();
        const double limit = STRICT ? k_th : nextafter(k_th, INFINITE);
        const Interval x_interval = interval_in_x(limit);
        int with_y = 0, with_xy = 0, in_s = n - 1, with_x = 0;
#if GIVEN == 0
        const Interval in_y = interval_within(spaces.joint.values, n, i, limit);
        with_y = others(in_y);
        with_x = others(x_interval);
        if (!STRICT) with_xy = count_in_interval(in_y, x_interval) - 1;
#else
        count_listed(spaces.joint, spaces.joint_lists, limit, x_interval, !STRICT, with_y, with_xy);
#if GIVEN == 1
        const Interval nearby = interval_within(spaces.given.values, n, i, limit);
        in_s = others(nearby);
        with_x = count_in_interval(nearby, x_interval) - 1;
        with_x = with_x > 0 ? with_x : 0;
#else
        if (spaces.given.columns == 0)
            with_x = others(x_interval);
        else
            count_listed(spaces.given, spaces.given_lists, limit, x_interval, true, in_s, with_x);
#endif
#endif
        const int64 both = STRICT ? 0 : weight[with_xy];
        return both + weight[in_s] - weight[with_y] - weight[with_x];
    }
};

// Add the weights of all samples to the sum of each permutation.
extern "C" __global__ void score_columns(
    const TargetSpaces *spaces_there, const Candidate *candidate_there, int per_warp, uint64 *sums
) {
    const TargetSpaces spaces = *spaces_there;
    const Candidate candidate = *candidate_there;
    const int n = (int)spaces.joint.samples;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int64 base = (int64)blockIdx.y * n * LANES;
    const int64 first_row = (int64)blockIdx.y * LANES * candidate.row_stride;
    int64 sum = 0;
    for (int turn = 0; turn < per_warp; ++turn) {
        const int i = (blockIdx.x * per_warp + turn) * warps + warp;
        if (i >= n) break;
        const SampleScorer scorer = {
            spaces, candidate.x + base, candidate.rank + base, candidate.ascending, candidate.max_distance,
            candidate.sample_by_rank + first_row, candidate.rank_by_given + first_row,
            candidate.row_stride, i, lane
        };
        sum += scorer.weight_sum();
    }
    __shared__ uint64 total[LANES];
    if (warp == 0) total[lane] = 0;
    __syncthreads();
    atomicAdd(total + lane, (uint64)sum);
    __syncthreads();
    if (warp == 0) atomicAdd(sums + blockIdx.y * LANES + lane, total[lane]);
}

#endif
