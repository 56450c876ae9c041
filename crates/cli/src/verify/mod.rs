//! `warpsim verify-on-gpu`: the simulator against the GPU in this machine.

mod jobs;
mod programs;

use crate::console::failure::{Failure, WRONG_RESULT, print};
use crate::selftest::Programs;
use clap::ValueEnum;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use warpsim_silicon::gpu::device::{RealDevice, Texts};
use warpsim_silicon::gpu::driver::{Driver, Level};
use warpsim_silicon::verify::{Verdicts, check, table};
use warpsim_silicon::{RECORDED, catalogue, plan, record};
use warpsim_workloads::files::write_whole;
use warpsim_workloads::suite::{Parameters, Size, WORKLOADS};
use warpsim_workloads::{Outcome as Comparison, Session};

/// Arguments of `warpsim verify-on-gpu`.
#[derive(clap::Args)]
#[command(
    after_help = "Needs an NVIDIA GPU and its driver (libcuda.so.1), not the CUDA toolkit.\n\
                  Exit codes: 0 everything agrees, 1 something differs, 2 there is no GPU or no driver."
)]
pub struct Arguments {
    /// What to compare [default: all].
    #[arg(long, value_delimiter = ',', value_name = "WHAT")]
    only: Vec<What>,
    /// Only instruction forms whose name contains this.
    #[arg(long, default_value = "", value_name = "TEXT")]
    filter: String,
    /// Size of the workloads.
    #[arg(long, default_value = "small")]
    size: SizeName,
    /// Only workloads whose name contains this.
    #[arg(long, default_value = "", value_name = "TEXT")]
    workload: String,
    /// Give the workloads' kernels virtual blocks, in software: the GPU runs what `transform vtw
    /// --software` makes of them.
    #[arg(long, value_name = "VARIANT")]
    virtualize: Option<Software>,
    /// So many virtual blocks at most.
    #[arg(long, value_name = "N", requires = "virtualize", value_parser = clap::value_parser!(u32).range(1..))]
    virtual_blocks: Option<u32>,
    #[command(flatten)]
    programs: Programs,
    /// Processes that run random programs at the same time: the driver compiles one program after
    /// the other in each [default: as many as there are cores].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// How much the driver's compiler optimizes, 0 to 4. A random program that differs is also
    /// compiled at level 0: if it agrees then, the compiler is wrong.
    #[arg(long, value_name = "N", default_value_t = Level::FULL)]
    level: Level,
    /// Programs tried to make a random program that differs smaller; 0 leaves it as it is.
    #[arg(long, value_name = "N", default_value_t = 300)]
    tries: usize,
    /// Write what the GPU computed to forms.txt and programs.txt in this directory, and which
    /// random programs differ to differences.txt.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Instruction forms.
    Forms,
    /// Random programs.
    Programs,
    /// Workloads.
    Workloads,
}

/// What a real GPU can do.
#[derive(Clone, Copy, ValueEnum)]
enum Software {
    /// By a stride.
    Software,
}

#[derive(Clone, Copy, ValueEnum)]
enum SizeName {
    Tiny,
    Small,
    Large,
}

/// Compares everything asked for.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut driver = Driver::open().map_err(|e| {
        Failure::bad_input(format!(
            "{e}\nverify-on-gpu needs an NVIDIA GPU; `warpsim selftest` compares divergence models without one"
        ))
    })?;
    driver.level = arguments.level;
    if let Some(directory) = &arguments.record {
        make(directory)?;
    }
    print(&format!(
        "{} (sm_{}), driver {}\n",
        driver.gpu, driver.capability, driver.version
    ))?;
    let wanted = |what| arguments.only.is_empty() || arguments.only.contains(&what);
    let mut wrong = false;
    if wanted(What::Forms) {
        wrong |= forms(arguments, &driver)?;
    }
    if wanted(What::Programs) {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        wrong |= match arguments.jobs.unwrap_or(cores) {
            0 | 1 => programs::compare(arguments, &driver)?,
            jobs => jobs::compare(arguments, &driver, jobs)?,
        };
    }
    if wanted(What::Workloads) {
        wrong |= workloads(arguments, &driver)?;
    }
    Ok(ExitCode::from(if wrong { WRONG_RESULT } else { 0 }))
}

/// Makes the directory of a record, before there is anything to lose.
fn make(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|e| {
        Failure::bad_input(format!(
            "cannot make the directory {} of `--record`: {e}",
            directory.display()
        ))
    })
}

fn keep(arguments: &Arguments, name: &str, text: &str) -> Result<(), Failure> {
    let Some(directory) = &arguments.record else {
        return Ok(());
    };
    let path: &Path = &directory.join(name);
    write_whole(path, text.as_bytes())
        .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", path.display())))
}

/// Instruction forms. True when something is wrong.
fn forms(arguments: &Arguments, driver: &Driver) -> Result<bool, Failure> {
    let mut forms = catalogue::forms();
    forms.retain(|f| f.name.contains(&arguments.filter));
    let recorded = record::read(RECORDED).map_err(Failure::bad_input)?;
    let threads = arguments.programs.extent().threads;
    let Verdicts { verdicts, lost } = check(&forms, &recorded, driver, threads);
    let mut text = String::new();
    for verdict in &verdicts {
        let name = &forms[verdict.form].name;
        if let Err(reason) = &verdict.answer {
            let _ = writeln!(text, "{name}: refused by the GPU's compiler: {reason}");
        }
        if verdict.mismatches > 0 {
            let _ = writeln!(
                text,
                "{name}: {} of {} vectors differ",
                verdict.mismatches, verdict.vectors
            );
            let shown = if arguments.record.is_some() {
                usize::MAX
            } else {
                4
            };
            for line in verdict.shown.iter().take(shown) {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    let rows = table(&forms, &verdicts);
    let line = |name: &str, row: [usize; 5]| {
        let [forms, refused, vectors, wrong, mismatches] = row;
        format!("{name:<12} {forms:>7} {refused:>9} {vectors:>10} {wrong:>12} {mismatches:>14}\n")
    };
    let _ = writeln!(
        text,
        "{:<12} {:>7} {:>9} {:>10} {:>12} {:>14}",
        "opcode", "forms", "refused", "vectors", "forms wrong", "vectors wrong"
    );
    let mut total = [0; 5];
    for (name, row) in &rows {
        let numbers = [
            row.forms,
            row.refused,
            row.vectors,
            row.wrong,
            row.mismatches,
        ];
        for (sum, n) in total.iter_mut().zip(numbers) {
            *sum += n;
        }
        text += &line(name, numbers);
    }
    text += &line("all", total);
    if let Some(lost) = &lost {
        let _ = writeln!(text, "the GPU gave up: {lost}");
    }
    print(&text)?;
    // A form that the GPU's compiler refuses compares with nothing; that is news only when the
    // record does not know of it.
    let refused_anew = verdicts
        .iter()
        .any(|v| v.answer.is_err() && !recorded.refused.contains_key(&forms[v.form].name));
    if arguments.record.is_some() {
        let (kept, answers) = (verdicts.into_iter())
            .map(|v| (forms[v.form].clone(), v.answer))
            .unzip::<_, _, Vec<_>, Vec<_>>();
        let raw = plan::Raw {
            gpu: driver.gpu.clone(),
            driver: driver.version.clone(),
            answers,
        };
        let text = record::write(&kept, &raw).map_err(Failure::bad_input)?;
        keep(arguments, "forms.txt", &text)?;
    }
    Ok(refused_anew || total[3] > 0 || lost.is_some())
}

/// Workloads. True when something is wrong.
fn workloads(arguments: &Arguments, driver: &Driver) -> Result<bool, Failure> {
    let size = match arguments.size {
        SizeName::Tiny => Size::Tiny,
        SizeName::Small => Size::Small,
        SizeName::Large => Size::Large,
    };
    let mut wrong = false;
    for workload in WORKLOADS {
        let info = workload.info();
        if !info.name.contains(&arguments.workload) {
            continue;
        }
        let parameters = Parameters::resolve(info.parameters, size, &[])?;
        let texts = match arguments.virtualize {
            None => Texts::default(),
            Some(Software::Software) => Texts::virtualized(arguments.virtual_blocks),
        };
        let mut device = RealDevice::new(driver, texts.clone());
        let mut session = Session {
            device: &mut device,
            compiler: &texts,
        };
        let start = Instant::now();
        let result = match workload.run(&parameters, 1, &mut session) {
            Ok(outcome) => {
                wrong |= matches!(outcome, Comparison::Wrong(_));
                outcome.to_string()
            }
            Err(e) => {
                wrong = true;
                format!("FAILED: {e}")
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        let launches = device.launches;
        print(&format!(
            "{:<20} {launches:>5} launches {seconds:>7.2} s  {result}\n",
            info.name
        ))?;
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_record_is_made_or_refused_at_once() {
        let base = std::env::temp_dir().join(format!("warpsim-record-{}", std::process::id()));
        let nested = base.join("of").join("today");
        assert!(make(&nested).is_ok());
        assert!(nested.is_dir());
        assert!(make(&nested).is_ok(), "one that is there is used");
        let file = base.join("file");
        std::fs::write(&file, "").expect("written");
        let refused = make(&file.join("below")).expect_err("a file is in the way");
        assert!(refused.text.contains("--record"), "{}", refused.text);
        std::fs::remove_dir_all(&base).expect("removed");
    }
}
