//! Figures against each other.

use super::model::{At, TradeOff};
use super::parse::check_word;
use super::table::Table;
use warpsim_present::SourceError;

/// Everything under `trade_offs`.
pub fn all(table: &Table) -> Result<Vec<TradeOff>, SourceError> {
    const KEYS: &[&str] = &["id", "title", "x", "y", "x_better", "y_better", "note"];
    let mut all: Vec<TradeOff> = Vec::new();
    for node in table.tables("trade_offs")? {
        let fields = Table::new(table.source, node, "a trade-off", KEYS)?;
        let need = |key: &str, example: &str| -> Result<At<String>, SourceError> {
            let found = fields.text(key)?;
            found
                .ok_or_else(|| fields.missing(key, &format!("for example `{key} = \"{example}\"`")))
        };
        let id = need("id", "energy-over-speed")?;
        check_word(table.source, &id, "a trade-off's id")?;
        if all.iter().any(|other| other.id.value == id.value) {
            let message = format!("there are two trade-offs called `{}`", id.value);
            return Err(table.source.error(id.place, message));
        }
        let words = [("more", true), ("less", false)];
        all.push(TradeOff {
            title: fields.text_or("title", &id.value)?,
            axes: [need("x", "speedup")?, need("y", "energy")?],
            more: [
                fields.choice("x_better", &words)?.unwrap_or(true),
                fields.choice("y_better", &words)?.unwrap_or(false),
            ],
            note: fields.text("note")?.map(|t| t.value),
            id,
        });
    }
    Ok(all)
}
