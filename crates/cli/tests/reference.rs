//! `run --reference`: the same results, and clear words where the reference SM cannot do it.

use crate::common;

use common::{Scratch, data, fails, succeeds};
use serde_json::Value;

const RUN: [&str; 4] = ["run", "reduction", "--size", "tiny"];

fn statistics(more: &[&str]) -> Value {
    let text = succeeds(&[&RUN[..], &["--json"], more].concat());
    let mut all: Value = serde_json::from_str(&text).expect("JSON");
    all.as_object_mut().expect("an object").remove("host");
    all
}

#[test]
fn the_reference_sm_says_what_the_default_one_does() {
    assert_eq!(statistics(&["--reference"]), statistics(&[]));
    let text = succeeds(&[&RUN, &["--reference"][..]].concat());
    assert!(text.contains("result            correct"), "{text}");
}

#[test]
fn no_observer_can_listen_to_the_reference_sm() {
    let scratch = Scratch::new("reference");
    let trace = scratch.path("t.json");
    let text = fails(2, &[&RUN, &["--reference", "--trace", &trace][..]].concat());
    assert!(
        text.contains("no observer can listen to the reference SM"),
        "{text}"
    );
    assert_eq!(scratch.names(), [] as [&str; 0]);
}

#[test]
fn programs_that_fail_fail_on_the_reference_sm_too() {
    let text = fails(3, &["run", &data("deadlock.toml"), "--reference"]);
    assert!(text.contains("deadlock in kernel two_barriers"), "{text}");
    assert!(text.contains("waits for a barrier"), "{text}");
    let text = fails(3, &["run", &data("out-of-bounds.toml"), "--reference"]);
    assert!(text.contains("block (0,0,0), thread (7,0,0)"), "{text}");
    let text = fails(
        3,
        &[&RUN, &["--reference", "--max-cycles", "100"][..]].concat(),
    );
    assert!(text.contains("did not end within 100 cycles"), "{text}");
}
