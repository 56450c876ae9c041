//! Makes the libraries that programs load of this crate: compiled once without cargo, linked once for each name, with the names
//! that NVIDIA's library of that major exports and its symbol version. Names that nothing here has answer "not supported".

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The runtime's libraries, by their names, with the major that each is.
const RUNTIMES: [(&str, u32); 3] = [
    ("libcudart.so.11.0", 11),
    ("libcudart.so.12", 12),
    ("libcudart.so.13", 13),
];
/// The driver's library.
const DRIVER: &str = "libcuda.so.1";
/// What other names for a default stream per thread end in.
const PER_THREAD: [&str; 2] = ["_ptds", "_ptsz"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(inside)");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=names");
    let out = PathBuf::from(variable("OUT_DIR"));
    let mut made = Vec::new();
    let here = variable("CARGO_CFG_TARGET_OS") == "linux"
        && ["x86_64", "aarch64"].contains(&variable("CARGO_CFG_TARGET_ARCH").as_str())
        && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if here {
        made = libraries(&out);
    }
    let mut table = String::from("/// All of them.\npub const LIBRARIES: &[Library] = &[\n");
    for (name, file) in made {
        let _ = writeln!(
            table,
            "    Library {{ name: {name:?}, bytes: include_bytes!({file:?}) }},"
        );
    }
    table.push_str("];\n");
    write(&out.join("libraries.rs"), &table);
}

/// Makes all libraries: names and files.
fn libraries(out: &Path) -> Vec<(String, PathBuf)> {
    let source = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let mut known = BTreeSet::new();
    functions(&source.join("src/runtime"), is_runtimes, &mut known);
    let names = RUNTIMES.map(|(name, _)| names(&source.join("names").join(file_of(name))));
    let all: BTreeSet<&String> = names.iter().flatten().collect();
    let lacking = all
        .into_iter()
        .filter(|name| !known.contains(*name) && base(name, &known).is_none());
    write(&out.join("stubs.rs"), &invocation("stubs", lacking));
    let mut drivers = BTreeSet::new();
    functions(&source.join("src/driver"), is_drivers, &mut drivers);
    let of_driver = self::names(&source.join("names").join(format!("{DRIVER}.txt")));
    let unknown: Vec<_> = drivers.iter().filter(|n| !of_driver.contains(n)).collect();
    assert!(unknown.is_empty(), "NVIDIA's library has no {unknown:?}");
    let lacking = of_driver
        .iter()
        .filter(|name| !drivers.contains(*name) && base(name, &drivers).is_none());
    write(
        &out.join("driver_stubs.rs"),
        &invocation("driver_stubs", lacking),
    );
    let archive = compile(&source, out);
    let mut made = Vec::new();
    for ((name, major), names) in RUNTIMES.into_iter().zip(&names) {
        let options = options(major, names, &known);
        made.push((name.to_string(), link(out, &archive, name, names, &options)));
    }
    let options = options(13, &of_driver, &drivers);
    let driver = link(out, &archive, DRIVER, &of_driver, &options);
    made.push((DRIVER.to_string(), driver));
    let preloaded = "libwarpsim.so";
    let names = ["warpsim_preloaded", "warpsim_runtime_used"]
        .map(String::from)
        .to_vec();
    let options = self::options(13, &[], &known);
    made.push((
        preloaded.into(),
        link(out, &archive, preloaded, &names, &options),
    ));
    made
}

fn is_runtimes(name: &str) -> bool {
    name.trim_start_matches('_').starts_with("cuda")
}

fn is_drivers(name: &str) -> bool {
    let rest = name.strip_prefix("cu").unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Functions that are not there, as a macro takes them.
fn invocation<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> String {
    let names: String = names.map(|name| format!("    {name}\n")).collect();
    format!("{what}! {{\n{names}}}\n")
}

/// What the linker is told of a library: its major, and names that are other names of functions.
fn options(major: u32, names: &[String], known: &BTreeSet<String>) -> Vec<String> {
    let mut options = vec![format!("-Wl,--defsym=warpsim_major=warpsim_major_{major}")];
    for name in names {
        if let Some(base) = base(name, known) {
            options.push(format!("-Wl,--defsym={name}={base}"));
        }
    }
    options
}

fn file_of(library: &str) -> String {
    let major = library.split('.').nth(2).unwrap_or_default();
    format!("libcudart.so.{major}.txt")
}

/// What a name for a default stream per thread is another name of, if that is there.
fn base<'a>(name: &'a str, known: &BTreeSet<String>) -> Option<&'a str> {
    let base = PER_THREAD.iter().find_map(|end| name.strip_suffix(end))?;
    (!known.contains(name) && known.contains(base)).then_some(base)
}

/// Compiles the crate as a library for C.
fn compile(source: &Path, out: &Path) -> PathBuf {
    let archive = out.join("libwarpsim_inside.a");
    let mut rustc = Command::new(variable("RUSTC"));
    rustc
        .arg(source.join("src/lib.rs"))
        .args([
            "--crate-name",
            "warpsim_inside",
            "--crate-type",
            "staticlib",
            "--edition",
            "2024",
        ])
        .args(["--cfg", "inside", "--target", &variable("TARGET")])
        .args([
            "-C",
            "opt-level=2",
            "-C",
            "panic=unwind",
            "-C",
            "relocation-model=pic",
            "-C",
            "codegen-units=4",
        ])
        .args(["--cap-lints", "allow", "-C", "strip=debuginfo", "-o"])
        .arg(&archive)
        .env("WARPSIM_STUBS", out.join("stubs.rs"))
        .env("WARPSIM_DRIVER_STUBS", out.join("driver_stubs.rs"));
    run(rustc);
    archive
}

/// Links a library that exports these names.
fn link(
    out: &Path,
    archive: &Path,
    name: &str,
    exported: &[String],
    options: &[String],
) -> PathBuf {
    let (script, response) = (
        out.join(format!("{name}.map")),
        out.join(format!("{name}.options")),
    );
    let all: String = exported
        .iter()
        .map(|name| format!("    {name};\n"))
        .collect();
    // The driver's names have no version, as in NVIDIA's.
    let version = if name == DRIVER { "" } else { name };
    write(
        &script,
        &format!("{version} {{\n  global:\n{all}  local: *;\n}};\n"),
    );
    let mut lines = String::new();
    for name in exported.iter().filter(|n| {
        !options
            .iter()
            .any(|o| o.contains(&format!("--defsym={n}=")))
    }) {
        let _ = writeln!(lines, "-Wl,--undefined={name}");
    }
    for option in options {
        let _ = writeln!(lines, "{option}");
    }
    write(&response, &lines);
    let file = out.join(name);
    // What cargo was told to link with, else what compilers of C are called.
    let linker = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".into());
    let mut cc = Command::new(linker);
    cc.args(["-shared", "-o"])
        .arg(&file)
        .arg(format!("@{}", response.display()))
        .arg(archive)
        .arg(format!("-Wl,-soname,{name}"))
        .arg(format!("-Wl,--version-script={}", script.display()))
        .args([
            "-Wl,--gc-sections",
            "-Wl,-z,now",
            "-Wl,-s",
            "-lgcc_s",
            "-lpthread",
            "-ldl",
            "-lm",
            "-lc",
        ]);
    run(cc);
    file
}

/// The functions of an API that the files of a folder have.
fn functions(folder: &Path, is_one: fn(&str) -> bool, known: &mut BTreeSet<String>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries.flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        for line in text.lines() {
            let line = line.trim_start();
            let line = line
                .split_once("extern \"C\" ")
                .map_or(line, |(_, rest)| rest);
            let Some((name, _)) = line
                .strip_prefix("fn ")
                .and_then(|rest| rest.split_once('('))
            else {
                continue;
            };
            if is_one(name) {
                known.insert(name.to_string());
            }
        }
    }
}

fn names(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(String::from)
        .collect()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).unwrap_or_else(|e| panic!("cannot write {}: {e}", file.display()));
}

fn run(mut command: Command) {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("cannot run {command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
