//! How much goes beside each other: on screens and paper, and on telephones.

use warpsim_present::svg::Svg;

/// Sizes of a picture.
pub struct Layout {
    /// Its class on a page.
    pub class: &'static str,
    /// Width of all of it.
    pub width: f64,
    /// Bars side by side before another row begins.
    pub bars_per_row: usize,
    /// Panels of a trade-off side by side, and how wide the field of each is.
    pub panels_per_row: usize,
    pub panel: f64,
}

impl Layout {
    /// A picture of this height, with what `draw` draws; `style` is for one that stands alone.
    pub fn picture(
        &self,
        height: f64,
        title: &str,
        style: Option<&str>,
        draw: impl FnOnce(&mut Svg),
    ) -> String {
        let width = self.width;
        Svg::document(
            &[
                ("viewBox", &format_args!("0 0 {width} {height:.0}")),
                ("width", &width),
                ("height", &format_args!("{height:.0}")),
                ("class", &self.class),
                ("role", &"img"),
                ("font-family", &"system-ui,sans-serif"),
                ("font-size", &12),
            ],
            |svg| {
                if let Some(style) = style {
                    svg.style(style);
                }
                svg.element("title").text(title);
                draw(svg);
            },
        )
    }
}

/// For screens and paper.
pub const BROAD: Layout = Layout {
    class: "broad",
    width: 1080.0,
    bars_per_row: 120,
    panels_per_row: 2,
    panel: 436.0,
};

/// For telephones, where letters stay as large as those around the picture.
pub const NARROW: Layout = Layout {
    class: "narrow",
    width: 360.0,
    bars_per_row: 30,
    panels_per_row: 1,
    panel: 266.0,
};

/// Width of a letter, as far as can be told without the font.
pub const LETTER: f64 = 6.9;

/// A text in lines that are at most `width` wide, broken between words.
pub fn wrapped(text: &str, width: f64) -> Vec<String> {
    warpsim_present::wrapped(text, (width / LETTER) as usize)
}

/// The beginning of a text that is too long for `letters`.
pub fn shortened(text: &str, letters: usize) -> String {
    match text.chars().count() <= letters {
        true => text.to_string(),
        false => {
            let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
            format!("{}\u{2026}", kept.trim_end())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_to_fit() {
        assert_eq!(wrapped("one two three", 8.0 * LETTER), ["one two", "three"]);
        assert_eq!(wrapped("", 10.0).len(), 0);
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abc efg", 5), "abc\u{2026}");
    }
}
