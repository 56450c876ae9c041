//! Why a program has launched nothing, as far as can be seen.

use warpsim_doors::wire::facts::{
    DRIVER, FAT_BINARY, OWN_RUNTIME, REDIRECTED, SHARED_RUNTIME, STRIPPED,
};

/// What is told of a program that ended without a launch. `calls`: it has called CUDA at all.
pub fn nothing_launched(facts: Option<u32>, calls: bool) -> String {
    let has = |fact: u32| facts.is_some_and(|facts| facts & fact != 0);
    // A runtime that was not redirected may have called the driver: it comes to nothing there.
    let why = if has(OWN_RUNTIME) && !has(REDIRECTED) {
        "it has CUDA's runtime linked into it, and that could not be redirected: link it with `-cudart shared`"
    } else if has(FAT_BINARY) && has(STRIPPED) && !has(SHARED_RUNTIME) {
        "it has CUDA's runtime linked into it, and no symbols by which to find it: do not strip it, or link it with `-cudart shared`"
    } else if calls {
        "it called CUDA, and came to no kernel"
    } else if has(SHARED_RUNTIME) || has(OWN_RUNTIME) || has(DRIVER) {
        "it is linked with CUDA, and never called it"
    } else if has(FAT_BINARY) {
        "it carries kernels, and its runtime was not found: link it with `-cudart shared`"
    } else {
        "it does not use CUDA, or it started a program that brings a libcuda of its own"
    };
    format!("nothing was launched: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_says_what_mends_it() {
        let said = |facts, calls| nothing_launched(facts, calls);
        for calls in [false, true] {
            assert!(said(Some(FAT_BINARY | STRIPPED), calls).contains("-cudart shared"));
        }
        assert!(said(Some(OWN_RUNTIME | FAT_BINARY), false).contains("redirected"));
        assert!(said(Some(OWN_RUNTIME | REDIRECTED), false).contains("never called"));
        assert!(said(None, false).contains("does not use CUDA"));
        assert!(said(None, true).contains("no kernel"));
    }
}
