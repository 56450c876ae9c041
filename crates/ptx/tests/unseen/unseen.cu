// Kernels of common kinds, written to check the estimate of registers on code that the model was not
// made with. `unseen.ptx` is what NVRTC 11.8 makes of them (`--gpu-architecture=compute_35`).

#define KERNEL extern "C" __global__ void
typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned long long u64;
KERNEL backprop(const float *in, const float *w, float *part, int hid) {
    __shared__ float n[16], m[16][16];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int idx = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + hid + 1;
    if (tx == 0)
        n[ty] = in[16 * by + ty + 1];
    __syncthreads();
    m[ty][tx] = w[idx] * n[ty];
    __syncthreads();
    for (int i = 1; i <= 4; i++) {
        int p = 1 << i;
        if (ty % p == 0)
            m[ty][tx] += m[ty + p / 2][tx];
        __syncthreads();
    }
    if (tx == 0)
        part[by * hid + ty] = m[tx][ty];
}
KERNEL hotspot(const float *p, const float *t, float *o, int c, int r, float cap, float rx,
               float ry, float rz, float step) {
    __shared__ float s[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int cx = min(x, c - 1), cy = min(y, r - 1);
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    s[ly][lx] = t[cy * c + cx];
    if (threadIdx.x == 0)
        s[ly][0] = t[cy * c + max(cx - 1, 0)];
    if (threadIdx.x == 15)
        s[ly][17] = t[cy * c + min(cx + 1, c - 1)];
    if (threadIdx.y == 0)
        s[0][lx] = t[max(cy - 1, 0) * c + cx];
    if (threadIdx.y == 15)
        s[17][lx] = t[min(cy + 1, r - 1) * c + cx];
    __syncthreads();
    if (x < c && y < r)
        o[y * c + x] =
            s[ly][lx] +
            step / cap *
                (p[y * c + x] + (s[ly + 1][lx] + s[ly - 1][lx] - 2 * s[ly][lx]) / ry +
                 (s[ly][lx + 1] + s[ly][lx - 1] - 2 * s[ly][lx]) / rx + (80.f - s[ly][lx]) / rz);
}
KERNEL pathf(int it, const int *wall, const int *src, int *res, int cols) {
    __shared__ int a[256], b[256];
    int tx = threadIdx.x, x = blockIdx.x * 256 + tx;
    a[tx] = src[min(x, cols - 1)];
    __syncthreads();
    for (int i = 0; i < it; i++) {
        bool ok = tx >= i + 1 && tx <= 254 - i;
        if (ok) {
            int l = a[tx - 1], u = a[tx], r = a[tx + 1];
            b[tx] = min(l, min(u, r)) + wall[i * cols + x];
        }
        __syncthreads();
        if (ok)
            a[tx] = b[tx];
        __syncthreads();
    }
    if (x < cols)
        res[x] = a[tx];
}
KERNEL pagerank(const int *rp, const int *ci, const float *rank, const int *deg, float *next, int n,
                float d) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    float s = 0;
    int e = rp[v + 1];
    for (int i = rp[v]; i < e; i++) {
        int u = ci[i];
        s += rank[u] / deg[u];
    }
    next[v] = (1 - d) / n + d * s;
}
KERNEL sssp(const int *rp, const int *ci, const int *w, int *dist, const int *front, int nf,
            int *nextf, int *cnt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nf)
        return;
    int v = front[i], dv = dist[v];
    for (int e = rp[v]; e < rp[v + 1]; e++) {
        int u = ci[e], nd = dv + w[e];
        if (nd < atomicMin(&dist[u], nd)) {
            int p = atomicAdd(cnt, 1);
            nextf[p] = u;
        }
    }
}
KERNEL sobel(const u8 *in, u8 *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const u8 *p = in + y * w + x;
    int gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1],
        gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    int m = abs(gx) + abs(gy);
    out[y * w + x] = m > 255 ? 255 : m;
}
KERNEL convsep(const float *in, float *out, int w, const float *k) {
    __shared__ float s[16 + 256 + 16];
    int x = blockIdx.x * 256 + threadIdx.x;
    const float *row = in + blockIdx.y * w;
    s[16 + threadIdx.x] = row[x];
    if (threadIdx.x < 16) {
        s[threadIdx.x] = x >= 16 ? row[x - 16] : 0;
        s[272 + threadIdx.x] = x + 256 < w ? row[x + 256] : 0;
    }
    __syncthreads();
    float a = 0;
    for (int i = -8; i <= 8; i++)
        a += s[16 + threadIdx.x + i] * k[i + 8];
    out[blockIdx.y * w + x] = a;
}
KERNEL cp_energy(const float4 *atoms, int na, float *grid, int w, float sp) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = x * sp, cy = y * sp, e0 = 0, e1 = 0, e2 = 0, e3 = 0;
    for (int i = 0; i < na; i++) {
        float4 a = atoms[i];
        float dy = cy - a.y, b = dy * dy + a.z * a.z, dx = cx - a.x;
        e0 += a.w * rsqrtf(dx * dx + b);
        dx += sp;
        e1 += a.w * rsqrtf(dx * dx + b);
        dx += sp;
        e2 += a.w * rsqrtf(dx * dx + b);
        dx += sp;
        e3 += a.w * rsqrtf(dx * dx + b);
    }
    float *o = grid + (y * w + x) * 4;
    o[0] += e0;
    o[1] += e1;
    o[2] += e2;
    o[3] += e3;
}
KERNEL mriq(const float *x, const float *y, const float *z, float *qr, float *qi, const float4 *k,
            int nk, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = x[i], b = y[i], c = z[i], r = qr[i], m = qi[i];
    for (int j = 0; j < nk; j++) {
        float4 q = k[j];
        float e = 6.2831853f * (q.x * a + q.y * b + q.z * c);
        r += q.w * __cosf(e);
        m += q.w * __sinf(e);
    }
    qr[i] = r;
    qi[i] = m;
}
KERNEL sad4(const u8 *cur, const u8 *ref, u32 *out, int w) {
    int bx = blockIdx.x * 4, by = blockIdx.y * 4, dx = threadIdx.x - 8, dy = threadIdx.y - 8;
    u32 s = 0;
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            int a = cur[(by + j + 8) * w + bx + i + 8],
                b = ref[(by + j + 8 + dy) * w + bx + i + 8 + dx];
            s += abs(a - b);
        }
    out[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.y * 16 + threadIdx.x] = s;
}
KERNEL radixcount(const u32 *k, u32 *c, int n, int sh) {
    __shared__ u32 h[16];
    if (threadIdx.x < 16)
        h[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&h[(k[i] >> sh) & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        c[threadIdx.x * gridDim.x + blockIdx.x] = h[threadIdx.x];
}
KERNEL wscan(const int *in, int *out, int n) {
    __shared__ int s[8];
    int i = blockIdx.x * 256 + threadIdx.x, l = threadIdx.x & 31, w = threadIdx.x >> 5;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int t = __shfl_up_sync(~0u, v, d);
        if (l >= d)
            v += t;
    }
    if (l == 31)
        s[w] = v;
    __syncthreads();
    int a = 0;
    for (int j = 0; j < w; j++)
        a += s[j];
    if (i < n)
        out[i] = v + a;
}
KERNEL matvec(const float *a, const float *x, float *y, int m, int n) {
    __shared__ float s[128];
    float t = 0;
    const float *r = a + blockIdx.x * n;
    for (int j = threadIdx.x; j < n; j += 128)
        t += r[j] * x[j];
    s[threadIdx.x] = t;
    __syncthreads();
    for (int k = 64; k; k >>= 1) {
        if (threadIdx.x < k)
            s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x)
        y[blockIdx.x] = s[0];
}
KERNEL leapfrog(double *x, double *v, const double *f, double dt, double m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 * n) {
        double a = v[i] + f[i] / m * dt;
        v[i] = a;
        x[i] += a * dt;
    }
}
KERNEL crc(const u8 *d, const u32 *tab, u32 *o, int len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const u8 *p = d + i * len;
    u32 c = ~0u;
    for (int j = 0; j < len; j++)
        c = tab[(c ^ p[j]) & 255] ^ (c >> 8);
    o[i] = ~c;
}
KERNEL julia3(float *o, int w, float t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float zr = (x - w / 2) * 3.f / w, zi = (y - w / 2) * 3.f / w, cr = 0.7885f * cosf(t),
          ci = 0.7885f * sinf(t);
    int i;
    for (i = 0; i < 200; i++) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4)
            break;
        zi = 2 * zr * zi + ci;
        zr = r2 - i2 + cr;
    }
    o[y * w + x] = i / 200.f;
}
KERNEL fwarshall(int *d, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j < n) {
        int a = d[i * n + k] + d[k * n + j];
        if (a < d[i * n + j])
            d[i * n + j] = a;
    }
}
KERNEL cg_upd(float *x, float *r, float *p, const float *q, float al, float be, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        x[i] += al * p[i];
        float t = r[i] - al * q[i];
        r[i] = t;
        p[i] = t + be * p[i];
    }
}
KERNEL tpacf(const float *a, const float *b, int n, u32 *h) {
    __shared__ u32 s[64];
    if (threadIdx.x < 64)
        s[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = a[n + i], z = a[2 * n + i];
    for (int j = 0; j < n; j++) {
        float d = x * b[j] + y * b[n + j] + z * b[2 * n + j];
        int k = (int)(acosf(d) * 20.f);
        atomicAdd(&s[k & 63], 1);
    }
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&h[threadIdx.x], s[threadIdx.x]);
}
KERNEL particlefilter(const float *cdf, const float *u, const float *ax, float *xj, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int idx = -1;
        for (int x = 0; x < n; x++)
            if (cdf[x] >= u[i]) {
                idx = x;
                break;
            }
        if (idx == -1)
            idx = n - 1;
        xj[i] = ax[idx];
    }
}
KERNEL dwt(const float *in, float *lo, float *hi, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 3 < n) {
        float a = in[2 * i], b = in[2 * i + 1], c = in[2 * i + 2], d = in[2 * i + 3];
        lo[i] = 0.48296f * a + 0.83652f * b + 0.22414f * c - 0.12941f * d;
        hi[i] = -0.12941f * a - 0.22414f * b + 0.83652f * c - 0.48296f * d;
    }
}
KERNEL interp_bicubic(const float *in, float *out, int w, int h, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float fx = x * s, fy = y * s;
    int ix = fx, iy = fy;
    fx -= ix;
    fy -= iy;
    float r = 0;
    for (int j = -1; j <= 2; j++) {
        float t = fabsf(j - fy),
              wy = t < 1 ? (1.5f * t - 2.5f) * t * t + 1 : ((-0.5f * t + 2.5f) * t - 4) * t + 2;
        float q = 0;
        for (int i = -1; i <= 2; i++) {
            float u = fabsf(i - fx),
                  wx = u < 1 ? (1.5f * u - 2.5f) * u * u + 1 : ((-0.5f * u + 2.5f) * u - 4) * u + 2;
            q += wx * in[min(max(iy + j, 0), h - 1) * w + min(max(ix + i, 0), w - 1)];
        }
        r += wy * q;
    }
    out[y * w + x] = r;
}
