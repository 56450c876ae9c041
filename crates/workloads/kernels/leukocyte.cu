// Leukocytes in video of blood vessels. The first kernel asks for every pixel how well circles of
// several radii around it agree with the image's gradient (the gradient inverse coefficient of
// variation), the second spreads the best answers over a disc, and the third smooths the edges around
// each cell found by motion gradient vector flow, a block per cell, until they come to rest.
// Gradients and answers are read through textures, circles and disc are in constant memory. Images
// are column by column, as the threads of a block are.
#include "warpsim.cuh"
#include "texture.cuh"

#define ROWS 175 // threads per block: rows of a frame without its borders
#define CIRCLES 7
#define POINTS 150
#define DISC 25 // cells across the largest disc

struct Circles {
    int count, points;
    float sine[POINTS], cosine[POINTS];
    int down[CIRCLES * POINTS], right[CIRCLES * POINTS];
};
__constant__ Circles circles;

struct Disc {
    int side;
    int set[DISC * DISC];
};
__constant__ Disc disc;

static __device__ __forceinline__ float texel(u64 handle, int at) {
    return __int_as_float((int)texture_uint(handle, (u32)at));
}

// A block is a column, a thread one of its pixels. `answers` is zero at first.
extern "C" __global__ void __launch_bounds__(ROWS, 5)
leukocyte_gicov(u64 gradient_x, u64 gradient_y, float *answers, int rows, int border) {
    int x = (int)blockIdx.x + border, y = (int)threadIdx.x + border;
    float most = 0.0f;
#pragma unroll 1
    for (int k = 0; k < circles.count; k++) {
        float sum = 0.0f, squares = 0.0f, mean = 0.0f;
        const int *down = circles.down + k * circles.points;
        const int *right = circles.right + k * circles.points;
#pragma unroll 1
        for (int n = 0; n < circles.points; n++) {
            int at = (x + right[n]) * rows + y + down[n];
            float g = texel(gradient_x, at) * circles.cosine[n];
            g += texel(gradient_y, at) * circles.sine[n];
            // Mean and spread in one pass.
            float off = g - mean;
            sum += g;
            mean += __fdividef(off, (float)(n + 1));
            squares += off * (g - mean);
        }
        mean = sum / (float)circles.points;
        float variance = squares / (float)(circles.points - 1);
        float answer = mean * mean / variance;
        if (answer > most) {
            answers[x * rows + y] = mean / sqrtf(variance);
            most = answer;
        }
    }
}

// The largest answer under the disc around each pixel.
extern "C" __global__ void __launch_bounds__(ROWS, 5)
leukocyte_dilate(u64 answers, float *dilated, int rows, int columns) {
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int x = at / rows, y = at % rows, reach = disc.side / 2;
    if (x >= columns)
        return;
    float most = 0.0f;
#pragma unroll 1
    for (int i = 0; i < disc.side; i++) {
        int column = x - reach + i;
#pragma unroll 1
        for (int j = 0; j < disc.side; j++) {
            int row = y - reach + j;
            bool inside = ((u32)column < (u32)columns) & ((u32)row < (u32)rows);
            if (inside & (disc.set[i * disc.side + j] != 0))
                most = fmaxf(most, texel(answers, column * rows + row));
        }
    }
    dilated[at] = most;
}

#define HEIGHT 41
#define WIDTH 81
#define CELLS (HEIGHT * WIDTH)

// A step function: how much of a difference flows.
static __device__ __forceinline__ float flow(float difference, float along) {
    float x = difference * along, part = 0.0f;
    if (x > -0.0001f)
        part = 0.5f;
    if (x > 0.0001f)
        part = 1.0f;
    return difference * part;
}

// `edges` holds a picture of 41x81 per cell, `fields` takes the result, `steps` the iterations it
// took. The field is in shared memory; new values wait in a register until nobody needs the old.
extern "C" __global__ void __launch_bounds__(ROWS)
leukocyte_field(const float *edges, float *fields, int *steps, float vx, float vy, int most, float rest) {
    __shared__ float field[CELLS];
    __shared__ float sums[ROWS];
    int t = threadIdx.x;
    const float *picture = edges + blockIdx.x * CELLS;
    for (int e = t; e < CELLS; e += ROWS)
        field[e] = picture[e];
    __syncthreads();
    int step = 0;
    float change;
    do {
        float waiting = 0.0f, moved = 0.0f;
#pragma unroll 1
        for (int first = 0; first < CELLS; first += ROWS) {
            int e = first + t;
            float next = 0.0f;
            if (e < CELLS) {
                int row = e / WIDTH, column = e % WIDTH;
                int up = row == 0 ? 0 : -WIDTH, down = row == HEIGHT - 1 ? 0 : WIDTH;
                int left = column == 0 ? 0 : -1, right = column == WIDTH - 1 ? 0 : 1;
                float old = field[e];
                float sum = flow(field[e + up + left] - old, -vx - vy);
                sum += flow(field[e + up] - old, -vy);
                sum += flow(field[e + up + right] - old, vx - vy);
                sum += flow(field[e + left] - old, -vx);
                sum += flow(field[e + right] - old, vx);
                sum += flow(field[e + down + left] - old, -vx + vy);
                sum += flow(field[e + down] - old, vy);
                sum += flow(field[e + down + right] - old, vx + vy);
                float spread = old + 0.1f * sum;
                float here = picture[e];
                next = spread - 0.2f * here * (spread - here);
                moved += fabsf(next - old);
            }
            __syncthreads();
            // The part before this one: its old values were read for the last time.
            if (first > 0)
                field[e - ROWS] = waiting;
            waiting = next;
        }
        __syncthreads();
        int last = CELLS / ROWS * ROWS + t;
        if (last < CELLS)
            field[last] = waiting;
        sums[t] = moved;
        __syncthreads();
#pragma unroll 1
        for (int half = 128; half > 0; half /= 2) {
            if (t < half && t + half < ROWS)
                sums[t] += sums[t + half];
            __syncthreads();
        }
        change = sums[0] / (float)CELLS;
        __syncthreads();
        step++;
    } while (step < most && change >= rest);
    for (int e = t; e < CELLS; e += ROWS)
        fields[blockIdx.x * CELLS + e] = field[e];
    if (t == 0)
        steps[blockIdx.x] = step;
}
