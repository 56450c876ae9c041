// Two kernels of back-propagation for a layer of many inputs and 16 hidden units. Forward: a block
// of 16x16 threads multiplies 16 inputs with their weights to all hidden units and adds the
// products up by a tree in shared memory, a barrier a level; the host adds the blocks' sums.
// Adjust: every thread changes one weight; some also change the weights of the bias input.
#include "warpsim.cuh"

#define SIDE 16
#define LOG_SIDE 4

// Weights are (inputs + 1) rows of hidden + 1; row and column 0 belong to the bias units.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE, 4)
backprop_forward(const float *inputs, const float *weights, float *partial, u32 hidden) {
    __shared__ float node[SIDE];
    __shared__ float product[SIDE][SIDE];
    u32 tx = threadIdx.x, ty = threadIdx.y, by = blockIdx.y;
    u32 row = SIDE * by + ty + 1;
    if (tx == 0)
        node[ty] = inputs[row];
    __syncthreads();
    product[ty][tx] = weights[row * (hidden + 1) + tx + 1];
    __syncthreads();
    product[ty][tx] *= node[ty];
    __syncthreads();
#pragma unroll 1
    for (u32 level = 1; level <= LOG_SIDE; level++) {
        u32 group = 1u << level;
        if (ty % group == 0)
            product[ty][tx] += product[ty + group / 2][tx];
        __syncthreads();
    }
    if (tx == 0)
        partial[by * hidden + ty] = product[0][ty];
}

extern "C" __global__ void __launch_bounds__(SIDE *SIDE, 4)
backprop_adjust(const float *deltas, const float *inputs, float *weights, float *momenta,
                u32 hidden, float rate, float momentum) {
    u32 tx = threadIdx.x, ty = threadIdx.y, by = blockIdx.y;
    u32 row = SIDE * by + ty + 1;
    u32 i = row * (hidden + 1) + tx + 1;
    float change = rate * deltas[tx + 1] * inputs[row] + momentum * momenta[i];
    weights[i] += change;
    momenta[i] = change;
    __syncthreads();
    if (ty == 0 && by == 0) {
        u32 bias = tx + 1;
        change = rate * deltas[bias] + momentum * momenta[bias];
        weights[bias] += change;
        momenta[bias] = change;
    }
}
