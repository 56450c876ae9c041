// Forces between the atoms of a periodic box, up to a cutoff: Lennard-Jones and screened Coulomb,
// both brought to zero at the cutoff. Atoms are sorted into cells as wide as the cutoff. In the
// first kernel a block takes a cell and one of the 27 around it, and a thread one of the cell's
// atoms; the other cell's atoms come through shared memory, 64 at a time between barriers. About
// one pair in six is near enough for the force to be computed, so most lanes of a warp wait while
// a few compute. The second kernel adds up what an atom got from the 27 cells.
#include "warpsim.cuh"

#define THREADS 64

struct Box {
    int cells;      // along each side
    u32 atoms;      // in all
    float side;     // length of the box
    float cutoff2;  // square of the cutoff
    float sigma2;   // square of the Lennard-Jones radius
    float epsilon;  // and its depth, times 24
    float coulomb;  // factor of the charges' product
};

extern "C" __global__ void __launch_bounds__(THREADS, 7)
pair_forces(const float4 *atoms, const u32 *first, float4 *partial, Box box) {
    __shared__ float4 near[THREADS];
    u32 t = threadIdx.x;
    int n = box.cells;
    int cell = (int)blockIdx.x, neighbour = (int)blockIdx.y;
    int x = cell % n + neighbour % 3 - 1;
    int y = cell / n % n + neighbour / 3 % 3 - 1;
    int z = cell / (n * n) + neighbour / 9 - 1;
    // Across the border of the box comes its image.
    float sx = x < 0 ? -box.side : x >= n ? box.side : 0.0f;
    float sy = y < 0 ? -box.side : y >= n ? box.side : 0.0f;
    float sz = z < 0 ? -box.side : z >= n ? box.side : 0.0f;
    int other = ((z + n) % n * n + (y + n) % n) * n + (x + n) % n;
    float inverse = 1.0f / box.cutoff2;
    u32 end = first[cell + 1], stop = first[other + 1];
    for (u32 own = first[cell]; own < end; own += THREADS) {
        u32 mine = own + t;
        bool there = mine < end;
        float4 a = atoms[there ? mine : own];
        float fx = 0.0f, fy = 0.0f, fz = 0.0f, energy = 0.0f;
        for (u32 tile = first[other]; tile < stop; tile += THREADS) {
            __syncthreads();
            if (tile + t < stop) {
                float4 b = atoms[tile + t];
                near[t] = {b.x + sx, b.y + sy, b.z + sz, b.w};
            }
            __syncthreads();
            if (!there)
                continue;
            u32 count = umin(THREADS, stop - tile);
            for (u32 j = 0; j < count; j++) {
                float dx = a.x - near[j].x, dy = a.y - near[j].y, dz = a.z - near[j].z;
                float r2 = dx * dx + dy * dy + dz * dz;
                if (r2 < box.cutoff2 && r2 > 0.0f) {
                    float one_over = rsqrtf(r2);
                    float w = one_over * one_over;
                    float s2 = box.sigma2 * w;
                    float s6 = s2 * s2 * s2;
                    float fade = 1.0f - r2 * inverse;
                    float charge = box.coulomb * a.w * near[j].w * one_over;
                    float f = (box.epsilon * s6 * (2.0f * s6 - 1.0f) + charge) * w * fade * fade;
                    fx += f * dx;
                    fy += f * dy;
                    fz += f * dz;
                    energy += charge * fade * fade;
                }
            }
        }
        if (there)
            partial[(u32)neighbour * box.atoms + mine] = {fx, fy, fz, energy};
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 7)
sum_forces(const float4 *partial, const u32 *first, float4 *force, u32 atoms) {
    u32 end = first[blockIdx.x + 1];
    for (u32 mine = first[blockIdx.x] + threadIdx.x; mine < end; mine += THREADS) {
        float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
        for (u32 neighbour = 0; neighbour < 27; neighbour++) {
            float4 part = partial[neighbour * atoms + mine];
            sum.x += part.x;
            sum.y += part.y;
            sum.z += part.z;
            sum.w += part.w;
        }
        force[mine] = sum;
    }
}
