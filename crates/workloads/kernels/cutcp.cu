// Coulomb potential with a cutoff on the points of a lattice. Atoms are in bins of as many places each.
// A block computes a cube of 8x8x8 points, four of a column per thread, from the bins around its own, whose
// offsets are in constant memory: atoms are staged in shared memory, 16 bins at a time between barriers.
#include "warpsim.cuh"

#define THREADS 128
#define DEPTH 8
#define STAGED (THREADS / DEPTH)
#define MOST 512
#define SIDE 8
#define PER_THREAD 4

__constant__ int4 neighbours[MOST];

// Bins have a border of empty ones, so that every neighbour exists. An atom is position and charge; empty
// places are out of reach.
extern "C" __global__ void __launch_bounds__(THREADS, 8)
cu_cutoff_pot_lat(const float4 *bins, float *potential, u32 count, u32 bins_x, u32 bins_y, u32 layer,
                  float spacing, float cutoff2) {
    __shared__ float4 atoms[THREADS];
    u32 t = threadIdx.x;
    u32 tx = t % SIDE, ty = t / SIDE % (SIDE / PER_THREAD), tz = t / (2 * SIDE);
    u32 px = blockIdx.x * SIDE + tx, py = blockIdx.y * SIDE + ty, pz = layer * SIDE + tz;
    float x = (float)px * spacing, y = (float)py * spacing, z = (float)pz * spacing;
    float step = (float)(SIDE / PER_THREAD) * spacing, inverse = 1.0f / cutoff2;
    u32 own = ((layer + 1) * bins_y + blockIdx.y + 1) * bins_x + blockIdx.x + 1;
    float sum[PER_THREAD] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (u32 base = 0; base < count; base += STAGED) {
        u32 n = base + t / DEPTH;
        __syncthreads();
        if (n < count) {
            int4 o = neighbours[n];
            u32 bin = own + (u32)((o.z * (int)bins_y + o.y) * (int)bins_x + o.x);
            atoms[t] = bins[bin * DEPTH + t % DEPTH];
        }
        __syncthreads();
        u32 staged = umin(STAGED, count - base) * DEPTH;
        for (u32 a = 0; a < staged; a++) {
            float4 atom = atoms[a];
            float dx = atom.x - x, dy = atom.y - y, dz = atom.z - z;
            float flat = dx * dx + dz * dz;
#pragma unroll
            for (u32 p = 0; p < PER_THREAD; p++) {
                float r2 = flat + dy * dy;
                if (r2 < cutoff2) {
                    float fade = 1.0f - r2 * inverse;
                    sum[p] += atom.w * rsqrtf(r2) * fade * fade;
                }
                dy -= step;
            }
        }
    }
    u32 width = gridDim.x * SIDE, height = gridDim.y * SIDE;
#pragma unroll
    for (u32 p = 0; p < PER_THREAD; p++)
        potential[(pz * height + py + p * (SIDE / PER_THREAD)) * width + px] = sum[p];
}
