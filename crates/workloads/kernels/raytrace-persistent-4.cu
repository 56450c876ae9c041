// raytrace-persistent.cu for hardware with warps of 4 threads: one of 4 takes the next rays for all
// of them, and each 4 have their place in shared memory. What it says of warps there is said of 4
// threads here, so that it is right wherever warps are no narrower than that.
// flags: -ffp-contract=off -Xclang -disable-lifetime-markers
#include "warpsim.cuh"
#define WIDTH 4u
#define LANE (threadIdx.x % WIDTH)
#define WARP (threadIdx.y * 8 + threadIdx.x / WIDTH)
#include "raytrace-persistent.cuh"
