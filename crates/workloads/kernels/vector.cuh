// Vectors of three floats. Every operation rounds on its own and in the order written here, so that a
// reference in plain single precision gets the same bits (with `-ffp-contract=off`).
#pragma once

struct Vector {
    float x, y, z;
};
static __device__ __forceinline__ Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static __device__ __forceinline__ Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static __device__ __forceinline__ Vector operator*(Vector a, float s) { return {a.x * s, a.y * s, a.z * s}; }
static __device__ __forceinline__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static __device__ __forceinline__ Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static __device__ __forceinline__ Vector unit(Vector a) { return a * (1.0f / sqrtf(dot(a, a))); }
