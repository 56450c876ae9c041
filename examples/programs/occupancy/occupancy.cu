// nvcc occupancy.cu
// What fits on a multiprocessor: answers of the API, held against what the device says of itself.
#include <cstdio>

extern __shared__ float dynamic_shared[];

__global__ void small(float *data) { data[threadIdx.x] += 1; }

__global__ void __launch_bounds__(256, 2) bounded(float *data) {
    __shared__ float tile[256];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[255 - threadIdx.x] + dynamic_shared[threadIdx.x];
}

void say(const char *what, bool holds) { printf("%s: %s\n", what, holds ? "yes" : "no"); }

int main() {
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    int warp = properties.warpSize, threads = properties.maxThreadsPerMultiProcessor;
    printf("warps of %d threads, blocks of %d at most\n", warp, properties.maxThreadsPerBlock);

    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 256, 0);
    say("blocks of 256 threads fill it", blocks == threads / 256 || blocks >= 6);
    int all = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&all, small, 32, 0);
    say("small blocks are limited in number or by threads", all >= blocks && all * 32 <= threads);
    int shared = properties.sharedMemPerBlock;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&all, small, 32, shared);
    say("shared memory limits them", all >= 1 && all <= int(properties.sharedMemPerMultiprocessor) / shared);
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&all, small, 2048, 0);
    printf("blocks that are too large: %d, %s\n", all, cudaGetErrorName(error));
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&all, bounded, 256, 0);
    say("launch bounds promise two blocks", all >= 2);

    int grid = 0, block = 0;
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, small, 0, 0);
    say("the best size of a block is a number of warps", block > 0 && block % warp == 0 && block <= 1024);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, block, 0);
    say("its grid fills the device", grid == blocks * properties.multiProcessorCount);
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0);
    printf("with launch bounds: blocks of %d\n", block);

    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, bounded);
    printf("%d threads at most, %zu bytes of shared memory, registers: %s\n", attributes.maxThreadsPerBlock,
           attributes.sharedSizeBytes, attributes.numRegs > 0 && attributes.numRegs < 64 ? "some" : "none");
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
