//! Reading what `results.csv` holds, as RFC 4180 has it.

/// The records of a text; nothing where a quote is not closed.
pub fn records(text: &str) -> Option<Vec<Vec<String>>> {
    let mut records = Vec::new();
    let (mut record, mut field) = (Vec::new(), String::new());
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quoted) {
            ('"', true) if letters.peek() == Some(&'"') => field.extend(letters.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => record.push(std::mem::take(&mut field)),
            ('\n', false) => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            ('\r', false) => {}
            (letter, _) => field.push(letter),
        }
    }
    if !field.is_empty() || !record.is_empty() {
        record.push(field);
        records.push(record);
    }
    (!quoted).then_some(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::columns::{Column, Data};
    use crate::output::csv::csv;

    #[test]
    fn what_is_written_is_read() {
        let texts = ["plain", "say \"x\",\ny", ""];
        let written = csv(&[
            Column {
                name: "a,b".into(),
                data: Data::Text(texts.map(String::from).to_vec()),
            },
            Column {
                name: "n".into(),
                data: Data::Whole(vec![Some(-3), None, Some(1)]),
            },
        ]);
        let read = records(&written).expect("closed quotes");
        assert_eq!(read[0], ["a,b", "n"]);
        assert_eq!(read[2], ["say \"x\",\ny", ""]);
        assert_eq!(read.len(), 4);
        assert_eq!(records("a,\"b"), None);
        assert_eq!(
            records("a\r\nb"),
            Some(vec![vec!["a".into()], vec!["b".into()]])
        );
    }
}
