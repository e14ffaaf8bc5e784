// Random permutations of samples.

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

// Write the permutations with the numbers `first`, `first` + 1, ..., a warp for each; number 0 is
// the identity. Fisher-Yates shuffle; 32 swaps without a common position are made at a time.
extern "C" __global__ void fill_permutations(
    const uint64 *stream_key, int key_length, uint64 first, int n, int in_shared, INDEX *rows
) {
    extern __shared__ double memory[];
    const int lane = threadIdx.x;
    INDEX *out = rows + (int64)blockIdx.x * n;
    INDEX *row = in_shared ? (INDEX *)memory : out;
    const uint64 number = first + blockIdx.x;
    for (int i = lane; i < n; i += LANES) row[i] = (INDEX)i;
    __syncwarp();
    if (number > 0) {
        uint64 key = 0;
        for (int entry = 0; entry < key_length; ++entry) key = mix((key ^ stream_key[entry]) + GAMMA);
        key = mix((key ^ number) + GAMMA);
        for (int top = n - 1; top > 0; top -= LANES) {
            const int i = top - lane;
            const int j = i > 0 ? below((uint64)i + 1, mix(key + GAMMA * (uint64)(n - i))) : -1 - lane;
            const bool alone = __match_any_sync(ALL_LANES, j) == 1u << lane;
            if (__all_sync(ALL_LANES, alone && j <= top - LANES)) {
                const INDEX mine = row[i], theirs = row[j];
                row[i] = theirs;
                row[j] = mine;
            } else {
                for (int turn = 0; turn < LANES; ++turn) {
                    if (turn == lane && i > 0) {
                        const INDEX mine = row[i], theirs = row[j];
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
