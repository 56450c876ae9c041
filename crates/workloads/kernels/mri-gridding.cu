// Gridding of magnetic-resonance samples: samples taken anywhere in k-space are spread onto the points
// of a regular grid, each to the points closer than one cell. They are put into bins, one per cell, and
// sorted by bin (radix sort, four bits per pass, values are the samples' numbers); the counts of the bins are added up;
// then blocks of 4x4x4 points gather, 8 threads for each point, one for each of the cells around it, and
// add up what the 8 found in shared memory. Bins hold very different numbers of samples, so that the
// warps of a block come to that sum at different times.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"

#define BINNING 512
#define SORTING 256
#define TILE (4 * SORTING)
#define DIGIT_BITS 4
#define DIGITS (1 << DIGIT_BITS)
#define SCANNING 512
#define SCANNED (2 * SCANNING)
#define SIDE 4
#define POINTS (SIDE * SIDE * SIDE)
#define CELLS 8

// Which cell a sample is in; `bits` is the binary logarithm of the cells along each side.
extern "C" __global__ void __launch_bounds__(BINNING, 3)
binning_kernel(const float4 *samples, u32 *keys, u32 *values, u32 *counts, u32 bits) {
    u32 i = blockIdx.x * BINNING + threadIdx.x;
    float4 s = samples[i];
    u32 bin = ((u32)s.z << bits | (u32)s.y) << bits | (u32)s.x;
    keys[i] = bin;
    values[i] = i;
    atomicAdd(&counts[bin], 1u);
}

// Replaces the first 1024 of `data` by the sums of those before them and returns their total: up a tree
// of sums and down again, by the first of `threads` threads, fewer and fewer of them.
static __device__ __forceinline__ u32 scan_tree(u32 *data, u32 threads) {
    u32 t = threadIdx.x;
#pragma unroll
    for (u32 distance = 1; distance < SCANNED; distance <<= 1) {
        __syncthreads();
#pragma unroll
        for (u32 first = 0; first < SCANNED / 2 / distance; first += threads) {
            u32 pair = first + t;
            if (pair >= SCANNED / 2 / distance)
                break;
            u32 right = (pair + 1) * 2 * distance - 1;
            data[right] += data[right - distance];
        }
    }
    __syncthreads();
    u32 total = data[SCANNED - 1];
    __syncthreads();
    if (t == 0)
        data[SCANNED - 1] = 0;
#pragma unroll
    for (u32 distance = SCANNED / 2; distance > 0; distance >>= 1) {
        __syncthreads();
#pragma unroll
        for (u32 first = 0; first < SCANNED / 2 / distance; first += threads) {
            u32 pair = first + t;
            if (pair >= SCANNED / 2 / distance)
                break;
            u32 right = (pair + 1) * 2 * distance - 1;
            u32 left = data[right - distance];
            data[right - distance] = data[right];
            data[right] += left;
        }
    }
    __syncthreads();
    return total;
}

// Sorts a tile by the digit at `shift`, bit by bit: zeros first. The counts of the digits go to
// counts[digit * tiles + tile], and where each begins in the tile to starts[tile * DIGITS + digit].
extern "C" __global__ void __launch_bounds__(SORTING, 3)
splitSort(const u32 *keys_in, const u32 *values_in, u32 *keys_out, u32 *values_out, u32 *counts,
          u32 *starts, u32 shift) {
    __shared__ u32 key[TILE], value[TILE], zeros[TILE];
    __shared__ u32 start[DIGITS + 1];
    u32 t = threadIdx.x, base = blockIdx.x * TILE;
    for (u32 i = t; i < TILE; i += SORTING) {
        key[i] = keys_in[base + i];
        value[i] = values_in[base + i];
    }
#pragma unroll 1
    for (u32 bit = shift; bit < shift + DIGIT_BITS; bit++) {
        u32 k[4], v[4];
#pragma unroll
        for (u32 n = 0; n < 4; n++) {
            u32 i = t + n * SORTING;
            k[n] = key[i];
            v[n] = value[i];
            zeros[i] = ~(k[n] >> bit) & 1;
        }
        u32 all = scan_tree(zeros, SORTING);
#pragma unroll
        for (u32 n = 0; n < 4; n++) {
            u32 i = t + n * SORTING, before = zeros[i];
            u32 to = (k[n] >> bit) & 1 ? all + i - before : before;
            key[to] = k[n];
            value[to] = v[n];
        }
        __syncthreads();
    }
    if (t <= DIGITS)
        start[t] = TILE;
    __syncthreads();
    for (u32 i = t; i < TILE; i += SORTING) {
        u32 sorted = key[i], digit = (sorted >> shift) & (DIGITS - 1);
        if (i == 0 || digit != ((key[i - 1] >> shift) & (DIGITS - 1)))
            start[digit] = i;
        keys_out[base + i] = sorted;
        values_out[base + i] = value[i];
    }
    __syncthreads();
    // Digits that do not occur begin where the next one does.
    if (t == 0)
        for (int d = DIGITS - 1; d >= 0; d--)
            if (start[d] == TILE)
                start[d] = start[d + 1];
    __syncthreads();
    if (t < DIGITS) {
        counts[t * gridDim.x + blockIdx.x] = start[t + 1] - start[t];
        starts[blockIdx.x * DIGITS + t] = start[t];
    }
}

extern "C" __global__ void __launch_bounds__(SORTING)
splitRearrange(const u32 *keys_in, const u32 *values_in, u32 *keys_out, u32 *values_out,
               const u32 *offsets, const u32 *starts, u32 shift) {
    __shared__ u32 shift_by[DIGITS];
    u32 t = threadIdx.x, base = blockIdx.x * TILE;
    if (t < DIGITS)
        shift_by[t] = offsets[t * gridDim.x + blockIdx.x] - starts[blockIdx.x * DIGITS + t];
    __syncthreads();
    for (u32 i = t; i < TILE; i += SORTING) {
        u32 key = keys_in[base + i];
        u32 to = i + shift_by[(key >> shift) & (DIGITS - 1)];
        keys_out[to] = key;
        values_out[to] = values_in[base + i];
    }
}

// Sums by tile and the tiles' totals; the sums of these, by one block; and both together.
extern "C" __global__ void __launch_bounds__(SCANNING, 3) scan_L1_kernel(u32 *data, u32 *totals) {
    __shared__ u32 tile[SCANNED];
    u32 t = threadIdx.x;
    u32 *mine = data + blockIdx.x * SCANNED;
    tile[t] = mine[t];
    tile[t + SCANNING] = mine[t + SCANNING];
    u32 total = scan_tree(tile, SCANNING);
    mine[t] = tile[t];
    mine[t + SCANNING] = tile[t + SCANNING];
    if (t == 0)
        totals[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(SCANNING, 3) scan_inter_kernel(u32 *totals, u32 count) {
    __shared__ u32 tile[SCANNED];
    u32 t = threadIdx.x;
    for (u32 i = t; i < SCANNED; i += SCANNING)
        tile[i] = i < count ? totals[i] : 0;
    scan_tree(tile, SCANNING);
    for (u32 i = t; i < count; i += SCANNING)
        totals[i] = tile[i];
}

extern "C" __global__ void __launch_bounds__(SCANNING, 3) uniformAdd(u32 *data, const u32 *totals) {
    u32 total = totals[blockIdx.x], i = blockIdx.x * SCANNED + threadIdx.x;
    data[i] += total;
    data[i + SCANNING] += total;
}

// Brings the samples into the order of their bins.
extern "C" __global__ void __launch_bounds__(BINNING, 3)
reorder_kernel(const u32 *order, const float4 *samples, const float2 *signal, float4 *sorted,
               float2 *sorted_signal) {
    u32 i = blockIdx.x * BINNING + threadIdx.x, from = order[i];
    sorted[i] = samples[from];
    sorted_signal[i] = signal[from];
}

// The gridded signal (x, y) and density (z). A sample's fourth component is its weight.
extern "C" __global__ void __launch_bounds__(POINTS *CELLS, 3)
gridding_GPU(const float4 *samples, const float2 *signal, const u32 *starts, float4 *grid, u32 bits) {
    __shared__ float real[CELLS][POINTS], imaginary[CELLS][POINTS], density[CELLS][POINTS];
    u32 point = threadIdx.x % POINTS, corner = threadIdx.x / POINTS;
    u32 tiles = (1u << bits) / SIDE;
    u32 x = blockIdx.x % tiles * SIDE + point % SIDE;
    u32 y = blockIdx.x / tiles % tiles * SIDE + point / SIDE % SIDE;
    u32 z = blockIdx.x / (tiles * tiles) * SIDE + point / (SIDE * SIDE);
    // The cell behind the point in each direction, or before it; there is none behind the first.
    u32 cx = x - (corner & 1), cy = y - (corner >> 1 & 1), cz = z - (corner >> 2);
    float re = 0.0f, im = 0.0f, sum = 0.0f;
    if ((cx | cy | cz) >> bits == 0) {
        u32 bin = (cz << bits | cy) << bits | cx;
        u32 end = starts[bin + 1];
        for (u32 i = starts[bin]; i < end; i++) {
            float4 s = samples[i];
            float dx = s.x - (float)x, dy = s.y - (float)y, dz = s.z - (float)z;
            float d2 = dx * dx + dy * dy + dz * dz;
            if (d2 < 1.0f) {
                // A window that falls smoothly to zero at a distance of one cell.
                float near = 1.0f - d2;
                float weight = s.w * near * near * (1.0f + d2 * (0.75f + d2 * 0.5f));
                float2 v = signal[i];
                re += weight * v.x;
                im += weight * v.y;
                sum += weight;
            }
        }
    }
    real[corner][point] = re;
    imaginary[corner][point] = im;
    density[corner][point] = sum;
#pragma unroll
    for (u32 half = CELLS / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (corner < half) {
            real[corner][point] += real[corner + half][point];
            imaginary[corner][point] += imaginary[corner + half][point];
            density[corner][point] += density[corner + half][point];
        }
    }
    if (corner == 0)
        grid[(z << bits | y) << bits | x] = {real[0][point], imaginary[0][point],
                                             density[0][point], 0.0f};
}
