//! `results.csv`, as RFC 4180 has it.

use super::columns::{Column, Data};
use std::borrow::Cow;

/// The text of a CSV file.
pub fn csv(columns: &[Column]) -> String {
    let mut out = line(columns.iter().map(|c| Cow::from(&c.name)));
    let rows = columns.first().map_or(0, Column::len);
    for row in 0..rows {
        out += &line(columns.iter().map(|c| c.data.text(row)));
    }
    out
}

fn line<'a>(fields: impl Iterator<Item = Cow<'a, str>>) -> String {
    let mut out = fields.map(quoted).collect::<Vec<_>>().join(",");
    out.push('\n');
    out
}

fn quoted(field: Cow<str>) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into_owned()
    }
}

impl Column {
    /// Rows.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Text(v) => v.len(),
            Data::Whole(v) => v.len(),
            Data::Real(v) => v.len(),
        }
    }
}

impl Data {
    /// A value as text; nothing for a missing one.
    fn text(&self, row: usize) -> Cow<'_, str> {
        match self {
            Data::Text(v) => Cow::from(&v[row]),
            Data::Whole(v) => v[row].map_or(Cow::from(""), |n| n.to_string().into()),
            Data::Real(v) => v[row].map_or(Cow::from(""), |n| n.to_string().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_when_they_must_be() {
        let columns = [
            Column {
                name: "a,b".into(),
                data: Data::Text(vec!["plain".into(), "say \"x\",\ny".into()]),
            },
            Column {
                name: "n".into(),
                data: Data::Whole(vec![Some(-3), None]),
            },
            Column {
                name: "r".into(),
                data: Data::Real(vec![None, Some(0.25)]),
            },
        ];
        let text = csv(&columns);
        assert_eq!(
            text,
            "\"a,b\",n,r\nplain,-3,\n\"say \"\"x\"\",\ny\",,0.25\n"
        );
        assert_eq!(csv(&[]), "\n");
    }
}
