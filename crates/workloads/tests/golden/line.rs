//! A line of `fingerprints.txt`: what is run, and what came of it.

use std::fmt;
use warpsim_workloads::suite::Size;

/// How a run is made. None of this may change its statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As users run it.
    Plain,
    /// An observer listens.
    Observed,
    /// Every cycle is stepped through.
    Stepped,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub workload: String,
    pub size: Size,
    pub machine: String,
    /// Issue policy.
    pub issue: String,
    /// Fetch policy.
    pub fetch: String,
    /// Divergence model.
    pub divergence: String,
    pub how: How,
    /// Other settings, as `--set` takes them.
    pub settings: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Core cycles of all launches.
    pub cycles: u64,
    /// Hash of every statistic of every launch.
    pub statistics: String,
    /// Hash of what the observer heard, if one listened.
    pub events: Option<String>,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Empty or a comment, kept as it is.
    Text(String),
    /// A run; a new one has no fingerprint yet.
    Run(Run, Option<Fingerprint>),
}

const SIZES: [(&str, Size); 3] = [
    ("tiny", Size::Tiny),
    ("small", Size::Small),
    ("large", Size::Large),
];

const HOWS: [(&str, How); 3] = [
    ("plain", How::Plain),
    ("observed", How::Observed),
    ("stepped", How::Stepped),
];

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Result<T, String> {
    let names = || table.iter().map(|(n, _)| *n).collect::<Vec<_>>();
    let found = table.iter().find(|(n, _)| *n == name).map(|(_, t)| *t);
    found.ok_or_else(|| format!("`{name}` is none of {}", names().join(", ")))
}

fn name<T: PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    let found = table.iter().find(|(_, t)| *t == value);
    found.map_or("?", |(n, _)| n)
}

impl Line {
    /// Reads a line.
    pub fn parse(text: &str) -> Result<Line, String> {
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return Ok(Line::Text(text.to_string()));
        }
        let (run, result) = match trimmed.split_once(':') {
            Some((run, result)) => (run, Some(result)),
            None => (trimmed, None),
        };
        Ok(Line::Run(
            Run::parse(run)?,
            result.map(Fingerprint::parse).transpose()?,
        ))
    }
}

impl Run {
    fn parse(text: &str) -> Result<Run, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [
            workload,
            size,
            machine,
            issue,
            fetch,
            divergence,
            how,
            settings @ ..,
        ] = words.as_slice()
        else {
            return Err(
                "a run is: workload size machine issue fetch divergence how [settings]".into(),
            );
        };
        Ok(Run {
            workload: workload.to_string(),
            size: named(&SIZES, size)?,
            machine: machine.to_string(),
            issue: issue.to_string(),
            fetch: fetch.to_string(),
            divergence: divergence.to_string(),
            how: named(&HOWS, how)?,
            settings: settings.iter().map(|s| s.to_string()).collect(),
        })
    }

    /// The same run made another way.
    pub fn made(&self, how: How) -> Run {
        Run {
            how,
            ..self.clone()
        }
    }
}

impl Fingerprint {
    fn parse(text: &str) -> Result<Fingerprint, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (cycles, statistics, events) = match words.as_slice() {
            [cycles, statistics] => (cycles, statistics, None),
            [cycles, statistics, events] => (cycles, statistics, Some(events.to_string())),
            _ => return Err("behind the colon are cycles and one or two hashes".into()),
        };
        Ok(Fingerprint {
            cycles: cycles
                .parse()
                .map_err(|_| format!("`{cycles}` is no number of cycles"))?,
            statistics: statistics.to_string(),
            events,
        })
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{:<19} {:<5} {:<10} {:<8} {:<3} {:<8} {:<8}",
            self.workload,
            name(&SIZES, self.size),
            self.machine,
            self.issue,
            self.fetch,
            self.divergence,
            name(&HOWS, self.how),
        )?;
        self.settings.iter().try_for_each(|s| write!(f, " {s}"))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.cycles, self.statistics)?;
        self.events.iter().try_for_each(|e| write!(f, " {e}"))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Line::Text(text) => f.write_str(text),
            Line::Run(run, None) => write!(f, "{run}"),
            Line::Run(run, Some(result)) => write!(f, "{run} : {result}"),
        }
    }
}
