// What nvcc makes of a program with one translation unit, by hand: kernels in a fat binary, registered before main. OWN_RUNTIME adds a
// runtime of its own that always fails, as if it looked for a driver.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;

#ifdef OWN_RUNTIME
// Nothing is to be known of them where they are called.
#define OWN(declaration) __attribute__((visibility("hidden"), noipa, aligned(16))) declaration
#define FAILS { fputs("the program's own runtime was called\n", stderr); exit(99); }
OWN(void **__cudaRegisterFatBinary(void *w)) FAILS
OWN(void __cudaRegisterFatBinaryEnd(void **h)) FAILS
OWN(void __cudaUnregisterFatBinary(void **h)) FAILS
OWN(void __cudaRegisterFunction(void **h, const void *f, char *d, const char *n, int t, void *a, void *b, void *c, void *e, int *w)) FAILS
OWN(void __cudaRegisterVar(void **h, char *v, char *d, const char *n, int e, size_t s, int c, int g)) FAILS
OWN(int __cudaGetKernel(void **k, const void *f)) FAILS
OWN(int cudaMalloc(void **p, size_t n)) FAILS
OWN(int cudaMallocManaged(void **p, size_t n, unsigned f)) FAILS
OWN(int cudaFree(void *p)) FAILS
OWN(int cudaMemcpy(void *t, const void *f, size_t n, int k)) FAILS
OWN(int cudaMemcpyToSymbol(const void *t, const void *f, size_t n, size_t o, int k)) FAILS
OWN(int cudaLaunchKernel(const void *f, dim3 g, dim3 b, void **a, size_t s, void *t)) FAILS
OWN(int cudaDeviceSynchronize(void)) FAILS
OWN(int cudaGetLastError(void)) FAILS
OWN(const char *cudaGetErrorName(int e)) FAILS
OWN(int cudaGraphicsMapResources(int n, void *r, void *s)) FAILS
#else
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
int cudaMalloc(void **, size_t), cudaMallocManaged(void **, size_t, unsigned), cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int), cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaDeviceSynchronize(void), cudaGetLastError(void), cudaGraphicsMapResources(int, void *, void *);
const char *cudaGetErrorName(int);
#endif

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".const .align 4 .u32 factor = 1;\n"
    ".visible .entry scale(.param .u64 to, .param .u32 n)\n{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n"
    "  @%p1 bra END;\n"
    "  mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r6, [%rd3]; ld.const.u32 %r7, [factor];\n"
    "  mul.lo.u32 %r8, %r6, %r7; st.global.u32 [%rd3], %r8;\n"
    "END:\n  ret;\n}\n";

static struct {
    uint32_t magic; uint16_t version, header; uint64_t bytes;
    struct {
        uint16_t kind, version; uint32_t header; uint64_t payload; uint32_t compressed, options; uint16_t minor, major;
        uint32_t arch, name_offset, name_length; uint64_t flags, zero, uncompressed;
    } entry;
    char text[sizeof ptx];
} fat;
static struct { uint32_t magic, version; const void *data; void *others; } wrapper = {0x466243b1, 1, &fat, 0};

static void scale(void) {}
static char factor[4];
static void **handle;

__attribute__((constructor)) static void enrol(void) {
    fat.magic = 0xba55ed50; fat.version = 1; fat.header = 16; fat.bytes = sizeof fat.entry + sizeof ptx;
    fat.entry.kind = 1; fat.entry.version = 0x101; fat.entry.header = sizeof fat.entry; fat.entry.payload = sizeof ptx;
    fat.entry.major = 7; fat.entry.arch = 52; fat.entry.flags = 1;
    memcpy(fat.text, ptx, sizeof ptx);
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, scale, "scale", "scale", -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar(handle, factor, "factor", "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

static int launch(void *to, unsigned n) {
    void *arguments[] = {&to, &n};
    dim3 grid = {(n + 63) / 64, 1, 1}, block = {64, 1, 1};
    return cudaLaunchKernel(scale, grid, block, arguments, 0, 0);
}

static void check(int code, const char *what) {
    if (code) { printf("%s: %s\n", what, cudaGetErrorName(code)); exit(5); }
}

static int doubles(void) {
    enum { N = 1000 };
    unsigned two = 2, *host = malloc(4 * N), wrong = 0;
    void *device;
    for (unsigned i = 0; i < N; i++) host[i] = i;
    check(cudaMalloc(&device, 4 * N), "malloc");
    check(cudaMemcpyToSymbol(factor, &two, 4, 0, 1), "symbol");
    check(cudaMemcpy(device, host, 4 * N, 1), "there");
    check(launch(device, N), "launch");
    check(cudaDeviceSynchronize(), "synchronize");
    check(cudaMemcpy(host, device, 4 * N, 2), "back");
    for (unsigned i = 0; i < N; i++) wrong += host[i] != 2 * i;
    unsigned *managed;
    check(cudaMallocManaged((void **)&managed, 4 * N, 1), "managed");
    for (unsigned i = 0; i < N; i++) managed[i] = i + 1;
    check(launch(managed, N), "launch");
    check(cudaDeviceSynchronize(), "synchronize");
    for (unsigned i = 0; i < N; i++) wrong += managed[i] != 2 * (i + 1);
    check(cudaFree(managed), "free");
    check(cudaFree(device), "free");
    printf("%u wrong\n", wrong);
    return wrong != 0;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "add";
    if (!strcmp(what, "nothing")) return 0;
    if (!strcmp(what, "fork")) {
        // A child of a process that uses the GPU may not; one that has not may.
        if (fork() == 0) _exit(doubles());
        int code;
        wait(&code);
        if (code || doubles()) return 1;
        void *none;
        if (fork() == 0) _exit(cudaMalloc(&none, 4));
        wait(&code);
        printf("the child got %d\n", WEXITSTATUS(code));
        return 0;
    }
    int code = doubles();
    if (!strcmp(what, "exit")) { fflush(stdout); _exit(7); }
    if (!strcmp(what, "crash")) { fflush(stdout); raise(SIGSEGV); }
    if (!strcmp(what, "lacking")) printf("lacking: %s\n", cudaGetErrorName(cudaGraphicsMapResources(0, 0, 0)));
    if (!strcmp(what, "fault")) {
        printf("launch: %s\n", cudaGetErrorName(launch((void *)16, 64)));
        printf("then: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        printf("then: %s\n", cudaGetErrorName(cudaMalloc((void **)words, 4)));
    }
    if (!strcmp(what, "many")) {
        void *device;
        check(cudaMalloc(&device, 256), "malloc");
        for (int i = atoi(words[2]); i > 0; i--) check(launch(device, 64), "launch");
    }
    return code;
}
