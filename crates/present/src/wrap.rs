//! Texts in lines.

/// A text in lines of at most so many letters, broken between words.
pub fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// A table with its long lines broken between words, where they are longer than `width` letters. What goes
/// on stands below the line's last column.
pub fn folded(table: &str, width: usize) -> String {
    let mut out = String::new();
    for line in table.lines() {
        if letters(line) <= width {
            out.push_str(line);
        } else {
            fold(&mut out, line, width);
        }
        out.push('\n');
    }
    out
}

fn fold(out: &mut String, line: &str, width: usize) {
    // Columns are two spaces apart or more.
    let before = line.char_indices().take(width / 2).map(|(at, _)| at);
    let column = before.filter(|at| line[..*at].ends_with("  ")).last();
    let indent = column.map_or(4, |at| {
        let spaces = line[at..].len() - line[at..].trim_start().len();
        letters(&line[..at]) + spaces
    });
    let mut length = 0;
    for (i, word) in line.split(' ').enumerate() {
        let space = usize::from(i > 0);
        if length > indent && length + space + letters(word) > width && !word.is_empty() {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            length = indent;
        } else if i > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += letters(word);
    }
}

/// Letters that a terminal shows of a line: colours take no room.
fn letters(line: &str) -> usize {
    let mut shown = 0;
    let mut colour = false;
    for c in line.chars() {
        match c {
            '\u{1b}' => colour = true,
            'm' if colour => colour = false,
            _ => shown += usize::from(!colour),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{folded, wrapped};

    #[test]
    fn a_table_goes_on_below_its_last_column() {
        let table = "name        12   one two three four\nshort  1\n";
        let shown = "name        12   one two three\n                 four\nshort  1\n";
        assert_eq!(folded(table, 34), shown);
        assert_eq!(folded(table, 80), table);
        let sentence = "a sentence without columns";
        assert_eq!(
            folded(sentence, 12),
            "a sentence\n    without\n    columns\n"
        );
        let coloured = "\u{1b}[1mabc\u{1b}[0m de\n";
        assert_eq!(folded(coloured, 6), coloured);
    }

    #[test]
    fn lines_are_broken_between_words_and_a_long_word_is_a_line() {
        assert_eq!(wrapped("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrapped("a bbbbb c", 4), ["a", "bbbbb", "c"]);
        assert!(wrapped(" ", 10).is_empty());
    }
}
