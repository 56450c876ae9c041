// nvcc errors.cu
// exits with 1
// Errors on purpose that a program survives: what each call returns, and that nothing is left afterwards.
#include <cstdio>
#include <cstdlib>

__global__ void empty() {}
__global__ void store(int *to) { *to = 1; }
__device__ int variable;

// Major versions differ in which of these errors they return for a launch that cannot be.
void refused(const char *what) {
    cudaError_t error = cudaGetLastError();
    bool known = error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue ||
                 error == cudaErrorInvalidDeviceFunction || error == cudaErrorInvalidResourceHandle;
    printf("%s: %s\n", what, known ? "refused" : cudaGetErrorName(error));
}

void say(const char *what, cudaError_t error) { printf("%s: %s\n", what, cudaGetErrorName(error)); }

int main() {
    empty<<<1, 2048>>>();
    cudaError_t first = cudaPeekAtLastError();
    printf("an error stays until it is asked for: %s\n", cudaPeekAtLastError() == first ? "yes" : "no");
    refused("too many threads");
    say("and forgotten", cudaGetLastError());
    empty<<<0, 32>>>();
    refused("no blocks");
    empty<<<dim3(1, 70000), 32>>>();
    refused("a grid too high");
    empty<<<1, 32, 1 << 20>>>();
    refused("too much shared memory");
    empty<<<1, dim3(1, 1, 65)>>>();
    refused("a block too deep");

    void *p = nullptr;
    say("too much memory", cudaMalloc(&p, size_t(1) << 50));
    say("no memory is null", p == nullptr ? cudaSuccess : cudaErrorUnknown);
    cudaGetLastError();
    say("freeing nothing", cudaFree(nullptr));
    int host = 0;
    say("freeing what was not allocated", cudaFree((void *)0x10));
    say("a device that is not there", cudaSetDevice(1000));
    cudaGetLastError();
    int number = 0;
    int unknown = 0;
    say("a symbol that is none", cudaMemcpyToSymbol((const void *)&unknown, &host, sizeof host));
    say("beyond a symbol", cudaMemcpyToSymbol(variable, &host, 2 * sizeof host));
    cudaGetLastError();
    cudaLaunchKernel((void *)&unknown, dim3(1), dim3(1), nullptr, 0, 0);
    refused("a kernel that is none");
    say("an attribute that is none", cudaDeviceGetAttribute(&number, (cudaDeviceAttr)9999, 0));
    int *device;
    cudaMalloc(&device, sizeof(int));
    say("a direction that is none", cudaMemcpy(device, &host, sizeof host, (cudaMemcpyKind)9));
    say("all of these are forgotten", (cudaGetLastError(), cudaGetLastError()));

    store<<<1, 1>>>(device);
    cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("still works: %d, %s\n", host, cudaGetErrorString(cudaGetLastError()));
    printf("%s: %s\n", cudaGetErrorName(cudaErrorMemoryAllocation), cudaGetErrorString(cudaErrorMemoryAllocation));
    printf("%s: %s\n", cudaGetErrorName(cudaErrorInvalidConfiguration),
           cudaGetErrorString(cudaErrorInvalidConfiguration));
    printf("%s: %s\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
    return EXIT_FAILURE;
}
