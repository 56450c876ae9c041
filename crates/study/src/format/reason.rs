//! Why a claim does not hold, and what shows that.

use super::model::{At, By, Reason};
use super::table::Table;
use warpsim_present::SourceError;

/// Why the claim does not hold, and the experiment that shows it, or that the paper says so.
pub fn read(fields: &Table, experiments: &[At<String>]) -> Result<Option<Reason>, SourceError> {
    let (text, by) = (fields.text("reason")?, fields.text("by")?);
    let (source, names) = (fields.source, || {
        let names: Vec<&str> = experiments.iter().map(|e| e.value.as_str()).collect();
        names.join(", ")
    });
    let (text, by) = match (text, by) {
        (None, None) => return Ok(None),
        (None, Some(by)) => {
            return Err(source.error(by.place, "there is no `reason` that it shows"));
        }
        (Some(text), by) => (text, by),
    };
    let shown = match by {
        Some(by) if by.value == "paper" => By::Paper,
        Some(by) if experiments.iter().any(|e| e.value == by.value) => By::Experiment(by),
        Some(by) => {
            let message = format!("`{}` is no experiment of this claim", by.value);
            let help = format!("its experiments: {}; or `by = \"paper\"`", names());
            return Err(source.error(by.place, message).with_help(help));
        }
        None => match experiments {
            [only] => By::Experiment(only.clone()),
            [] => {
                let help = "give the claim an `experiment`, or say `by = \"paper\"` of a fact that the paper states";
                return Err(source
                    .error(text.place, "no experiment shows this reason")
                    .with_help(help));
            }
            _ => {
                let help = format!("say `by = \"...\"`, one of: {}", names());
                return Err(source
                    .error(text.place, "which experiment shows this reason?")
                    .with_help(help));
            }
        },
    };
    Ok(Some(Reason {
        text: text.value,
        by: shown,
    }))
}
