//! Figures as pictures (SVG).

mod axis;
mod chart;
mod colour;
mod draw;

pub use chart::chart;
pub use colour::{Hue, STYLE, state_hue};
pub use draw::draw;

/// A picture's text, with its own colours: for a file.
pub fn standalone(svg: &str) -> String {
    let style = format!("<style>{STYLE}svg{{background:var(--page)}}</style>");
    match svg.find('>') {
        Some(end) => format!("{}>{style}{}", &svg[..end], &svg[end + 1..]),
        None => svg.to_string(),
    }
}

/// Text that means itself in XML and HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // Not allowed in XML at all.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(
            escaped("a<b>&\"'\u{1}"),
            "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}"
        );
    }
}
