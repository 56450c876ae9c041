// Cloud microphysics of a weather model: one time step of a single-moment scheme with vapour, cloud
// water, rain, cloud ice and snow. A thread takes a column of the atmosphere, blocks are 8x8 columns.
// Per level: saturation, melting and freezing, then every way in which one kind of water becomes
// another, each behind its own conditions; what a kind loses is limited to what there is; saturation
// is adjusted; last, rain and snow fall in as many sub-steps as the column's rain needs. Long code of
// many branches, with more values alive than registers.
#include "warpsim.cuh"

#define SIDE 8

#define EPS 1e-9f
#define FREEZING 273.16f
#define HEAT 1004.6f        // of air at constant pressure
#define VAPORISATION 2.5e6f // latent heats
#define SUBLIMATION 2.85e6f
#define FUSION 3.5e5f
#define GAS 461.6f          // constant of vapour
#define RAIN_DROPS 8e6f     // intercept of their sizes
#define PI 3.14159265f

static __device__ __forceinline__ float power(float x, float y) { return __powf(x, y); }

// Saturation vapour mixing ratio, over water and over ice.
static __device__ __forceinline__ float over_water(float t, float p) {
    float e = 610.78f * __expf(17.269f * (t - FREEZING) / (t - 35.86f));
    return 0.622f * e / (p - e);
}
static __device__ __forceinline__ float over_ice(float t, float p) {
    float e = 610.78f * __expf(21.875f * (t - FREEZING) / (t - 7.66f));
    return 0.622f * e / (p - e);
}

// Sizes of drops and flakes.
static __device__ __forceinline__ float rain_slope(float rain, float density) {
    if (rain <= EPS)
        return 1.25e-5f;
    return fmaxf(1.25e-5f, power(density * rain / (PI * 1000.0f * RAIN_DROPS), 0.25f));
}
static __device__ __forceinline__ float flakes(float cold) {
    return fminf(1e11f, 2e6f * __expf(0.12f * fmaxf(0.0f, cold)));
}
static __device__ __forceinline__ float snow_slope(float snow, float density, float number) {
    if (snow <= EPS)
        return 1e-5f;
    return fmaxf(1e-5f, power(density * snow / (PI * 100.0f * number), 0.25f));
}

// How fast vapour reaches drops: heat conducted and vapour diffused.
static __device__ __forceinline__ float resistance(float heat, float p, float t, float density,
                                                   float saturated, float viscosity, float diffusion) {
    float conductivity = 1414.0f * viscosity * density;
    return density * heat * heat / (conductivity * GAS * t * t) + 1.0f / (saturated * diffusion);
}

// What is lost of a kind may not exceed what is there.
#define LIMIT(HAVE, LOSS, SCALE)                                                               \
    {                                                                                          \
        float have = fmaxf(EPS, HAVE), loss = (LOSS) * dt;                                     \
        if (loss > have) {                                                                     \
            float share = have / loss;                                                         \
            SCALE                                                                              \
        }                                                                                      \
    }

// All kinds and the temperature change in place; speeds are scratch; `fallen` takes what reaches the
// ground.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE, 4)
wp(float *temperatures, float *vapours, float *clouds, float *rains, float *ices, float *snows,
   const float *pressures, const float *densities, float *rain_speeds, float *snow_speeds, float *fallen,
   int width, int depth, int levels, float dz, float dt) {
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (x >= width || y >= depth)
        return;
    int layer = width * depth, column = y * width + x;
    // The heaviest rain of the column decides in how many steps it falls.
    float heaviest = 0.0f;

#pragma unroll 1
    for (int k = levels - 1; k >= 0; k--) {
        int at = k * layer + column;
        float t = temperatures[at], p = pressures[at], density = densities[at];
        float vapour = vapours[at], cloud = clouds[at], rain = rains[at];
        float ice = ices[at], snow = snows[at];
        heaviest = fmaxf(heaviest, rain);
        float thin = sqrtf(1.28f / density);

        // Melting and freezing.
        float cold = FREEZING - t;
        float rain_size = rain_slope(rain, density);
        float number = flakes(cold);
        float snow_size = snow_slope(snow, density, number);
        float viscosity = 1.496e-6f * (t * sqrtf(t)) / (t + 120.0f) / density;
        float diffusion = 8.794e-5f * power(t, 1.81f) / p;
        float ventilation = power(viscosity / diffusion, 0.3333333f) / sqrtf(viscosity) * sqrtf(thin);
        if (cold < 0.0f) {
            if (snow > EPS) {
                float area = snow_size * snow_size;
                float wind = area * sqrtf(power(snow_size, 1.41f));
                float melt = 1414.0f * viscosity * density / FUSION * -cold * 0.5f * PI * number *
                             (1.04f * area + 2.1f * ventilation * wind) * dt / density;
                melt = fminf(melt, snow);
                snow -= melt;
                rain += melt;
                t -= FUSION / HEAT * melt;
            }
            if (ice > EPS) {
                float melt = fminf(ice, 0.05f * -cold * ice);
                ice -= melt;
                cloud += melt;
                t -= FUSION / HEAT * melt;
            }
        } else {
            if (cloud > EPS) {
                float freeze;
                if (cold > 40.0f)
                    freeze = cloud * fminf(1.0f, 0.2f * (cold - 40.0f) + 0.01f);
                else
                    freeze = cloud * fminf(0.01f, 1e-5f * (__expf(0.66f * cold) - 1.0f));
                cloud -= freeze;
                ice += freeze;
                t += FUSION / HEAT * freeze;
            }
            if (rain > EPS) {
                float size = rain_size * rain_size * rain_size;
                float freeze = 20.0f * PI * PI * 100.0f * RAIN_DROPS * 1000.0f / density *
                               (__expf(0.66f * fminf(cold, 70.0f)) - 1.0f) * size * size * rain_size * dt;
                freeze = fminf(freeze, rain);
                rain -= freeze;
                snow += freeze;
                t += FUSION / HEAT * freeze;
            }
        }

        // What the kinds are like now.
        cold = FREEZING - t;
        rain_size = rain_slope(rain, density);
        number = flakes(cold);
        snow_size = snow_slope(snow, density, number);
        float water = over_water(t, p);
        float frozen = water;
        if (cold > 0.0f)
            frozen = over_ice(t, p);
        float rain_area = rain_size * rain_size, snow_area = snow_size * snow_size;
        float rain_pull = power(rain_size, 0.8f), snow_pull = power(snow_size, 0.41f);

        // Warm rain: drops grow, collect and evaporate.
        float grow = 0.0f, collect = 0.0f, evaporate = 0.0f;
        if (cloud > 5e-4f)
            grow = fminf(0.001f * (cloud - 5e-4f) * power(cloud * 1000.0f, 1.3333f), cloud / dt);
        if (rain > EPS && cloud > EPS)
            collect = fminf(2.48e10f * rain_area * rain_size * rain_pull * thin * cloud, cloud / dt);
        float excess = vapour - water;
        if (rain > EPS) {
            float ab = resistance(VAPORISATION, p, t, density, water, viscosity, diffusion);
            float wind = rain_area * sqrtf(rain_size * rain_pull);
            float rate = (vapour / water - 1.0f) * RAIN_DROPS * 2.0f * PI *
                         (0.78f * rain_area + 16.4f * ventilation * wind) / ab;
            if (rate < 0.0f)
                evaporate = fmaxf(fmaxf(rate, -rain / dt), excess / dt * 0.5f);
            else
                evaporate = fminf(rate, excess / dt * 0.5f);
        }

        // Cold processes, or the ways in which snow goes in warm air.
        float riming = 0.0f, sweep = 0.0f, nucleate = 0.0f, deposit = 0.0f, grow_snow = 0.0f;
        float aggregate = 0.0f, melt = 0.0f, dry = 0.0f;
        if (snow > EPS && cloud > EPS)
            riming = fminf(0.785f * number * 11.72f * 2.54f * snow_area * snow_size * snow_pull * thin * cloud,
                           cloud / dt);
        if (cold > 0.0f) {
            float crystals = fminf(1e6f, fmaxf(1e3f, 5.38e7f * power(density * fmaxf(ice, EPS), 0.75f)));
            float over = vapour - frozen;
            float ab = resistance(SUBLIMATION, p, t, density, frozen, viscosity, diffusion);
            if (ice > EPS) {
                float diameter = fminf(5e-4f, 11.9f * sqrtf(density * ice / crystals));
                float rate = 4.0f * diameter * crystals * (vapour / frozen - 1.0f) / ab;
                if (rate < 0.0f)
                    deposit = fmaxf(fmaxf(rate, -ice / dt), over / dt * 0.5f);
                else
                    deposit = fminf(rate, over / dt * 0.5f);
                if (snow > EPS) {
                    float size = 2.0f * snow_area * snow_size + 2.0f * diameter * snow_area +
                                 diameter * diameter * snow_size;
                    sweep = fminf(PI * ice * __expf(-0.07f * cold) * 0.5f * number * size * density,
                                  ice / dt);
                }
                float most = 8e-5f / density;
                if (ice > most)
                    aggregate = fminf((ice - most) / dt, 0.001f * (ice - most) * __expf(-0.025f * cold));
            }
            if (snow > EPS) {
                float wind = snow_area * sqrtf(snow_size * snow_pull);
                float rate = (vapour / frozen - 1.0f) * number * 4.0f *
                             (0.65f * snow_area + 1.5f * ventilation * wind) / ab;
                if (rate < 0.0f)
                    grow_snow = fmaxf(fmaxf(rate, -snow / dt), over / dt * 0.5f);
                else
                    grow_snow = fminf(rate, over / dt * 0.5f);
            }
            if (over > 0.0f) {
                float crystals_here = 1e3f * __expf(0.1f * fminf(cold, 60.0f));
                float mass = 4.92e-11f * power(crystals_here, 1.33f) / density;
                nucleate = fminf(fminf(fmaxf(0.0f, mass - ice) / dt, over / dt), 1e-6f * cold);
            }
        } else {
            if (snow > EPS) {
                // Cloud water caught by melting snow melts more of it.
                melt = fminf(4190.0f / FUSION * -cold * riming, snow / dt);
                if (excess < 0.0f) {
                    float ab = resistance(VAPORISATION, p, t, density, water, viscosity, diffusion);
                    float wind = snow_area * sqrtf(snow_size * snow_pull);
                    float rate = (vapour / water - 1.0f) * number * 4.0f *
                                 (0.65f * snow_area + 1.5f * ventilation * wind) / ab;
                    dry = fmaxf(fmaxf(rate, -snow / dt), excess / dt * 0.5f);
                }
            }
        }

        // Nothing loses more than it has.
        LIMIT(cloud, grow + collect + riming, { grow *= share; collect *= share; riming *= share; })
        if (cold > 0.0f) {
            LIMIT(ice, aggregate + sweep - nucleate - deposit,
                  { aggregate *= share; sweep *= share; nucleate *= share; deposit *= share; })
            LIMIT(rain, -grow - collect - evaporate,
                  { grow *= share; collect *= share; evaporate *= share; })
            LIMIT(snow, -(aggregate + sweep + riming + grow_snow),
                  { aggregate *= share; sweep *= share; riming *= share; grow_snow *= share; })
            float to_vapour = -(evaporate + grow_snow + nucleate + deposit);
            vapour = fmaxf(0.0f, vapour + to_vapour * dt);
            cloud = fmaxf(0.0f, cloud - (grow + collect + riming) * dt);
            rain = fmaxf(0.0f, rain + (grow + collect + evaporate) * dt);
            ice = fmaxf(0.0f, ice - (aggregate + sweep - nucleate - deposit) * dt);
            snow = fmaxf(0.0f, snow + (grow_snow + aggregate + sweep + riming) * dt);
            t += (SUBLIMATION * (grow_snow + deposit + nucleate) + VAPORISATION * evaporate +
                  FUSION * riming) / HEAT * dt;
        } else {
            LIMIT(snow, melt - dry, { melt *= share; dry *= share; })
            LIMIT(rain, -grow - collect - riming - evaporate - melt,
                  { grow *= share; collect *= share; riming *= share; evaporate *= share; melt *= share; })
            vapour = fmaxf(0.0f, vapour - (evaporate + dry) * dt);
            cloud = fmaxf(0.0f, cloud - (grow + collect + riming) * dt);
            rain = fmaxf(0.0f, rain + (grow + collect + riming + evaporate + melt) * dt);
            snow = fmaxf(0.0f, snow - (melt - dry) * dt);
            t += (VAPORISATION * (evaporate + dry) - FUSION * melt) / HEAT * dt;
        }

        // Vapour beyond saturation condenses, cloud evaporates below it.
        water = over_water(t, p);
        float condense = (vapour - water) / (1.0f + VAPORISATION * VAPORISATION / (GAS * HEAT) * water / (t * t));
        if (condense < 0.0f) {
            if (cloud > 0.0f)
                condense = fmaxf(condense, -cloud);
            else
                condense = 0.0f;
        } else {
            condense = fminf(condense, vapour);
        }
        temperatures[at] = t + VAPORISATION / HEAT * condense;
        vapours[at] = vapour - condense;
        clouds[at] = cloud + condense;
        rains[at] = rain;
        ices[at] = ice;
        snows[at] = snow;
        rain_speeds[at] = rain > EPS ? 2500.0f * power(rain_slope(rain, density), 0.8f) * thin : 0.0f;
        snow_speeds[at] =
            snow > EPS ? 20.1f * power(snow_slope(snow, density, flakes(FREEZING - t)), 0.41f) * thin : 0.0f;
    }

    // Rain and snow fall: each level loses to the one below it.
    int steps = 1;
    if (heaviest > 1e-4f)
        steps = 2;
    if (heaviest > 5e-4f)
        steps = 4;
    if (heaviest > 2e-3f)
        steps = 8;
    float dts = dt / (float)steps, ground = 0.0f;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        float rain_above = 0.0f, snow_above = 0.0f;
#pragma unroll 1
        for (int k = levels - 1; k >= 0; k--) {
            int at = k * layer + column;
            float density = densities[at], rain = rains[at], snow = snows[at];
            float falls = 0.0f;
            if (rain > EPS)
                falls = fminf(density * rain * rain_speeds[at] * dts / dz, density * rain);
            if (rain > EPS || rain_above > 0.0f)
                rains[at] = rain + (rain_above - falls) / density;
            rain_above = falls;
            falls = 0.0f;
            if (snow > EPS)
                falls = fminf(density * snow * snow_speeds[at] * dts / dz, density * snow);
            if (snow > EPS || snow_above > 0.0f)
                snows[at] = snow + (snow_above - falls) / density;
            snow_above = falls;
        }
        ground += (rain_above + snow_above) * dz;
    }
    fallen[column] += ground;
}
