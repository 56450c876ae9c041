//! Names for the ways to save the lanes' power that the paper on Origami compares: each is short
//! for settings, as in `--power origami` or `--set power=origami`.

use crate::mechanism::Kind;
use crate::read::set::{self, Override};
use crate::warps;
use warpsim_present::{SourceError, nearest};

/// The key that stands for the settings of a name.
pub const KEY: &str = "power";

/// A name with what it means.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub description: &'static str,
    /// Its issue policy.
    pub scheduler: &'static str,
    /// It goes by its issue policy; others go with any.
    needs_scheduler: bool,
    /// The other settings behind it.
    settings: &'static [&'static str],
}

impl Named {
    /// The settings behind it, issue policy included.
    pub fn all(&self) -> Vec<String> {
        let scheduler = format!("scheduler={}", self.scheduler);
        let others = self.settings.iter().map(|s| s.to_string());
        [scheduler].into_iter().chain(others).collect()
    }
}

/// Every name.
pub const NAMES: &[Named] = &[
    Named {
        name: "none",
        description: "two-level scheduling, every lane on; what the lanes do is counted",
        scheduler: "tls",
        needs_scheduler: false,
        settings: &["gating=none", "gating.none.watch=true", "folding=none"],
    },
    Named {
        name: "conventional",
        description: "two-level scheduling; sides of SPs that have been idle for a while are off",
        scheduler: "tls",
        needs_scheduler: false,
        settings: &[
            "gating=conventional",
            "gating.conventional.by=domain",
            "folding=none",
        ],
    },
    Named {
        name: "warped-gates",
        description: "Warped-Gates: GATES with coordinated blackout and adaptive idle-detect",
        scheduler: "gates",
        needs_scheduler: true,
        settings: &[
            "gating=blackout",
            "gating.blackout.coordinated=true",
            "gating.blackout.adaptive=true",
            "folding=none",
        ],
    },
    Named {
        name: "folding",
        description: "Warp Folding on two-level scheduling, lanes gated one by one",
        scheduler: "tls",
        needs_scheduler: false,
        settings: &[
            "gating=conventional",
            "gating.conventional.by=lane",
            "folding=phases",
            "folding.phases.shift=false",
        ],
    },
    Named {
        name: "origami",
        description: "Origami: Warp Folding with its scheduler and lane shifting",
        scheduler: "origami",
        needs_scheduler: true,
        settings: &[
            "gating=conventional",
            "gating.conventional.by=lane",
            "folding=phases",
            "folding.phases.shift=true",
        ],
    },
];

/// Puts the settings behind a name in its place. Where gangs are named, too, theirs is the issue
/// policy.
pub(crate) fn overrides(texts: &[String]) -> Result<Vec<String>, SourceError> {
    let read: Vec<Override> = texts
        .iter()
        .map(|text| set::parse(text))
        .collect::<Result<_, _>>()?;
    let word = |o: &Override| o.raw.trim_matches('"').to_string();
    let gangs = read
        .iter()
        .find(|o| o.key == warps::KEY && warps::chooses_scheduler(&word(o)))
        .map(word);
    let mut all = Vec::new();
    for (text, read) in texts.iter().zip(&read) {
        let name = word(read);
        let clash = |message: String, help: &str| {
            let error = read.source.error(read.node.span.clone(), message);
            Err(error.with_help(help))
        };
        let chooses = read.key == Kind::Scheduler.key() || read.key == Kind::Scheduler.name_key();
        if let Some(gangs) = gangs.as_ref().filter(|_| chooses && name != "gangs") {
            return clash(
                two_orders("scheduler", &name, gangs),
                "gangs have orders of their own, as in --set scheduler.order=lrr (see list schedulers)",
            );
        }
        if read.key != KEY {
            all.push(text.clone());
            continue;
        }
        let Some(named) = NAMES.iter().find(|n| n.name == name) else {
            return Err(unknown(read, &name));
        };
        match &gangs {
            None => all.extend(named.all()),
            Some(gangs) if named.needs_scheduler => {
                return clash(
                    two_orders(KEY, &name, gangs),
                    "with gangs, gate without that scheduler, as in --power conventional",
                );
            }
            Some(_) => all.extend(named.settings.iter().map(|s| s.to_string())),
        }
    }
    Ok(all)
}

/// What is said where a name for gangs and something else both choose the issue policy.
fn two_orders(key: &str, name: &str, gangs: &str) -> String {
    format!(
        "`{key}={name}` and `warps={gangs}` both choose the scheduler: narrow warps in gangs, or one by \
         one as `{name}` orders them"
    )
}

fn unknown(read: &Override, name: &str) -> SourceError {
    let names = || NAMES.iter().map(|n| n.name);
    let hint = nearest(name, names())
        .map(|n| format!("did you mean `{n}`? "))
        .unwrap_or_default();
    let known: Vec<&str> = names().collect();
    let message = format!("`{name}` is no way to save power");
    let error = read.source.error(read.node.span.clone(), message);
    error.with_help(format!("{hint}there are: {}", known.join(", ")))
}
