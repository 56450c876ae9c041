//! `image` of `crates/fuzz`, under libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let target = warpsim_fuzz_targets::find("image").expect("there is one");
    (target.run)(data);
});
