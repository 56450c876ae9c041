// Temperatures on a chip: several steps of a five-point stencil in one launch. A block of 16x16
// threads loads a tile with a border as wide as the number of steps, steps in shared memory, and at
// each step the outermost ring of threads has nothing more to do. Barriers separate the steps.
//
// The variants are closer to the original: its threads divide by capacity and resistances themselves, and its
// compiler left each comparison a branch of its own.
#include "warpsim.cuh"

#define SIDE 16

static __device__ __forceinline__ bool in(int x, int low, int high) { return x >= low && x <= high; }

// No comparison is joined with another across an (empty) statement in assembler.
static __device__ __forceinline__ bool in_branches(int x, int low, int high) {
    asm volatile("");
    if (x < low)
        return false;
    asm volatile("");
    return x <= high;
}

// The host has divided.
#define CONSTANTS float per_capacity, float per_rx, float per_ry, float per_rz
#define FACTORS
#define IN in
#define KERNEL hotspot
#include "hotspot.cuh"
#undef IN
#undef KERNEL
#define IN in_branches
#define KERNEL hotspot_branches
#include "hotspot.cuh"
#undef CONSTANTS
#undef FACTORS
#undef KERNEL

// Every thread divides.
#define CONSTANTS float capacity, float rx, float ry, float rz, float step
#define FACTORS                                                                                \
    float per_capacity = step / capacity, per_rx = 1.0f / rx, per_ry = 1.0f / ry,              \
          per_rz = 1.0f / rz;
#define KERNEL hotspot_divides_branches
#include "hotspot.cuh"
#undef IN
#undef KERNEL
#define IN in
#define KERNEL hotspot_divides
#include "hotspot.cuh"
