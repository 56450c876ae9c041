// Monte-Carlo pricing of a portfolio of swaptions in the LIBOR market model. A thread follows one
// path: forward rates evolve from maturity to maturity under given normal random numbers, then
// every swaption is valued. How many rates there are is only known at run time, so they live in
// local memory. The second kernel also differentiates the value by the initial rates: it keeps all
// rates of the path and goes back over it (the adjoint method).
#include "warpsim.cuh"

#define RATES 32
#define STEPS 16
#define OPTIONS 16

struct Market {
    int rates, steps, options;
    float period, root; // years between maturities, and the square root
    float initial;      // every forward rate at the beginning
    float volatility[RATES];
    int maturity[OPTIONS]; // in periods from the last step
    float strike[OPTIONS];
};
__constant__ Market market;

// One step: rates behind it move on.
static __device__ __forceinline__ void advance(float *rate, int step, float normal) {
    float drift = 0.0f, shock = market.root * normal;
    for (int i = step + 1; i < market.rates; i++) {
        float v = market.volatility[i - step - 1], weight = market.period * v;
        drift += __fdividef(weight * rate[i], 1.0f + market.period * rate[i]);
        rate[i] *= __expf(weight * (drift - 0.5f * v) + v * shock);
    }
}

// Bonds and annuities that the rates give, for every maturity after the last step.
static __device__ __forceinline__ void discount(const float *rate, float *bond, float *annuity) {
    float price = 1.0f, sum = 0.0f;
    for (int i = market.steps; i < market.rates; i++) {
        price = __fdividef(price, 1.0f + market.period * rate[i]);
        sum += market.period * price;
        bond[i - market.steps] = price;
        annuity[i - market.steps] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(64, 8)
libor_value(const float *normals, float *values, u32 paths) {
    u32 path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float rate[RATES], bond[RATES], annuity[RATES];
    for (int i = 0; i < market.rates; i++)
        rate[i] = market.initial;
    for (int step = 0; step < market.steps; step++)
        advance(rate, step, normals[(u32)step * paths + path]);
    discount(rate, bond, annuity);
    float value = 0.0f;
    for (int o = 0; o < market.options; o++) {
        int last = market.maturity[o] - 1;
        float gain = bond[last] + market.strike[o] * annuity[last] - 1.0f;
        if (gain < 0.0f)
            value -= 100.0f * gain;
    }
    values[path] = value;
}

extern "C" __global__ void __launch_bounds__(64, 8)
libor_greeks(const float *normals, float *values, float *deltas, u32 paths) {
    u32 path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float rate[(STEPS + 1) * RATES], bond[RATES], annuity[RATES], slope[RATES];
    int n = market.rates;
    for (int i = 0; i < n; i++)
        rate[i] = market.initial;
    for (int step = 0; step < market.steps; step++) {
        float *next = rate + (step + 1) * n;
        for (int i = 0; i < n; i++)
            next[i] = next[i - n];
        advance(next, step, normals[(u32)step * paths + path]);
    }
    const float *final = rate + market.steps * n;
    discount(final, bond, annuity);
    for (int i = 0; i < n; i++)
        slope[i] = 0.0f;
    float value = 0.0f;
    for (int o = 0; o < market.options; o++) {
        int last = market.maturity[o] - 1;
        float gain = bond[last] + market.strike[o] * annuity[last] - 1.0f;
        if (gain < 0.0f) {
            value -= 100.0f * gain;
            // A rate lowers every bond from its own maturity on.
            float tail = annuity[last];
            for (int i = 0; i <= last; i++) {
                int at = market.steps + i;
                slope[at] += __fdividef(100.0f * market.period * (bond[last] + market.strike[o] * tail),
                                             1.0f + market.period * final[at]);
                tail = annuity[last] - annuity[i];
            }
        }
    }
    // Back over the path: through each rate's growth, and through the drift of those above it.
    for (int step = market.steps - 1; step >= 0; step--) {
        const float *before = rate + step * n, *after = before + n;
        float drift = 0.0f;
        for (int i = n - 1; i > step; i--) {
            float weight = market.period * market.volatility[i - step - 1];
            float own = slope[i], divisor = 1.0f + market.period * before[i];
            drift += weight * after[i] * own;
            slope[i] = __fdividef(after[i], before[i]) * own + __fdividef(weight * drift, divisor * divisor);
        }
    }
    float delta = 0.0f;
    for (int i = 0; i < n; i++)
        delta += slope[i];
    values[path] = value;
    deltas[path] = delta;
}
