// One level of a two-dimensional wavelet transform: of whole numbers by the 5/3 filter, of floats by
// the 9/7 filter, both by lifting. A block of 64 threads goes down a strip of 64 columns with a window
// of 8 rows: it loads the window and a few columns on both sides into shared memory, lifts along the
// rows with a barrier after each step, and then every thread lifts its column, of which it keeps the
// last values in registers from window to window. Beyond its borders the image is mirrored.
#include "warpsim.cuh"

#define COLUMNS 64
#define WINDOW 8

struct Image {
    int width, height, stride;
};

static __device__ __forceinline__ int mirrored(int at, int size) {
    at = at < 0 ? -at : at;
    at = at >= size ? 2 * size - 2 - at : at;
    return max(at, 0);
}

// The 5/3 filter: a detail is what an odd sample has more than the mean of its neighbours, and an even
// one takes in a quarter of its neighbours' details.
struct Whole {
    typedef int Value;
    enum { STEPS = 2, LAG = 1 };
    static __device__ __forceinline__ int step(int which, int centre, int before, int after) {
        return which == 0 ? centre - ((before + after) >> 1) : centre + ((before + after + 2) >> 2);
    }
    static __device__ __forceinline__ int low(int v) { return v; }
    static __device__ __forceinline__ int high(int v) { return v; }
};

// The 9/7 filter: four steps and a scale.
struct Smooth {
    typedef float Value;
    enum { STEPS = 4, LAG = 2 };
    static __device__ __forceinline__ float step(int which, float centre, float before, float after) {
        float by = which == 0 ? -1.586134342f : which == 1 ? -0.05298011857f : which == 2 ? 0.8829110755f
                                                                                             : 0.4435068520f;
        return centre + by * (before + after);
    }
    static __device__ __forceinline__ float low(float v) { return v * 0.8128930661f; }
    static __device__ __forceinline__ float high(float v) { return v * 1.230174105f; }
};

// What a thread keeps of its column: the last pair of samples, and the results of each pair of steps
// for the pair before.
template <class Filter>
struct State {
    typename Filter::Value even[Filter::LAG], odd[Filter::LAG], detail[Filter::LAG];
};

// Takes the next pair of a column in; gives the pair LAG pairs earlier.
template <class Filter>
static __device__ __forceinline__ void lift_down(State<Filter> &state, typename Filter::Value &even,
                                                 typename Filter::Value &odd) {
#pragma unroll
    for (int i = 0; i < Filter::LAG; i++) {
        typename Filter::Value last_even = state.even[i], last_odd = state.odd[i];
        state.even[i] = even;
        state.odd[i] = odd;
        odd = Filter::step(2 * i, last_odd, last_even, even);
        even = Filter::step(2 * i + 1, last_even, state.detail[i], odd);
        state.detail[i] = odd;
    }
}

// Each block makes `rows` rows of results. Low in both directions goes to `lows` (rows of
// `low_stride`), the rest to its quarter of `out`.
template <class Filter>
static __device__ __forceinline__ void
transform(const typename Filter::Value *in, typename Filter::Value *out, typename Filter::Value *lows,
          Image image, int out_stride, int low_stride, int rows) {
    typedef typename Filter::Value Value;
    const int halo = Filter::STEPS, wide = COLUMNS + 2 * halo;
    __shared__ Value window[WINDOW][wide];
    int t = threadIdx.x, left = blockIdx.x * COLUMNS, x = left + t;
    int first = blockIdx.y * rows / 2; // pair of rows
    int pairs = min(rows / 2, image.height / 2 - first);
    State<Filter> state = {};
#pragma unroll 1
    for (int start = -Filter::LAG; start < pairs + Filter::LAG; start += WINDOW / 2) {
        int top = 2 * (first + start);
        for (int row = 0; row < WINDOW; row++) {
            const Value *from = in + mirrored(top + row, image.height) * image.stride;
            for (int column = t; column < wide; column += COLUMNS)
                window[row][column] = from[mirrored(left - halo + column, image.width)];
        }
        __syncthreads();
        // Odd samples, even samples and so on; each step reaches one sample less on both sides.
#pragma unroll
        for (int step = 0; step < Filter::STEPS; step++) {
            int from = step + 1, items = (wide - 2 * from + 1) / 2;
            for (int e = t; e < WINDOW * items; e += COLUMNS) {
                int row = e / items, column = from + 2 * (e % items);
                window[row][column] = Filter::step(step, window[row][column], window[row][column - 1],
                                                   window[row][column + 1]);
            }
            __syncthreads();
        }
        if (x < image.width) {
#pragma unroll
            for (int pair = 0; pair < WINDOW / 2; pair++) {
                Value even = window[2 * pair][t + halo], odd = window[2 * pair + 1][t + halo];
                lift_down<Filter>(state, even, odd);
                int done = start + pair - Filter::LAG;
                if (done >= 0 && done < pairs) {
                    int row = first + done;
                    if (x % 2 == 0) {
                        lows[row * low_stride + x / 2] = Filter::low(Filter::low(even));
                        out[(image.height / 2 + row) * out_stride + x / 2] = Filter::low(Filter::high(odd));
                    } else {
                        int column = image.width / 2 + x / 2;
                        out[row * out_stride + column] = Filter::high(Filter::low(even));
                        out[(image.height / 2 + row) * out_stride + column] = Filter::high(Filter::high(odd));
                    }
                }
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(COLUMNS)
dwt2d_53(const int *in, int *out, int *lows, int width, int height, int stride, int out_stride,
         int low_stride, int rows) {
    Image image = {width, height, stride};
    transform<Whole>(in, out, lows, image, out_stride, low_stride, rows);
}

extern "C" __global__ void __launch_bounds__(COLUMNS)
dwt2d_97(const float *in, float *out, float *lows, int width, int height, int stride, int out_stride,
         int low_stride, int rows) {
    Image image = {width, height, stride};
    transform<Smooth>(in, out, lows, image, out_stride, low_stride, rows);
}
