// How many different visitors saw each page, from the lines of a web server's log: URL, address and
// status. Two rounds of MapReduce: the first drops what is there twice, with all
// but the status as the key; the second counts what is left by URL.
// flags: -fcuda-short-ptr -mllvm -nvptx-short-ptr
#include "warpsim.cuh"
#define SORT_UNROLL 1
#include "mapreduce.cuh"
#include "groups.cuh"
#include "text.cuh"

// A record is hash, offset and length of its key in the log, and the length of the URL in it.
static __device__ __forceinline__ bool before(const u8 *log, uint4 a, uint4 b) {
    int order = compare_text(log, a.y, a.z, b.y, b.z);
    return order != 0 ? order < 0 : a.y < b.y;
}
static __device__ __forceinline__ bool same_group(const u8 *log, uint4 a, uint4 b) {
    return a.x == b.x && compare_text(log, a.y, a.z, b.y, b.z) == 0;
}

struct Line {
    u32 url, key; // lengths
    u32 hash;     // of the key
    bool view;    // whether it is a successful view of a page
};

// Pages end in "l", as in .html; pictures and scripts do not.
static __device__ __forceinline__ Line parse(const u8 *log, u32 at) {
    Reader reader(log, at);
    Line line = {0, 0, HASH_START, false};
    u32 last = 0, spaces = 0;
    for (;;) {
        u32 byte = reader.next();
        if (byte == ' ') {
            spaces++;
            if (spaces == 1) {
                line.url = reader.at - 1 - at;
                line.view = last == 'l';
            } else {
                break;
            }
        }
        line.hash = hash_byte(line.hash, byte);
        last = byte;
    }
    line.key = reader.at - 1 - at;
    u32 status = 0;
    for (u32 digit; (digit = reader.next() - '0') < 10;)
        status = status * 10 + digit;
    line.view = line.view && status == 200;
    return line;
}

extern "C" __global__ void __launch_bounds__(THREADS, 6)
map_count(const u8 *log, const u32 *lines, u32 *counts) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    counts[i] = parse(log, lines[i]).view;
}

extern "C" __global__ void __launch_bounds__(THREADS, 6)
map_emit(const u8 *log, const u32 *lines, const u32 *places, uint4 *records, u32 job) {
    u32 i = blockIdx.x * THREADS + threadIdx.x, at = lines[i];
    Line line = parse(log, at);
    if (line.view)
        records[place_in_job(places, i, job)] = {hash_end(line.hash), at, line.key, line.url};
}

// The first of each group goes to the second round, with the URL as its key.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
map_unique(const u8 *log, const uint4 *records, const u32 *marks, const u32 *places, uint4 *unique,
           u32 job) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (marks[i]) {
        uint4 record = records[i];
        Reader reader(log, record.y);
        u32 hash = HASH_START;
        for (u32 k = 0; k < record.w; k++)
            hash = hash_byte(hash, reader.next());
        unique[place_in_job(places, i, job)] = {hash_end(hash), record.y, record.w, record.w};
    }
}

// Offset and length of each URL, and its number of views.
extern "C" __global__ void __launch_bounds__(THREADS, 6)
reduce(const uint4 *records, const u32 *marks, const u32 *places, uint4 *views, u32 job) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (marks[i]) {
        u32 end = (i | (job - 1)) + 1, next = i + 1;
        while (next < end && !marks[next] && records[next].x != PADDING)
            next++;
        uint4 record = records[i];
        views[place_in_job(places, i, job)] = {record.y, record.z, next - i, 0};
    }
}
