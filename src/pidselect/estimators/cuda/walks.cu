// The walks of every column, compiled once the number of neighbours is known.

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

// One sample in 32 rearrangements of x: those of a group, whose sample 0 the pointers are at.
struct Walker {
    const Surroundings &around;
    const double *x;
    const PLACE *place;
    const double *ascending;
    double cap;
    const PLACE *at_places;
    const PLACE *along_line;
    int64 row_stride;
    int i;
    int lane;

    __device__ __forceinline__ double value(int j) const { return x[(int64)j * LANES + lane]; }

    __device__ __forceinline__ uint32 at(int j) const { return place[(int64)j * LANES + lane]; }

    // The distance of the k-th neighbour in (x, y, S).
    __device__ double radius() const {
        Nearest nearest;
        double frontier;  // all that was not visited is at least so far away in (y, S)
        const double here = value(i);
#if GIVEN == 0
        // Along y, the nearer side first.
        const double *y = around.joint.values;
        const int n = (int)around.joint.samples;
        const double y_here = y[i];
        int below = i - 1, above = i + 1;
        while (true) {
            const double down = below >= 0 ? y_here - y[below] : INFINITE;
            const double up = above < n ? y[above] - y_here : INFINITE;
            frontier = fmin(down, up);
            const uint32 open = __ballot_sync(EVERYONE, frontier < nearest.widest());
            if (!open || (above - below > PATIENCE && __popc(open) <= FEW)) break;
            const int step = down <= up ? -1 : 1;
            const int start = down <= up ? below : above;
            const int room = down <= up ? below + 1 : n - above;
            const int size = room < STRIDE ? room : STRIDE;
            double apart_in_x[STRIDE], apart_in_y[STRIDE];
#pragma unroll
            for (int t = 0; t < STRIDE; ++t) {
                const int j = start + step * (t < size ? t : 0);
                apart_in_x[t] = step_apart(value(j), here, cap);
                apart_in_y[t] = t < size ? fabs(y[j] - y_here) : INFINITE;
            }
#pragma unroll
            for (int t = 0; t < STRIDE; ++t) nearest.insert(fmax(apart_in_x[t], apart_in_y[t]));
            if (step < 0) below -= size;
            else above += size;
        }
#else
        const Lists &lists = around.joint_lists;
        const int *sample = lists.sample + i * lists.stride;
        const double *distance = lists.distance + i * lists.stride;
        const int length = lists.length[i];
        int t = 0;
        for (; t < length; t += STRIDE) {
            const uint32 open = __ballot_sync(EVERYONE, distance[t] < nearest.widest());
            if (!open || (t > PATIENCE && __popc(open) <= FEW)) break;
            double apart_in_x[STRIDE];
#pragma unroll
            for (int s = 0; s < STRIDE; ++s)
                apart_in_x[s] = step_apart(value(sample[t + s]), here, cap);
#pragma unroll
            for (int s = 0; s < STRIDE; ++s) nearest.insert(fmax(apart_in_x[s], distance[t + s]));
        }
        frontier = t < length ? distance[t] : lists.reach[i];
#endif
        // Someone who was not visited may be nearer, but nobody farther than the k-th one so far.
        double bound = nearest.widest();
        const uint32 open = __ballot_sync(EVERYONE, bound > frontier);
        if (!open) return bound;
        if (__popc(open) <= FEW) {
            const Range window = reach_in_x(bound);
            for (uint32 left = open; left; left &= left - 1) {
                const int who = __ffs(left) - 1;
                const double found = radius_along_x(who, of(window, who));
                if (lane == who) bound = fmin(bound, found);
            }
            return bound;
        }
        const double widest = nextafter(largest_of_warp(bound), INFINITE);
        Nearest among_all;
        visit_near(around.joint, i, widest, [&](int j, double beyond_x) {
            among_all.insert(fmax(step_apart(value(j), here, cap), beyond_x));
        });
        return among_all.widest();
    }

    // The same for one lane alone, all others helping it, among the places of x in a window; if
    // there are less than k, infinity.
    __device__ double radius_along_x(int who, Range window) const {
        const PLACE *at_place = at_places + who * row_stride;
        const double here = __shfl_sync(EVERYONE, value(i), who);
        Nearest nearest;
        for (int place = window.first + lane; place < window.last; place += LANES) {
            const int j = (int)at_place[place];
            if (j == i) continue;
            const double beyond_x = apart(around.joint, i, j, nearest.widest());
            nearest.insert(fmax(step_apart(ascending[place], here, cap), beyond_x));
        }
        double smallest = 0.0;
        for (int t = 0; t < NEIGHBOURS; ++t) {
            smallest = -largest_of_warp(-nearest.values[0]);
            const uint32 same = __ballot_sync(EVERYONE, nearest.values[0] == smallest);
            if (lane == __ffs(same) - 1) nearest.remove_first();
        }
        return smallest;
    }

    __device__ __forceinline__ Range of(Range range, int who) const {
        Range other = {
            __shfl_sync(EVERYONE, range.first, who), __shfl_sync(EVERYONE, range.last, who)
        };
        return other;
    }

    // The places along x that are nearer than the limit.
    __device__ __forceinline__ Range reach_in_x(double limit) const {
        const int n = (int)around.joint.samples;
        Range all = {0, n};
        return limit > cap ? all : within(ascending, n, (int)at(i), limit);
    }

    // Count the samples of a list nearer than the limit, and those of them within reach in x.
    __device__ __forceinline__ void count_listed(
        const Space &space, const Lists &lists, double limit, Range reach, bool in_x, int &count,
        int &count_with_x
    ) const {
        const uint32 beyond = __ballot_sync(EVERYONE, limit > lists.reach[i]);
        count_with_x = 0;
        if (__popc(beyond) > FEW) {
            count = 0;
            visit_near(space, i, largest_of_warp(limit), [&](int j, double distance) {
                if (distance < limit) {
                    ++count;
                    count_with_x += in_x && holds(reach, at(j));
                }
            });
            return;
        }
        const int length = beyond >> lane & 1 ? 0 : lists.length[i];
        count = nearer_than(limit, lists.distance + i * lists.stride, length);
        if (in_x) {
            const int *sample = lists.sample + i * lists.stride;
            const int most = largest_of_warp(count);
            for (int t = 0; t < most; t += STRIDE) {
                uint32 there[STRIDE];
#pragma unroll
                for (int s = 0; s < STRIDE; ++s) there[s] = at(sample[t + s]);
#pragma unroll
                for (int s = 0; s < STRIDE; ++s)
                    count_with_x += t + s < count && holds(reach, there[s]);
            }
        }
        for (uint32 left = beyond; left; left &= left - 1) {
            const int who = __ffs(left) - 1;
            const double limit_there = __shfl_sync(EVERYONE, limit, who);
            const int alone = count_near(space, i, limit_there);
            const int with_x = in_x ? count_along_x(space, who, limit_there, of(reach, who)) : 0;
            if (lane == who) {
                count = alone;
                count_with_x = with_x;
            }
        }
    }

    // Count for one lane, all others helping it, the places of x in a window that are near.
    __device__ int count_along_x(const Space &space, int who, double limit, Range window) const {
        const PLACE *at_place = at_places + who * row_stride;
        int count = 0;
        for (int place = window.first + lane; place < window.last; place += LANES) {
            const int j = (int)at_place[place];
            count += j != i && apart(space, i, j, limit) < limit;
        }
        return sum_of_warp(count);
    }

    // Count the samples of a stretch of the line, the one itself included, within reach in x: for
    // one lane after the other, all of them along its stretch.
    __device__ __forceinline__ int count_stretch(Range stretch, Range reach) const {
        int mine = 0;
        for (int who = 0; who < LANES; ++who) {
            const Range along = of(stretch, who), there = of(reach, who);
            const PLACE *row = along_line + who * row_stride;
            int count = 0;
            for (int j = along.first / PACKED * PACKED + lane * PACKED; j < along.last;
                 j += LANES * PACKED) {
                const Pack pack = *(const Pack *)(row + j);
#pragma unroll
                for (int s = 0; s < PACKED; ++s)
                    count += holds(along, (uint32)(j + s)) && holds(there, pack.places[s]);
            }
            count = sum_of_warp(count);
            if (lane == who) mine = count;
        }
        return mine;
    }

    // The weights of the sample's counts: in S less those in (y, S) and in (x, S).
    __device__ int64 share() const {
        const int n = (int)around.joint.samples;
        const int64 *weight = around.weight;
        const double k_th = radius();
        const double limit = STRICT ? k_th : nextafter(k_th, INFINITE);
        const Range reach = reach_in_x(limit);
        int with_y = 0, with_xy = 0, in_s = n - 1, with_x = 0;
#if GIVEN == 0
        const Range in_y = within(around.joint.values, n, i, limit);
        with_y = others(in_y);
        with_x = others(reach);
        if (!STRICT) with_xy = count_stretch(in_y, reach) - 1;
#else
        count_listed(around.joint, around.joint_lists, limit, reach, !STRICT, with_y, with_xy);
#if GIVEN == 1
        const Range stretch = within(around.given.values, n, i, limit);
        in_s = others(stretch);
        with_x = count_stretch(stretch, reach) - 1;
        with_x = with_x > 0 ? with_x : 0;
#else
        if (around.given.columns == 0)
            with_x = others(reach);
        else
            count_listed(around.given, around.given_lists, limit, reach, true, in_s, with_x);
#endif
#endif
        const int64 both = STRICT ? 0 : weight[with_xy];
        return both + weight[in_s] - weight[with_y] - weight[with_x];
    }
};

// Add the shares of all samples to the sum of each rearrangement.
extern "C" __global__ void score_columns(
    const Surroundings *around_given, const Candidate *candidate_given, int per_warp, uint64 *sums
) {
    const Surroundings around = *around_given;
    const Candidate candidate = *candidate_given;
    const int n = (int)around.joint.samples;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    const int64 base = (int64)blockIdx.y * n * LANES;
    const int64 first_row = (int64)blockIdx.y * LANES * candidate.row_stride;
    int64 sum = 0;
    for (int turn = 0; turn < per_warp; ++turn) {
        const int i = (blockIdx.x * per_warp + turn) * warps + warp;
        if (i >= n) break;
        const Walker walker = {
            around, candidate.x + base, candidate.place + base, candidate.ascending, candidate.cap,
            candidate.at_places + first_row, candidate.along_line + first_row,
            candidate.row_stride, i, lane
        };
        sum += walker.share();
    }
    __shared__ uint64 total[LANES];
    if (warp == 0) total[lane] = 0;
    __syncthreads();
    atomicAdd(total + lane, (uint64)sum);
    __syncthreads();
    if (warp == 0) atomicAdd(sums + blockIdx.y * LANES + lane, total[lane]);
}

#endif
