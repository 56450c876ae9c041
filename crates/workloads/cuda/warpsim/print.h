// printf and assert. The compiler packs the arguments of a device printf; the simulator prints.
#pragma once

extern "C" __device__ int printf(const char *, ...);
extern "C" __host__ __device__ __attribute__((noreturn)) void __assertfail(const char *message, const char *file, unsigned line,
                                                                   const char *function, size_t size);
