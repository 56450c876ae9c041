//! CUDA C to PTX with a compiler of the user's: NVIDIA's where there is one, else clang with our
//! headers, which needs no CUDA installation.

mod choose;
mod clang;
mod headers;
mod nvcc;
mod nvrtc;
mod packages;

pub use choose::CudaCompiler;

use crate::files::write_whole;
use crate::host::device::DeviceError;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use warpsim_present::reading;
use warpsim_ptx::outside;

/// How `.cu` files are compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// The compiler: a program, NVRTC's library, or one of the words `nvcc`, `nvrtc` and `clang`.
    /// Without one the environment decides, and then what is installed.
    pub compiler: Option<OsString>,
    /// Flags for it, after ours.
    pub flags: Vec<String>,
    /// Where the PTX is written to, if anywhere.
    pub keep: Option<PathBuf>,
}

/// Whether a file is CUDA C, by its name.
pub fn is_cuda(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "cu")
}

/// Compiles a `.cu` file. A process compiles each file once.
pub fn compile(source: &Path, options: &Options) -> Result<String, DeviceError> {
    // A compiler would read a device for ever.
    reading::check(source, reading::TEXT)
        .map_err(|e| DeviceError::bad_input(format!("cannot read {}: {e}", source.display())))?;
    let known = known(source, options)?;
    if let Some(path) = &options.keep {
        write_whole(path, known.as_bytes())
            .map_err(|e| DeviceError::bad_input(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(known)
}

fn known(source: &Path, options: &Options) -> Result<String, DeviceError> {
    type Compiled = HashMap<(PathBuf, Options), String>;
    static KNOWN: OnceLock<Mutex<Compiled>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    // Held while compiling: a thread that asks for the same file meanwhile waits for it.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (source.to_path_buf(), options.clone());
    if let Some(ptx) = known.get(&key) {
        return Ok(ptx.clone());
    }
    let ptx = match CudaCompiler::choose(options.compiler.as_deref())? {
        CudaCompiler::Nvcc(program) => nvcc::compile(&program, source, &options.flags)?,
        CudaCompiler::Nvrtc(library) => nvrtc::compile(&library, source, &options.flags)?,
        CudaCompiler::Clang(program) => clang::compile(&program, source, &options.flags)?,
    };
    let ptx = match std::env::current_dir() {
        Ok(here) => with_files_from(&here, &ptx),
        Err(_) => ptx,
    };
    known.insert(key, ptx.clone());
    Ok(ptx)
}

/// PTX whose `.file` lines name files in this folder, and below, from there: shorter to read, and the same wherever the folder
/// lies.
fn with_files_from(folder: &Path, ptx: &str) -> String {
    let absolute = format!("\"{}/", folder.display());
    let lines = ptx.split_inclusive('\n');
    let relative = lines.map(|line| match line.trim_start().starts_with(".file") {
        true => line.replacen(&absolute, "\"", 1),
        false => line.to_string(),
    });
    relative.collect()
}

/// What a compiler that failed said, once, and a hint.
fn failed(compiler: &str, source: &Path, said: &str, hint: Option<String>) -> DeviceError {
    let mut text = format!("{compiler} cannot compile {}", source.display());
    let said = said.trim_end();
    if !said.is_empty() {
        text += &format!(":\n{said}");
    }
    if let Some(hint) = hint {
        text += &format!("\nhint: {hint}");
    }
    DeviceError::bad_input(text)
}

/// Runs a compiler that writes PTX to a file; the text of that file.
fn run(
    program: &Path,
    mut arguments: Vec<OsString>,
    source: &Path,
    output: &Path,
    hint: impl Fn(&str) -> Option<String>,
) -> Result<String, DeviceError> {
    let compiler = program.display();
    arguments.extend(["-o".into(), output.into(), source.into()]);
    let result = outside::run(program, &arguments).map_err(|e| {
        DeviceError::bad_input(format!(
            "cannot compile {}: {compiler} does not run ({e})\n{}",
            source.display(),
            choose::ADVICE
        ))
    })?;
    if !result.status.success() {
        let said = String::from_utf8_lossy(&result.stderr);
        return Err(failed(&compiler.to_string(), source, &said, hint(&said)));
    }
    let wrote = reading::read(output, warpsim_ptx::MOST_BYTES).map_err(|e| e.to_string());
    wrote.and_then(warpsim_ptx::text).map_err(|why| {
        DeviceError::bad_input(format!(
            "{compiler} wrote no PTX for {}: {why}",
            source.display()
        ))
    })
}

/// Whether a flag says what to compile for: NVIDIA's compilers refuse to be told twice.
fn names_architecture(flag: &str) -> bool {
    let name = flag.split('=').next().unwrap_or(flag);
    matches!(
        name,
        "-arch" | "--gpu-architecture" | "-gencode" | "--generate-code"
    )
}

/// A folder for a compiler's files, gone when it is dropped.
fn scratch(source: &Path) -> Result<tempfile::TempDir, DeviceError> {
    tempfile::tempdir()
        .map_err(|e| DeviceError::bad_input(format!("compiling {}: {e}", source.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said when this compiler is to compile a file of that name.
    fn compile_with(compiler: &str, name: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join(name);
        std::fs::write(&source, "").expect("written");
        let options = Options {
            compiler: Some(compiler.into()),
            ..Options::default()
        };
        let error = compile(&source, &options).expect_err("no PTX");
        let folder = format!("{}/", folder.path().display());
        error.text.replace(&folder, "")
    }

    #[test]
    fn an_architecture_that_is_named_is_the_only_one() {
        assert!(names_architecture("-arch=sm_90"));
        assert!(names_architecture("--gpu-architecture=compute_80"));
        assert!(!names_architecture("-archive"));
        assert!(!names_architecture("-DTILE=16"));
    }

    #[test]
    fn files_in_the_current_folder_are_named_from_there() {
        let ptx = "\t.file\t1 \"/home/me/k/a.cu\"\n\t.file\t2 \"/home/me/kk/b.cu\"\nmov \"/home/me/k/\";\n";
        assert_eq!(
            with_files_from(Path::new("/home/me/k"), ptx),
            "\t.file\t1 \"a.cu\"\n\t.file\t2 \"/home/me/kk/b.cu\"\nmov \"/home/me/k/\";\n"
        );
    }

    #[test]
    fn no_compiler_is_a_clear_error() {
        let error = compile_with("no-such-clang", "x.cu");
        assert!(error.contains("cannot compile x.cu"), "{error}");
        assert!(error.contains("install clang"), "{error}");
    }

    #[test]
    fn the_compilers_failure_is_told() {
        // `false` is a compiler that always fails and says nothing.
        let error = compile_with("false", "x.cu");
        assert_eq!(error, "false cannot compile x.cu");
    }

    #[test]
    fn a_library_that_is_none_is_a_clear_error() {
        let error = compile_with("/no/such/libnvrtc.so.12", "x.cu");
        assert!(error.contains("libnvrtc.so.12"), "{error}");
        assert!(error.contains("cannot be loaded"), "{error}");
    }
}
