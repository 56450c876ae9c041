//! The results folder: one file per run, written whole or not at all, named by what determines it.

use crate::error::StudyError;
use crate::key::{Key, SCHEMA, SIMULATOR};
use crate::record::{Record, Status};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use warpsim_workloads::files::write_whole;

/// The file that says what the folder is.
const MARK: &str = "warpsim-study.json";

/// A results folder.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Opens a folder for the results of `study`, or makes it. Nothing that is there is changed
    /// unless it is a results folder that this version understands.
    pub fn open(root: &Path, study: &str) -> Result<Store, StudyError> {
        let store = Store {
            root: root.to_path_buf(),
        };
        let mark = root.join(MARK);
        match std::fs::read_to_string(&mark) {
            Ok(text) => store.check_mark(&text)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => store.check_empty()?,
            Err(e) => return Err(unreadable(&mark, &e)),
        }
        let text = json!({
            "schema": SCHEMA,
            "study": study,
            "warpsim": env!("CARGO_PKG_VERSION"),
            "simulator": SIMULATOR,
        });
        // Also tells, before the first long run, whether anything can be written here. It comes
        // first: a folder with anything else in it and no mark is taken for somebody else's.
        store.write(MARK, format!("{text:#}\n").as_bytes())?;
        let runs = store.runs();
        std::fs::create_dir_all(&runs).map_err(|e| StudyError::unwritable(&runs, &e))?;
        Ok(store)
    }

    fn check_mark(&self, text: &str) -> Result<(), StudyError> {
        let schema = serde_json::from_str::<Value>(text)
            .ok()
            .and_then(|mark| mark["schema"].as_u64());
        if schema == Some(SCHEMA) {
            return Ok(());
        }
        let version = schema.map_or("unreadable".into(), |n| format!("schema {n}"));
        Err(StudyError::bad_input(format!(
            "{} holds results of another version of warpsim ({version}; this one writes schema \
             {SCHEMA})\nnothing was changed; choose another folder with --out",
            self.root.display()
        )))
    }

    /// A folder with other things in it is somebody's: no results go there.
    fn check_empty(&self) -> Result<(), StudyError> {
        match std::fs::read_dir(&self.root) {
            Ok(mut entries) => match entries.next() {
                None => Ok(()),
                Some(_) => Err(StudyError::bad_input(format!(
                    "{} is not empty and holds no results of a study\nchoose an empty or a new \
                     folder with --out",
                    self.root.display()
                ))),
            },
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(unreadable(&self.root, &e)),
        }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.runs().join(format!("{key}.json"))
    }

    /// The result of a run, if it is there. A crash is not a result: it is tried again.
    pub fn get(&self, key: &Key) -> Option<Record> {
        let path = self.path(key);
        let text = std::fs::read_to_string(&path).ok()?;
        let record = serde_json::from_str::<Record>(&text).ok();
        let record = record.filter(|r| r.schema == SCHEMA && r.key == key.as_str());
        if record.is_none() {
            // Kept for whoever wants to know what happened to it; the run is repeated.
            let _ = std::fs::rename(&path, path.with_extension("json.damaged"));
        }
        record.filter(|r| r.status != Status::Crashed)
    }

    /// Keeps the result of a run.
    pub fn put(&self, record: &Record) -> Result<(), StudyError> {
        let path = self.runs().join(format!("{}.json", record.key));
        let mut text = serde_json::to_string_pretty(record)
            .map_err(|e| StudyError::unwritable(&path, &e.into()))?;
        text.push('\n');
        write_whole(&path, text.as_bytes()).map_err(|e| StudyError::unwritable(&path, &e))
    }

    /// How many results of other builds, machines or settings the folder has, beside `used`.
    pub fn others(&self, used: &[Key]) -> usize {
        let Ok(entries) = std::fs::read_dir(self.runs()) else {
            return 0;
        };
        let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
        names
            .filter_map(|n| Some(n.strip_suffix(".json")?.to_string()))
            .filter(|n| !n.starts_with('.') && !used.iter().any(|k| k.as_str() == n))
            .count()
    }

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StudyError> {
        let path = self.root.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| StudyError::unwritable(parent, &e))?;
        }
        write_whole(&path, bytes).map_err(|e| StudyError::unwritable(&path, &e))?;
        Ok(path)
    }

    /// Reads a file of the folder.
    pub fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> StudyError {
    StudyError::bad_input(format!("cannot read {}: {error}", path.display()))
}
