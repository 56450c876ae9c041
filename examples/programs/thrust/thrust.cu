// nvcc -std=c++17 thrust.cu
// A library of kernels that came with the toolkit: sorting, scanning, selecting and summing.
#include <cstdio>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

struct Even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

int main() {
    const int n = 5000;
    thrust::host_vector<int> keys(n);
    for (int i = 0; i < n; i++) keys[i] = i * 7919 % 10007;
    thrust::device_vector<int> sorted = keys, sums(n), even(n);
    thrust::sort(sorted.begin(), sorted.end());
    printf("sorted: %d %d %d ... %d\n", int(sorted[0]), int(sorted[1]), int(sorted[2]), int(sorted[n - 1]));
    printf("sum: %d\n", thrust::reduce(sorted.begin(), sorted.end(), 0));
    thrust::inclusive_scan(sorted.begin(), sorted.end(), sums.begin());
    printf("sums: %d %d ... %d\n", int(sums[0]), int(sums[1]), int(sums[n - 1]));
    int count = thrust::copy_if(sorted.begin(), sorted.end(), even.begin(), Even()) - even.begin();
    printf("even: %d, the last %d\n", count, int(even[count - 1]));
}
