// The Q matrix of magnetic-resonance reconstruction: for every voxel the sum over all samples of
// k-space of their magnitude times the cosine and sine of the phase there. Samples come through constant
// memory, a chunk per launch, and all threads go through them in step: sines, cosines and multiplications,
// nothing else.
#include "warpsim.cuh"

#define CHUNK 1024
#define THREADS 256

// Position in k-space and squared magnitude.
__constant__ float4 samples[CHUNK];

extern "C" __global__ void __launch_bounds__(512, 3)
ComputePhiMag_GPU(const float2 *phi, float *magnitude, u32 count) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        magnitude[i] = phi[i].x * phi[i].x + phi[i].y * phi[i].y;
}

extern "C" __global__ void __launch_bounds__(THREADS, 5)
ComputeQ_GPU(const float *x, const float *y, const float *z, float *real, float *imaginary,
             u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    float vx = x[i], vy = y[i], vz = z[i];
    float re = real[i], im = imaginary[i];
#pragma unroll 2
    for (u32 k = 0; k < count; k++) {
        float4 s = samples[k];
        float angle = 6.2831853071795864769f * (s.x * vx + s.y * vy + s.z * vz);
        re += s.w * __cosf(angle);
        im += s.w * __sinf(angle);
    }
    real[i] = re;
    imaginary[i] = im;
}
