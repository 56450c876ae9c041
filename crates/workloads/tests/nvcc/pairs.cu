// Two floats at once, and the largest of three, as sm_100 has them.
extern "C" __global__ void pairs(const float2 *in, float *out) {
    float2 x = in[threadIdx.x];
    unsigned long long a, r;
    asm("mov.b64 %0, {%1, %2};" : "=l"(a) : "f"(x.x), "f"(x.y));
    asm("fma.rn.f32x2 %0, %1, %1, %1;" : "=l"(r) : "l"(a));
    asm("add.f32x2 %0, %0, %1;" : "+l"(r) : "l"(a));
    asm("mul.f32x2 %0, %0, %1;" : "+l"(r) : "l"(a));
    float p, q, most;
    asm("mov.b64 {%0, %1}, %2;" : "=f"(p), "=f"(q) : "l"(r));
    asm("max.f32 %0, %1, %2, %3;" : "=f"(most) : "f"(p), "f"(q), "f"(x.x));
    out[threadIdx.x] = most;
}
