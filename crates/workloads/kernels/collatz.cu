// Steps of the Collatz sequence for each start value: a loop whose trip count differs from lane
// to lane without any pattern, and nothing else. Pure control divergence.
#include "warpsim.cuh"

extern "C" __global__ void collatz(const u32 *start, u32 *steps, u32 n, u32 limit) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u64 value = start[i];
    u32 count = 0;
    while (value > 1 && count < limit) {
        if (value & 1)
            value = 3 * value + 1;
        else
            value >>= 1;
        count++;
    }
    steps[i] = count;
}
