//! Races are found, and programs without any have none.

use crate::common::bare::Bare;
use crate::common::generate::{Generator, kernel};
use crate::filetests::run::{Device, Launch, compile};
use warpsim_exec::functional::{RaceCheck, StepCheck};

/// Bytes of each buffer.
const BUFFER: u64 = 1 << 16;

/// What was found in a run of a body with two buffers, of which the second holds word i = i.
fn found(shared: u32, body: &str, grid: u32, block: u32, look: fn(&mut Bare)) -> Bare {
    let text = kernel(shared, body);
    let mut bare = Bare::new(10_000_000);
    look(&mut bare);
    bare.load(compile(&text).unwrap_or_else(|e| panic!("{e}")).into())
        .expect("room");
    let mut params = Vec::new();
    for name in ["out", "in"] {
        let address = bare.alloc(BUFFER, name).expect("room");
        let word = |i: u32| if name == "in" { i } else { 0 };
        let bytes: Vec<u8> = (0..BUFFER as u32 / 4)
            .flat_map(|i| word(i).to_le_bytes())
            .collect();
        bare.write(address, &bytes).expect("valid");
        params.extend(address.to_le_bytes());
    }
    params.extend(0u32.to_le_bytes());
    let launch = Launch {
        kernel: 0,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
        params,
    };
    bare.launch(&launch).unwrap_or_else(|e| panic!("{e}"));
    bare
}

fn races(shared: u32, body: &str, grid: u32, block: u32) -> Vec<String> {
    let bare = found(shared, body, grid, block, |bare| {
        bare.races = Some(RaceCheck::default())
    });
    bare.races
        .map_or_else(Vec::new, |races| races.found().to_vec())
}

/// What threads of a warp do to each other that is right only where they are in step.
fn steps(shared: u32, body: &str, block: u32) -> Vec<String> {
    let bare = found(shared, body, 1, block, |bare| {
        bare.steps = Some(StepCheck::default())
    });
    bare.steps
        .map_or_else(Vec::new, |steps| steps.found().to_vec())
}

/// Each thread writes its number and reads that of the thread opposite.
fn reverse(between: &str) -> String {
    format!(
        "mov.u32 %r2, tile;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r4, %r2, %r3;\n\
         st.shared.u32 [%r4], %r1;\n{between}\n\
         sub.u32 %r5, 508, %r3;\nadd.u32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r5];\n\
         mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd1, %rd3;\nst.global.u32 [%rd3], %r6;"
    )
}

#[test]
fn a_reverse_without_a_barrier_has_a_race_and_one_with_a_barrier_none() {
    let found = races(512, &reverse(""), 1, 128);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("shared memory"), "{found:?}");
    assert!(found[0].contains("at PTX line 18,"), "{found:?}");
    assert!(found[0].contains("at PTX line 22,"), "{found:?}");
    assert_eq!(races(512, &reverse("bar.sync 0;"), 1, 128), [""; 0]);
}

#[test]
fn blocks_race_for_global_memory_unless_atomics_or_fences_order_them() {
    let write = "mov.u32 %r2, %ctaid.x;\nst.global.u32 [%rd1], %r2;";
    let found = races(0, write, 4, 32);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`out` from byte 0 on"), "{found:?}");
    assert!(found[0].contains("no fence or atomic between"), "{found:?}");
    let add = "atom.global.add.u32 %r2, [%rd1], 1;";
    assert_eq!(races(0, add, 4, 64), [""; 0]);
    // The last block to arrive reads what the others have published.
    let publish = "mov.u32 %r2, %ctaid.x;\nshl.b32 %r3, %r2, 7;\ncvt.u64.u32 %rd3, %r3;\n\
         add.u64 %rd4, %rd1, %rd3;\nmul.wide.u32 %rd5, %r1, 4;\nadd.u64 %rd4, %rd4, %rd5;\n\
         st.global.u32 [%rd4+64], %r1;\nmembar.gl;\nbar.sync 0;\n\
         setp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\natom.global.add.u32 %r4, [%rd1], 1;\n\
         setp.ne.u32 %p2, %r4, 3;\n@%p2 bra DONE;\nld.global.u32 %r5, [%rd1+64];\n\
         ld.global.u32 %r6, [%rd1+192];\nDONE:";
    assert_eq!(races(0, publish, 4, 32), [""; 0]);
    let unpublished = publish.replace("membar.gl;\nbar.sync 0;\n", "");
    // The atomic of the writer's own warp publishes as well.
    assert_eq!(races(0, &unpublished, 4, 32), [""; 0]);
}

#[test]
fn neighbouring_bytes_are_not_the_same() {
    let body = "cvt.u64.u32 %rd3, %r1;\nadd.u64 %rd3, %rd1, %rd3;\nst.global.u8 [%rd3], %r1;";
    assert_eq!(races(0, body, 1, 128), [""; 0]);
    let body = "shr.u32 %r2, %r1, 6;\ncvt.u64.u32 %rd3, %r2;\nadd.u64 %rd3, %rd1, %rd3;\n\
                st.global.u8 [%rd3], %r1;";
    assert_eq!(races(0, body, 1, 128).len(), 1);
}

#[test]
fn a_barrier_in_divergent_code_is_named() {
    let body =
        "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra ONE;\nbar.sync 0;\nbra END;\nONE:\nbar.sync 0;\nEND:";
    let found = races(0, body, 1, 32);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("come to a barrier"), "{found:?}");
    assert!(found[0].contains("16 of the 32 threads"), "{found:?}");
}

#[test]
fn programs_without_races_have_none() {
    for seed in 0..40 {
        let found = races(4096, &Generator::body(seed, 96), 3, 96);
        assert_eq!(found, [""; 0], "seed {seed}");
    }
}

#[test]
fn threads_of_a_warp_race_unless_a_barrier_or_an_operation_orders_them() {
    let found = steps(512, &reverse(""), 32);
    // Threads 96 to 127 are not there: no thread writes what is read.
    assert_eq!(found, [""; 0]);
    let near = |between: &str| reverse(between).replace("508", "124");
    let found = steps(512, &near(""), 32);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("writes it at PTX line 18"), "{found:?}");
    assert!(found[0].contains("reads it at PTX line 22"), "{found:?}");
    assert_eq!(steps(512, &near("bar.sync 0;"), 32), [""; 0]);
    assert_eq!(steps(512, &near("bar.warp.sync 0xffffffff;"), 32), [""; 0]);
    assert_eq!(
        races(512, &near(""), 1, 32),
        [""; 0],
        "of warps there is one"
    );
}

#[test]
fn threads_that_write_in_one_instruction_do_not_race() {
    let body = "mov.u32 %r2, tile;\nst.shared.u32 [%r2], %r1;\nld.shared.u32 %r3, [%r2];";
    let found = steps(4, body, 32);
    // All write at once; all but one read what another wrote.
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("lane 31 writes it"), "{found:?}");
    assert_eq!(
        steps(4, &body.replace("\nld.shared.u32 %r3, [%r2];", ""), 32),
        [""; 0]
    );
}
