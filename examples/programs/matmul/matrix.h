// A matrix on the device, and its product with another.
#pragma once

template <typename T>
struct Matrix {
    int rows, columns;
    T *values;
};

template <typename T, int TILE>
void multiply(Matrix<T> a, Matrix<T> b, Matrix<T> c);
