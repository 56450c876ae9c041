// The ray tracer of raytrace-persistent.cu, for warps of WIDTH threads: LANE is a thread's number in
// its warp, WARP the warp's in its block.
#define WARPS (6 * 32 / WIDTH)
#define STACK 48
#define DONE 0x7fffffff
#define MISS 0xffffffffu

struct Ray {
    float ox, oy, oz, dx, dy, dz; // origin and direction
    float ix, iy, iz;             // one over the direction
};

// Where the ray enters a box, or more than `limit` where it does not before that.
static __device__ __forceinline__ float enter(const Ray &r, float lox, float hix, float loy,
                                              float hiy, float loz, float hiz, float limit) {
    float x0 = (lox - r.ox) * r.ix, x1 = (hix - r.ox) * r.ix;
    float y0 = (loy - r.oy) * r.iy, y1 = (hiy - r.oy) * r.iy;
    float z0 = (loz - r.oz) * r.iz, z1 = (hiz - r.oz) * r.iz;
    float first = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
    float last = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), limit));
    return first <= last ? first : 3.0e38f;
}

// Nodes are four float4: x and y bounds of both children, their z bounds, their indices. A child
// that is a leaf has the complement of its first triangle's index. Triangles are three float4:
// corner and number, first edge and whether it is its leaf's last, second edge. Rays are two
// float4: origin and the shortest distance that counts, direction and the farthest, negative for a
// shadow ray.
extern "C" __global__ void __launch_bounds__(192, 3)
trace(const float4 *nodes, const float4 *triangles, const float4 *rays, uint2 *hits, u32 *pool,
      u32 count) {
    __shared__ volatile u32 next[WARPS];
    u32 lane = LANE, warp = WARP;
    int stack[STACK];
    for (;;) {
        if (lane == 0)
            next[warp] = atomicAdd(pool, WIDTH);
        u32 index = next[warp] + lane;
        if (index >= count)
            return;

        float4 from = rays[2 * index], to = rays[2 * index + 1];
        Ray r = {from.x, from.y, from.z, to.x, to.y, to.z, 1.0f / to.x, 1.0f / to.y, 1.0f / to.z};
        float nearest = fabsf(to.w), shortest = from.w;
        bool shadow = to.w < 0.0f;
        u32 hit = MISS;
        int node = 0, top = 1;
        stack[0] = DONE;
        while (node != DONE) {
            while (node >= 0 && node != DONE) {
                const float4 *n = nodes + 4 * node;
                float4 a = n[0], b = n[1], z = n[2], child = n[3];
                float ta = enter(r, a.x, a.y, a.z, a.w, z.x, z.y, nearest);
                float tb = enter(r, b.x, b.y, b.z, b.w, z.z, z.w, nearest);
                int ca = __float_as_int(child.x), cb = __float_as_int(child.y);
                bool ha = ta <= nearest, hb = tb <= nearest;
                if (ha && hb) {
                    // The nearer one first, the other waits.
                    bool swap = tb < ta;
                    stack[top++] = swap ? ca : cb;
                    node = swap ? cb : ca;
                } else if (ha || hb) {
                    node = ha ? ca : cb;
                } else {
                    node = stack[--top];
                }
            }
            while (node < 0) {
                const float4 *t = triangles + 3 * ~node;
                node = stack[--top];
                for (;; t += 3) {
                    float4 v = t[0], e = t[1], f = t[2];
                    float px = r.dy * f.z - r.dz * f.y;
                    float py = r.dz * f.x - r.dx * f.z;
                    float pz = r.dx * f.y - r.dy * f.x;
                    float scale = 1.0f / (e.x * px + e.y * py + e.z * pz);
                    float sx = r.ox - v.x, sy = r.oy - v.y, sz = r.oz - v.z;
                    float u = (sx * px + sy * py + sz * pz) * scale;
                    if (u >= 0.0f && u <= 1.0f) {
                        float qx = sy * e.z - sz * e.y;
                        float qy = sz * e.x - sx * e.z;
                        float qz = sx * e.y - sy * e.x;
                        float w = (r.dx * qx + r.dy * qy + r.dz * qz) * scale;
                        float at = (f.x * qx + f.y * qy + f.z * qz) * scale;
                        u32 number = (u32)__float_as_int(v.w);
                        // Of triangles at the same distance the lower number counts, so that the
                        // order of traversal does not matter.
                        if (w >= 0.0f && u + w <= 1.0f && at >= shortest &&
                            (at < nearest || (at == nearest && number < hit))) {
                            hit = number;
                            if (shadow) {
                                node = DONE;
                                break;
                            }
                            nearest = at;
                        }
                    }
                    if (__float_as_int(e.w) != 0)
                        break;
                }
            }
        }
        // Which triangle stops a shadow ray depends on the order of traversal: whether one does
        // is its result.
        hits[index] = {(u32)__float_as_int(nearest), shadow ? hit != MISS : hit};
    }
}
