// One frame of rigid bodies in a game: spheres, capsules and boxes in heaps. The broad phase goes through
// the neighbouring cells of a grid and lists bodies whose bounding spheres meet; the narrow phase finds contacts, by a
// routine of its own for each pair of shapes; a solver changes velocities until bodies no longer
// approach where they touch. One thread per body: what its neighbours are, how many there are and which
// routine a pair needs differs from lane to lane.
// flags: -ffp-contract=off
#include "warpsim.cuh"
#include "vector.cuh"

#define THREADS 64
#define MOST 24 // neighbours of a body at most

enum Shape { SPHERE, CAPSULE, BOX };

// Centre; two unit axes, the third is their product. A sphere has its radius in `radius`, a capsule too and half its
// length in `half.x` along the first axis; a box has its half sides in `half`.
struct Body {
    Shape shape;
    Vector centre, u, v, half;
    float radius;
};

// Four float4 per body: centre and bounding radius; first axis and shape; second axis and radius; half sides.
static __device__ __forceinline__ Body body(const float4 *bodies, u32 i) {
    float4 a = bodies[4 * i], b = bodies[4 * i + 1], c = bodies[4 * i + 2], d = bodies[4 * i + 3];
    return {(Shape)__float_as_int(b.w), {a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z},
            {d.x, d.y, d.z}, c.w};
}

static __device__ __forceinline__ Shape shape(const float4 *bodies, u32 i) {
    return (Shape)__float_as_int(bodies[4 * i + 1].w);
}

// Bodies are sorted by cell: where each cell's begin and end.
extern "C" __global__ void __launch_bounds__(THREADS)
cell_bounds(const u32 *cells, u32 *begin, u32 *end, u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    u32 cell = cells[i];
    if (i == 0 || cells[i - 1] != cell)
        begin[cell] = i;
    if (i == count - 1 || cells[i + 1] != cell)
        end[cell] = i + 1;
}

extern "C" __global__ void __launch_bounds__(THREADS)
broad_phase(const float4 *bodies, const u32 *cells, const u32 *begin, const u32 *end, u32 *near,
            u32 *neighbours, u32 count, u32 side) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float4 me = bodies[4 * i];
    int cell = (int)cells[i], n = (int)side;
    int x = cell % n, y = cell / n % n, z = cell / (n * n);
    u32 found = 0;
    for (int cz = max(z - 1, 0); cz <= min(z + 1, n - 1); cz++)
        for (int cy = max(y - 1, 0); cy <= min(y + 1, n - 1); cy++)
            for (int cx = max(x - 1, 0); cx <= min(x + 1, n - 1); cx++) {
                int there = (cz * n + cy) * n + cx;
                u32 last = end[there];
                for (u32 j = begin[there]; j < last; j++) {
                    float4 other = bodies[4 * j];
                    Vector d = {other.x - me.x, other.y - me.y, other.z - me.z};
                    float reach = me.w + other.w;
                    if (j != i && found < MOST && dot(d, d) < reach * reach)
                        near[found++ * count + i] = j;
                }
            }
    neighbours[i] = found;
}

static __device__ __forceinline__ float clamp(float x, float low, float high) {
    return fminf(fmaxf(x, low), high);
}

// The contact of two balls: normal from the first to the second, and depth (none if not above zero).
static __device__ __forceinline__ float balls(Vector a, float ra, Vector b, float rb, Vector &normal) {
    Vector d = b - a;
    float distance = sqrtf(dot(d, d));
    if (distance >= ra + rb)
        return 0.0f;
    if (distance > 1.0e-5f)
        normal = d * (1.0f / distance);
    else
        normal = {0.0f, 1.0f, 0.0f};
    return ra + rb - distance;
}

// Of a capsule's middle line the point nearest to `p`.
static __device__ __forceinline__ Vector on_line(const Body &capsule, Vector p) {
    float t = clamp(dot(p - capsule.centre, capsule.u), -capsule.half.x, capsule.half.x);
    return capsule.centre + capsule.u * t;
}

static __device__ __forceinline__ float capsules(const Body &a, const Body &b, Vector &normal) {
    Vector r = a.centre - b.centre;
    float along = dot(a.u, b.u), c = dot(a.u, r), f = dot(b.u, r);
    float across = 1.0f - along * along;
    float s = 0.0f;
    if (across > 1.0e-4f)
        s = clamp((along * f - c) / across, -a.half.x, a.half.x);
    float t = along * s + f;
    if (t < -b.half.x) {
        t = -b.half.x;
        s = clamp(along * t - c, -a.half.x, a.half.x);
    } else if (t > b.half.x) {
        t = b.half.x;
        s = clamp(along * t - c, -a.half.x, a.half.x);
    }
    return balls(a.centre + a.u * s, a.radius, b.centre + b.u * t, b.radius, normal);
}

// In a box the point nearest to `p`.
static __device__ __forceinline__ Vector in_box(const Body &box, Vector p) {
    Vector d = p - box.centre, w = cross(box.u, box.v);
    return box.centre + box.u * clamp(dot(d, box.u), -box.half.x, box.half.x) +
           box.v * clamp(dot(d, box.v), -box.half.y, box.half.y) +
           w * clamp(dot(d, w), -box.half.z, box.half.z);
}

// A ball against a box: from outside by the nearest point, from within through the nearest face.
static __device__ __forceinline__ float ball_box(Vector p, float radius, const Body &box, Vector &normal) {
    Vector d = p - box.centre, w = cross(box.u, box.v);
    float x = dot(d, box.u), y = dot(d, box.v), z = dot(d, w);
    float ox = box.half.x - fabsf(x), oy = box.half.y - fabsf(y), oz = box.half.z - fabsf(z);
    float least = fminf(fminf(ox, oy), oz);
    if (least < 0.0f)
        return balls(p, radius, in_box(box, p), 0.0f, normal);
    if (ox == least)
        normal = box.u * (x > 0.0f ? -1.0f : 1.0f);
    else if (oy == least)
        normal = box.v * (y > 0.0f ? -1.0f : 1.0f);
    else
        normal = w * (z > 0.0f ? -1.0f : 1.0f);
    return radius + least;
}

// The capsule's point nearest to the box, by going back and forth between them until it stays.
static __device__ __forceinline__ float capsule_box(const Body &capsule, const Body &box, Vector &normal) {
    Vector p = on_line(capsule, box.centre);
    for (u32 step = 0; step < 12; step++) {
        Vector q = on_line(capsule, in_box(box, p));
        Vector moved = q - p;
        p = q;
        if (dot(moved, moved) < 1.0e-6f)
            break;
    }
    return ball_box(p, capsule.radius, box, normal);
}

// How far a box reaches along a direction.
static __device__ __forceinline__ float reach(const Body &box, Vector w, Vector along) {
    return box.half.x * fabsf(dot(box.u, along)) + box.half.y * fabsf(dot(box.v, along)) +
           box.half.z * fabsf(dot(w, along));
}

// The k-th of three vectors, chosen in registers.
static __device__ __forceinline__ Vector choose(u32 k, Vector a, Vector b, Vector c) {
    return {k == 0 ? a.x : k == 1 ? b.x : c.x, k == 0 ? a.y : k == 1 ? b.y : c.y,
            k == 0 ? a.z : k == 1 ? b.z : c.z};
}

// Two boxes: along each of fifteen axes they overlap, and least along the contact's; or they do not touch.
static __device__ __forceinline__ float boxes(const Body &a, const Body &b, Vector &normal) {
    Vector d = b.centre - a.centre;
    Vector wa = cross(a.u, a.v), wb = cross(b.u, b.v);
    float least = 1.0e20f;
    for (u32 k = 0; k < 15; k++) {
        Vector axis;
        if (k < 6) {
            axis = k < 3 ? choose(k, a.u, a.v, wa) : choose(k - 3, b.u, b.v, wb);
        } else {
            axis = cross(choose((k - 6) / 3, a.u, a.v, wa), choose((k - 6) % 3, b.u, b.v, wb));
            float length = dot(axis, axis);
            if (length < 1.0e-3f)
                continue;
            axis = axis * (1.0f / sqrtf(length));
        }
        float apart = dot(d, axis);
        float overlap = reach(a, wa, axis) + reach(b, wb, axis) - fabsf(apart);
        if (overlap <= 0.0f)
            return 0.0f;
        if (overlap < least) {
            least = overlap;
            normal = axis * (apart < 0.0f ? -1.0f : 1.0f);
        }
    }
    return least;
}

// Contacts of a body: normal towards it and depth, and with whom.
extern "C" __global__ void __launch_bounds__(THREADS)
narrow_phase(const float4 *bodies, const u32 *near, const u32 *neighbours, float4 *contacts,
             u32 *partners, u32 *touching, u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    Shape mine = shape(bodies, i);
    u32 found = 0, pairs = neighbours[i];
    for (u32 k = 0; k < pairs; k++) {
        u32 j = near[k * count + i];
        // The simpler shape first; the normal turns with it.
        bool turned = mine > shape(bodies, j);
        Body a = body(bodies, turned ? j : i), b = body(bodies, turned ? i : j);
        Vector normal = {0.0f, 0.0f, 0.0f};
        float depth;
        switch (a.shape * 3 + b.shape) {
        case SPHERE * 3 + SPHERE:
            depth = balls(a.centre, a.radius, b.centre, b.radius, normal);
            break;
        case SPHERE * 3 + CAPSULE:
            depth = balls(a.centre, a.radius, on_line(b, a.centre), b.radius, normal);
            break;
        case SPHERE * 3 + BOX:
            depth = ball_box(a.centre, a.radius, b, normal);
            break;
        case CAPSULE * 3 + CAPSULE:
            depth = capsules(a, b, normal);
            break;
        case CAPSULE * 3 + BOX:
            depth = capsule_box(a, b, normal);
            break;
        default:
            depth = boxes(a, b, normal);
        }
        if (depth > 0.0f) {
            float sign = turned ? 1.0f : -1.0f;
            contacts[found * count + i] = {normal.x * sign, normal.y * sign, normal.z * sign, depth};
            partners[found * count + i] = j;
            found++;
        }
    }
    touching[i] = found;
}

// One step of the solver: velocities (and one over the mass) of all bodies from those of the step before.
extern "C" __global__ void __launch_bounds__(THREADS)
solve_contacts(const float4 *contacts, const u32 *partners, const u32 *touching, const float4 *from,
               float4 *to, u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float4 me = from[i];
    Vector v = {me.x, me.y, me.z}, sum = v;
    u32 n = touching[i];
    for (u32 k = 0; k < n; k++) {
        float4 c = contacts[k * count + i];
        float4 other = from[partners[k * count + i]];
        Vector normal = {c.x, c.y, c.z};
        Vector relative = v - Vector{other.x, other.y, other.z};
        float approach = dot(relative, normal);
        float wanted = 0.2f * c.w - approach;
        if (wanted > 0.0f) {
            // Half of it in each step, since all contacts are solved at once.
            float push = 0.5f * wanted * (me.w / (me.w + other.w));
            sum = sum + normal * push;
            Vector sliding = relative - normal * approach;
            float speed = sqrtf(dot(sliding, sliding));
            if (speed > 1.0e-4f)
                sum = sum - sliding * (fminf(0.3f * push, 0.5f * speed) / speed);
        }
    }
    to[i] = {sum.x, sum.y, sum.z, me.w};
}

// Bodies fall and move; the floor holds them.
extern "C" __global__ void __launch_bounds__(THREADS)
move_bodies(const float4 *bodies, const float4 *velocities, float4 *places, float step, u32 count) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float4 at = bodies[4 * i], v = velocities[i];
    float fall = v.y - 9.8f * step;
    float y = at.y + fall * step;
    if (y < at.w) {
        y = at.w;
        fall = 0.0f;
    }
    places[2 * i] = {at.x + v.x * step, y, at.z + v.z * step, at.w};
    places[2 * i + 1] = {v.x, fall, v.z, v.w};
}
