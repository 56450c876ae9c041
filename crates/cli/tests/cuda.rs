//! CUDA C on the command line: inspecting it, a launch file from it, running that, keeping its PTX.

mod common;

use common::{Scratch, fails, succeeds};

/// Whether there is a compiler; says so where there is none.
fn compiler() -> bool {
    let found = warpsim_workloads::cuda::CudaCompiler::choose(None).is_ok();
    if !found {
        println!("skipped: no compiler of CUDA C here");
    }
    found
}

const KERNEL: &str = "#include <cuda_runtime.h>
__global__ void scale(const float *in, float *out, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * factor;
}
";

fn write(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path(name);
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn from_a_kernel_to_a_run() {
    if !compiler() {
        return;
    }
    let scratch = Scratch::new("cuda-new");
    let cu = write(&scratch, "scale.cu", KERNEL);
    let shown = succeeds(&["inspect", &cu]);
    assert!(
        shown.contains("scale") && shown.contains("registers"),
        "{shown}"
    );
    succeeds(&["new", &cu]);
    let launch = scratch.path("scale.toml");
    let text = std::fs::read_to_string(&launch).expect("a launch file");
    assert!(
        text.contains("args = [\"in\", \"out\", { f32 = 1.0 }, { i32 = \"n\" }]"),
        "{text}"
    );
    let kept = scratch.path("kept.ptx");
    succeeds(&["run", &launch, "--param", "n=300", "--keep-ptx", &kept]);
    let ptx = std::fs::read_to_string(kept).expect("PTX");
    assert!(ptx.contains(".entry") && ptx.contains(".loc"), "{ptx}");
    // 300 floats and the header of a NumPy file.
    let written = std::fs::metadata(scratch.path("out.npy")).expect("an output");
    assert_eq!(written.len(), 128 + 1200);
    let refused = fails(2, &["new", &cu]);
    assert!(refused.contains("--force"), "{refused}");
    let refused = fails(2, &["run", &launch, "--param", "m=300"]);
    assert!(refused.contains("there is no parameter `m`"), "{refused}");
}

#[test]
fn messages_name_the_line_of_the_source() {
    if !compiler() {
        return;
    }
    let scratch = Scratch::new("cuda-line");
    let cu = write(&scratch, "scale.cu", KERNEL);
    let launch = scratch.path("scale.toml");
    succeeds(&["new", &cu]);
    let text = std::fs::read_to_string(&launch).expect("a launch file");
    // Too few elements for the threads that write.
    let text = text.replacen("count = \"n\"", "count = \"n / 2\"", 1);
    std::fs::write(&launch, text).expect("written");
    let shown = fails(3, &["run", &launch]);
    assert!(shown.contains("scale.cu:5"), "{shown}");
}

#[test]
fn a_mistake_names_its_line_and_the_compiler() {
    if !compiler() {
        return;
    }
    let scratch = Scratch::new("cuda-mistake");
    let cu = write(&scratch, "bad.cu", "__global__ void k() { return 1 }\n");
    let shown = fails(2, &["inspect", &cu]);
    assert!(
        shown.contains("cannot compile") && shown.contains("bad.cu"),
        "{shown}"
    );
    let shown = fails(2, &["inspect", &cu, "--cuda-compiler", "no-such-clang"]);
    assert!(shown.contains("no-such-clang does not run"), "{shown}");
}

#[test]
fn kernels_alone_are_not_run() {
    let shown = fails(2, &["run", "kernel.ptx"]);
    assert!(shown.contains("`warpsim new kernel.ptx`"), "{shown}");
}
