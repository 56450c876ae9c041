//! Names that a study file uses are names that it defines.

use super::model::*;
use super::parse::ALL;
use warpsim_present::{SourceError, nearest};

/// Every configuration and group that is mentioned is defined.
pub fn check(study: &Study) -> Result<(), SourceError> {
    let configurations = || study.configurations.iter().map(|c| c.name.value.as_str());
    let groups = || study.groups.iter().map(|g| g.name.value.as_str());
    let configuration = |name: &At<String>| known(study, name, "configuration", configurations());
    let group = |name: &At<String>| known(study, name, "group", groups());
    let timelines = study.timelines.iter().flat_map(|t| &t.configurations);
    let failures = study.expected_failures.iter();
    for name in timelines.chain(failures.flat_map(|f| &f.configurations)) {
        configuration(name)?;
    }
    for figure in &study.figures {
        figure.groups.iter().try_for_each(group)?;
        let mut shown = figure.configurations.iter().chain(&figure.normalise);
        shown.try_for_each(configuration)?;
        let means = figure.paper.means.iter().map(|m| &m.configuration);
        let values = figure.paper.values.iter().map(|v| &v.configuration);
        for name in means.chain(values).chain(&figure.sort) {
            let shown = figure.configurations.iter().map(|c| c.value.as_str());
            known(study, name, "configuration of this figure", shown)?;
        }
        let in_figure = || figure.groups.iter().map(|g| g.value.as_str());
        let claimed = figure.claims.iter().filter_map(|c| c.group.as_ref());
        for name in figure.paper.means.iter().map(|m| &m.group).chain(claimed) {
            known(
                study,
                name,
                "group of this figure",
                in_figure().chain([ALL]),
            )?;
        }
        for claim in &figure.claims {
            chain(study, figure, claim)?;
            let names = || study.experiments.iter().map(|e| e.name.value.as_str());
            for name in &claim.experiments {
                known(study, name, "experiment", names())?;
            }
            as_often(study, claim)?;
        }
    }
    for sensitivity in &study.sensitivities {
        let ids = study.figures.iter().map(|f| f.id.value.as_str());
        known(study, &sensitivity.figure, "figure", ids)?;
        let of = |f: &&Figure| f.id.value == sensitivity.figure.value;
        let Some(figure) = study.figures.iter().find(of) else {
            continue;
        };
        for name in &sensitivity.configurations {
            let shown = figure.configurations.iter().map(|c| c.value.as_str());
            known(study, name, "configuration of this figure", shown)?;
        }
        let experiments = || study.experiments.iter().map(|e| e.name.value.as_str());
        for name in &sensitivity.experiments {
            known(study, name, "experiment", experiments())?;
        }
        if let Some(name) = &sensitivity.group {
            let groups = figure.groups.iter().map(|g| g.value.as_str());
            known(study, name, "group of this figure", groups.chain([ALL]))?;
        }
    }
    for name in &study.headlines {
        let ids = study.figures.iter().map(|f| f.id.value.as_str());
        known(study, name, "figure", ids)?;
    }
    for TradeOff { id, .. } in &study.trade_offs {
        if study.figures.iter().any(|f| f.id.value == id.value) {
            let message = format!(
                "`{}` is a figure's id already: both name a picture",
                id.value
            );
            return Err(study.source.error(id.place.clone(), message));
        }
    }
    for axis in study.trade_offs.iter().flat_map(|t| &t.axes) {
        let bars = |f: &&Figure| matches!(f.shape, Shape::Bars { .. });
        let ids = study
            .figures
            .iter()
            .filter(bars)
            .map(|f| f.id.value.as_str());
        known(study, axis, "figure with one value each", ids)?;
    }
    Ok(())
}

/// The experiment that shows a reason runs as often as what it explains.
fn as_often(study: &Study, claim: &Claim) -> Result<(), SourceError> {
    let Some(By::Experiment(name)) = claim.reason.as_ref().map(|r| &r.by) else {
        return Ok(());
    };
    let mut experiments = study.experiments.iter();
    let found = experiments.find(|e| e.name.value == name.value);
    let repeats = found.and_then(|e| e.repeats);
    if repeats.is_none_or(|n| n >= study.repeats.count) {
        return Ok(());
    }
    let message = format!(
        "experiment `{}` has fewer repeats than the study",
        name.value
    );
    let help = "what repeats scatter by, it cannot tell from an effect: take its `repeats` out";
    Err(study
        .source
        .error(name.place.clone(), message)
        .with_help(help))
}

/// Every configuration that a claim compares is in its figure.
fn chain(study: &Study, figure: &Figure, claim: &Claim) -> Result<(), SourceError> {
    let Some(chain) = &claim.chain else {
        return Ok(());
    };
    for name in chain.value.names() {
        let name = At {
            value: name.to_string(),
            place: chain.place.clone(),
        };
        let all = study.configurations.iter().map(|c| c.name.value.as_str());
        known(study, &name, "configuration", all)?;
        // The base is 1 as a whole; how much of it each part is only its stack shows.
        let base = figure.normalise.iter().filter(|_| claim.part.is_none());
        let shown = figure.configurations.iter().chain(base);
        let shown = shown.map(|c| c.value.as_str());
        known(study, &name, "configuration of this figure", shown)?;
    }
    Ok(())
}

/// Refuses a name that is not among those there are.
pub fn known<'a>(
    study: &Study,
    name: &At<String>,
    what: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), SourceError> {
    let names: Vec<&str> = names.collect();
    if names.contains(&name.value.as_str()) {
        return Ok(());
    }
    let hint = nearest(&name.value, names.iter().copied())
        .map(|n| format!("did you mean `{n}`? "))
        .unwrap_or_default();
    let message = format!("no {what} is called `{}`", name.value);
    let help = match names.as_slice() {
        [] => "there are none".to_string(),
        names => format!("{hint}there are: {}", names.join(", ")),
    };
    Err(study
        .source
        .error(name.place.clone(), message)
        .with_help(help))
}
