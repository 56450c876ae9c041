//! The results folder: one file per run, written whole or not at all, named by what determines it.

use crate::error::StudyError;
use crate::results::key::{Key, SCHEMA, SIMULATOR};
use crate::results::record::{Record, Status, read_stored, stored_text};
use crate::results::seal::{is_intact, seal};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use warpsim_workloads::files::write_whole;

/// The file that says what the folder is.
const MARK: &str = "warpsim-study.json";

/// A results folder.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    study: String,
}

/// What the folder has of something.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored<T> {
    /// It, whole.
    Whole(T),
    /// Nothing.
    Absent,
    /// Something that is not as it was written. It is kept under another name, this one, for
    /// a user who wants to know what happened to it.
    Damaged(PathBuf),
}

impl<T> Stored<T> {
    /// It, if it is there and whole.
    pub fn whole(self) -> Option<T> {
        match self {
            Stored::Whole(what) => Some(what),
            Stored::Absent | Stored::Damaged(_) => None,
        }
    }
}

impl Store {
    /// Opens a folder for the results of `study`, or makes it. Nothing that is there is changed
    /// unless it is a results folder that this version understands.
    pub fn open(root: &Path, study: &str) -> Result<Store, StudyError> {
        let store = Store {
            root: root.to_path_buf(),
            study: study.to_string(),
        };
        let mark = root.join(MARK);
        match std::fs::read_to_string(&mark) {
            Ok(text) => store.check_mark(&text)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => store.check_empty()?,
            Err(e) => return Err(unreadable(&mark, &e)),
        }
        // Also tells, before the first long run, whether anything can be written here. It comes
        // first: a folder with anything else in it and no mark is taken for another program's.
        store.write_mark(&store.selection().unwrap_or_default())?;
        let runs = store.runs();
        std::fs::create_dir_all(&runs).map_err(|e| StudyError::unwritable(&runs, &e))?;
        Ok(store)
    }

    /// A folder that holds results of some study, to be read only.
    pub fn existing(root: &Path) -> Result<Store, StudyError> {
        let path = root.join(MARK);
        let text = std::fs::read_to_string(&path).map_err(|e| {
            if e.kind() == std::io::ErrorKind::NotFound {
                let folder = root.display();
                StudyError::bad_input(format!("{folder} holds no results of a study (no {MARK})"))
            } else {
                unreadable(&path, &e)
            }
        })?;
        let mark: Value = serde_json::from_str(&text).unwrap_or_default();
        let store = Store {
            root: root.to_path_buf(),
            study: mark["study"].as_str().unwrap_or_default().to_string(),
        };
        store.check_mark(&text)?;
        Ok(store)
    }

    /// This folder's results can go where those of `other` are.
    pub fn check_same_study(&self, other: &Store) -> Result<(), StudyError> {
        if self.study == other.study {
            return Ok(());
        }
        Err(StudyError::bad_input(format!(
            "{} holds the results of the study `{}`, not of `{}`\nnothing was changed",
            self.root.display(),
            self.study,
            other.study
        )))
    }

    /// Whether the simulator that last wrote here is this one.
    pub fn same_build(&self) -> bool {
        let mark = self.read(MARK).unwrap_or_default();
        let mark: Value = serde_json::from_str(&mark).unwrap_or_default();
        mark["simulator"] == SIMULATOR
    }

    fn check_mark(&self, text: &str) -> Result<(), StudyError> {
        let schema = serde_json::from_str::<Value>(text)
            .ok()
            .and_then(|mark| mark["schema"].as_u64());
        if schema == Some(SCHEMA) {
            return self.check_study(text);
        }
        let version = schema.map_or("unreadable".into(), |n| format!("schema {n}"));
        Err(StudyError::bad_input(format!(
            "{} holds results of another version of warpsim ({version}; this one writes schema \
             {SCHEMA})\nnothing was changed; choose another folder with --out",
            self.root.display()
        )))
    }

    /// The report and the tables of another study are not replaced.
    fn check_study(&self, text: &str) -> Result<(), StudyError> {
        let mark: Value = serde_json::from_str(text).unwrap_or_default();
        match mark["study"].as_str() {
            Some(other) if other != self.study => Err(StudyError::bad_input(format!(
                "{} holds the results of the study `{other}`, not of `{}`\nnothing was changed; \
                 choose another folder with --out",
                self.root.display(),
                self.study
            ))),
            _ => Ok(()),
        }
    }

    fn write_mark(&self, selection: &str) -> Result<(), StudyError> {
        let text = json!({
            "schema": SCHEMA,
            "study": self.study,
            "selection": selection,
            "warpsim": env!("CARGO_PKG_VERSION"),
            "simulator": SIMULATOR,
        });
        self.write(MARK, format!("{text:#}\n").as_bytes())?;
        Ok(())
    }

    /// Of which part of the study the report is, or will be: what the mark says.
    fn selection(&self) -> Option<String> {
        let mark: Value = serde_json::from_str(&self.read(MARK)?).ok()?;
        let selection = mark["selection"].as_str().filter(|s| !s.is_empty())?;
        Some(selection.to_string())
    }

    /// The report will be of this part of the study. Returns of which it was before, where that
    /// was another: it is going to be replaced.
    pub fn claim(&self, selection: &str) -> Result<Option<String>, StudyError> {
        let before = self.selection().filter(|before| before != selection);
        self.write_mark(selection)?;
        Ok(before)
    }

    /// No other run has claimed the report since.
    pub fn check_claim(&self, selection: &str) -> Result<(), StudyError> {
        match self.selection() {
            Some(other) if other != selection => Err(StudyError::bad_input(format!(
                "while this ran, the same study was begun in {} for something else ({other}; this is \
                 {selection})\nthe runs are kept, and report and tables were left alone: repeat the \
                 command, with another folder (--out) for one of the two",
                self.root.display()
            ))),
            _ => Ok(()),
        }
    }

    /// A folder with other things in it is another program's or the user's: no results go there.
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
    pub fn get(&self, key: &Key) -> Stored<Record> {
        match self.look(key) {
            Ok(Some((_, record))) => Stored::Whole(record),
            Ok(None) => Stored::Absent,
            Err(damaged) => Stored::Damaged(set_aside(&damaged)),
        }
    }

    /// The result of a run with its file, if it is there; a damaged file is named, and left as it
    /// is. A crash is not a result.
    pub fn look(&self, key: &Key) -> Result<Option<(PathBuf, Record)>, PathBuf> {
        let path = self.path(key);
        // What cannot be read cannot be written either, which will be said.
        let Ok(bytes) = std::fs::read(&path) else {
            return Ok(None);
        };
        let record = String::from_utf8(bytes).ok().and_then(|t| read_stored(&t));
        match record.filter(|r| r.key == key.as_str()) {
            Some(record) if record.status == Status::Crashed => Ok(None),
            Some(record) => Ok(Some((path, record))),
            None => Err(path),
        }
    }

    /// Keeps the result of a run.
    pub fn put(&self, record: &Record) -> Result<(), StudyError> {
        let name = format!("runs/{}.json", record.key);
        let text = stored_text(record)
            .map_err(|e| StudyError::unwritable(&self.root.join(&name), &e.into()))?;
        self.write(&name, text.as_bytes())?;
        Ok(())
    }

    /// Keeps a JSON object, with a checksum.
    pub fn put_object(&self, name: &str, object: &str) -> Result<(), StudyError> {
        self.write(name, seal(object).as_bytes())?;
        Ok(())
    }

    /// A JSON object that was kept with a checksum.
    pub fn get_object(&self, name: &str) -> Stored<Value> {
        let path = self.root.join(name);
        let Ok(bytes) = std::fs::read(&path) else {
            return Stored::Absent;
        };
        match opened(bytes) {
            Some(object) => Stored::Whole(object),
            None => Stored::Damaged(set_aside(&path)),
        }
    }

    /// A JSON object that was kept with a checksum; a damaged one is none, and left as it is.
    pub fn look_object(&self, name: &str) -> Option<Value> {
        opened(std::fs::read(self.root.join(name)).ok()?)
    }

    /// Copies a file of another folder, byte for byte.
    pub fn copy_file(&self, from: &Store, name: &str) -> Result<(), StudyError> {
        let path = from.root.join(name);
        let bytes = std::fs::read(&path).map_err(|e| unreadable(&path, &e))?;
        self.write(name, &bytes)?;
        Ok(())
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

/// The JSON object of a file with a checksum, if the file is as it was written.
fn opened(bytes: Vec<u8>) -> Option<Value> {
    let text = String::from_utf8(bytes)
        .ok()
        .filter(|text| is_intact(text))?;
    match serde_json::from_str(&text).ok()? {
        Value::Object(mut object) => {
            object.remove("checksum");
            Some(Value::Object(object))
        }
        _ => None,
    }
}

/// Gives a damaged file another name, which is returned.
fn set_aside(path: &Path) -> PathBuf {
    let kept = path.with_extension("json.damaged");
    // Best effort: where it cannot be renamed it is written over.
    let _ = std::fs::rename(path, &kept);
    kept
}

fn unreadable(path: &Path, error: &std::io::Error) -> StudyError {
    StudyError::bad_input(format!("cannot read {}: {error}", path.display()))
}
