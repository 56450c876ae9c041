//! Any text parses or fails with errors that render; what parses prints back to itself.
//!
//! Good seeds are in `crates/ptx/tests/corpus`:
//! `cargo +nightly fuzz run parse_ptx fuzz/corpus/parse_ptx crates/ptx/tests/corpus`
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpsim_ptx::{parse, print};

fuzz_target!(|text: &str| {
    match parse(text) {
        Ok(module) => {
            let again = parse(&print(&module)).expect("what is printed parses");
            assert_eq!(module, again);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                assert!(error.render("input.ptx", text).contains('^'));
            }
        }
    }
});
