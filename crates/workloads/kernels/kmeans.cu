// The heavy part of k-means: for every point the nearest centre. Features are turned round first,
// so that the threads of a warp read one feature of neighbouring points at once; centres are in
// constant memory, where all threads read the same one.
#include "warpsim.cuh"

#define MOST 4096

__constant__ float centres[MOST];

extern "C" __global__ void kmeans_transpose(const float *points, float *features, u32 count,
                                            u32 dimensions) {
    u32 p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < count)
        for (u32 d = 0; d < dimensions; d++)
            features[d * count + p] = points[p * dimensions + d];
}

extern "C" __global__ void kmeans_nearest(const float *features, u32 *membership, u32 count,
                                          u32 dimensions, u32 clusters) {
    u32 p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= count)
        return;
    u32 nearest = 0;
    float least = 3.4e38f;
    for (u32 c = 0; c < clusters; c++) {
        const float *feature = features + p;
        const float *centre = centres + c * dimensions;
        float distance = 0.0f;
        for (u32 d = 0; d < dimensions; d++) {
            float difference = *feature - centre[d];
            distance = fmaf(difference, difference, distance);
            feature += count;
        }
        if (distance < least) {
            least = distance;
            nearest = c;
        }
    }
    membership[p] = nearest;
}
