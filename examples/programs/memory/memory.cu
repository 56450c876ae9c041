// nvcc memory.cu
// Constant memory, variables on the device, managed memory that host and device write in turn, pinned memory, rows
// with a pitch, and what is known about a pointer.
#include <cstdio>
#include <cstring>

__constant__ float weights[5];
__device__ int counter = 40;
__managed__ int shared_with_host[4] = {1, 2, 3, 4};

struct Point {
    float x, y;
};

__global__ void convolve(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = -2; k <= 2; k++)
        if (i + k >= 0 && i + k < n) sum += weights[k + 2] * in[i + k];
    out[i] = sum;
    if (i < 2) atomicAdd(&counter, 1);
}

__global__ void move(Point *points, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) points[i].x += by * i;
    if (i < 4) shared_with_host[i] *= 10;
}

__global__ void fill(char *rows, size_t pitch, int width, int height) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < height) rows[y * pitch + x] = 'a' + (x + y) % 26;
}

int main() {
    const int n = 300;
    const float host_weights[5] = {1, 2, 4, 2, 1};
    cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights);
    float *in, *out;
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    for (int i = 0; i < n; i++) in[i] = i % 10;
    convolve<<<3, 128>>>(in, out, n);
    cudaDeviceSynchronize();
    printf("convolved: %g %g %g ... %g\n", out[0], out[1], out[2], out[n - 1]);
    // The next launch reads what the host has written meanwhile, and other weights.
    for (int i = 0; i < n; i++) in[i] = 1;
    const float last = 7;
    cudaMemcpyToSymbol(weights, &last, sizeof last, 4 * sizeof(float));
    convolve<<<3, 128>>>(in, out, n);
    cudaDeviceSynchronize();
    printf("again: %g %g %g ... %g\n", out[0], out[1], out[2], out[n - 1]);
    int count = 0;
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    printf("counted: %d\n", count);

    Point *points;
    cudaHostAlloc(&points, 64 * sizeof(Point), cudaHostAllocMapped);
    for (int i = 0; i < 64; i++) points[i] = {1, 2};
    Point *same;
    cudaHostGetDevicePointer(&same, points, 0);
    move<<<1, 64>>>(same, 64, 0.5f);
    cudaDeviceSynchronize();
    printf("moved: %g %g, managed: %d %d %d %d\n", points[63].x, points[63].y, shared_with_host[0],
           shared_with_host[1], shared_with_host[2], shared_with_host[3]);

    char *rows;
    size_t pitch;
    cudaMallocPitch(&rows, &pitch, 20, 3);
    cudaMemset2D(rows, pitch, '-', 20, 3);
    fill<<<2, 32>>>(rows, pitch, 18, 3);
    char host[3][21] = {};
    cudaMemcpy2D(host, 21, rows, pitch, 20, 3, cudaMemcpyDeviceToHost);
    for (int y = 0; y < 3; y++) printf("row %d: %s\n", y, host[y]);
    printf("the pitch holds a row: %s\n", pitch >= 20 && pitch % 32 == 0 ? "yes" : "no");

    const char *kinds[] = {"unregistered", "host", "device", "managed"};
    int plain;
    const void *pointers[] = {&plain, points, rows, in};
    for (int i = 0; i < 4; i++) {
        cudaPointerAttributes attributes;
        cudaError_t error = cudaPointerGetAttributes(&attributes, pointers[i]);
        printf("%s%s", error == cudaSuccess ? kinds[attributes.type] : cudaGetErrorName(error), i < 3 ? ", " : "\n");
    }
    void *address = nullptr;
    size_t size = 0;
    cudaGetSymbolAddress(&address, weights);
    cudaGetSymbolSize(&size, weights);
    printf("weights: %zu bytes%s\n", size, address ? "" : " nowhere");
    cudaFree(in);
    cudaFree(out);
    cudaFree(rows);
    cudaFreeHost(points);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
