// A small convolutional network that recognises hand-written digits, layer by layer, over many
// images. The first two layers are convolutions (5x5, every other place), one thread a neuron and
// one small block a feature map of an image; the last two are fully connected, one block of a
// single thread a neuron of an image. Thousands of tiny blocks, no branch that differs.
//
// The original subscripts a layer of all images with the image's first neuron and a counter, unsigned, so that
// addresses are computed anew for every neuron (`_subscripts`); ours moves a pointer there once.
#include "warpsim.cuh"

#define SIDE 29      // of the image
#define MAPS1 6
#define SIDE1 13
#define SIDE2 5

static __device__ __forceinline__ float squash(float x) {
    // 1.7159 tanh(2/3 x), by way of the exponential.
    float e = __expf(1.33333333f * x);
    return 1.7159f * (1.0f - __fdividef(2.0f, e + 1.0f));
}

extern "C" __global__ void __launch_bounds__(SIDE1 *SIDE1)
layer1(const float *images, const float *weights, float *out) {
    u32 map = blockIdx.x, image = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    const float *w = weights + map * 26;
    const float *in = images + image * SIDE * SIDE + 2 * y * SIDE + 2 * x;
    float sum = w[0];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            sum += in[i * SIDE + j] * w[1 + 5 * i + j];
    out[(image * MAPS1 + map) * SIDE1 * SIDE1 + y * SIDE1 + x] = squash(sum);
}

extern "C" __global__ void __launch_bounds__(SIDE2 *SIDE2)
layer2(const float *before, const float *weights, float *out) {
    u32 map = blockIdx.x, image = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    const float *w = weights + map * (1 + 25 * MAPS1);
    const float *in = before + image * MAPS1 * SIDE1 * SIDE1 + 2 * y * SIDE1 + 2 * x;
    float sum = w[0];
    for (int m = 0; m < MAPS1; m++)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                sum += in[m * SIDE1 * SIDE1 + i * SIDE1 + j] * w[1 + 25 * m + 5 * i + j];
    out[(image * gridDim.x + map) * SIDE2 * SIDE2 + y * SIDE2 + x] = squash(sum);
}

// One neuron that sees all of the layer before.
static __device__ __forceinline__ void dense(const float *before, const float *weights, float *out,
                                             u32 inputs) {
    u32 neuron = blockIdx.x, image = blockIdx.y;
    const float *w = weights + neuron * (1 + inputs), *in = before + image * inputs;
    float sum = w[0];
    for (u32 i = 0; i < inputs; i++)
        sum += in[i] * w[1 + i];
    out[image * gridDim.x + neuron] = squash(sum);
}

extern "C" __global__ void layer3(const float *before, const float *weights, float *out,
                                  u32 inputs) {
    dense(before, weights, out, inputs);
}

extern "C" __global__ void layer4(const float *before, const float *weights, float *out,
                                  u32 inputs) {
    dense(before, weights, out, inputs);
}

static __device__ __forceinline__ void dense_subscripts(const float *before, const float *weights,
                                                        float *out, u32 inputs) {
    int w = blockIdx.x * (1 + inputs);
    float sum = weights[w++];
    for (u32 i = 0; i < inputs; i++)
        sum += before[i + inputs * blockIdx.y] * weights[w++];
    out[blockIdx.x + gridDim.x * blockIdx.y] = squash(sum);
}

extern "C" __global__ void layer3_subscripts(const float *before, const float *weights, float *out,
                                             u32 inputs) {
    dense_subscripts(before, weights, out, inputs);
}

extern "C" __global__ void layer4_subscripts(const float *before, const float *weights, float *out,
                                             u32 inputs) {
    dense_subscripts(before, weights, out, inputs);
}
