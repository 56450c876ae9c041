// Barriers and fences. __syncthreads() is a builtin of the compiler.
#pragma once

WARPSIM_FUNCTION int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
WARPSIM_FUNCTION int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
WARPSIM_FUNCTION int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
WARPSIM_FUNCTION void __syncwarp(unsigned mask = 0xffffffffu) {
    asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
WARPSIM_FUNCTION void __threadfence() { __nvvm_membar_gl(); }
WARPSIM_FUNCTION void __threadfence_block() { __nvvm_membar_cta(); }
WARPSIM_FUNCTION void __threadfence_system() { __nvvm_membar_sys(); }
