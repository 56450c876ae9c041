// Light transport by random paths: a thread follows paths from the eye through a room full of spheres
// of several materials, until they end in a lamp, are absorbed, or are cut off. A path walks through
// a grid of cells and tries the spheres listed there; what it meets decides by a branch how it goes
// on: scattered, reflected, refracted, absorbed. Neighbouring threads take the same way only to the first
// sphere; after that the walks, the loads and the events of a warp have nothing to do with each other.
// flags: -ffp-contract=off
#include "warpsim.cuh"
#include "vector.cuh"

#define FAR 1.0e20f
#define NEAR 1.0e-3f
#define NONE 0x7fffffffu
#define NOISE 4096

enum Kind { LAMP, MATT, VEINED, METAL, GLASS, LACQUER };

// Random bits: a linear congruential step, then a permutation chosen by its upper bits.
static __device__ __forceinline__ float random_unit(u32 &state) {
    state = state * 747796405u + 2891336453u;
    u32 word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (float)((word >> 22 ^ word) >> 8) * (1.0f / 16777216.0f);
}

// A point in the unit ball, by trial.
static __device__ __forceinline__ Vector in_ball(u32 &state) {
    Vector p = {0.0f, 0.0f, 0.0f};
    for (u32 tries = 0; tries < 16; tries++) {
        p.x = 2.0f * random_unit(state) - 1.0f;
        p.y = 2.0f * random_unit(state) - 1.0f;
        p.z = 2.0f * random_unit(state) - 1.0f;
        if (dot(p, p) < 1.0f)
            break;
    }
    return p;
}

static __device__ __forceinline__ Vector scattered(Vector normal, u32 &state) {
    Vector d = normal + in_ball(state) * 0.98f;
    return unit(d);
}

static __device__ __forceinline__ Vector mirrored(Vector d, Vector normal) {
    return d - normal * (2.0f * dot(d, normal));
}

// How bright a veined surface is at a point: noise in a number of octaves that depends on the place.
static __device__ __forceinline__ float veins(const float *noise, Vector at) {
    float sum = 0.0f, weight = 0.5f, scale = 4.0f;
    u32 octaves = 3;
    for (u32 o = 0; o < octaves; o++) {
        u32 x = (u32)(int)floorf(at.x * scale), y = (u32)(int)floorf(at.y * scale),
            z = (u32)(int)floorf(at.z * scale);
        u32 place = (x * 73856093u ^ y * 19349663u ^ z * 83492791u) + o * 977u;
        float value = noise[place % NOISE];
        sum = sum + weight * value;
        weight = weight * 0.5f;
        scale = scale * 2.0f;
        // Where it is dark, more detail shows.
        if (o == 2 && sum < 0.4f)
            octaves = 8;
    }
    return 0.3f + 0.7f * sum;
}

// Direction without zeros, for division.
static __device__ __forceinline__ float divisor(float d) {
    return fabsf(d) < 1.0e-6f ? 1.0e-6f : d;
}

// Cells have side one and there are `side` of them along each axis; cell c lists the spheres
// members[first[c]..first[c + 1]]. Surfaces, of the spheres and then of the six walls, are two float4:
// colour and kind; roughness or share, then nothing.
extern "C" __global__ void __launch_bounds__(64, 8)
light_paths(const float4 *spheres, const float4 *surfaces, const u32 *first, const u32 *members,
            const float *noise, float4 *picture, u32 count, u32 side, u32 width, u32 height,
            u32 samples, u32 bounces, u32 seed) {
    u32 px = blockIdx.x * blockDim.x + threadIdx.x;
    u32 py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float room = (float)side;
    u32 pixel = py * width + px;
    u32 state = (pixel + seed) * 2654435761u;
    Vector sum = {0.0f, 0.0f, 0.0f};
    u32 events = 0;
    for (u32 sample = 0; sample < samples; sample++) {
        Vector o = {0.5f * room, 0.5f * room, 0.25f};
        Vector d;
        d.x = ((float)px + random_unit(state)) / (float)width - 0.5f;
        d.y = ((float)py + random_unit(state)) / (float)height - 0.5f;
        d.z = 0.6f;
        d = unit(d);
        Vector weight = {1.0f, 1.0f, 1.0f};
        for (u32 bounce = 0; bounce < bounces; bounce++) {
            events++;
            // Through the cells to the nearest sphere or a wall.
            float ix = 1.0f / divisor(d.x), iy = 1.0f / divisor(d.y), iz = 1.0f / divisor(d.z);
            int cx = min(max((int)floorf(o.x), 0), (int)side - 1);
            int cy = min(max((int)floorf(o.y), 0), (int)side - 1);
            int cz = min(max((int)floorf(o.z), 0), (int)side - 1);
            int ux = ix > 0.0f, uy = iy > 0.0f, uz = iz > 0.0f;
            float nearest = FAR;
            u32 hit = NONE;
            float leave;
            for (;;) {
                float lx = ((float)(cx + ux) - o.x) * ix;
                float ly = ((float)(cy + uy) - o.y) * iy;
                float lz = ((float)(cz + uz) - o.z) * iz;
                leave = fminf(fminf(lx, ly), lz);
                u32 cell = ((u32)cz * side + (u32)cy) * side + (u32)cx;
                u32 end = first[cell + 1];
                for (u32 m = first[cell]; m < end; m++) {
                    u32 i = members[m];
                    float4 s = spheres[i];
                    Vector to = {s.x - o.x, s.y - o.y, s.z - o.z};
                    float middle = dot(to, d);
                    float inside = middle * middle - dot(to, to) + s.w * s.w;
                    if (inside >= 0.0f) {
                        float half = sqrtf(inside);
                        float t = middle - half;
                        if (t < NEAR)
                            t = middle + half;
                        // Of spheres met at the same place the lower number counts.
                        if (t >= NEAR && (t < nearest || (t == nearest && i < hit))) {
                            nearest = t;
                            hit = i;
                        }
                    }
                }
                if (nearest <= leave)
                    break;
                if (lx == leave) {
                    cx += ux ? 1 : -1;
                    if ((u32)cx >= side) {
                        hit = count + (u32)ux;
                        break;
                    }
                } else if (ly == leave) {
                    cy += uy ? 1 : -1;
                    if ((u32)cy >= side) {
                        hit = count + 2 + (u32)uy;
                        break;
                    }
                } else {
                    cz += uz ? 1 : -1;
                    if ((u32)cz >= side) {
                        hit = count + 4 + (u32)uz;
                        break;
                    }
                }
            }

            Vector normal;
            bool within = false;
            if (hit < count) {
                o = o + d * nearest;
                float4 s = spheres[hit];
                normal = (o - Vector{s.x, s.y, s.z}) * (1.0f / s.w);
                within = dot(normal, d) > 0.0f;
                if (within)
                    normal = normal * -1.0f;
            } else {
                o = o + d * fmaxf(leave, 0.0f);
                u32 wall = hit - count;
                float towards = wall & 1 ? -1.0f : 1.0f;
                normal = {wall / 2 == 0 ? towards : 0.0f, wall / 2 == 1 ? towards : 0.0f,
                          wall / 2 == 2 ? towards : 0.0f};
            }
            o.x = fminf(fmaxf(o.x, 0.0f), room);
            o.y = fminf(fmaxf(o.y, 0.0f), room);
            o.z = fminf(fmaxf(o.z, 0.0f), room);

            float4 colour = surfaces[2 * hit];
            Kind kind = (Kind)__float_as_int(colour.w);
            if (kind == LAMP) {
                sum.x = sum.x + weight.x * colour.x;
                sum.y = sum.y + weight.y * colour.y;
                sum.z = sum.z + weight.z * colour.z;
                break;
            }
            float4 finish = surfaces[2 * hit + 1];
            float dim = 1.0f;
            switch (kind) {
            case MATT:
                d = scattered(normal, state);
                break;
            case VEINED:
                dim = veins(noise, o);
                d = scattered(normal, state);
                break;
            case METAL:
                d = unit(mirrored(d, normal) + in_ball(state) * finish.x);
                break;
            case GLASS: {
                float ratio = within ? finish.x : 1.0f / finish.x;
                float cosine = fminf(-dot(d, normal), 1.0f);
                float sine2 = 1.0f - cosine * cosine;
                float beyond = 1.0f - ratio * ratio * sine2;
                float least = (1.0f - ratio) / (1.0f + ratio);
                least = least * least;
                float one = 1.0f - cosine, two = one * one;
                float reflected = least + (1.0f - least) * (two * two * one);
                if (beyond < 0.0f || random_unit(state) < reflected)
                    d = unit(mirrored(d, normal));
                else
                    d = unit((d + normal * cosine) * ratio - normal * sqrtf(beyond));
                break;
            }
            default:
                if (random_unit(state) < finish.x)
                    d = unit(mirrored(d, normal));
                else
                    d = scattered(normal, state);
            }
            // Rough metal sends some light into itself.
            if (kind == METAL && dot(d, normal) <= 0.0f)
                break;
            weight.x = weight.x * (colour.x * dim);
            weight.y = weight.y * (colour.y * dim);
            weight.z = weight.z * (colour.z * dim);
            // Dim paths end by lot, and those that go on count for more.
            float brightest = fmaxf(fmaxf(weight.x, weight.y), weight.z);
            if (brightest < 0.5f) {
                float chance = 2.0f * brightest;
                if (random_unit(state) >= chance)
                    break;
                weight = weight * (1.0f / chance);
            }
        }
    }
    float share = 1.0f / (float)samples;
    picture[pixel] = {sum.x * share, sum.y * share, sum.z * share, (float)events};
}
