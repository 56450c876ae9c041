// nvcc streams.cu
// Two streams whose copies and kernels may overlap, events between them, and a function of the host in order.
#include <cstdio>

__global__ void scale(float *data, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}

__global__ void add(float *to, const float *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

void CUDART_CB say(void *data) { printf("the host hears: %s\n", (const char *)data); }

int main() {
    const int n = 4096, parts = 4, part = n / parts;
    float *host[2], *device[2];
    cudaStream_t streams[2];
    for (int s = 0; s < 2; s++) {
        cudaMallocHost(&host[s], n * sizeof(float));
        cudaMalloc(&device[s], n * sizeof(float));
        cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking);
        for (int i = 0; i < n; i++) host[s][i] = s ? 1.0f : i;
    }
    cudaEvent_t begin, end, ready;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);

    cudaEventRecord(begin, streams[0]);
    for (int p = 0; p < parts; p++) {
        for (int s = 0; s < 2; s++) {
            float *to = device[s] + p * part;
            cudaMemcpyAsync(to, host[s] + p * part, part * sizeof(float), cudaMemcpyHostToDevice, streams[s]);
            scale<<<part / 128, 128, 0, streams[s]>>>(to, s ? 3.0f : 2.0f, part);
        }
    }
    // The sum waits for the other stream.
    cudaEventRecord(ready, streams[1]);
    cudaStreamWaitEvent(streams[0], ready, 0);
    add<<<n / 256, 256, 0, streams[0]>>>(device[0], device[1], n);
    cudaMemcpyAsync(host[0], device[0], n * sizeof(float), cudaMemcpyDeviceToHost, streams[0]);
    cudaLaunchHostFunc(streams[0], say, (void *)"the sum is there");
    cudaEventRecord(end, streams[0]);
    cudaEventSynchronize(end);
    cudaStreamSynchronize(streams[0]);

    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += host[0][i] != 2.0f * i + 3.0f;
    printf("host[0][5] = %g, %d wrong\n", host[0][5], wrong);
    float milliseconds = -1;
    cudaError_t error = cudaEventElapsedTime(&milliseconds, begin, end);
    printf("time passed: %s, %s\n", milliseconds > 0 ? "yes" : "no", cudaGetErrorName(error));
    error = cudaEventElapsedTime(&milliseconds, begin, ready);
    printf("an event without timing: %s\n", cudaGetErrorName(error));
    printf("streams are idle: %s, %s\n", cudaGetErrorName(cudaStreamQuery(streams[0])),
           cudaGetErrorName(cudaStreamQuery(streams[1])));
    for (int s = 0; s < 2; s++) {
        cudaStreamDestroy(streams[s]);
        cudaFreeHost(host[s]);
        cudaFree(device[s]);
    }
    // Memory that is taken and given back in the order of a stream.
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    float *scratch = nullptr, first = 0;
    cudaMallocAsync(&scratch, n * sizeof(float), stream);
    cudaMemsetAsync(scratch, 0, n * sizeof(float), stream);
    add<<<n / 256, 256, 0, stream>>>(scratch, scratch, n);
    cudaMemcpyAsync(&first, scratch, sizeof first, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(scratch, stream);
    error = cudaStreamSynchronize(stream);
    printf("in order: %g, %s\n", first, cudaGetErrorName(error));
    cudaStreamDestroy(stream);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaEventDestroy(ready);
    return wrong != 0;
}
