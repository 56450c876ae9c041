// A particle filter that follows an object through video frames: particles move by a model with noise, are
// weighed by the pixels around them, weights are summed and normalised, and new particles are drawn from the old ones by a
// search in the running sums. Sums are made by blocks in shared memory, with a barrier per step.
// flags: -ffp-contract=off
#include "warpsim.cuh"

#define THREADS 512

// Random bits: a linear congruential step, then a permutation chosen by its upper bits.
static __device__ __forceinline__ float random_unit(u32 &state) {
    state = state * 747796405u + 2891336453u;
    u32 word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (float)((word >> 22 ^ word) >> 8) * (1.0f / 16777216.0f);
}

// Nearly normal noise of variance one: the sum of twelve.
static __device__ __forceinline__ float noise(u32 &state) {
    float sum = -6.0f;
    for (u32 i = 0; i < 12; i++)
        sum += random_unit(state);
    return sum;
}

// Moves and weighs the particles; the sum of each block's weights. `offsets` are places of the object's
// pixels relative to its middle.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
likelihood_kernel(const u8 *frame, const int2 *offsets, float *xs, float *ys, float *weights, u32 *seeds,
                  float *sums, u32 particles, u32 points, u32 width, u32 height) {
    __shared__ float part[THREADS];
    u32 t = threadIdx.x, i = blockIdx.x * THREADS + t;
    float weight = 0.0f;
    if (i < particles) {
        u32 state = seeds[i];
        float x = xs[i] + 1.0f + 2.0f * noise(state);
        float y = ys[i] - 0.5f + 1.0f * noise(state);
        seeds[i] = state;
        xs[i] = x;
        ys[i] = y;
        int cx = (int)floorf(x + 0.5f), cy = (int)floorf(y + 0.5f);
        int likely = 0;
        for (u32 k = 0; k < points; k++) {
            int2 o = offsets[k];
            int px = min(max(cx + o.x, 0), (int)width - 1), py = min(max(cy + o.y, 0), (int)height - 1);
            int pixel = frame[(u32)py * width + (u32)px];
            // The object is bright on a dark ground.
            int dark = pixel - 100, bright = pixel - 228;
            likely += dark * dark - bright * bright;
        }
        weight = __expf((float)likely / (2000.0f * (float)points));
        weights[i] = weight;
    }
    part[t] = weight;
    __syncthreads();
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}

// Running sums over the block, in shared memory.
static __device__ __forceinline__ float running(float *part, float mine) {
    u32 t = threadIdx.x;
    part[t] = mine;
    __syncthreads();
    for (u32 by = 1; by < THREADS; by *= 2) {
        float before = t >= by ? part[t - by] : 0.0f;
        __syncthreads();
        part[t] += before;
        __syncthreads();
    }
    return part[t];
}

// Running sums of the blocks' sums, by one block; their total behind them.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
sum_kernel(float *sums, u32 blocks) {
    __shared__ float part[THREADS];
    float carry = 0.0f;
    for (u32 first = 0; first < blocks; first += THREADS) {
        u32 i = first + threadIdx.x;
        float mine = i < blocks ? sums[i] : 0.0f;
        float sum = running(part, mine);
        if (i < blocks)
            sums[i] = carry + (sum - mine);
        carry += part[THREADS - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blocks] = carry;
}

// Weights that sum to one, and their running sums.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
normalize_weights_kernel(float *weights, float *cumulative, const float *sums, u32 particles,
                         u32 blocks) {
    __shared__ float part[THREADS];
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    float scale = 1.0f / sums[blocks];
    float weight = i < particles ? weights[i] * scale : 0.0f;
    float sum = running(part, weight);
    if (i < particles) {
        weights[i] = weight;
        cumulative[i] = sums[blockIdx.x] * scale + sum;
    }
}

// Draws new particles: the n-th is the first old one whose running sum reaches (n + start) / particles.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
find_index_kernel(const float *xs, const float *ys, const float *cumulative, float *new_xs,
                  float *new_ys, u32 *drawn, u32 particles, float start) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= particles)
        return;
    float wanted = ((float)i + start) / (float)particles;
    u32 low = 0, high = particles - 1;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (cumulative[middle] >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    drawn[i] = low;
    new_xs[i] = xs[low];
    new_ys[i] = ys[low];
}
