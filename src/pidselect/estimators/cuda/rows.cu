// Rearrangements of samples: drawn, and laid out for the walks.

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), as in the kernels of surrogates.
#define GAMMA 0x9E3779B97F4A7C15ULL

__device__ __forceinline__ uint64 mix(uint64 z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

__device__ __forceinline__ int below(uint64 bound, uint64 random) {
    const uint64 low = (random & 0xffffffffULL) * bound;
    return (int)(((random >> 32) * bound + (low >> 32)) >> 32);
}

// Write the permutations with the numbers `first`, `first` + 1, ..., a warp for each; number 0
// leaves all samples where they are. Fisher and Yates, from the top: 32 swaps are made at once
// where no two of them have a place in common.
extern "C" __global__ void draw_permutations(
    const uint64 *words, int n_words, uint64 first, int n, int in_shared, PLACE *rows
) {
    extern __shared__ double memory[];
    const int lane = threadIdx.x;
    PLACE *out = rows + (int64)blockIdx.x * n;
    PLACE *row = in_shared ? (PLACE *)memory : out;
    const uint64 draw = first + blockIdx.x;
    for (int i = lane; i < n; i += LANES) row[i] = (PLACE)i;
    __syncwarp();
    if (draw > 0) {
        uint64 key = 0;
        for (int word = 0; word < n_words; ++word) key = mix((key ^ words[word]) + GAMMA);
        key = mix((key ^ draw) + GAMMA);
        for (int top = n - 1; top > 0; top -= LANES) {
            const int i = top - lane;
            const int j = i > 0 ? below((uint64)i + 1, mix(key + GAMMA * (uint64)(n - i))) : -1 - lane;
            const bool alone = __match_any_sync(EVERYONE, j) == 1u << lane;
            if (__all_sync(EVERYONE, alone && j <= top - LANES)) {
                const PLACE mine = row[i], theirs = row[j];
                row[i] = theirs;
                row[j] = mine;
            } else {
                for (int turn = 0; turn < LANES; ++turn) {
                    if (turn == lane && i > 0) {
                        const PLACE mine = row[i], theirs = row[j];
                        row[i] = theirs;
                        row[j] = mine;
                    }
                    __syncwarp();
                }
            }
            __syncwarp();
        }
    }
    if (in_shared)
        for (int i = lane; i < n; i += LANES) out[i] = row[i];
}

// Lay a candidate out for scoring, 32 rearrangements side by side; a last group that is not full
// repeats its last one. `order` is what the samples were called before they were numbered anew.
extern "C" __global__ void arrange(
    const PLACE *rows, int n_rows, int n, const int *order, const double *values,
    const int *place, const Candidate *candidate
) {
    const int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    const int i = blockIdx.x * warps + threadIdx.x / LANES;
    if (i >= n) return;
    int m = blockIdx.y * LANES + lane;
    m = m < n_rows ? m : n_rows - 1;
    const int source = (int)rows[(int64)m * n + order[i]];
    const int64 target = ((int64)blockIdx.y * n + i) * LANES + lane;
    const int64 row = ((int64)blockIdx.y * LANES + lane) * candidate->row_stride;
    const PLACE here = (PLACE)place[source];
    ((double *)candidate->x)[target] = values[source];
    ((PLACE *)candidate->place)[target] = here;
    ((PLACE *)candidate->at_places)[row + here] = (PLACE)i;
    if (candidate->along_line) ((PLACE *)candidate->along_line)[row + i] = here;
}
