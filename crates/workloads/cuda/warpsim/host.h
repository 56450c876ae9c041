// What host code in a `.cu` file mentions. It is read, so that the file compiles, and then dropped: a
// launch file says what the host does.
#pragma once

enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, multiProcessorCount, clockRate, major, minor;
    int maxThreadsDim[3], maxGridSize[3];
};

__host__ cudaError_t cudaMalloc(void **, size_t);
template <class T> __host__ cudaError_t cudaMalloc(T **p, size_t n) { return cudaMalloc((void **)(void *)p, n); }
__host__ cudaError_t cudaMallocHost(void **, size_t);
template <class T> __host__ cudaError_t cudaMallocHost(T **p, size_t n) { return cudaMallocHost((void **)(void *)p, n); }
__host__ cudaError_t cudaMallocManaged(void **, size_t, unsigned = 1);
template <class T> __host__ cudaError_t cudaMallocManaged(T **p, size_t n, unsigned f = 1) { return cudaMallocManaged((void **)(void *)p, n, f); }
__host__ cudaError_t cudaFree(void *);
__host__ cudaError_t cudaFreeHost(void *);
__host__ cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
__host__ cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
template <class T> __host__ cudaError_t cudaMemcpyToSymbol(const T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> __host__ cudaError_t cudaMemcpyFromSymbol(void *, const T &, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
__host__ cudaError_t cudaMemset(void *, int, size_t);
__host__ cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
__host__ cudaError_t cudaDeviceSynchronize();
__host__ cudaError_t cudaDeviceReset();
__host__ cudaError_t cudaSetDevice(int);
__host__ cudaError_t cudaGetDevice(int *);
__host__ cudaError_t cudaGetDeviceCount(int *);
__host__ cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
__host__ cudaError_t cudaGetLastError();
__host__ cudaError_t cudaPeekAtLastError();
__host__ const char *cudaGetErrorString(cudaError_t);
__host__ const char *cudaGetErrorName(cudaError_t);
__host__ cudaError_t cudaStreamCreate(cudaStream_t *);
__host__ cudaError_t cudaStreamDestroy(cudaStream_t);
__host__ cudaError_t cudaStreamSynchronize(cudaStream_t);
__host__ cudaError_t cudaEventCreate(cudaEvent_t *);
__host__ cudaError_t cudaEventDestroy(cudaEvent_t);
__host__ cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
__host__ cudaError_t cudaEventSynchronize(cudaEvent_t);
__host__ cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);

// What `kernel<<<grid, block, shared, stream>>>` stands for, in both of the compiler's ways.
extern "C" __host__ int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" __host__ unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
