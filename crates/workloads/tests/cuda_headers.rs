//! CUDA C compiled by clang with our headers does what CUDA C means: every name runs on the simulated
//! GPU and gives the right result, and the math functions are as exact as `docs/cuda.md` says.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::gpu::Options;
use warpsim_workloads::args::Arg;
use warpsim_workloads::cuda::{self, CudaCompiler};
use warpsim_workloads::simulated::{Simulated, compile};
use warpsim_workloads::{DeviceError, Session, Shape};

/// Options that compile with clang, or nothing where there is none.
fn clang() -> Option<cuda::Options> {
    let options = cuda::Options {
        compiler: Some("clang".into()),
        ..cuda::Options::default()
    };
    if CudaCompiler::choose(options.compiler.as_deref()).is_err() {
        println!("skipped: no clang here");
        return None;
    }
    Some(options)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda")
}

/// What kernels print.
#[derive(Clone, Default)]
struct Printed(Rc<RefCell<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn device(functional: bool, printed: &Printed) -> Simulated {
    let machine = Machine::resolve("gtx480", &[]).expect("a machine");
    let options = Options {
        functional,
        output: Box::new(printed.clone()),
        ..Options::default()
    };
    Simulated::new(machine, options).expect("a device")
}

/// Runs one checking kernel of a file with two warps; the line of the first check that fails.
fn check(ptx: &str, kernel: &str, functional: bool, printed: &Printed) -> Result<u32, DeviceError> {
    let mut device = device(functional, printed);
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let module = session.load_text("test.ptx", ptx)?;
    let fail = session.zeroed("fail", 4)?;
    let arguments = [Arg::Pointer(fail), Arg::u32(0)];
    session.launch(&module, kernel, Shape::linear(1, 64), &arguments)?;
    session.read_u32(fail)
}

fn checks(file: &str, kernels: &[&str]) {
    let Some(options) = clang() else { return };
    let path = folder().join(file);
    let ptx = cuda::compile(&path, &options).unwrap_or_else(|e| panic!("{e}"));
    for kernel in kernels {
        for functional in [true, false] {
            let line = check(&ptx, kernel, functional, &Printed::default());
            let line = line.unwrap_or_else(|e| panic!("{kernel}: {e}"));
            assert_eq!(line, 0, "{file}:{line}: a check of `{kernel}` failed");
        }
    }
}

#[test]
fn overloads_take_the_type_they_are_given() {
    checks(
        "overloads.cu",
        &["minima", "absolutes", "shuffles", "mixed_math"],
    );
}

#[test]
fn votes_and_barriers() {
    checks("warp.cu", &["votes", "block_barriers", "times"]);
}

#[test]
fn atomics() {
    checks("atomics.cu", &["adding", "exchanging"]);
}

#[test]
fn bits_conversions_and_rounding() {
    checks("bits.cu", &["bit_operations", "conversions", "rounding"]);
}

#[test]
fn a_file_as_programmers_write_it() {
    checks("types.cu", &["vectors", "halves", "groups", "prints"]);
}

#[test]
fn prints_and_assertions_arrive() {
    let Some(options) = clang() else { return };
    let ptx = cuda::compile(&folder().join("types.cu"), &options).expect("PTX");
    let printed = Printed::default();
    check(&ptx, "prints", false, &printed).expect("runs");
    assert_eq!(
        String::from_utf8_lossy(&printed.0.borrow()),
        "thread 33 says 2.50 words\n"
    );
    let error = check(&ptx, "fails", false, &printed).expect_err("an assertion");
    for part in ["threadIdx.x < (unsigned)zero + 40", "types.cu"] {
        assert!(error.text.contains(part), "{part}: {error}");
    }
}

#[test]
fn lines_are_those_of_the_source() {
    let Some(options) = clang() else { return };
    let path = folder().join("types.cu");
    let ptx = cuda::compile(&path, &options).expect("PTX");
    let files: Vec<&str> = ptx
        .lines()
        .filter(|l| l.trim().starts_with(".file"))
        .collect();
    // No header of ours: what is inlined from them counts as the line that calls it.
    assert!(
        files.iter().all(|f| !f.contains("warpsim/"))
            && files.iter().any(|f| f.contains("types.cu")),
        "{files:?}"
    );
}

#[test]
fn a_mistake_is_shown_once_with_a_hint() {
    let Some(options) = clang() else { return };
    let scratch = tempfile::tempdir().expect("a folder");
    let path = scratch.path().join("bad.cu");
    std::fs::write(
        &path,
        "__global__ void k(int *p) { *p = __no_such_name(1); }\n",
    )
    .expect("written");
    let error = cuda::compile(&path, &options).expect_err("a mistake");
    assert_eq!(error.text.matches("__no_such_name'").count(), 1, "{error}");
    assert!(error.text.contains("bad.cu:1:"), "{error}");
    assert!(
        error.text.contains("hint: if `__no_such_name` is CUDA's"),
        "{error}"
    );
    std::fs::write(&path, "#include <thrust/sort.h>\n").expect("written");
    let error = cuda::compile(&path, &options).expect_err("a mistake");
    assert!(error.text.contains("hint: `thrust/sort.h`"), "{error}");
}

/// A math function: its name without `f`, how far its float and its double may be from the exact
/// result in units of the last place, where it is tried, and the exact result.
struct Function {
    name: &'static str,
    float: f64,
    double: f64,
    from: f64,
    to: f64,
    exact: fn(f64) -> f64,
}

const fn f(
    name: &'static str,
    (float, double): (f64, f64),
    (from, to): (f64, f64),
    exact: fn(f64) -> f64,
) -> Function {
    Function {
        name,
        float,
        double,
        from,
        to,
        exact,
    }
}

/// The same bounds as in `docs/cuda.md`.
const FUNCTIONS: &[Function] = &[
    f("exp", (2.0, 2.0), (-87.0, 88.0), f64::exp),
    f("exp2", (2.0, 2.0), (-125.0, 127.0), f64::exp2),
    f("exp10", (3.0, 3.0), (-37.0, 38.0), |x| 10f64.powf(x)),
    f("expm1", (2.0, 2.0), (-20.0, 80.0), f64::exp_m1),
    f("log", (2.0, 2.0), (1e-6, 1e6), f64::ln),
    f("log2", (2.0, 2.0), (1e-6, 1e6), f64::log2),
    f("log10", (2.0, 2.0), (1e-6, 1e6), f64::log10),
    f("log1p", (2.0, 2.0), (-0.999, 1e4), f64::ln_1p),
    f("sqrt", (0.5, 0.5), (0.0, 1e10), f64::sqrt),
    f("rsqrt", (2.0, 1.5), (1e-5, 1e10), |x| 1.0 / x.sqrt()),
    f("cbrt", (2.0, 1.5), (-1e6, 1e6), f64::cbrt),
    f("sin", (2.0, 2.0), (-1e5, 1e5), f64::sin),
    f("cos", (2.0, 2.0), (-1e5, 1e5), f64::cos),
    f("tan", (4.0, 3.0), (-1e4, 1e4), f64::tan),
    f("asin", (4.0, 3.0), (-1.0, 1.0), f64::asin),
    f("acos", (4.0, 3.0), (-1.0, 1.0), f64::acos),
    f("atan", (3.0, 3.0), (-50.0, 50.0), f64::atan),
    f("sinh", (3.0, 3.0), (-80.0, 80.0), f64::sinh),
    f("cosh", (3.0, 3.0), (-80.0, 80.0), f64::cosh),
    f("tanh", (3.0, 3.0), (-8.0, 8.0), f64::tanh),
    f("asinh", (4.0, 4.0), (-1e4, 1e4), f64::asinh),
    f("acosh", (4.0, 4.0), (1.0, 1e4), acosh),
    f("atanh", (4.0, 4.0), (-0.99, 0.99), atanh),
];

/// More exact than the standard library's near 1 and near 0.
fn acosh(x: f64) -> f64 {
    let t = x - 1.0;
    (t + (2.0 * t + t * t).sqrt()).ln_1p()
}

fn atanh(x: f64) -> f64 {
    0.5 * (2.0 * x.abs() / (1.0 - x.abs())).ln_1p().copysign(x)
}

const POINTS: usize = 2048;

/// Evenly from one end to the other, then closer and closer to zero or to the lower end.
fn points(from: f64, to: f64) -> Vec<f64> {
    let half = POINTS / 2;
    let even = (0..half).map(|i| from + (to - from) * i as f64 / (half - 1) as f64);
    let near = (0..half).map(|i| {
        let small = 2f64.powf(-30.0 * i as f64 / half as f64);
        if from < 0.0 {
            (if i % 2 == 0 { to } else { from }) * small
        } else {
            from + (to - from) * small
        }
    });
    even.chain(near).collect()
}

/// Distance in units of the last place of a number with so many bits.
fn ulps(got: f64, exact: f64, bits: i32, least: i32) -> f64 {
    if got == exact || (got.is_nan() && exact.is_nan()) {
        return 0.0;
    }
    let exponent = exact.abs().log2().floor().max(f64::from(least));
    (got - exact).abs() / 2f64.powi(exponent as i32 - bits + 1)
}

/// Runs `NAME(const T *x, T *y)` over points for all of `names`, as one file.
fn evaluate(
    options: &cuda::Options,
    names: &[String],
    single: bool,
    x: &[Vec<f64>],
) -> Vec<Vec<f64>> {
    let scratch = tempfile::tempdir().expect("a folder");
    let path = scratch.path().join("math.cu");
    let ty = if single { "float" } else { "double" };
    let kernels: Vec<String> = names
        .iter()
        .map(|name| {
            format!(
                "extern \"C\" __global__ void try_{name}(const {ty} *x, {ty} *y, int n) {{\n\
                 int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = {name}(x[i]); }}\n"
            )
        })
        .collect();
    std::fs::write(&path, kernels.concat()).expect("written");
    let ptx = cuda::compile(&path, options).unwrap_or_else(|e| panic!("{e}"));
    let mut device = device(true, &Printed::default());
    let mut session = Session {
        device: &mut device,
        compiler: &compile,
    };
    let module = session
        .load_text("math.ptx", &ptx)
        .unwrap_or_else(|e| panic!("{e}"));
    let mut results = Vec::new();
    for (name, x) in names.iter().zip(x) {
        let bytes: Vec<u8> = match single {
            true => x.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect(),
            false => x.iter().flat_map(|v| v.to_le_bytes()).collect(),
        };
        let input = session.upload("x", &bytes).expect("room");
        let output = session.zeroed("y", bytes.len() as u64).expect("room");
        let arguments = [
            Arg::Pointer(input),
            Arg::Pointer(output),
            Arg::u32(x.len() as u32),
        ];
        let shape = Shape::cover(x.len() as u32, 128);
        session
            .launch(&module, &format!("try_{name}"), shape, &arguments)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let y = session
            .device
            .read(output, bytes.len() as u64)
            .expect("readable");
        results.push(match single {
            true => (y.as_chunks::<4>().0.iter())
                .map(|b| f64::from(f32::from_le_bytes(*b)))
                .collect(),
            false => (y.as_chunks::<8>().0.iter())
                .map(|b| f64::from_le_bytes(*b))
                .collect(),
        });
    }
    results
}

/// The largest distance of a function's results, and where.
fn worst(x: &[f64], y: &[f64], exact: impl Fn(usize, f64) -> f64, single: bool) -> (f64, f64) {
    let (bits, least) = if single { (24, -126) } else { (53, -1022) };
    let distance = |(i, (x, y)): (usize, (&f64, &f64))| {
        let x = if single { f64::from(*x as f32) } else { *x };
        (ulps(*y, exact(i, x), bits, least), x)
    };
    let all = x.iter().zip(y).enumerate().map(distance);
    all.fold(
        (0.0, 0.0),
        |a, b| if b.0 > a.0 || b.0.is_nan() { b } else { a },
    )
}

fn accuracy(single: bool) {
    let Some(options) = clang() else { return };
    let suffix = if single { "f" } else { "" };
    let names: Vec<String> = FUNCTIONS
        .iter()
        .map(|f| format!("{}{suffix}", f.name))
        .collect();
    let x: Vec<Vec<f64>> = FUNCTIONS.iter().map(|f| points(f.from, f.to)).collect();
    let y = evaluate(&options, &names, single, &x);
    let mut wrong = Vec::new();
    for ((function, x), y) in FUNCTIONS.iter().zip(&x).zip(&y) {
        let (most, at) = worst(x, y, |_, x| (function.exact)(x), single);
        // The host's double is within one unit of the exact result itself.
        let bound = if single {
            function.float
        } else {
            function.double
        };
        let bound = if single { bound } else { bound + 0.5 };
        println!("{}{suffix}: {most:.2} ulp at {at:e}", function.name);
        if most.is_nan() || most > bound {
            wrong.push(format!(
                "{}{suffix}: {most:.2} ulp at {at:e}, not {bound}",
                function.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_states_these_bounds() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cuda.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for f in FUNCTIONS {
        let row = format!("| `{}` | {} | {} |", f.name, f.float, f.double);
        assert!(page.contains(&row), "docs/cuda.md lacks {row}");
    }
}

#[test]
fn floats_are_as_exact_as_stated() {
    accuracy(true);
}

#[test]
fn doubles_are_as_exact_as_stated() {
    accuracy(false);
}

#[test]
fn error_functions_are_as_exact_as_stated() {
    let Some(options) = clang() else { return };
    let values: &[(f64, f64, f64)] = include!("cuda/erf_values.rs");
    let x: Vec<f64> = values.iter().map(|v| v.0).collect();
    for single in [true, false] {
        let names = ["erf", "erfc"].map(|n| format!("{n}{}", if single { "f" } else { "" }));
        let y = evaluate(&options, &names, single, &[x.clone(), x.clone()]);
        for (which, y) in y.iter().enumerate() {
            for ((x, erf, erfc), y) in values.iter().zip(y) {
                if single && f64::from(*x as f32) != *x {
                    continue;
                }
                let exact = if which == 0 { *erf } else { *erfc };
                let (bits, least) = if single { (24, -126) } else { (53, -1022) };
                let most = ulps(*y, exact, bits, least);
                assert!(
                    most <= 5.0,
                    "{}({x}): {y}, not {exact}: {most} ulp",
                    names[which]
                );
            }
        }
    }
}

#[test]
fn powers_are_as_exact_as_stated() {
    let Some(options) = clang() else { return };
    // Both arguments from one: 0.01 to 100, to powers from -9 to 9, and special cases below.
    let x: Vec<f64> = (0..POINTS)
        .map(|i| 0.01 * 10000f64.powf(i as f64 / POINTS as f64))
        .collect();
    for single in [true, false] {
        for power in [-9.0, -2.5, -1.0, 0.5, 1.0 / 3.0, 2.0, 3.7, 9.0, 15.25] {
            let name = if single { "powf" } else { "pow" };
            let flags = vec![format!(
                "-Dtried(x)={name}((x),({power:?}{}))",
                if single { "f" } else { "" }
            )];
            let options = cuda::Options {
                flags,
                ..options.clone()
            };
            let y = evaluate(
                &options,
                &["tried".to_string()],
                single,
                std::slice::from_ref(&x),
            );
            let exponent = if single {
                f64::from(power as f32)
            } else {
                power
            };
            let (most, at) = worst(&x, &y[0], |_, x| x.powf(exponent), single);
            println!("{name}(x, {power}): {most:.2} ulp at {at:e}");
            let bound = if single { 4.0 } else { 2.5 };
            assert!(most <= bound, "{name}({at}, {power}): {most} ulp");
        }
    }
}

#[test]
fn special_values_are_as_in_c() {
    checks("special.cu", &["infinities", "fast"]);
}
