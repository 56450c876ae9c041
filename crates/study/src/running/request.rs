//! What a shard was asked to do, kept in its folder: the program that merges the shards asks for the same.

use crate::embedded;
use crate::error::StudyError;
use crate::format::{self, SIZES, Study};
use crate::plan::Choices;
use crate::results::store::Store;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use warpsim_present::Source;

/// The file in the folder. All shards of a study write the same bytes.
const FILE: &str = "request.json";

/// A study and what the command line said beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Command and study as the user wrote them: `sweep grid.toml`.
    pub command: String,
    /// The study: a paper's name, or the absolute path of a study file.
    pub study: String,
    /// Size, workloads, repeats, baseline.
    pub choices: Choices,
}

impl Request {
    /// Keeps it in the folder.
    pub fn write(&self, store: &Store) -> Result<(), StudyError> {
        let size = self.choices.size;
        let size = size.and_then(|s| SIZES.iter().find(|(_, size)| *size == s));
        let object = json!({
            "command": self.command,
            "study": self.study,
            "size": size.map(|(name, _)| *name),
            "workloads": self.choices.workloads,
            "repeats": self.choices.repeats,
            "baseline": self.choices.baseline,
        });
        store.put_object(FILE, &format!("{object:#}"))
    }

    /// What the folder was asked for.
    pub fn read(folder: &Path) -> Result<Request, StudyError> {
        let store = Store::existing(folder)?;
        let stored = store.look_object(FILE).ok_or_else(|| {
            StudyError::bad_input(format!(
                "{} has no (or a damaged) {FILE}: it holds no shard of a study\nshards are made by \
                 `warpsim study` and `warpsim sweep` with --shard K/N",
                folder.display()
            ))
        })?;
        let text = |key: &str| stored[key].as_str().unwrap_or_default().to_string();
        let size = stored["size"].as_str();
        let names = |list: &Vec<Value>| -> Vec<String> {
            let names = list.iter().filter_map(Value::as_str);
            names.map(str::to_string).collect()
        };
        Ok(Request {
            command: text("command"),
            study: text("study"),
            choices: Choices {
                size: size.and_then(|s| SIZES.iter().find(|(n, _)| *n == s).map(|(_, s)| *s)),
                workloads: stored["workloads"].as_array().map(names),
                repeats: stored["repeats"].as_u64().map(|n| n as usize),
                baseline: stored["baseline"].as_str().map(str::to_string),
            },
        })
    }

    /// The study it names.
    pub fn find(&self) -> Result<Study, StudyError> {
        if let Some(text) = embedded::text(&self.study) {
            return Ok(format::parse(&Source::new(
                &format!("study {}", self.study),
                text,
            ))?);
        }
        format::read(&PathBuf::from(&self.study)).map_err(|e| {
            let text = format!(
                "{}\nif the study file is elsewhere here, say where with --study FILE",
                e.text
            );
            StudyError::bad_input(text)
        })
    }
}
