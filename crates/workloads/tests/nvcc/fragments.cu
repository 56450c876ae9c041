// Matrices moved between shared memory and registers, and turned; video instructions.
extern "C" __global__ void moves(const unsigned short *in, unsigned *out) {
    __shared__ __align__(16) unsigned short from[64], to[64];
    int t = threadIdx.x;
    from[t] = in[t];
    from[t + 32] = in[t + 32];
    __syncwarp();
    unsigned source = (unsigned)__cvta_generic_to_shared(&from[t % 8 * 8]);
    unsigned target = (unsigned)__cvta_generic_to_shared(&to[t % 8 * 8]);
    unsigned part, turned;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(part) : "r"(source));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(part));
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(target), "r"(turned) : "memory");
    __syncwarp();
    out[t] = to[2 * t] | to[2 * t + 1] << 16;
}
extern "C" __global__ void video(const unsigned *in, unsigned *out) {
    unsigned a = in[threadIdx.x], b = in[threadIdx.x + 32], sum;
    asm("vadd.u32.u32.u32.sat %0, %1.b1, %2.b0;" : "=r"(sum) : "r"(a), "r"(b));
    out[threadIdx.x] = (__vadd4(a, b) ^ __vabsdiffu4(a, b) ^ __vmaxs2(a, b)) + sum;
}
