//! Any text is a launch file or an error with a message, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpsim_present::Source;
use warpsim_workloads::launchfile;

fuzz_target!(|text: &str| {
    if let Err(error) = launchfile::parse(&Source::new("fuzz.toml", text)) {
        assert!(!error.to_string().is_empty());
    }
});
