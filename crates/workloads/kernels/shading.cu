// Deferred shading: a picture's depths, normals, colours and materials have been drawn into planes, and a
// thread shades a pixel from them. It reads its own texel of each plane; around it those of the depth and of the sun's shadow, for
// how open the place is and a shadow with soft edges; and it adds up the lights listed for its tile of the
// picture. All lanes do the same, and what they read lies side by side.
#include "warpsim.cuh"

#define TILE 32 // side of a tile of lights

struct View {
    u32 width, height;
    u32 pitch, margin; // of the planes that are read around a pixel, in texels
    float step;        // size of a pixel at distance one
    float sun[3];      // direction to it
};

struct Planes {
    const float *depths, *suns; // with a margin
    const float *normals_x, *normals_y;
    const u32 *colours, *surfaces;
    const float4 *materials;
    const float4 *lights;      // two per light: place and one over the square of its reach; colour
    const u32 *first, *listed; // of each tile
    const u8 *shadows;         // a plane per light
    float *red, *green, *blue;
};

template <int AROUND, bool SHADOWS> static __device__ __forceinline__ void shade(const Planes &in, const View &view) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x;
    u32 y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= view.width || y >= view.height)
        return;
    u32 at = y * view.width + x;
    u32 wide = (y + view.margin) * view.pitch + x + view.margin;
    float depth = in.depths[wide];

    // What lies before the pixel, and the sun's shadow on what is as deep.
    float covered = 0.0f, lit = 0.0f, total = 0.0f;
#pragma unroll
    for (int dy = -AROUND; dy <= AROUND; dy++) {
        const float *deep = in.depths + wide + dy * (int)view.pitch;
        const float *sun = in.suns + wide + dy * (int)view.pitch;
#pragma unroll
        for (int dx = -AROUND; dx <= AROUND; dx++) {
            float before = depth - deep[dx];
            covered += __saturatef(before);
            float like = __saturatef(1.0f - 4.0f * fabsf(before));
            lit += like * sun[dx];
            total += like;
        }
    }
    float texels = (float)((2 * AROUND + 1) * (2 * AROUND + 1));
    float open = 1.0f - 0.7f * covered / texels;

    float nx = in.normals_x[at], ny = in.normals_y[at];
    float nz = -sqrtf(fmaxf(1.0f - nx * nx - ny * ny, 0.0f));
    u32 colour = in.colours[at];
    float4 material = in.materials[in.surfaces[at]];
    // The place, seen from the eye; the direction to the eye.
    float px = ((float)x - 0.5f * (float)view.width) * view.step * depth;
    float py = ((float)y - 0.5f * (float)view.height) * view.step * depth;
    float pz = depth;
    float away = rsqrtf(px * px + py * py + pz * pz);
    float ex = -px * away, ey = -py * away, ez = -pz * away;

    float sun = __saturatef(nx * view.sun[0] + ny * view.sun[1] + nz * view.sun[2]) * lit / total;
    float r = 0.1f * open + sun, g = 0.1f * open + 0.9f * sun, b = 0.12f * open + 0.8f * sun;
    float sr = 0.0f, sg = 0.0f, sb = 0.0f;
    u32 tile = y / TILE * ((view.width + TILE - 1) / TILE) + x / TILE;
    u32 end = in.first[tile + 1];
    for (u32 i = in.first[tile]; i < end; i++) {
        u32 number = in.listed[i];
        float4 place = in.lights[2 * number], shine = in.lights[2 * number + 1];
        float lx = place.x - px, ly = place.y - py, lz = place.z - pz;
        float square = lx * lx + ly * ly + lz * lz;
        float over = rsqrtf(square);
        float fade = __saturatef(1.0f - square * place.w);
        if (SHADOWS)
            fade *= (float)in.shadows[number * (view.width * view.height) + at] * (1.0f / 255.0f);
        lx *= over;
        ly *= over;
        lz *= over;
        float straight = __saturatef(lx * nx + ly * ny + lz * nz);
        float hx = lx + ex, hy = ly + ey, hz = lz + ez;
        float half = rsqrtf(hx * hx + hy * hy + hz * hz + 1.0e-6f);
        float facing = __saturatef((hx * nx + hy * ny + hz * nz) * half);
        float glint = __saturatef(8.0f * straight) * __powf(facing + 1.0e-6f, material.x);
        float matt = straight * fade, gloss = glint * fade;
        r += shine.x * matt;
        g += shine.y * matt;
        b += shine.z * matt;
        sr += shine.x * gloss;
        sg += shine.y * gloss;
        sb += shine.z * gloss;
    }
    float scale = 1.0f / 255.0f;
    r = r * (float)(colour & 255) * scale + sr * material.y;
    g = g * (float)(colour >> 8 & 255) * scale + sg * material.z;
    b = b * (float)(colour >> 16 & 255) * scale + sb * material.w;
    // Bright colours are compressed.
    in.red[at] = r / (1.0f + r);
    in.green[at] = g / (1.0f + g);
    in.blue[at] = b / (1.0f + b);
}

// Few lights, and many texels around a pixel.
extern "C" __global__ void __launch_bounds__(128) shade_few(Planes in, View view) {
    shade<2, false>(in, view);
}

// Many lights, each with a shadow of its own.
extern "C" __global__ void __launch_bounds__(128) shade_many(Planes in, View view) {
    shade<1, true>(in, view);
}
