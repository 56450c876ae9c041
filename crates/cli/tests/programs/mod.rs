//! `examples/programs`: compiled as their first lines say, run by `warpsim exec`, and held against what a GPU printed.
//!
//! Skipped with a message where there is no nvcc. `WARPSIM_NVCC` names several, with colons between them: one of each major, say.

mod nvcc;
mod python;

use crate::common::root;
use nvcc::{Nvcc, Runtime};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder of `examples/programs`.
#[derive(Clone, Debug)]
struct Program {
    name: String,
    folder: PathBuf,
    /// What nvcc is told: sources and flags.
    compiled: Vec<String>,
    exits_with: i32,
}

impl Program {
    /// Reads the first lines of a program's source: how it is compiled, how it ends.
    fn read(name: &str) -> Option<Program> {
        let folder = root().join("examples/programs").join(name);
        let mut files: Vec<_> = folder
            .read_dir()
            .ok()?
            .flatten()
            .map(|e| e.path())
            .collect();
        files.sort();
        let sources = files
            .iter()
            .filter(|f| f.extension().is_some_and(|e| e == "cu"));
        let texts = sources.map(|f| std::fs::read_to_string(f).expect("readable"));
        let main = texts
            .into_iter()
            .find(|text| text.starts_with("// nvcc "))?;
        let mut lines = main.lines();
        let compiled = lines.next()?.strip_prefix("// nvcc ")?;
        let exit = lines
            .next()
            .and_then(|line| line.strip_prefix("// exits with "));
        Some(Program {
            name: name.to_string(),
            folder,
            compiled: compiled.split_whitespace().map(String::from).collect(),
            exits_with: exit.map_or(0, |code| code.parse().expect("a number")),
        })
    }

    fn all() -> Vec<Program> {
        let entries = root()
            .join("examples/programs")
            .read_dir()
            .expect("a folder");
        let names = entries
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned());
        let mut programs: Vec<_> = names.filter_map(|name| Program::read(&name)).collect();
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        programs
    }

    fn expected(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.join(file)).ok()
    }
}

/// What a program needs of the machine.
fn options(program: &Program) -> &'static [&'static str] {
    match program.name.as_str() {
        "big-shared" => &["--set", "shared.bytes=98304"],
        // Thousands of blocks of a library.
        "thrust" => &["--functional"],
        _ => &[],
    }
}

/// Compiles and runs a program; what is wrong with what it prints, if anything.
fn check(nvcc: &Nvcc, program: &Program, runtime: Runtime) -> Result<(), String> {
    let binary = nvcc.compile(&program.name, &program.folder, &program.compiled, runtime)?;
    let output = Command::new(env!("CARGO_BIN_EXE_warpsim"))
        .args(["exec", "--quiet"])
        .args(options(program))
        .arg("--")
        .arg(&binary)
        .output()
        .expect("the command runs");
    let [out, err] =
        [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
    let expected = program.expected("expected.txt").expect("what it prints");
    if out != expected {
        return Err(format!(
            "it printed\n{out}instead of\n{expected}and said\n{err}"
        ));
    }
    // A GPU tells of every thread whose assertion fails; here a launch ends with the first.
    if let Some(lines) = program.expected("expected-stderr.txt")
        && let Some(first) = lines.lines().next()
        && !err.lines().any(|line| line == first)
    {
        return Err(format!("it said\n{err}without\n{first}"));
    }
    match output.status.code() {
        Some(code) if code == program.exits_with => Ok(()),
        code => Err(format!(
            "it ended with {code:?}, not {}: {err}",
            program.exits_with
        )),
    }
}

/// A program, the compiler for it, and how the runtime gets into it.
type Work<'a> = (&'a Nvcc, Program, &'static [Runtime]);

/// Checks all of these, on as many threads as there are; compilers take longer than the programs.
fn check_all(work: &[Work]) {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut wrong = Vec::new();
        while let Some((nvcc, program, runtimes)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            for runtime in *runtimes {
                let what = format!(
                    "{} of nvcc {}, {runtime:?} runtime",
                    program.name, nvcc.version
                );
                match check(nvcc, program, *runtime) {
                    Ok(()) => println!("{what}: as on a GPU"),
                    Err(why) => wrong.push(format!("{what}: {why}")),
                }
            }
        }
        wrong
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let ended = started
            .into_iter()
            .flat_map(|t| t.join().expect("no panic"));
        ended.collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_program_says_how_it_is_compiled_and_what_it_prints() {
    let programs = Program::all();
    assert!(programs.len() >= 16, "{programs:?}");
    for program in programs {
        assert!(
            program.expected("expected.txt").is_some(),
            "{}",
            program.name
        );
        let sources = program.compiled.iter().filter(|word| word.ends_with(".cu"));
        for source in sources {
            assert!(program.folder.join(source).is_file(), "{source}");
        }
    }
}

#[test]
fn programs_print_what_they_print_on_a_gpu() {
    let found = Nvcc::all();
    let Some(nvcc) = found.first() else {
        println!("skipped: no nvcc here");
        return;
    };
    let program = |name| Program::read(name).expect("it is there");
    check_all(&[
        (
            nvcc,
            program("vector-add"),
            &[Runtime::Static, Runtime::Shared],
        ),
        (nvcc, program("separate-units"), &[Runtime::Shared]),
        (nvcc, program("errors"), &[Runtime::Static]),
    ]);
}

/// All programs, with every nvcc that there is, and both ways to link the runtime.
#[test]
#[ignore = "long: .ci/run"]
fn all_programs_print_what_they_print_on_a_gpu() {
    let found = Nvcc::all();
    if found.is_empty() {
        println!("skipped: no nvcc here");
    }
    let mut work = Vec::new();
    for nvcc in &found {
        for program in Program::all() {
            work.push((nvcc, program, [Runtime::Static, Runtime::Shared].as_slice()));
        }
    }
    check_all(&work);
}

/// Where what is compiled here is kept: a program is compiled again when a source or the compiler is another.
fn kept() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}
