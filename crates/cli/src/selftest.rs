//! `warpsim selftest`: random programs on every divergence model, and on random combinations of
//! everything that can be chosen.

use crate::console::failure::{Failure, WRONG_RESULT, print, print_data};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use warpsim_silicon::RECORDED_PROGRAMS;
use warpsim_silicon::combinations::check_many;
use warpsim_silicon::programs::campaign::{self, Extent, Outcome, Part};
use warpsim_silicon::programs::judge::{Reference, Refusal};
use warpsim_silicon::programs::record;
use warpsim_silicon::programs::recorded::check_while;
use warpsim_silicon::programs::run::{Target, functional, models, simulate};
use warpsim_workloads::files::write_whole;

/// Arguments of `warpsim selftest`.
#[derive(clap::Args)]
#[command(
    after_help = "Makes programs with branches, loops, barriers, warp operations and atomics whose result \
                  does not depend on timing, runs each without timing and under every divergence model on \
                  several machines, and compares memories. What differs is shrunk and shown as PTX.\n\
                  Exit codes: 0 all agree, 1 some differ, 2 the input makes no sense."
)]
pub struct Arguments {
    #[command(flatten)]
    programs: Programs,
    /// Run the programs that a real GPU has run, from --seed on, and compare with what it computed.
    #[arg(long)]
    recorded: bool,
    /// Instead, draw so many combinations of everything that can be chosen (see list combinations), from
    /// --seed on, or as many as --seconds allows: each is refused as the rules say, or computes what execution
    /// without timing does, with every cycle accounted for, the same skipped and stepped, on several threads,
    /// listened to or not, and up to its last cycle and no further.
    #[arg(long, value_name = "N", conflicts_with_all = ["recorded", "programs", "print"])]
    combinations: Option<u64>,
    /// Print the PTX of the program with the seed of --seed and do nothing else.
    #[arg(long)]
    print: bool,
}

/// How many programs, from which seed.
#[derive(clap::Args)]
pub struct Programs {
    /// Random programs to run [default: 200, or as many as --seconds allows].
    #[arg(long, value_name = "N")]
    pub programs: Option<u64>,
    /// Begin no program after so many seconds.
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
    /// Seed of the first program.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run only a part of the programs here: 2/16 is the second of sixteen parts.
    #[arg(long, value_name = "K/N", default_value_t = Part::WHOLE)]
    pub part: Part,
    /// Host threads [default: as many as there are cores].
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Only these places to compare: words of their names, as in functional,pdom,fx5800.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub places: Vec<String>,
    /// Write shrunk programs to this directory instead of showing them.
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
}

impl Programs {
    /// What they mean.
    pub fn extent(&self) -> Extent {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let endless = if self.seconds.is_some() {
            u64::MAX
        } else {
            200
        };
        Extent {
            seed: self.seed,
            programs: self.programs.unwrap_or(endless),
            part: self.part,
            time: self.seconds.map(Duration::from_secs),
            threads: self.threads.unwrap_or(cores),
            failures: 10,
            shrinking: 3000,
        }
    }

    /// Of these places, those asked for.
    pub fn targets(&self, all: Vec<Target>) -> Result<Vec<Target>, Failure> {
        let names: Vec<String> = all.iter().map(|t| t.name.clone()).collect();
        let has = |name: &str, place: &String| format!(" {name} ").contains(&format!(" {place} "));
        let wanted =
            |t: &Target| self.places.is_empty() || self.places.iter().any(|p| has(&t.name, p));
        let chosen: Vec<Target> = all.into_iter().filter(wanted).collect();
        if chosen.is_empty() {
            return Err(Failure::bad_input(format!(
                "--places {}: there are {}",
                self.places.join(","),
                names.join(", ")
            )));
        }
        Ok(chosen)
    }

    /// Shows or keeps what differs.
    pub fn report(&self, outcome: &Outcome) -> Result<(), Failure> {
        for failure in &outcome.failures {
            let text = failure.text();
            let Some(directory) = &self.save else {
                print(&format!("{text}\n"))?;
                continue;
            };
            std::fs::create_dir_all(directory).map_err(|e| {
                Failure::bad_input(format!("cannot make {}: {e}", directory.display()))
            })?;
            let place = failure.target.replace(' ', "-");
            let path = directory.join(format!("program-{}-{place}.ptx", failure.seed));
            write_whole(&path, text.as_bytes())
                .map_err(|e| Failure::bad_input(format!("cannot write {}: {e}", path.display())))?;
            let whose = if failure.compiler {
                " (the GPU's compiler: without optimization it agrees)"
            } else {
                ""
            };
            print(&format!("differs: {}{whose}\n", path.display()))?;
        }
        Ok(())
    }
}

/// Runs programs and compares.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let extent = arguments.programs.extent();
    if arguments.print {
        let program = warpsim_silicon::programs::program(extent.seed);
        print_data(&warpsim_silicon::programs::emit::ptx(&program))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(count) = arguments.combinations {
        return combinations(count, &extent);
    }
    let truth = functional().map_err(Failure::bad_input)?;
    let models = models().map_err(Failure::bad_input)?;
    if arguments.recorded {
        let places = [vec![truth], models].concat();
        let all = Extent {
            programs: arguments.programs.programs.unwrap_or(u64::MAX),
            ..extent
        };
        return recorded(&all, &arguments.programs.targets(places)?);
    }
    let targets = arguments.programs.targets(models)?;
    let expected = |p: &_| simulate(p, &truth).map_err(Refusal::Program);
    let reference = Reference {
        truth: &expected,
        plain: None,
    };
    let outcome = campaign::run(&extent, reference, &targets, &|_| {});
    arguments.programs.report(&outcome)?;
    let failures = outcome.failures.len();
    let names: Vec<&str> = targets.iter().map(|t| t.name.as_str()).collect();
    print(&format!(
        "{} programs, each without timing and {}: {} comparisons, {failures} differ\n",
        outcome.programs,
        names.join(", "),
        outcome.comparisons,
    ))?;
    Ok(ExitCode::from(if failures > 0 { WRONG_RESULT } else { 0 }))
}

/// Draws combinations and checks them.
fn combinations(count: u64, extent: &Extent) -> Result<ExitCode, Failure> {
    let tally = check_many(extent.seed, count, extent.threads, extent.time);
    for line in &tally.wrong {
        print(&format!("{line}\n"))?;
    }
    let wrong = tally.wrong.len() as u64;
    print(&format!(
        "{} combinations: {} ran a random program in every way, {} of them a workload, too; \
         {} were refused as the rules say; {} are wrong\n",
        tally.ran + tally.refused + wrong,
        tally.ran,
        tally.workloads,
        tally.refused,
        tally.wrong.len()
    ))?;
    Ok(ExitCode::from(if tally.wrong.is_empty() {
        0
    } else {
        WRONG_RESULT
    }))
}

/// Compares with what a GPU computed.
fn recorded(extent: &Extent, targets: &[Target]) -> Result<ExitCode, Failure> {
    let mut record = record::read(RECORDED_PROGRAMS).map_err(Failure::bad_input)?;
    record.entries.retain(|e| e.seed >= extent.seed);
    (record.entries).truncate(usize::try_from(extent.programs).unwrap_or(usize::MAX));
    let mut numbers = 0..u64::MAX;
    let mut is_here = || numbers.next().map(|n| n % extent.part.of) == Some(extent.part.number);
    record.entries.retain(|_| is_here());
    let began = Instant::now();
    let goes_on = || extent.time.is_none_or(|time| began.elapsed() < time);
    let (checked, wrong) = check_while(&record.entries, targets, extent.threads, &goes_on);
    for line in &wrong {
        print(&format!("{line}\n"))?;
    }
    let names: Vec<&str> = targets.iter().map(|t| t.name.as_str()).collect();
    print(&format!(
        "{} programs that ran on {} (driver {}), {}: {} comparisons, {} differ\n",
        checked,
        record.gpu,
        record.driver,
        names.join(", "),
        checked * targets.len(),
        wrong.len()
    ))?;
    Ok(ExitCode::from(if wrong.is_empty() {
        0
    } else {
        WRONG_RESULT
    }))
}
