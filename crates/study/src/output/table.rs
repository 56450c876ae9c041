//! Tables of text: columns under each other, and no wider than the terminal.

/// The first `keys` columns on the left, the others on the right. What is wider than `width` goes on
/// below, with the first columns again.
pub fn fitted(lines: &[Vec<String>], keys: usize, width: Option<usize>) -> String {
    let widths = widths(lines);
    let mut out = String::new();
    for (i, columns) in pieces(&widths, keys, width).iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        for line in lines {
            let mut text = String::new();
            for &column in columns {
                let (cell, width) = (line.get(column), widths[column]);
                let cell = cell.map_or("", String::as_str);
                text += &match column < keys {
                    true => format!("  {cell:<width$}"),
                    false => format!("  {cell:>width$}"),
                };
            }
            out += text.trim_end();
            out.push('\n');
        }
    }
    out
}

/// How wide each column is.
fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| {
        let cells = lines.iter().filter_map(|l| l.get(i));
        cells.map(|c| c.chars().count()).max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

/// How wide a table is.
pub fn total_width(lines: &[Vec<String>]) -> usize {
    widths(lines).iter().map(|w| w + 2).sum()
}

/// The columns of each piece; the keys are in all of them, with at least one other.
fn pieces(widths: &[usize], keys: usize, width: Option<usize>) -> Vec<Vec<usize>> {
    let keys: Vec<usize> = (0..keys.min(widths.len())).collect();
    let own: usize = keys.iter().map(|k| widths[*k] + 2).sum();
    let width = width.unwrap_or(usize::MAX);
    let mut pieces = vec![keys.clone()];
    let mut taken = own;
    for (column, &wide) in widths.iter().enumerate().skip(keys.len()) {
        let full = pieces.last().is_some_and(|p| p.len() > keys.len());
        if full && taken + wide + 2 > width {
            pieces.push(keys.clone());
            taken = own;
        }
        pieces
            .iter_mut()
            .last()
            .into_iter()
            .for_each(|p| p.push(column));
        taken += wide + 2;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let line = |row: &&[&str]| row.iter().map(|c| c.to_string()).collect();
        rows.iter().map(line).collect()
    }

    #[test]
    fn what_is_too_wide_goes_on_below() {
        let table = lines(&[&["", "one", "two"], &["row", "1", "22"]]);
        let whole = "       one  two\n  row    1   22\n";
        assert_eq!(fitted(&table, 1, None), whole);
        assert_eq!(total_width(&table), 15);
        let narrow = "       one\n  row    1\n\n       two\n  row   22\n";
        assert_eq!(fitted(&table, 1, Some(12)), narrow);
        assert_eq!(fitted(&table, 1, Some(1)), narrow, "one column at least");
        assert_eq!(fitted(&table, 1, Some(15)), whole);
        assert_eq!(fitted(&[], 1, Some(10)), "");
    }

    #[test]
    fn keys_are_on_the_left() {
        let table = lines(&[&["a", "b", "n"], &["x", "long", "1"], &["x", "s", "10"]]);
        let text = "  a  b      n\n  x  long   1\n  x  s     10\n";
        assert_eq!(fitted(&table, 2, None), text);
    }
}
