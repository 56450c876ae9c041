//! Writing SVG: elements, attributes and text, escaped wherever they come from.

use std::fmt::{self, Display, Write};

/// An SVG text that is being written.
#[derive(Clone, Debug, Default)]
pub struct Svg {
    out: String,
}

impl Svg {
    /// An empty one: parts of a picture are written like whole ones.
    pub fn new() -> Svg {
        Svg::default()
    }

    /// A document with the namespace that viewers ask for; its attributes follow.
    pub fn document(attributes: &[(&str, &dyn Display)], content: impl FnOnce(&mut Svg)) -> String {
        let mut svg = Svg::new();
        let mut element = svg
            .element("svg")
            .attr("xmlns", "http://www.w3.org/2000/svg");
        for (name, value) in attributes {
            element = element.attr(name, value);
        }
        element.content(content);
        svg.out
    }

    /// Begins an element: its attributes and what is in it come next.
    #[must_use = "an element ends with `empty`, `text` or `content`"]
    pub fn element(&mut self, name: &'static str) -> Element<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Element { svg: self, name }
    }

    /// Begins a line: texts that people may read are not all on one.
    pub fn line(&mut self) -> &mut Svg {
        self.out.push('\n');
        self
    }

    /// A style sheet. It is written as it is.
    pub fn style(&mut self, css: &str) {
        self.out.push_str("<style>");
        self.out.push_str(css);
        self.out.push_str("</style>");
    }

    /// A part that was written before.
    pub fn append(&mut self, part: &Svg) {
        self.out.push_str(&part.out);
    }
}

/// An element whose attributes are being written.
pub struct Element<'a> {
    svg: &'a mut Svg,
    name: &'static str,
}

impl Element<'_> {
    /// An attribute.
    #[must_use = "an element ends with `empty`, `text` or `content`"]
    pub fn attr(self, name: &str, value: impl Display) -> Self {
        let out = &mut self.svg.out;
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value);
        out.push('"');
        self
    }

    /// An attribute that is a number, with so many digits after the point.
    #[must_use = "an element ends with `empty`, `text` or `content`"]
    pub fn fixed(self, name: &str, value: f64, digits: usize) -> Self {
        self.attr(name, format_args!("{value:.digits$}"))
    }

    /// An attribute, if it has a value.
    #[must_use = "an element ends with `empty`, `text` or `content`"]
    pub fn optional(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// Ends an element with nothing in it.
    pub fn empty(self) {
        self.svg.out.push_str("/>");
    }

    /// Ends an element with a text in it.
    pub fn text(self, text: impl Display) {
        self.content(|svg| escape(&mut svg.out, text));
    }

    /// Ends an element with other elements in it.
    pub fn content(self, write: impl FnOnce(&mut Svg)) {
        self.svg.out.push('>');
        write(self.svg);
        self.svg.out.push_str("</");
        self.svg.out.push_str(self.name);
        self.svg.out.push('>');
    }
}

/// Appends a value such that it means itself in XML, in texts as in attributes.
fn escape(out: &mut String, value: impl Display) {
    // Writing to a string cannot fail.
    let _ = write!(Escape { out }, "{value}");
}

struct Escape<'a> {
    out: &'a mut String,
}

impl fmt::Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                // Not allowed in XML at all.
                c if c.is_control() && c != '\n' && c != '\t' => self.out.push('\u{fffd}'),
                c => self.out.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_given_stays_text() {
        let given = "a<b>&\"'\u{1}\n";
        let kept = "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}\n";
        let picture = Svg::document(&[("width", &7)], |svg| {
            svg.element("text").attr("class", given).text(given);
        });
        assert_eq!(
            picture,
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"7\">\
                 <text class=\"{kept}\">{kept}</text></svg>"
            )
        );
    }

    #[test]
    fn elements_nest_and_parts_are_put_together() {
        let mut part = Svg::new();
        part.element("g").content(|svg| {
            svg.element("title").text(1.5);
            svg.line().element("path").fixed("x", 0.25, 1).empty();
        });
        let mut whole = Svg::new();
        whole.style("a > b {}");
        whole.append(&part);
        let none: Option<u8> = None;
        whole
            .element("rect")
            .optional("x", Some(1))
            .optional("y", none)
            .empty();
        assert_eq!(
            whole.out,
            "<style>a > b {}</style><g><title>1.5</title>\n<path x=\"0.2\"/></g><rect x=\"1\"/>"
        );
    }
}
