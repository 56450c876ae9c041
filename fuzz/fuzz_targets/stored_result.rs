//! `stored_result` of `crates/fuzz`, under libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let target = warpsim_fuzz_targets::find("stored_result").expect("there is one");
    (target.run)(data);
});
