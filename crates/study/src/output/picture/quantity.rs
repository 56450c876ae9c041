//! What goes up in a picture, with its unit.

use crate::format::{Display, Figure, Shape};
use crate::plan::{Layer, Plan};
use crate::values::metric::unit;

/// The title of a figure's axis: what is measured, in which unit or against which configuration.
pub fn title(plan: &Plan, figure: &Figure, layers: &[Layer]) -> String {
    if let Some(bases) = &figure.bases {
        return format!("speed, change from {} (%)", bases.title);
    }
    let base = figure.normalise.as_ref();
    let base = base.map(|base| plan.setups[plan.setup(&base.value)].title.as_str());
    let what = match (&figure.shape, layers) {
        (Shape::Bars { .. }, [layer]) => named(&layer.title),
        _ => String::new(),
    };
    let unit = common_unit(layers);
    // The layers of a stack have titles of their own: together they are so many of their unit.
    let what = match (what.is_empty(), unit) {
        (false, _) => what,
        (true, "") => "sum".to_string(),
        (true, unit) => unit.to_string(),
    };
    match (figure.display, base) {
        (Display::Change, Some(base)) => format!("{what}, change from {base} (%)"),
        (Display::Change, None) => format!("{what}, change from 1 (%)"),
        (Display::Percent, Some(base)) => format!("{what} (% of {base})"),
        (Display::Percent, None) => format!("{what} (%)"),
        (_, Some(base)) => format!("{what} relative to {base}"),
        (_, None) if unit.is_empty() || unit == what => what,
        (_, None) => format!("{what} ({unit})"),
    }
}

/// A statistic's name as people say it; other titles are as they were written.
fn named(title: &str) -> String {
    match title {
        "ipc" => "IPC".to_string(),
        title => title.replace(['_', '.'], " "),
    }
}

/// The unit of what is measured, if everything in it has the same.
fn common_unit(layers: &[Layer]) -> &'static str {
    let sums = layers.iter().all(|l| l.expression.is_sum());
    let names = layers.iter().flat_map(|l| l.expression.names());
    let mut units = names.map(unit);
    let first = units.next().unwrap_or_default();
    match sums && units.all(|u| u == first) {
        true => first,
        false => "",
    }
}
