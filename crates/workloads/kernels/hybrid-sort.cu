// Sorting of floats by buckets and merging. A histogram tells the host where to cut the keys into 1024 buckets of
// about the same size; every key finds its bucket by a binary search among the cuts and is moved there; then
// every bucket is sorted as a list of float4: each of them first, then by passes in which a thread
// merges two neighbouring lists; at last the buckets, which began at multiples of four, are packed. Cuts and lists are
// read through textures.
#include "warpsim.cuh"
#include "texture.cuh"

#define BUCKETS 1024

#define HISTOGRAM_THREADS 96
#define PARTS (HISTOGRAM_THREADS / 32)

// How many keys lie in each of 1024 ranges of the same width.
extern "C" __global__ void __launch_bounds__(HISTOGRAM_THREADS, 4)
hist1024Kernel(const float *keys, u32 *histogram, u32 count, float least, float scale) {
    __shared__ u32 part[PARTS][BUCKETS];
    for (u32 i = threadIdx.x; i < PARTS * BUCKETS; i += HISTOGRAM_THREADS)
        part[0][i] = 0;
    __syncthreads();
    u32 mine = threadIdx.x / 32;
    for (u32 i = blockIdx.x * HISTOGRAM_THREADS + threadIdx.x; i < count;
         i += gridDim.x * HISTOGRAM_THREADS) {
        u32 range = (u32)((keys[i] - least) * scale);
        atomicAdd(&part[mine][umin(range, BUCKETS - 1)], 1u);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < BUCKETS; i += HISTOGRAM_THREADS) {
        u32 sum = 0;
        for (u32 p = 0; p < PARTS; p++)
            sum += part[p][i];
        if (sum > 0)
            atomicAdd(&histogram[i], sum);
    }
}

#define BUCKET_THREADS 32

// The bucket of every key and its place among those that the block puts there; how many those are.
extern "C" __global__ void __launch_bounds__(BUCKET_THREADS, 8)
bucketcount(const float *keys, u64 cuts, u32 *places, u32 *counts, u32 count, u32 each) {
    __shared__ u32 found[BUCKETS];
    for (u32 i = threadIdx.x; i < BUCKETS; i += BUCKET_THREADS)
        found[i] = 0;
    __syncthreads();
    u32 end = umin((blockIdx.x + 1) * each, count);
    for (u32 i = blockIdx.x * each + threadIdx.x; i < end; i += BUCKET_THREADS) {
        float key = keys[i];
        u32 bucket = 0;
        for (u32 step = BUCKETS / 2; step > 0; step /= 2)
            if (key >= __int_as_float((int)texture_uint(cuts, bucket + step - 1)))
                bucket += step;
        places[i] = atomicAdd(&found[bucket], 1u) * BUCKETS + bucket;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < BUCKETS; i += BUCKET_THREADS)
        counts[blockIdx.x * BUCKETS + i] = found[i];
}

// For every bucket: how many keys come from the blocks before each block, and from all.
extern "C" __global__ void __launch_bounds__(128)
bucketprefixoffset(u32 *counts, u32 *sizes, u32 blocks) {
    u32 bucket = blockIdx.x * blockDim.x + threadIdx.x;
    u32 sum = 0;
    // Eight at a time, so that their loads overlap.
    for (u32 first = 0; first < blocks; first += 8) {
        u32 here[8];
#pragma unroll
        for (u32 k = 0; k < 8; k++)
            here[k] = first + k < blocks ? counts[(first + k) * BUCKETS + bucket] : 0;
#pragma unroll
        for (u32 k = 0; k < 8; k++) {
            if (first + k < blocks)
                counts[(first + k) * BUCKETS + bucket] = sum;
            sum += here[k];
        }
    }
    sizes[bucket] = sum;
}

// Moves every key to its bucket.
extern "C" __global__ void __launch_bounds__(BUCKET_THREADS, 8)
bucketSort(const float *keys, const u32 *places, const u32 *counts, const u32 *begins, float *to,
           u32 count, u32 each) {
    __shared__ u32 begin[BUCKETS];
    for (u32 i = threadIdx.x; i < BUCKETS; i += BUCKET_THREADS)
        begin[i] = counts[blockIdx.x * BUCKETS + i] + 4 * begins[i];
    __syncthreads();
    u32 end = umin((blockIdx.x + 1) * each, count);
    for (u32 i = blockIdx.x * each + threadIdx.x; i < end; i += BUCKET_THREADS) {
        u32 place = places[i];
        to[begin[place % BUCKETS] + place / BUCKETS] = keys[i];
    }
}

static __device__ __forceinline__ void order(float &a, float &b) {
    float low = fminf(a, b), high = fmaxf(a, b);
    a = low;
    b = high;
}

extern "C" __global__ void __launch_bounds__(256, 6)
mergeSortFirst(const float4 *from, float4 *to, u32 count) {
    u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count)
        return;
    float4 v = from[i];
    order(v.x, v.y);
    order(v.z, v.w);
    order(v.x, v.z);
    order(v.y, v.w);
    order(v.y, v.z);
    to[i] = v;
}

static __device__ __forceinline__ float4 texel(u64 list, u32 at) {
    uint4 t = texture_uint4(list, at);
    return {__int_as_float((int)t.x), __int_as_float((int)t.y), __int_as_float((int)t.z),
            __int_as_float((int)t.w)};
}

// A sequence that first rises and then falls, sorted.
static __device__ __forceinline__ float4 risen(float4 v) {
    order(v.x, v.z);
    order(v.y, v.w);
    order(v.x, v.y);
    order(v.z, v.w);
    return v;
}

#define PASS_THREADS 208

// A thread merges two lists of `length` float4 of a bucket; the second, or both, may be shorter.
extern "C" __global__ void __launch_bounds__(PASS_THREADS, 5)
mergeSortPass(u64 from, float4 *to, const u32 *begins, u32 length, u32 threads_each) {
    u32 t = blockIdx.x * PASS_THREADS + threadIdx.x;
    u32 bucket = t / threads_each;
    if (bucket >= BUCKETS)
        return;
    u32 end = begins[bucket + 1];
    u32 a = begins[bucket] + t % threads_each * 2 * length;
    if (a >= end)
        return;
    float4 *out = to + a;
    u32 end_a = umin(a + length, end);
    u32 b = end_a, end_b = umin(b + length, end);
    if (b == end_b) {
        for (; a < end_a; a++)
            *out++ = texel(from, a);
        return;
    }
    float4 held = texel(from, a++), next = texel(from, b++);
    for (;;) {
        // The lower four of both are next in the result, the others are held.
        float4 low = {fminf(held.x, next.w), fminf(held.y, next.z), fminf(held.z, next.y),
                      fminf(held.w, next.x)};
        float4 high = {fmaxf(held.x, next.w), fmaxf(held.y, next.z), fmaxf(held.z, next.y),
                       fmaxf(held.w, next.x)};
        *out++ = risen(low);
        held = risen(high);
        bool more_a = a < end_a, more_b = b < end_b;
        if (!more_a && !more_b)
            break;
        // On with the list whose next key is lower.
        bool take_a = more_a;
        if (more_a && more_b)
            take_a = __int_as_float((int)texture_uint(from, a)) <=
                     __int_as_float((int)texture_uint(from, b));
        next = texel(from, take_a ? a++ : b++);
    }
    *out = held;
}

// The keys of all buckets one after the other.
extern "C" __global__ void __launch_bounds__(256, 6)
mergepack(const float *from, float *to, const u32 *begins, const u32 *packed) {
    u32 bucket = blockIdx.y;
    u32 first = packed[bucket], size = packed[bucket + 1] - first;
    u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i < size)
        to[first + i] = from[4 * begins[bucket] + i];
}
