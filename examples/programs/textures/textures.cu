// nvcc textures.cu
// Texture objects over arrays and over plain memory: filtered, wrapped, and as they are; a surface that is written.
#include <cstdio>
#include <vector>

__global__ void sample(cudaTextureObject_t texture, float *out, int n, float step) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, 0.5f + i * step, 1.0f);
}

__global__ void wrapped(cudaTextureObject_t texture, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, (int(threadIdx.x) - 4) * 0.25f + 0.125f, 0.125f);
}

__global__ void fetch(cudaTextureObject_t texture, int4 *out) {
    out[threadIdx.x] = tex1Dfetch<int4>(texture, 7 - threadIdx.x);
}

__global__ void paint(cudaSurfaceObject_t surface) {
    uchar4 colour = make_uchar4(threadIdx.x, threadIdx.y, 3, 4);
    surf2Dwrite(colour, surface, threadIdx.x * sizeof(uchar4), threadIdx.y);
}

__global__ void colours(cudaTextureObject_t texture, float4 *out) {
    out[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 2.5f);
}

template <typename T>
std::vector<T> read(const T *device, int n) {
    std::vector<T> host(n);
    cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

int main() {
    const int width = 8, height = 4;
    std::vector<float> image(width * height);
    for (int i = 0; i < width * height; i++) image[i] = i % width + 10 * (i / width);
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &one, width, height);
    cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height,
                        cudaMemcpyHostToDevice);

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    float *out;
    cudaMalloc(&out, 32 * sizeof(float));
    sample<<<1, 32>>>(texture, out, 18, 0.5f);
    printf("filtered:");
    for (float v : read(out, 18)) printf(" %g", v);
    cudaDestroyTextureObject(texture);

    description.addressMode[0] = description.addressMode[1] = cudaAddressModeWrap;
    description.filterMode = cudaFilterModePoint;
    description.normalizedCoords = 1;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    wrapped<<<1, 12>>>(texture, out);
    printf("\nwrapped:");
    for (float v : read(out, 12)) printf(" %g", v);
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array);

    int4 *fours;
    cudaMalloc(&fours, 8 * sizeof(int4));
    std::vector<int4> numbers;
    for (int i = 0; i < 8; i++) numbers.push_back(make_int4(i, i * i, -i, 100 + i));
    cudaMemcpy(fours, numbers.data(), 8 * sizeof(int4), cudaMemcpyHostToDevice);
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = fours;
    linear.res.linear.desc = cudaCreateChannelDesc<int4>();
    linear.res.linear.sizeInBytes = 8 * sizeof(int4);
    cudaTextureDesc as_they_are = {};
    cudaCreateTextureObject(&texture, &linear, &as_they_are, nullptr);
    int4 *fetched;
    cudaMalloc(&fetched, 8 * sizeof(int4));
    fetch<<<1, 8>>>(texture, fetched);
    printf("\nfetched:");
    for (int4 v : read(fetched, 8)) printf(" (%d %d %d %d)", v.x, v.y, v.z, v.w);
    cudaDestroyTextureObject(texture);

    cudaChannelFormatDesc colour = cudaCreateChannelDesc<uchar4>();
    cudaArray_t canvas;
    cudaMallocArray(&canvas, &colour, 6, 4, cudaArraySurfaceLoadStore);
    cudaResourceDesc painted = {};
    painted.resType = cudaResourceTypeArray;
    painted.res.array.array = canvas;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &painted);
    paint<<<1, dim3(6, 4)>>>(surface);
    cudaTextureDesc fractions = {};
    fractions.readMode = cudaReadModeNormalizedFloat;
    cudaCreateTextureObject(&texture, &painted, &fractions, nullptr);
    float4 *seen;
    cudaMalloc(&seen, 6 * sizeof(float4));
    colours<<<1, 6>>>(texture, seen);
    printf("\npainted:");
    for (float4 v : read(seen, 6)) printf(" (%g %g %g %g)", v.x * 255, v.y * 255, v.z * 255, v.w * 255);
    printf("\n%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
