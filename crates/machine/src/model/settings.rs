//! How the settings of a machine are declared: beside each field what it may be, in what unit,
//! and (its documentation) what it does.

use super::rule::Rule;

/// A setting of a section.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name in its section.
    pub name: &'static str,
    /// What it may be.
    pub rule: Rule,
    /// Unit, or empty.
    pub unit: &'static str,
    /// The lines of its documentation.
    pub lines: &'static [&'static str],
}

impl Setting {
    /// What it does.
    pub fn description(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|l| l.trim()).collect();
        lines.join(" ")
    }
}

/// Declares a section of the machine: `/// description`, then
/// `name: type = rule, "unit";` for each setting. Tables in it come after `with`,
/// settings that it shares with others after `and`.
macro_rules! settings {
    ($(#[$meta:meta])* pub struct $section:ident {
        $($(#[doc = $line:literal])+ $field:ident: $type:ty = $rule:expr, $unit:literal;)*
    } $(with {
        $($(#[doc = $about:literal])+ $inner:ident: $table:ty;)*
    })? $(and {
        $($(#[doc = $common:literal])+ $shared:ident: $declared:ty;)*
    })?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $section {
            $($(#[doc = $line])+ pub $field: $type,)*
            $($($(#[doc = $about])+ pub $inner: $table,)*)?
            $($($(#[doc = $common])+ #[serde(flatten)] pub $shared: $declared,)*)?
        }

        impl $section {
            /// What each of them may be.
            pub const SETTINGS: &'static [$crate::model::settings::Setting] = &[
                $($crate::model::settings::Setting {
                    name: stringify!($field),
                    rule: $rule,
                    unit: $unit,
                    lines: &[$($line),+],
                },)*
            ];
        }
    };
}
pub(super) use settings;
