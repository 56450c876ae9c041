// Cooperative groups: blocks, tiles of a warp, the threads that are there together, and grids whose
// blocks do not wait for each other.
#pragma once
#include "warpsim_cuda.h"

namespace cooperative_groups {
class thread_block {
  public:
    static WARPSIM_METHOD void sync() { __syncthreads(); }
    static WARPSIM_METHOD unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    static WARPSIM_METHOD unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static WARPSIM_METHOD unsigned num_threads() { return size(); }
    static WARPSIM_METHOD dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static WARPSIM_METHOD dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static WARPSIM_METHOD dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static WARPSIM_METHOD dim3 dim_threads() { return group_dim(); }
};
WARPSIM_FUNCTION thread_block this_thread_block() { return thread_block(); }

class grid_group {
  public:
    static WARPSIM_METHOD unsigned long long size() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * thread_block::size();
    }
    static WARPSIM_METHOD unsigned long long num_threads() { return size(); }
    static WARPSIM_METHOD unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static WARPSIM_METHOD unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static WARPSIM_METHOD dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static WARPSIM_METHOD bool is_valid() { return false; }
};
WARPSIM_FUNCTION grid_group this_grid() { return grid_group(); }

namespace details {
// What tiles and coalesced threads share: a mask of lanes, a rank among them, and votes.
template <unsigned SIZE> class tile {
    static_assert(SIZE >= 1 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile has a power of two of threads, at most 32");

  public:
    static WARPSIM_METHOD unsigned mask() {
        unsigned all = SIZE == 32 ? 0xffffffffu : (1u << (SIZE & 31)) - 1;
        return all << (lane() & ~(SIZE - 1));
    }
    static WARPSIM_METHOD unsigned lane() { return thread_block::thread_rank() & 31; }
    WARPSIM_METHOD void sync() const { __syncwarp(mask()); }
    static WARPSIM_METHOD unsigned thread_rank() { return lane() & (SIZE - 1); }
    static constexpr WARPSIM_METHOD unsigned size() { return SIZE; }
    static constexpr WARPSIM_METHOD unsigned num_threads() { return SIZE; }
    static WARPSIM_METHOD unsigned meta_group_rank() { return thread_block::thread_rank() / SIZE; }
    static WARPSIM_METHOD unsigned meta_group_size() { return (thread_block::size() + SIZE - 1) / SIZE; }
    template <class T> WARPSIM_METHOD T shfl(T v, int from) const { return __shfl_sync(mask(), v, from, SIZE); }
    template <class T> WARPSIM_METHOD T shfl_up(T v, unsigned by) const { return __shfl_up_sync(mask(), v, by, SIZE); }
    template <class T> WARPSIM_METHOD T shfl_down(T v, unsigned by) const { return __shfl_down_sync(mask(), v, by, SIZE); }
    template <class T> WARPSIM_METHOD T shfl_xor(T v, unsigned by) const { return __shfl_xor_sync(mask(), v, (int)by, SIZE); }
    WARPSIM_METHOD int any(int p) const { return __any_sync(mask(), p); }
    WARPSIM_METHOD int all(int p) const { return __all_sync(mask(), p); }
    WARPSIM_METHOD unsigned ballot(int p) const { return (__ballot_sync(mask(), p) & mask()) >> (lane() & ~(SIZE - 1)); }
    template <class T> WARPSIM_METHOD unsigned match_any(T v) const { return (__match_any_sync(mask(), v) & mask()) >> (lane() & ~(SIZE - 1)); }
};
} // namespace details

template <unsigned SIZE, class PARENT = thread_block> class thread_block_tile : public details::tile<SIZE> {};
template <unsigned SIZE, class PARENT> WARPSIM_FUNCTION thread_block_tile<SIZE, PARENT> tiled_partition(const PARENT &) {
    return thread_block_tile<SIZE, PARENT>();
}

class coalesced_group {
    unsigned members;

  public:
    WARPSIM_METHOD coalesced_group() : members(__activemask()) {}
    WARPSIM_METHOD void sync() const { __syncwarp(members); }
    WARPSIM_METHOD unsigned size() const { return (unsigned)__popc(members); }
    WARPSIM_METHOD unsigned num_threads() const { return size(); }
    WARPSIM_METHOD unsigned thread_rank() const { return (unsigned)__popc(members & ((1u << __laneid()) - 1)); }
    // Ranks, not lanes, are counted.
    template <class T> WARPSIM_METHOD T shfl(T v, unsigned from) const {
        return __shfl_sync(members, v, (int)__fns(members, 0, (int)from + 1));
    }
    WARPSIM_METHOD int any(int p) const { return __any_sync(members, p); }
    WARPSIM_METHOD int all(int p) const { return __all_sync(members, p); }
    WARPSIM_METHOD unsigned ballot(int p) const {
        unsigned lanes = __ballot_sync(members, p);
        unsigned ranks = 0;
        for (unsigned m = members, rank = 0; m; m &= m - 1, rank++)
            ranks |= (lanes >> (__ffs((int)m) - 1) & 1) << rank;
        return ranks;
    }
};
WARPSIM_FUNCTION coalesced_group coalesced_threads() { return coalesced_group(); }

template <class GROUP> WARPSIM_FUNCTION void sync(const GROUP &group) { group.sync(); }

// Operations of reductions and scans.
template <class T> struct plus { WARPSIM_METHOD T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { WARPSIM_METHOD T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { WARPSIM_METHOD T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { WARPSIM_METHOD T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { WARPSIM_METHOD T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { WARPSIM_METHOD T operator()(T a, T b) const { return a ^ b; } };
template <unsigned SIZE, class PARENT, class T, class OPERATION>
WARPSIM_FUNCTION T reduce(const thread_block_tile<SIZE, PARENT> &tile, T v, OPERATION operation) {
    for (unsigned by = SIZE / 2; by > 0; by /= 2)
        v = operation(v, tile.shfl_xor(v, by));
    return v;
}
} // namespace cooperative_groups
