//! `warpsim verify-on-gpu`: the simulator against the GPU in this machine.

mod jobs;

use crate::failure::{Failure, WRONG_RESULT, print};
use crate::selftest::Programs;
use clap::ValueEnum;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use warpsim_silicon::gpu::device::{RealDevice, Texts};
use warpsim_silicon::gpu::driver::Driver;
use warpsim_silicon::programs::campaign::{self, Extent, Outcome};
use warpsim_silicon::programs::record as programs_record;
use warpsim_silicon::programs::run::{Target, functional, models, on_gpu};
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
    #[command(flatten)]
    programs: Programs,
    /// Processes that run random programs at the same time: the driver compiles one program after
    /// the other in each [default: as many as there are cores].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Write what the GPU computed to forms.txt and programs.txt in this directory.
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

#[derive(Clone, Copy, ValueEnum)]
enum SizeName {
    Tiny,
    Small,
    Large,
}

/// Compares everything asked for.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let driver = Driver::open().map_err(|e| {
        Failure::bad_input(format!(
            "{e}\nverify-on-gpu needs an NVIDIA GPU; `warpsim selftest` compares divergence models without one"
        ))
    })?;
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
            0 | 1 => programs(arguments, &driver)?,
            jobs => jobs::programs(arguments, &driver, jobs)?,
        };
    }
    if wanted(What::Workloads) {
        wrong |= workloads(arguments, &driver)?;
    }
    Ok(ExitCode::from(if wrong { WRONG_RESULT } else { 0 }))
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

/// What is kept of random programs.
fn recorded(driver: &Driver, mut entries: Vec<programs_record::Entry>) -> String {
    entries.sort_by_key(|e| e.seed);
    programs_record::write(&programs_record::Record {
        gpu: driver.gpu.clone(),
        driver: driver.version.clone(),
        entries,
    })
}

/// Where random programs run besides the GPU.
fn targets(arguments: &Arguments) -> Result<Vec<Target>, Failure> {
    let mut targets = vec![functional().map_err(Failure::bad_input)?];
    targets.extend(models().map_err(Failure::bad_input)?);
    arguments.programs.targets(targets)
}

/// Random programs. True when something is wrong.
fn programs(arguments: &Arguments, driver: &Driver) -> Result<bool, Failure> {
    let targets = targets(arguments)?;
    let extent = Extent {
        // The GPU's compiler takes its time.
        shrinking: 300,
        ..arguments.programs.extent()
    };
    let text_of = |outcome: &Outcome| recorded(driver, outcome.entries.clone());
    // A GPU may hang: what is known is kept now and then.
    let last = Mutex::new(Instant::now());
    let progress = |outcome: &Outcome| {
        let mut last = last.lock().unwrap_or_else(|e| e.into_inner());
        if last.elapsed() > Duration::from_secs(5) {
            *last = Instant::now();
            // The last one, below, is the one whose failure is told.
            let _ = keep(arguments, "programs.txt", &text_of(outcome));
        }
    };
    let truth = |program: &_| on_gpu(program, driver);
    let outcome = campaign::run(&extent, &truth, &targets, &progress);
    let failures = arguments.programs.report(&outcome)?;
    let names: Vec<&str> = targets.iter().map(|t| t.name.as_str()).collect();
    print(&format!(
        "{} random programs on the GPU and {}: {} comparisons, {failures} differ\n",
        outcome.programs,
        names.join(", "),
        outcome.comparisons
    ))?;
    if let Some(lost) = &outcome.lost {
        print(&format!("the GPU gave up: {lost}\n"))?;
    }
    keep(arguments, "programs.txt", &text_of(&outcome))?;
    Ok(failures > 0 || outcome.lost.is_some())
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
        let texts = Texts::default();
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
