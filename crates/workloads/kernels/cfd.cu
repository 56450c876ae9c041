// The Euler equations on an unstructured mesh of tetrahedra: a thread per element, in steps of Runge and
// Kutta. The flux through an element's faces needs the state of its four neighbours, which lie anywhere;
// the other kernels go through the elements in order. Elements have their state in five planes (density, momentum,
// energy), so that reads in order coalesce.
#include "warpsim.cuh"

#define THREADS 192
#define GAMMA 1.4f
#define SMOOTHING 0.2f
#define FACES 4
#define WALL 0xffffffffu
#define FAR 0xfffffffeu

// State of the undisturbed flow.
__constant__ float undisturbed[5];

struct State {
    float density, mx, my, mz, energy;
};

static __device__ __forceinline__ State state(const float *variables, u32 i, u32 count) {
    return {variables[i], variables[count + i], variables[2 * count + i], variables[3 * count + i],
            variables[4 * count + i]};
}

static __device__ __forceinline__ float pressure(const State &s, float square) {
    return (GAMMA - 1.0f) * (s.energy - 0.5f * s.density * square);
}

extern "C" __global__ void __launch_bounds__(THREADS, 8)
cu_initialize_vars(float *variables, u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    for (u32 v = 0; v < 5; v++)
        variables[v * count + i] = undisturbed[v];
}

// How far an element may go in time, over its volume.
extern "C" __global__ void __launch_bounds__(THREADS, 8)
cu_comp_step_fact(const float *variables, const float *volumes, float *steps, u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    State s = state(variables, i, count);
    float over = 1.0f / s.density;
    float ux = s.mx * over, uy = s.my * over, uz = s.mz * over;
    float square = ux * ux + uy * uy + uz * uz;
    float sound = sqrtf(GAMMA * pressure(s, square) * over);
    steps[i] = 0.5f / (sqrtf(volumes[i]) * (sqrtf(square) + sound));
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
cu_compute_flux(const u32 *neighbours, const float *normals, const float *variables, float *fluxes,
                u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    State me = state(variables, i, count);
    float over = 1.0f / me.density;
    float ux = me.mx * over, uy = me.my * over, uz = me.mz * over;
    float square = ux * ux + uy * uy + uz * uz;
    float own = pressure(me, square);
    float speed = sqrtf(square), sound = sqrtf(GAMMA * own * over);
    State flux = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
    for (u32 face = 0; face < FACES; face++) {
        u32 j = neighbours[face * count + i];
        float nx = normals[(3 * face) * count + i], ny = normals[(3 * face + 1) * count + i],
              nz = normals[(3 * face + 2) * count + i];
        if (j == WALL) {
            // Nothing passes; pressure pushes.
            flux.mx += nx * own;
            flux.my += ny * own;
            flux.mz += nz * own;
            continue;
        }
        State there;
        if (j == FAR)
            there = {undisturbed[0], undisturbed[1], undisturbed[2], undisturbed[3], undisturbed[4]};
        else
            there = state(variables, j, count);
        float over_there = 1.0f / there.density;
        float vx = there.mx * over_there, vy = there.my * over_there, vz = there.mz * over_there;
        float square_there = vx * vx + vy * vy + vz * vz;
        float push = pressure(there, square_there);
        float sound_there = sqrtf(GAMMA * push * over_there);
        // What passes on either side, the mean of it, and what smooths the difference.
        float through = nx * ux + ny * uy + nz * uz;
        float through_there = nx * vx + ny * vy + nz * vz;
        if (j != FAR) {
            float area = sqrtf(nx * nx + ny * ny + nz * nz);
            float smooth = 0.5f * SMOOTHING * area * (speed + sqrtf(square_there) + sound + sound_there);
            flux.density += smooth * (me.density - there.density);
            flux.mx += smooth * (me.mx - there.mx);
            flux.my += smooth * (me.my - there.my);
            flux.mz += smooth * (me.mz - there.mz);
            flux.energy += smooth * (me.energy - there.energy);
        }
        flux.density += 0.5f * (me.density * through + there.density * through_there);
        flux.mx += 0.5f * (me.mx * through + there.mx * through_there + nx * (own + push));
        flux.my += 0.5f * (me.my * through + there.my * through_there + ny * (own + push));
        flux.mz += 0.5f * (me.mz * through + there.mz * through_there + nz * (own + push));
        flux.energy += 0.5f * ((me.energy + own) * through + (there.energy + push) * through_there);
    }
    fluxes[i] = flux.density;
    fluxes[count + i] = flux.mx;
    fluxes[2 * count + i] = flux.my;
    fluxes[3 * count + i] = flux.mz;
    fluxes[4 * count + i] = flux.energy;
}

// From the state before the step; `share` of it in this stage.
extern "C" __global__ void __launch_bounds__(THREADS, 8)
cu_time_step(const float *before, float *variables, const float *steps, const float *fluxes,
             float share, u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float factor = steps[i] * share;
    for (u32 v = 0; v < 5; v++)
        variables[v * count + i] = before[v * count + i] - factor * fluxes[v * count + i];
}
