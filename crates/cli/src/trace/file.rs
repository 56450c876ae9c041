//! The trace-event format, written as it comes. The file has its name only once it is
//! complete; a run that fails leaves nothing behind.

use serde_json::Value;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use warpsim_sim::time::Cycle;
use warpsim_workloads::files::{Route, route};

/// A slice of time on a track. One cycle is a microsecond in the file.
pub struct Event<'a> {
    /// Process it belongs to.
    pub process: u32,
    /// Track, unique in the whole file.
    pub track: u32,
    /// First cycle.
    pub from: Cycle,
    /// First cycle after it.
    pub to: Cycle,
    /// Category.
    pub category: &'a str,
    /// What is written on it.
    pub name: &'a str,
    /// More about it, as JSON members.
    pub arguments: &'a str,
}

/// A file being written.
pub struct TraceFile {
    out: Option<BufWriter<File>>,
    route: Route,
    path: PathBuf,
    events: u64,
    any: bool,
    /// The first thing that went wrong; nothing is written after that.
    failed: Option<io::Error>,
}

impl TraceFile {
    /// Begins a file that will be `path`.
    pub fn create(path: &Path) -> io::Result<TraceFile> {
        let route = route(path)?;
        let file = match &route {
            Route::Staged { temporary, .. } => File::create(temporary)?,
            Route::Direct => File::options().write(true).open(path)?,
        };
        let mut trace = TraceFile {
            out: Some(BufWriter::with_capacity(1 << 18, file)),
            route,
            path: path.to_path_buf(),
            events: 0,
            any: false,
            failed: None,
        };
        trace.write(format_args!(
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"writer\":\"warpsim {}\",\
             \"time\":\"1 us is 1 core cycle\"}},\n\"traceEvents\":[",
            env!("CARGO_PKG_VERSION")
        ));
        Ok(trace)
    }

    /// The name it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Slices and instants so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn write(&mut self, text: std::fmt::Arguments) {
        if let (Some(out), None) = (&mut self.out, &self.failed)
            && let Err(e) = out.write_fmt(text)
        {
            self.failed = Some(e);
        }
    }

    fn event(&mut self, text: std::fmt::Arguments) {
        let separator = if self.any { ",\n" } else { "\n" };
        self.any = true;
        self.write(format_args!("{separator}{text}"));
    }

    /// Names a process; they are shown in the order of their numbers.
    pub fn process(&mut self, process: u32, name: &str) {
        let name = Value::from(name);
        self.event(format_args!(
            "{{\"ph\":\"M\",\"pid\":{process},\"name\":\"process_name\",\"args\":{{\"name\":{name}}}}}"
        ));
        self.event(format_args!(
            "{{\"ph\":\"M\",\"pid\":{process},\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{process}}}}}"
        ));
    }

    /// Names a track; those of a process are shown in the order of their numbers.
    pub fn track(&mut self, process: u32, track: u32, name: &str) {
        let name = Value::from(name);
        self.event(format_args!(
            "{{\"ph\":\"M\",\"pid\":{process},\"tid\":{track},\"name\":\"thread_name\",\"args\":{{\"name\":{name}}}}}"
        ));
        self.event(format_args!(
            "{{\"ph\":\"M\",\"pid\":{process},\"tid\":{track},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{track}}}}}"
        ));
    }

    /// Writes a slice.
    pub fn slice(&mut self, e: &Event) {
        self.events += 1;
        self.event(format_args!(
            "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"cat\":\"{}\",\"name\":{},\"args\":{{{}}}}}",
            e.process,
            e.track,
            e.from,
            e.to - e.from,
            e.category,
            Value::from(e.name),
            e.arguments
        ));
    }

    /// Writes something without a duration.
    pub fn instant(&mut self, process: u32, track: u32, cycle: Cycle, name: &str) {
        self.events += 1;
        let name = Value::from(name);
        self.event(format_args!(
            "{{\"ph\":\"i\",\"s\":\"t\",\"pid\":{process},\"tid\":{track},\"ts\":{cycle},\"cat\":\"block\",\"name\":{name}}}"
        ));
    }

    /// Writes the values of counters from a cycle on: names and values, as JSON members.
    pub fn counters(&mut self, process: u32, cycle: Cycle, name: &str, members: &str) {
        let name = Value::from(name);
        self.event(format_args!(
            "{{\"ph\":\"C\",\"pid\":{process},\"ts\":{cycle},\"name\":{name},\"args\":{{{members}}}}}"
        ));
    }

    /// Ends the file and gives it its name.
    pub fn finish(&mut self) -> io::Result<()> {
        self.write(format_args!("\n]}}\n"));
        if let Some(e) = self.failed.take() {
            return Err(e);
        }
        if let Some(out) = self.out.take() {
            out.into_inner().map_err(|e| e.into_error())?;
            if let Route::Staged { temporary, target } = &self.route {
                std::fs::rename(temporary, target)?;
            }
            self.route = Route::Direct;
        }
        Ok(())
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        // Once it has its name, nothing is left to remove.
        if let Route::Staged { temporary, .. } = &self.route {
            // Best effort: an error here can no longer be reported.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_finished() {
        let dir = std::env::temp_dir().join(format!("warpsim-trace-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("made");
        let path = dir.join("t.json");
        let entries = || std::fs::read_dir(&dir).expect("read").count();
        let mut file = TraceFile::create(&path).expect("created");
        file.process(2, "SM \"0\"");
        drop(file);
        assert_eq!(entries(), 0);
        let mut file = TraceFile::create(&path).expect("created");
        file.process(2, "SM \"0\"");
        file.instant(2, 3, Cycle::new(7), "block 0 arrives");
        assert!(!path.exists());
        file.finish().expect("finished");
        drop(file);
        assert_eq!(entries(), 1);
        let text = std::fs::read_to_string(&path).expect("read");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["traceEvents"][0]["args"]["name"], "SM \"0\"");
        assert_eq!(value["traceEvents"][2]["ts"], 7);
        std::fs::remove_dir_all(&dir).expect("removed");
    }
}
