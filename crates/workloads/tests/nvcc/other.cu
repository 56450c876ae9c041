__device__ int elsewhere(int x) { return 100 + x; }
