// nvcc graphs.cu
// A graph captured from two streams and launched again and again, and one that is built by hand.
#include <cstdio>

__global__ void step(int *data, int add, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * 2 + add;
}

__global__ void join(const int *a, const int *b, int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] += a[i] - b[i];
}

int main() {
    const int n = 256;
    int *a, *b, *sum, host[n];
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&sum, sizeof host);
    cudaMemset(sum, 0, sizeof host);
    cudaMemset(a, 0, sizeof host);
    cudaMemset(b, 0, sizeof host);

    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEvent_t fork, joined;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);

    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    step<<<2, 128, 0, first>>>(a, 3, n);
    step<<<2, 128, 0, second>>>(b, 1, n);
    cudaEventRecord(joined, second);
    cudaStreamWaitEvent(first, joined, 0);
    join<<<2, 128, 0, first>>>(a, b, sum, n);
    cudaGraph_t graph;
    cudaError_t error = cudaStreamEndCapture(first, &graph);
    size_t nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    printf("captured: %s, %zu nodes\n", cudaGetErrorName(error), nodes);

    cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost);
    printf("nothing has run: %d\n", host[7]);
    cudaGraphExec_t ready;
    cudaGraphInstantiateWithFlags(&ready, graph, 0);
    for (int i = 0; i < 4; i++) cudaGraphLaunch(ready, first);
    cudaStreamSynchronize(first);
    cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost);
    printf("after four launches: %d %d\n", host[0], host[n - 1]);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);

    // By hand: a fill, a kernel, a copy to the host.
    cudaGraph_t built;
    cudaGraphCreate(&built, 0);
    cudaMemsetParams fill = {};
    fill.dst = a;
    fill.value = 5;
    fill.elementSize = sizeof(int);
    fill.width = n;
    fill.height = 1;
    cudaGraphNode_t filled, stepped, copied;
    cudaGraphAddMemsetNode(&filled, built, nullptr, 0, &fill);
    int add = 1, count = n;
    void *arguments[] = {&a, &add, &count};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)step;
    launch.gridDim = dim3(2);
    launch.blockDim = dim3(128);
    launch.kernelParams = arguments;
    cudaGraphAddKernelNode(&stepped, built, &filled, 1, &launch);
    cudaGraphAddMemcpyNode1D(&copied, built, &stepped, 1, host, a, sizeof host, cudaMemcpyDeviceToHost);
    cudaGraphInstantiateWithFlags(&ready, built, 0);
    // Arguments were taken when the node was added.
    add = 1000;
    cudaGraphLaunch(ready, first);
    cudaStreamSynchronize(first);
    printf("built: %d\n", host[9]);
    add = 100;
    cudaGraphExecKernelNodeSetParams(ready, stepped, &launch);
    cudaGraphLaunch(ready, first);
    cudaStreamSynchronize(first);
    printf("with another argument: %d\n", host[9]);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(built);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
