// Module variables with initialisers of every kind, structs as parameters, indirect calls,
// switches, 64-bit and double arithmetic, local arrays, calls to the runtime.
#include "device.h"

struct Node {
    int key;
    double weight;
    const Node *next;
};

__constant__ float coefficients[5] = {1.0f, -0.5f, 0.25f, 1e-20f, 3.4e38f};
__constant__ double limits[2] = {1.0 / 3.0, -2.5};
__device__ Node tail = {7, 2.5, nullptr};
__device__ Node head = {3, -1.0, &tail};
__device__ short shorts[] = {-1, 2, -3, 4};
__device__ const char *message = "value %d\n";
__device__ long long wide = -1234567890123LL;

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[] = {plus, times};

extern "C" __device__ int vprintf(const char *, void *);

struct Box {
    float corners[6];
    char tag;
};

__device__ __attribute__((noinline)) Box grow(Box box, float by) {
    for (int i = 0; i < 6; i++)
        box.corners[i] += i < 3 ? -by : by;
    return box;
}

__global__ void apply(int *out, int which, Box box, double scale) {
    int t = threadIdx_x;
    int value = operations[which](t, out[t]);
    switch (value & 7) {
    case 0: value += shorts[t & 3]; break;
    case 1: value *= 3; break;
    case 2: value ^= 0x55; break;
    case 3: value = (int)((double)value * limits[t & 1] * scale); break;
    case 4: value = value / 7 + value % 5; break;
    case 5: value = (int)grow(box, coefficients[t % 5]).corners[t % 6]; break;
    default: value -= (int)(wide >> (t & 31)); break;
    }
    const Node *node = &head;
    float stack[16];
    for (int i = 0; i < 16; i++)
        stack[i] = (float)(i * value);
    while (node) {
        value += node->key + (int)stack[(node->key + t) & 15];
        node = node->next;
    }
    if (value == 42)
        vprintf(message, &value);
    out[t] = value;
}
