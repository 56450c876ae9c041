// A function that another file defines; a kernel beside it that does without.
extern __device__ int elsewhere(int);
extern "C" __global__ void needs(int *out) { out[threadIdx.x] = elsewhere(threadIdx.x); }
extern "C" __global__ void alone(int *out) { out[threadIdx.x] = threadIdx.x; }
