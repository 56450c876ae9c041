// Tiles of 16x16, half a warp each.
#define SIDE 16
#define NAME nw
#include "warpsim.cuh"
#include "nw.cuh"
