// Runs a plan of instruction forms on a real GPU and writes what it computes.
//
// Needs the CUDA driver (libcuda.so.1) and nothing of the toolkit:
//   g++ -O2 -std=c++17 -o verify verify.cpp -ldl && ./verify plan.bin raw.bin
// The files are described in crates/silicon/src/plan.rs.

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Pointer = unsigned long long;

[[noreturn]] void fail(const std::string& text) {
    std::fprintf(stderr, "verify: %s\n", text.c_str());
    std::exit(2);
}

// The part of the driver's interface that is used, found at run time.
struct Driver {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned);
    int (*device)(int*, int);
    int (*device_name)(char*, int, int);
    int (*version)(int*);
    int (*retain)(void**, int);
    int (*current)(void*);
    int (*load)(void**, const void*, unsigned, int*, void**);
    int (*unload)(void*);
    int (*function)(void**, void*, const char*);
    int (*alloc)(Pointer*, size_t);
    int (*release)(Pointer);
    int (*to_device)(Pointer, const void*, size_t);
    int (*from_device)(void*, Pointer, size_t);
    int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                  void**, void**);
    int (*synchronize)();
    int (*error_text)(int, const char**);

    template <typename F>
    void find(F& f, const char* name) {
        f = reinterpret_cast<F>(dlsym(library, name));
        if (!f) fail(std::string("the driver has no ") + name);
    }

    Driver() {
        if (!library) fail("no NVIDIA driver here: libcuda.so.1 cannot be loaded");
        find(init, "cuInit");
        find(device, "cuDeviceGet");
        find(device_name, "cuDeviceGetName");
        find(version, "cuDriverGetVersion");
        find(retain, "cuDevicePrimaryCtxRetain");
        find(current, "cuCtxSetCurrent");
        find(load, "cuModuleLoadDataEx");
        find(unload, "cuModuleUnload");
        find(function, "cuModuleGetFunction");
        find(alloc, "cuMemAlloc_v2");
        find(release, "cuMemFree_v2");
        find(to_device, "cuMemcpyHtoD_v2");
        find(from_device, "cuMemcpyDtoH_v2");
        find(launch, "cuLaunchKernel");
        find(synchronize, "cuCtxSynchronize");
        find(error_text, "cuGetErrorString");
    }

    std::string text(int code) {
        const char* found = nullptr;
        error_text(code, &found);
        return found ? found : "unknown error";
    }

    void check(int code, const char* what) {
        if (code) fail(std::string(what) + ": " + text(code));
    }
};

struct Reader {
    std::vector<char> bytes;
    size_t at = 0;

    const char* take(size_t n) {
        if (n > bytes.size() - at) fail("the plan ends early");
        at += n;
        return bytes.data() + at - n;
    }
    uint32_t number() {
        uint32_t value;
        std::memcpy(&value, take(4), 4);
        return value;
    }
};

struct Writer {
    std::vector<char> bytes;

    void add(const void* data, size_t n) {
        auto from = static_cast<const char*>(data);
        bytes.insert(bytes.end(), from, from + n);
    }
    void number(uint32_t value) { add(&value, 4); }
    void text(const std::string& value) {
        number(static_cast<uint32_t>(value.size()));
        add(value.data(), value.size());
    }
};

struct Shape {
    uint32_t vectors;
    std::vector<Pointer> columns;
};

std::string driver_name(int cuda) {
    std::ifstream file("/sys/module/nvidia/version");
    std::string version;
    if (!std::getline(file, version)) version = "unknown";
    return version + ", CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) fail("usage: verify PLAN RAW");
    std::ifstream file(argv[1], std::ios::binary);
    if (!file) fail(std::string("cannot read ") + argv[1]);
    Reader plan{{std::istreambuf_iterator<char>(file), {}}};
    if (std::memcmp(plan.take(8), "WSPLAN1\n", 8) != 0) fail("not a plan");

    Driver cuda;
    int device = 0, version = 0;
    void* context = nullptr;
    char name[256] = "";
    cuda.check(cuda.init(0), "cuInit");
    cuda.check(cuda.device(&device, 0), "cuDeviceGet");
    cuda.check(cuda.device_name(name, sizeof name, device), "cuDeviceGetName");
    cuda.check(cuda.version(&version), "cuDriverGetVersion");
    cuda.check(cuda.retain(&context, device), "cuDevicePrimaryCtxRetain");
    cuda.check(cuda.current(context), "cuCtxSetCurrent");

    std::vector<Shape> shapes(plan.number());
    for (auto& shape : shapes) {
        shape.vectors = plan.number();
        shape.columns.resize(plan.number());
        for (auto& column : shape.columns) {
            size_t size = size_t{plan.number()} * shape.vectors;
            cuda.check(cuda.alloc(&column, size), "cuMemAlloc");
            cuda.check(cuda.to_device(column, plan.take(size), size), "cuMemcpyHtoD");
        }
    }

    Writer raw;
    raw.add("WSRAW1\n", 7);
    raw.text(name);
    raw.text(driver_name(version));
    uint32_t forms = plan.number(), refused = 0;
    raw.number(forms);
    for (uint32_t f = 0; f < forms; f++) {
        uint32_t index = plan.number();
        if (index >= shapes.size()) fail("a form of a shape that is not there");
        Shape& shape = shapes[index];
        std::vector<uint32_t> sizes(plan.number());
        for (auto& size : sizes) size = plan.number();
        uint32_t length = plan.number();
        std::string ptx(plan.take(length), length);

        char log[4096] = "";
        int options[] = {5 /* CU_JIT_ERROR_LOG_BUFFER */, 6 /* …_SIZE_BYTES */};
        void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
        void *module = nullptr, *kernel = nullptr;
        if (int code = cuda.load(&module, ptx.c_str(), 2, options, values)) {
            refused++;
            raw.text(cuda.text(code) + ": " + log);
            continue;
        }
        cuda.check(cuda.function(&kernel, module, "k"), "cuModuleGetFunction");
        std::vector<Pointer> pointers = shape.columns;
        for (uint32_t size : sizes) {
            Pointer pointer = 0;
            cuda.check(cuda.alloc(&pointer, size_t{size} * shape.vectors), "cuMemAlloc");
            pointers.push_back(pointer);
        }
        std::vector<void*> arguments;
        for (auto& pointer : pointers) arguments.push_back(&pointer);
        arguments.push_back(&shape.vectors);
        unsigned blocks = (shape.vectors + 255) / 256;
        cuda.check(cuda.launch(kernel, blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments.data(), nullptr),
                   "cuLaunchKernel");
        cuda.check(cuda.synchronize(), "cuCtxSynchronize");
        raw.number(0);
        for (size_t i = 0; i < sizes.size(); i++) {
            Pointer pointer = pointers[shape.columns.size() + i];
            std::vector<char> result(size_t{sizes[i]} * shape.vectors);
            cuda.check(cuda.from_device(result.data(), pointer, result.size()), "cuMemcpyDtoH");
            cuda.check(cuda.release(pointer), "cuMemFree");
            raw.add(result.data(), result.size());
        }
        cuda.check(cuda.unload(module), "cuModuleUnload");
    }
    std::ofstream out(argv[2], std::ios::binary);
    out.write(raw.bytes.data(), static_cast<std::streamsize>(raw.bytes.size()));
    if (!out.flush()) fail(std::string("cannot write ") + argv[2]);
    std::printf("%u forms on %s (driver %s), %u refused\n", forms, name, driver_name(version).c_str(),
                refused);
}
