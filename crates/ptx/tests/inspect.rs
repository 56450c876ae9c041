//! What `inspect` shows of a small kernel.

use crate::common;
use common::{kernel_text, program};
use warpsim_ptx::inspect::{cfg_dot, cfg_svg, disassemble, summarize};
use warpsim_ptx::kernel::Kernel;

const BODY: &str = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n];\n\
    LOOP: add.f32 %f1, %f1, 0f3F800000; setp.lt.u32 %p1, %r1, %r2; @!%p1 bra DONE;\n\
    add.s32 %r1, %r1, 32; bra LOOP;\nDONE: st.global.f32 [%rd1+4], %f1; ret;";

#[test]
fn the_summary_says_what_a_kernel_needs() {
    let program = program(&kernel_text(BODY));
    let summary = summarize(&program, &program.kernels[0]);
    insta::assert_snapshot!(summary, @r"
    kernel k
      instructions  10 (int 3, fp 1, sfu 0, memory 3, control 3)
      registers     6 as assembled (4 without spills at least), 5 live at most (near 3), 5 names in 5 rows and 1 predicate slots
      memory        param 12 B, shared 0 B, local 0 B, const 0 B
      control       4 blocks (4 reachable), 1 branches, 0 barriers
            5 -> 8     meets at 8       may diverge (line 13)
    ");
}

#[test]
fn the_graph_for_graphviz() {
    let program = program(&kernel_text(BODY));
    insta::assert_snapshot!(cfg_dot(&program.kernels[0]), @r##"
    digraph "k" {
      node [shape=box, fontname="monospace", fontsize=10];
      edge [fontname="sans-serif", fontsize=9];
      b0 [label="B0  0..2\l   0  ld.param.u64 %rd1, [0]\l   1  mov.u32 %r1, %tid.x\l   2  ld.param.u32 %r2, [8]\l"];
      b1 [label="B1  3..5  LOOP\l   3  add.f32 %f1, %f1, 1.0\l   4  setp.lt.u32 %p1, %r1, %r2\l   5  @!%p1 bra 8 (DONE)  // meets at 8 (DONE)\l"];
      b2 [label="B2  6..7\l   6  add.s32 %r1, %r1, 32\l   7  bra 3 (LOOP)\l"];
      b3 [label="B3  8..9  DONE\l   8  st.global.f32 [%rd1+4], %f1\l   9  ret\l"];
      b0 -> b1 [color="#606060"];
      b1 -> b3 [label="taken", color="#c05000"];
      b1 -> b2 [label="falls through", color="#606060"];
      b2 -> b1 [color="#606060"];
      b1 -> b3 [style=dashed, color="#3060c0", constraint=false];
    }
    "##);
}

#[test]
fn the_picture_has_every_edge_and_escapes_text() {
    let mut program = program(&kernel_text(BODY));
    let kernel: &mut Kernel = &mut program.kernels[0];
    kernel.name = "a<b>&c".to_string();
    let svg = cfg_svg(kernel);
    assert!(svg.contains("a&lt;b&gt;&amp;c"));
    let edges: usize = kernel.blocks.iter().map(|b| b.successors.len()).sum();
    assert_eq!(svg.matches("marker-end").count(), edges);
    assert_eq!(
        svg.matches("<path class=\"meet\" d=\"M").count(),
        2,
        "one and the legend's"
    );
}

#[test]
fn beyond_the_end_is_no_panic() {
    let program = program(&kernel_text("ret;"));
    assert_eq!(disassemble(&program.kernels[0], 9), "<no instruction at 9>");
}
