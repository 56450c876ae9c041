//! The results folder: one file per run, written whole or not at all, named by what determines it.

use crate::error::StudyError;
use crate::key::{Key, SCHEMA, SIMULATOR};
use crate::record::{Record, Status, read_stored, stored_text};
use crate::seal::{is_intact, seal};
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
    /// whoever wants to know what happened to it.
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
        // first: a folder with anything else in it and no mark is taken for somebody else's.
        store.write_mark(&store.selection().unwrap_or_default())?;
        let runs = store.runs();
        std::fs::create_dir_all(&runs).map_err(|e| StudyError::unwritable(&runs, &e))?;
        Ok(store)
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

    /// Nobody else has claimed the report since.
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
    pub fn get(&self, key: &Key) -> Stored<Record> {
        let path = self.path(key);
        // What cannot be read cannot be written either, which will be said.
        let Ok(bytes) = std::fs::read(&path) else {
            return Stored::Absent;
        };
        let record = String::from_utf8(bytes).ok().and_then(|t| read_stored(&t));
        match record.filter(|r| r.key == key.as_str()) {
            Some(record) if record.status == Status::Crashed => Stored::Absent,
            Some(record) => Stored::Whole(record),
            None => Stored::Damaged(set_aside(&path)),
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
        let text = String::from_utf8(bytes).ok().filter(|text| is_intact(text));
        match text.and_then(|text| serde_json::from_str::<Value>(&text).ok()) {
            Some(Value::Object(mut object)) => {
                object.remove("checksum");
                Stored::Whole(Value::Object(object))
            }
            _ => Stored::Damaged(set_aside(&path)),
        }
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
