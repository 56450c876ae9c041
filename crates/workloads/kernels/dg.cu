// Maxwell's equations by a nodal discontinuous Galerkin method of sixth order on tetrahedra: 84
// nodes in an element, 28 on each of its four faces. The first kernel differentiates the fields
// inside each element (84 threads), the second adds what flows through its faces (112 threads, of
// which 84 then distribute it over the element's nodes), the third makes a step of a Runge-Kutta
// method (256 threads). Matrices, geometry and neighbours' fields are read through textures.
#include "warpsim.cuh"
#include "texture.cuh"

#define NODES 84
#define PADDED 96 // floats of a field of an element
#define FACE_NODES 112
#define FIELDS 6 // Hx, Hy, Hz, Ex, Ey, Ez
#define THREADS 256

static __device__ __forceinline__ float4 texture_float4(u64 handle, u32 at) {
    uint4 t = texture_uint4(handle, at);
    return make_float4(__int_as_float((int)t.x), __int_as_float((int)t.y), __int_as_float((int)t.z),
                       __int_as_float((int)t.w));
}

static __device__ __forceinline__ float texture_float(u64 handle, u32 at) {
    return __int_as_float((int)texture_uint(handle, at));
}

// A field's derivatives along the reference element's axes.
struct Slopes { float r, s, t; };

static __device__ __forceinline__ void add(Slopes &slopes, float4 d, float value) {
    slopes.r = fmaf(d.x, value, slopes.r);
    slopes.s = fmaf(d.y, value, slopes.s);
    slopes.t = fmaf(d.z, value, slopes.t);
}

// Along an axis of space, of which `axis` is the gradient of r, s and t.
static __device__ __forceinline__ float along(float4 axis, Slopes slopes) {
    return axis.x * slopes.r + axis.y * slopes.s + axis.z * slopes.t;
}

// `derivatives` has a texel (d/dr, d/ds, d/dt) for each pair of nodes, `geometry` three texels per
// element: how r, s and t change along x, y and z.
extern "C" __global__ void __launch_bounds__(NODES, 6)
dg_volume(u64 derivatives, u64 geometry, const float *fields, float *rates) {
    __shared__ float inside[FIELDS * NODES];
    u32 n = threadIdx.x, element = blockIdx.x;
    const float *mine = fields + element * FIELDS * PADDED + n;
#pragma unroll
    for (int f = 0; f < FIELDS; f++)
        inside[f * NODES + n] = mine[f * PADDED];
    __syncthreads();
    Slopes hx = {}, hy = {}, hz = {}, ex = {}, ey = {}, ez = {};
#pragma unroll 4
    for (u32 m = 0; m < NODES; m++) {
        float4 d = texture_float4(derivatives, m * NODES + n);
        add(hx, d, inside[m]);
        add(hy, d, inside[m + NODES]);
        add(hz, d, inside[m + 2 * NODES]);
        add(ex, d, inside[m + 3 * NODES]);
        add(ey, d, inside[m + 4 * NODES]);
        add(ez, d, inside[m + 5 * NODES]);
    }
    float4 x = texture_float4(geometry, 3 * element), y = texture_float4(geometry, 3 * element + 1),
           z = texture_float4(geometry, 3 * element + 2);
    float *out = rates + element * FIELDS * PADDED + n;
    out[0 * PADDED] = along(z, ey) - along(y, ez);
    out[1 * PADDED] = along(x, ez) - along(z, ex);
    out[2 * PADDED] = along(y, ex) - along(x, ey);
    out[3 * PADDED] = along(y, hz) - along(z, hy);
    out[4 * PADDED] = along(z, hx) - along(x, hz);
    out[5 * PADDED] = along(x, hy) - along(y, hx);
}

// `surfaces` has two texels per face node: where this side's and the other side's values are, the
// face's scale, and what the electric field becomes on the other side; then the normal.
// `lift` has a texel for four face nodes and a node.
extern "C" __global__ void __launch_bounds__(FACE_NODES, 5)
dg_surface(u64 fields, u64 surfaces, u64 lift, float *rates) {
    __shared__ float4 flux[FIELDS * FACE_NODES / 4];
    u32 n = threadIdx.x, element = blockIdx.x;
    u32 at = element * 2 * FACE_NODES + n;
    uint4 sides = texture_uint4(surfaces, at);
    float4 normal = texture_float4(surfaces, at + FACE_NODES);
    u32 here = sides.x, there = sides.y;
    float scale = __int_as_float((int)sides.z), sign = __int_as_float((int)sides.w);
    float nx = normal.x, ny = normal.y, nz = normal.z;
    float hx = scale * (texture_float(fields, there) - texture_float(fields, here));
    float hy = scale * (texture_float(fields, there + PADDED) - texture_float(fields, here + PADDED));
    float hz =
        scale * (texture_float(fields, there + 2 * PADDED) - texture_float(fields, here + 2 * PADDED));
    float ex = scale * (sign * texture_float(fields, there + 3 * PADDED) -
                        texture_float(fields, here + 3 * PADDED));
    float ey = scale * (sign * texture_float(fields, there + 4 * PADDED) -
                        texture_float(fields, here + 4 * PADDED));
    float ez = scale * (sign * texture_float(fields, there + 5 * PADDED) -
                        texture_float(fields, here + 5 * PADDED));
    float h_through = nx * hx + ny * hy + nz * hz, e_through = nx * ex + ny * ey + nz * ez;
    float *out_flux = (float *)flux + n;
    out_flux[0 * FACE_NODES] = nz * ey - ny * ez + hx - h_through * nx;
    out_flux[1 * FACE_NODES] = nx * ez - nz * ex + hy - h_through * ny;
    out_flux[2 * FACE_NODES] = ny * ex - nx * ey + hz - h_through * nz;
    out_flux[3 * FACE_NODES] = ny * hz - nz * hy + ex - e_through * nx;
    out_flux[4 * FACE_NODES] = nz * hx - nx * hz + ey - e_through * ny;
    out_flux[5 * FACE_NODES] = nx * hy - ny * hx + ez - e_through * nz;
    __syncthreads();
    if (n < NODES) {
        float sums[FIELDS] = {};
#pragma unroll 2
        for (u32 m = 0; m < FACE_NODES / 4; m++) {
            float4 l = texture_float4(lift, m * NODES + n);
#pragma unroll
            for (int f = 0; f < FIELDS; f++) {
                float4 v = flux[f * FACE_NODES / 4 + m];
                sums[f] = fmaf(l.x, v.x, fmaf(l.y, v.y, fmaf(l.z, v.z, fmaf(l.w, v.w, sums[f]))));
            }
        }
        float *out = rates + element * FIELDS * PADDED + n;
#pragma unroll
        for (int f = 0; f < FIELDS; f++)
            out[f * PADDED] += sums[f];
    }
}

// A stage of a low-storage Runge-Kutta method.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
dg_step(float *fields, float *kept, const float *rates, u32 count, float a, float b, float dt) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) {
        float k = a * kept[i] + dt * rates[i];
        kept[i] = k;
        fields[i] += b * k;
    }
}
