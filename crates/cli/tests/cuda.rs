//! CUDA C on the command line: inspecting it, a launch file from it, running that, keeping its PTX.

use crate::common;

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
    let file = common::data("thread-number.ptx");
    let shown = fails(2, &["run", &file]);
    assert!(shown.contains(&format!("`warpsim new {file}`")), "{shown}");
}

#[test]
fn launches_are_read_from_host_code_or_refused() {
    if !compiler() {
        return;
    }
    let scratch = Scratch::new("cuda-host");
    let kernel = "#include <iostream>\n#include <vector>\n#include <memory>\n\
        __global__ void fill(float *a, int w) { int y = blockIdx.y * blockDim.y + threadIdx.y;\n\
        a[y * w + blockIdx.x * blockDim.x + threadIdx.x] = w; }\n";
    let host = "int main() { const int W = 64; std::vector<float> v(W); float *d;\n\
        cudaMalloc(&d, W * W * sizeof(float)); dim3 block(16, 16), grid(W / 16, W / 16);\n\
        fill<<<grid, block>>>(d, W); std::cout << v[0]; }\n";
    let cu = write(&scratch, "fill.cu", &format!("{kernel}{host}"));
    let output = common::warpsim(&["run", &cu]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("the main of") && said.contains("is not run"),
        "{said}"
    );
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("4x4") && shown.contains("16x16"), "{shown}");
    // Without the launch its shape cannot be known.
    let cu = write(&scratch, "alone.cu", kernel);
    let shown = fails(2, &["run", &cu]);
    assert!(shown.contains("in two dimensions or more"), "{shown}");
    // A fault of a made-up launch says so.
    let wild = "__global__ void wild(float *a, int n) { a[n * 100 + threadIdx.x] = 1; }\n";
    let cu = write(&scratch, "wild.cu", wild);
    let shown = fails(3, &["run", &cu]);
    assert!(shown.contains("note: this launch was made up"), "{shown}");
}

/// Two templates' kernels and one that calls a function, as nvcc names them.
const NAMES: &str = "
.version 8.0
.target sm_75
.address_size 64
.func (.param .b32 r) _Z5thirdi(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; mul.lo.s32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }
.visible .entry _ZN2my5scaleIfEEvPKT_PS1_S1_i(.param .u64 _ZN2my5scaleIfEEvPKT_PS1_S1_i_param_0,
  .param .u64 _ZN2my5scaleIfEEvPKT_PS1_S1_i_param_1, .param .f32 _ZN2my5scaleIfEEvPKT_PS1_S1_i_param_2,
  .param .u32 _ZN2my5scaleIfEEvPKT_PS1_S1_i_param_3)
{ ret; }
.visible .entry _ZN2my5scaleIiEEvPKT_PS1_S1_i(.param .u64 a, .param .u64 b, .param .u32 c, .param .u32 d)
{ ret; }
.visible .entry _Z4callPi(.param .u64 out)
{ .reg .b32 %r<4>; .reg .b64 %rd<4>; mov.u32 %r1, %tid.x; call (%r2), _Z5thirdi, (%r1); call (%r3), _Z5thirdi, (%r2);
  ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3; ret; }
";

#[test]
fn kernels_go_by_their_names_in_cpp() {
    let scratch = Scratch::new("names");
    let ptx = write(&scratch, "names.ptx", NAMES);
    let shown = succeeds(&["inspect", &ptx]);
    for expected in [
        "my::scale<float>(\n  .u64 param_0  (8 bytes: float const*)",
        "my::scale<int>(",
        "call(\n",
        "in the PTX     _Z4callPi",
    ] {
        assert!(shown.contains(expected), "`{expected}` is not in\n{shown}");
    }
    for written in [
        "scale<int>",
        "my::scale<int>",
        "_ZN2my5scaleIiEEvPKT_PS1_S1_i",
    ] {
        let shown = succeeds(&["inspect", &ptx, "--kernel", written]);
        assert!(shown.starts_with("my::scale<int>("), "{shown}");
    }
    let several = fails(2, &["inspect", &ptx, "--kernel", "scale"]);
    assert!(
        several.contains("my::scale<float>(float const*"),
        "{several}"
    );
    // Launch files name them the same way.
    succeeds(&["new", &ptx]);
    let launches = std::fs::read_to_string(scratch.path("names.toml")).expect("a launch file");
    assert!(
        launches.contains("launch = \"my::scale<float>\""),
        "{launches}"
    );
    assert!(launches.contains("launch = \"call\""), "{launches}");
}

#[test]
fn functions_keep_their_bodies_where_asked_to() {
    let scratch = Scratch::new("inline-limit");
    let ptx = write(&scratch, "names.ptx", NAMES);
    let instructions = |more: &[&str]| {
        let arguments = [&["inspect", &ptx, "--kernel", "call"], more].concat();
        let shown = succeeds(&arguments);
        let line = shown.lines().find(|l| l.contains("instructions"));
        line.expect("a line").to_string()
    };
    assert_eq!(instructions(&[]), instructions(&["--inline-limit", "4"]));
    assert_ne!(instructions(&[]), instructions(&["--inline-limit", "3"]));
    let shown = succeeds(&["inspect", &ptx, "--inline-limit", "3"]);
    assert!(shown.contains("2 calls of functions"), "{shown}");
    let expected: Vec<String> = (0..32).map(|t| (9 * t).to_string()).collect();
    let launches = format!(
        "schema = 1\nptx = \"names.ptx\"\n[buffers.out]\ntype = \"i32\"\ncount = 32\n[[steps]]\n\
         launch = \"call\"\ngrid = 1\nblock = 32\nargs = [\"out\"]\n[[outputs]]\nbuffer = \"out\"\n\
         expect = [{}]\n",
        expected.join(", ")
    );
    let launches = write(&scratch, "call.toml", &launches);
    for more in [&[][..], &["--inline-limit", "0"]] {
        let shown = succeeds(&[&["run", &launches], more].concat());
        assert!(shown.contains("correct (32 values"), "{shown}");
    }
}

#[test]
fn a_file_of_cuda_runs_by_itself() {
    if !compiler() {
        return;
    }
    let scratch = Scratch::new("cuda-alone");
    let cu = write(&scratch, "scale.cu", KERNEL);
    let shown = succeeds(&["run", &cu, "--param", "n=300"]);
    assert!(
        shown.contains("made-up launches") && shown.contains("cycles"),
        "{shown}"
    );
    // It leaves nothing behind.
    assert_eq!(scratch.names(), ["scale.cu"]);
    // With a launch file beside it that one counts.
    succeeds(&["new", &cu]);
    let shown = succeeds(&["run", &cu, "--param", "n=300"]);
    assert!(
        shown.contains("scale.toml") && !shown.contains("made-up"),
        "{shown}"
    );
    let refused = fails(2, &["run", &scratch.path("none.cu")]);
    assert!(refused.contains("cannot read"), "{refused}");
}
