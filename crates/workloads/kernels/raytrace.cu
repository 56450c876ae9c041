// A picture of spheres above a chequered floor, with shadows and reflections: a thread takes a
// pixel and follows its ray from one surface to the next in a loop (recursion's tail), each time
// trying every sphere. All lanes try the same sphere at the same time; what differs is how many
// reflections a pixel needs and whether it lies in a shadow.
// flags: -ffp-contract=off
#include "warpsim.cuh"

#define SPHERES 16
#define FAR 1.0e20f

struct Sphere {
    float x, y, z, radius2;           // centre, square of the radius
    float one_over_radius, mirror;    // share of the light that is reflected
    float red, green, blue, unused;
};
__constant__ Sphere spheres[SPHERES];

struct View {
    float ex, ey, ez;             // eye
    float lx, ly, lz;             // towards the light, of length one
    float left, top, step, depth; // the picture's corner, a pixel's size, its distance
    int spheres, bounces;
};

// How far along a ray a sphere is hit, or FAR. The direction has length one.
static __device__ __forceinline__ float meet(const Sphere &s, float ox, float oy, float oz,
                                             float dx, float dy, float dz) {
    float x = s.x - ox, y = s.y - oy, z = s.z - oz;
    float along = x * dx + y * dy + z * dz;
    float inside = along * along - (x * x + y * y + z * z) + s.radius2;
    if (inside < 0.0f)
        return FAR;
    float t = along - sqrtf(inside);
    return t > 0.001f ? t : FAR;
}

extern "C" __global__ void __launch_bounds__(128, 3)
render(float4 *picture, u32 width, u32 height, View view) {
    u32 px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float ox = view.ex, oy = view.ey, oz = view.ez;
    float dx = view.left + (float)px * view.step, dy = view.top - (float)py * view.step;
    float dz = view.depth;
    float length = sqrtf(dx * dx + dy * dy + dz * dz);
    dx = dx / length;
    dy = dy / length;
    dz = dz / length;
    float red = 0.0f, green = 0.0f, blue = 0.0f, share = 1.0f;
    for (int bounce = 0; bounce <= view.bounces; bounce++) {
        float nearest = dy < -0.0001f ? -oy / dy : FAR;
        int hit = -1;
        for (int i = 0; i < view.spheres; i++) {
            float t = meet(spheres[i], ox, oy, oz, dx, dy, dz);
            if (t < nearest) {
                nearest = t;
                hit = i;
            }
        }
        if (nearest >= 100.0f) {
            // The sky, brighter further up.
            float up = 0.5f + 0.5f * dy;
            red += share * (1.0f - 0.5f * up);
            green += share * (1.0f - 0.3f * up);
            blue += share;
            break;
        }
        ox = ox + nearest * dx;
        oy = oy + nearest * dy;
        oz = oz + nearest * dz;
        float nx = 0.0f, ny = 1.0f, nz = 0.0f, mirror, r, g, b;
        if (hit >= 0) {
            const Sphere &s = spheres[hit];
            nx = (ox - s.x) * s.one_over_radius;
            ny = (oy - s.y) * s.one_over_radius;
            nz = (oz - s.z) * s.one_over_radius;
            mirror = s.mirror;
            r = s.red;
            g = s.green;
            b = s.blue;
        } else {
            int squares = (int)floorf(ox) + (int)floorf(oz);
            r = g = b = squares & 1 ? 0.9f : 0.2f;
            mirror = 0.2f;
        }
        float light = nx * view.lx + ny * view.ly + nz * view.lz;
        if (light > 0.0f) {
            for (int i = 0; i < view.spheres; i++)
                if (meet(spheres[i], ox, oy, oz, view.lx, view.ly, view.lz) < FAR) {
                    light = 0.0f;
                    break;
                }
        } else {
            light = 0.0f;
        }
        float own = share * (1.0f - mirror) * (0.15f + 0.85f * light);
        red += own * r;
        green += own * g;
        blue += own * b;
        share *= mirror;
        if (share < 0.05f)
            break;
        float twice = 2.0f * (dx * nx + dy * ny + dz * nz);
        dx = dx - twice * nx;
        dy = dy - twice * ny;
        dz = dz - twice * nz;
    }
    picture[py * width + px] = {red, green, blue, share};
}
