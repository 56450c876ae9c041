// nvcc -std=c++14 main.cu multiply.cu
// Templates of kernels, in several files: products of three types, with three sizes of tiles.
#include "matrix.h"
#include <cstdio>
#include <vector>

template <typename T>
Matrix<T> on_device(int rows, int columns, const std::vector<T> &values) {
    Matrix<T> matrix = {rows, columns, nullptr};
    cudaMalloc(&matrix.values, values.size() * sizeof(T));
    cudaMemcpy(matrix.values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return matrix;
}

// Small integers: every type has exact products.
template <typename T, int TILE>
int check(const char *name, int rows, int inner, int columns) {
    std::vector<T> a(rows * inner), b(inner * columns), c(rows * columns, T(-1));
    for (size_t i = 0; i < a.size(); i++) a[i] = T(int(i * 7 % 11) - 5);
    for (size_t i = 0; i < b.size(); i++) b[i] = T(int(i * 5 % 13) - 6);
    Matrix<T> left = on_device(rows, inner, a), right = on_device(inner, columns, b);
    Matrix<T> product = on_device(rows, columns, c);
    multiply<T, TILE>(left, right, product);
    cudaMemcpy(c.data(), product.values, c.size() * sizeof(T), cudaMemcpyDeviceToHost);
    int wrong = 0;
    double sum = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            T expected = 0;
            for (int k = 0; k < inner; k++) expected += a[i * inner + k] * b[k * columns + j];
            wrong += c[i * columns + j] != expected;
            sum += c[i * columns + j] * (i + 2 * j + 1);
        }
    }
    printf("%s, %d x %d x %d, tiles of %d: %d wrong, checksum %.0f\n", name, rows, inner, columns, TILE, wrong, sum);
    cudaFree(left.values);
    cudaFree(right.values);
    cudaFree(product.values);
    return wrong;
}

int main() {
    int wrong = check<float, 16>("float", 64, 48, 80);
    wrong += check<double, 8>("double", 30, 17, 21);
    wrong += check<int, 32>("int", 65, 33, 40);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return wrong != 0;
}
