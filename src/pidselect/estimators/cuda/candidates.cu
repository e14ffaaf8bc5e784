// The layout of permuted candidates.

// Lay out a candidate for scoring in groups of 32 permutations; an incomplete last group repeats
// its last one. `order` are the original indices of the sorted samples.
extern "C" __global__ void arrange(
    const INDEX *rows, int n_rows, int n, const int *order, const double *values,
    const int *rank, const Candidate *candidate
) {
    const int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    const int i = blockIdx.x * warps + threadIdx.x / LANES;
    if (i >= n) return;
    int m = blockIdx.y * LANES + lane;
    m = m < n_rows ? m : n_rows - 1;
    const int source = (int)rows[(int64)m * n + order[i]];
    const int64 target = ((int64)blockIdx.y * n + i) * LANES + lane;
    const int64 row = ((int64)blockIdx.y * LANES + lane) * candidate->row_stride;
    const INDEX here = (INDEX)rank[source];
    ((double *)candidate->x)[target] = values[source];
    ((INDEX *)candidate->rank)[target] = here;
    ((INDEX *)candidate->sample_by_rank)[row + here] = (INDEX)i;
    if (candidate->rank_by_given) ((INDEX *)candidate->rank_by_given)[row + i] = here;
}
