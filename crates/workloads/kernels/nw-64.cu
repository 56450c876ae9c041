// Tiles of 64x64: two warps, and 33 KB of shared memory, so that an SM holds one block.
#define SIDE 64
#define NAME nw_64
#include "warpsim.cuh"
#include "nw.cuh"
