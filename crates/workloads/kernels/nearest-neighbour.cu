// Distance of every record to a target. Records are lines of text, as weather services give them
// out: a thread takes one, reads latitude and longitude from their columns digit by digit, and
// computes the distance. Blocks are tiny: 16 threads, half a warp. No branch differs.
#include "warpsim.cuh"

#define RECORD 49
#define LATITUDE 28
#define LONGITUDE 34

// A number of the form ddd.d at a fixed place; blanks count as zeroes.
static __device__ __forceinline__ float number(const u8 *text) {
    int value = 0;
#pragma unroll
    for (int i = 0; i < 5; i++) {
        if (i == 3)
            continue; // the point
        int digit = text[i] == ' ' ? 0 : text[i] - '0';
        value = 10 * value + digit;
    }
    return (float)value * 0.1f;
}

extern "C" __global__ void __launch_bounds__(16)
distances(const u8 *records, float *distance, u32 count, float latitude, float longitude) {
    u32 record = blockIdx.x * 16 + threadIdx.x;
    if (record >= count)
        return;
    const u8 *text = records + record * RECORD;
    float x = number(text + LATITUDE) - latitude, y = number(text + LONGITUDE) - longitude;
    distance[record] = sqrtf(x * x + y * y);
}
