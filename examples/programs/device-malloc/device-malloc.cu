// nvcc -std=c++14 device-malloc.cu
// Memory that kernels take for themselves, with malloc and with new, and give back in another launch.
#include <cstdio>

struct Node {
    int value;
    Node *next;
};

__device__ Node *heads[64];

__global__ void build(int length) {
    Node *head = nullptr;
    for (int i = 0; i < length; i++) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->value = threadIdx.x * i;
        node->next = head;
        head = node;
    }
    heads[threadIdx.x] = head;
}

__global__ void sum_and_free(int *sums) {
    int sum = 0;
    for (Node *node = heads[threadIdx.x]; node;) {
        Node *next = node->next;
        sum += node->value;
        free(node);
        node = next;
    }
    sums[threadIdx.x] = sum;
}

__global__ void with_new(int *out) {
    int *scratch = new int[threadIdx.x + 1];
    for (int i = 0; i <= threadIdx.x; i++) scratch[i] = i;
    int sum = 0;
    for (int i = 0; i <= threadIdx.x; i++) sum += scratch[i];
    delete[] scratch;
    out[threadIdx.x] = sum;
}

__global__ void too_much(int *none) {
    void *huge = malloc(size_t(1) << 40);
    *none = huge == nullptr;
}

int main() {
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20);
    size_t heap = 0;
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    printf("heap of at least 16 MiB: %s\n", heap >= 16 << 20 ? "yes" : "no");
    int *out, host[64];
    cudaMalloc(&out, sizeof host);
    build<<<1, 64>>>(10);
    sum_and_free<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("sums of lists: %d %d %d\n", host[0], host[1], host[63]);
    with_new<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("sums of arrays: %d %d %d\n", host[0], host[1], host[63]);
    too_much<<<1, 1>>>(out);
    cudaMemcpy(host, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("too much is refused: %s\n", host[0] ? "yes" : "no");
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
