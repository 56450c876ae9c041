// Fetches with levels, gradients and of four texels at once; surfaces read and written.
#include <cuda_runtime.h>
extern "C" __global__ void fetches(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *out) {
    int x = threadIdx.x % 4, y = threadIdx.x / 4;
    float plain = tex2D<float>(texture, x + 0.5f, y + 0.5f);
    float level = tex2DLod<float>(texture, x + 0.5f, y + 0.5f, 0.0f);
    float gradient = tex2DGrad<float>(texture, x + 0.5f, y + 0.5f, make_float2(1, 0), make_float2(0, 1));
    float4 four = tex2Dgather<float4>(texture, x + 1.0f, y + 1.0f, 0);
    float held;
    surf2Dread(&held, surface, x * 4, y);
    surf2Dwrite(held * 2, surface, x * 4, y);
    out[2 * threadIdx.x] = plain + level + gradient + held;
    out[2 * threadIdx.x + 1] = four.x + four.y + four.z + four.w;
}
