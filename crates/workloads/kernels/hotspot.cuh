// The kernel of hotspot.cu: KERNEL is its name, CONSTANTS are the chip's among its parameters, FACTORS makes of
// them what a step multiplies by, and IN compares with two bounds.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
KERNEL(const float *power, const float *from, float *to, int columns, int rows, int border,
       int steps, CONSTANTS, float ambient) {
    __shared__ float now[SIDE][SIDE], heat[SIDE][SIDE], next[SIDE][SIDE];
    FACTORS
    int tx = threadIdx.x, ty = threadIdx.y;
    int inside = SIDE - 2 * border;
    int top = inside * blockIdx.y - border, left = inside * blockIdx.x - border;
    int y = top + ty, x = left + tx;
    int here = y * columns + x;
    if (IN(y, 0, rows - 1) && IN(x, 0, columns - 1)) {
        now[ty][tx] = from[here];
        heat[ty][tx] = power[here];
    }
    __syncthreads();
    // The part of the tile that lies on the chip; neighbours beyond it are the border itself.
    int first_y = max(-top, 0), last_y = min(SIDE - 1, rows - 1 - top);
    int first_x = max(-left, 0), last_x = min(SIDE - 1, columns - 1 - left);
    int n = max(ty - 1, first_y), s = min(ty + 1, last_y);
    int w = max(tx - 1, first_x), e = min(tx + 1, last_x);
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (IN(tx, i + 1, SIDE - i - 2) && IN(ty, i + 1, SIDE - i - 2) && IN(tx, first_x, last_x) &&
            IN(ty, first_y, last_y)) {
            computed = true;
            float t = now[ty][tx];
            next[ty][tx] = t + per_capacity * (heat[ty][tx] +
                                               (now[s][tx] + now[n][tx] - 2.0f * t) * per_ry +
                                               (now[ty][e] + now[ty][w] - 2.0f * t) * per_rx +
                                               (ambient - t) * per_rz);
        }
        __syncthreads();
        if (i == steps - 1)
            break;
        if (computed)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        to[here] = next[ty][tx];
}
