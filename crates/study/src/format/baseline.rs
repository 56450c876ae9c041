//! What a sweep's configurations are compared with: each with the one that differs from it in nothing but
//! what the baseline says.

use super::configurations::SEED;
use super::model::{At, Configuration, Study};
use warpsim_present::nearest;

/// The configurations that are 1.
#[derive(Clone, Debug)]
pub struct Bases {
    /// What they are called together: `lrr`, or `scheduler=lrr`.
    pub title: String,
    /// One for each configuration of a figure, in order.
    pub names: Vec<At<String>>,
}

/// What was chosen on some axes.
type Fixed = Vec<(String, String)>;

/// The baseline of a study without figures; `wanted` is a configuration's name, the value of an axis, or
/// several as in `scheduler=lrr,sm.schedulers=1`. If not given it is the first value of every axis but the workloads'
/// parameters, which are other work. The text says what is wrong with it and what there is.
pub fn resolve(study: &Study, wanted: Option<&str>) -> Result<Bases, String> {
    let all = &study.configurations;
    let named = wanted.and_then(|name| all.iter().find(|c| c.name.value == name));
    let fixed = match (named, wanted) {
        (Some(named), _) => others(named, |_| true),
        (None, Some(text)) => chosen(study, text)?,
        (None, None) => first(&all[0]),
    };
    let title = match (named, &fixed[..]) {
        (Some(named), _) => named.name.value.clone(),
        (None, []) => all[0].name.value.clone(),
        (None, fixed) => {
            let pairs = fixed.iter().map(|(axis, value)| format!("{axis}={value}"));
            pairs.collect::<Vec<_>>().join(", ")
        }
    };
    let fallback = named.unwrap_or(&all[0]);
    let base = |c: &Configuration| base(all, c, &fixed).unwrap_or(fallback).name.clone();
    Ok(Bases {
        title,
        names: all.iter().map(base).collect(),
    })
}

/// A configuration's choices on axes that are no seeds.
fn others(of: &Configuration, wanted: impl Fn(&(String, String)) -> bool) -> Fixed {
    let axes = of.axes.iter().filter(|(axis, _)| axis != SEED);
    axes.filter(|pair| wanted(pair)).cloned().collect()
}

/// The choices of the first configuration, but for parameters.
fn first(of: &Configuration) -> Fixed {
    let parameter = |(axis, value): &(String, String)| {
        let pair = format!("{axis}={value}");
        of.parameters.iter().any(|p| p.value == pair)
    };
    others(of, |pair| !parameter(pair))
}

/// What a text says of axes.
fn chosen(study: &Study, text: &str) -> Result<Fixed, String> {
    let mut values: Fixed = Vec::new();
    for configuration in &study.configurations {
        for pair in others(configuration, |_| true) {
            if !values.contains(&pair) {
                values.push(pair);
            }
        }
    }
    let one = |part: &str| {
        let whole = |(axis, value): &&(String, String)| format!("{axis}={value}") == part;
        let mut alone = values.iter().filter(|(_, value)| value == part);
        let alone = alone.next().filter(|_| alone.next().is_none());
        values.iter().find(whole).or(alone).cloned()
    };
    let parts = text.split(',').map(|part| one(part.trim()).ok_or(part));
    parts.collect::<Result<Fixed, &str>>().map_err(|part| {
        let names = study.configurations.iter().map(|c| c.name.value.clone());
        let pairs = values.iter().map(|(axis, value)| format!("{axis}={value}"));
        let there: Vec<String> = names.chain(pairs).collect();
        let hint = nearest(part, there.iter().map(String::as_str));
        let hint = hint.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        format!(
            "no configuration is called `{part}`, and no axis has just this value{hint}\nthere are: {}",
            there.join(", ")
        )
    })
}

/// The configuration that differs from `of` in what is fixed alone.
fn base<'s>(
    all: &'s [Configuration],
    of: &Configuration,
    fixed: &Fixed,
) -> Option<&'s Configuration> {
    let moved = |(axis, value): &(String, String)| {
        let other = fixed.iter().find(|(name, _)| name == axis);
        (axis.clone(), other.map_or(value, |(_, v)| v).clone())
    };
    let axes: Fixed = of.axes.iter().map(moved).collect();
    let there = !axes.is_empty() && fixed.iter().all(|pair| axes.contains(pair));
    all.iter().find(|c| there && c.axes == axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_present::Source;

    fn study(more: &str) -> Study {
        let text = format!(
            "schema = 1\nname = \"t\"\nmachine = \"gtx480\"\n[groups.g]\nworkloads = [\"vecadd\"]\n{more}"
        );
        crate::format::parse(&Source::new("t", &text)).expect("a good study")
    }

    fn bases(study: &Study, wanted: Option<&str>) -> (String, Vec<String>) {
        let bases = resolve(study, wanted).expect("a baseline");
        let names = bases.names.into_iter().map(|n| n.value);
        (bases.title, names.collect())
    }

    const GRID: &str =
        "[[grid]]\nscheduler = [\"lrr\", \"gto\"]\nset = { \"sm.schedulers\" = [1, 2] }\n";

    #[test]
    fn a_configuration_a_value_or_the_first_of_all() {
        let study = study(GRID);
        let (first, last) = ("lrr+sm.schedulers=1", "gto+sm.schedulers=2");
        let title = "scheduler=lrr, sm.schedulers=1".to_string();
        assert_eq!(bases(&study, None), (title, vec![first.to_string(); 4]));
        assert_eq!(
            bases(&study, Some(last)),
            (last.into(), vec![last.into(); 4])
        );
        // Each beside the same number of schedulers.
        let beside = ["gto+sm.schedulers=1", last, "gto+sm.schedulers=1", last];
        for wanted in ["gto", "scheduler=gto"] {
            let (title, names) = bases(&study, Some(wanted));
            assert_eq!(
                (title.as_str(), names),
                ("scheduler=gto", beside.map(String::from).into())
            );
        }
        assert_eq!(bases(&study, Some("gto, sm.schedulers=2")).1, [last; 4]);
    }

    #[test]
    fn seeds_and_parameters_are_compared_with_their_like() {
        let study = study(
            "[[grid]]\nscheduler = [\"lrr\", \"gto\"]\nseed = [1, 2]\nparam = { n = [64, 128] }\n",
        );
        let (title, names) = bases(&study, None);
        assert_eq!(title, "scheduler=lrr");
        assert_eq!(names[..4], names[4..], "gto beside lrr");
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), 4, "{names:?}");
    }

    #[test]
    fn configurations_with_names_are_compared_with_one_of_them() {
        let study = study("[configurations]\na = {}\nb = { scheduler = \"lrr\" }\n");
        assert_eq!(bases(&study, None), ("a".into(), vec!["a".into(); 2]));
        assert_eq!(bases(&study, Some("b")), ("b".into(), vec!["b".into(); 2]));
    }

    #[test]
    fn what_there_is_not_is_named() {
        let wrong = |wanted| resolve(&study(GRID), Some(wanted)).expect_err("no such baseline");
        let text = wrong("scheduler=grr");
        assert!(text.contains("did you mean `scheduler=lrr`?"), "{text}");
        assert!(wrong("lrr,3").contains("`3`") && wrong("").contains("there are: lrr+"));
    }
}
