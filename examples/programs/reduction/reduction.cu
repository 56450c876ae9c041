// nvcc -std=c++17 reduction.cu
// Cooperative groups: warps by tiles, blocks, and the whole grid in one cooperative launch.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// Every block sums its part; after all blocks have met, the first one sums the parts.
__global__ void sum(const int *values, int n, long long *parts, long long *result) {
    __shared__ long long warps[32];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);

    long long own = 0;
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) own += values[i];
    own = cg::reduce(warp, own, cg::plus<long long>());
    if (warp.thread_rank() == 0) warps[warp.meta_group_rank()] = own;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        own = warp.thread_rank() < warp.meta_group_size() ? warps[warp.thread_rank()] : 0;
        own = cg::reduce(warp, own, cg::plus<long long>());
        if (warp.thread_rank() == 0) parts[blockIdx.x] = own;
    }
    grid.sync();
    if (grid.thread_rank() == 0) {
        long long all = 0;
        for (unsigned i = 0; i < gridDim.x; i++) all += parts[i];
        *result = all;
    }
}

// Groups of those threads that took a branch, and of half a warp.
__global__ void groups(int *found) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> half = cg::tiled_partition<16>(block);
    int highest = cg::reduce(half, int(threadIdx.x * 37 % 64), cg::greater<int>());
    if (half.thread_rank() == 0) found[half.meta_group_rank()] = highest;
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) found[4 + threadIdx.x / 32] = active.size();
    }
}

int main() {
    const int n = 20000, blocks = 8;
    std::vector<int> values(n);
    long long expected = 0;
    for (int i = 0; i < n; i++) {
        values[i] = i * 7919 % 1000 - 400;
        expected += values[i];
    }
    int *data, *found;
    long long *parts, *result, sum_found = 0;
    cudaMalloc(&data, n * sizeof(int));
    cudaMalloc(&parts, blocks * sizeof(long long));
    cudaMalloc(&result, sizeof(long long));
    cudaMalloc(&found, 6 * sizeof(int));
    cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);

    int cooperative = 0;
    cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
    int count = n;
    void *arguments[] = {&data, &count, &parts, &result};
    cudaError_t error = cudaLaunchCooperativeKernel((void *)sum, dim3(blocks), dim3(256), arguments, 0, 0);
    cudaMemcpy(&sum_found, result, sizeof sum_found, cudaMemcpyDeviceToHost);
    printf("cooperative launches: %d, %s\n", cooperative, cudaGetErrorString(error));
    printf("sum %lld, expected %lld\n", sum_found, expected);

    groups<<<1, 64>>>(found);
    int host[6];
    cudaMemcpy(host, found, sizeof host, cudaMemcpyDeviceToHost);
    printf("highest of each half warp: %d %d %d %d\n", host[0], host[1], host[2], host[3]);
    printf("threads together: %d %d\n", host[4], host[5]);

    // More blocks than fit at once cannot meet.
    error = cudaLaunchCooperativeKernel((void *)sum, dim3(1000000), dim3(256), arguments, 0, 0);
    printf("too many blocks: %s\n", cudaGetErrorString(error));
    return sum_found != expected;
}
