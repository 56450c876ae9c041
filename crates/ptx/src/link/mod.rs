//! Linking: several files as one, as a linker of machine code does it. What one declares `.extern` another may define;
//! names that a file keeps to itself do not meet those of others; of `.weak` and `.common` definitions one is kept.

mod names;

use crate::ast::{Function, Item, Linkage, Module, Variable};
use crate::diagnostic::render_all;
use crate::lower::variable_size;
use crate::{parse, print};
use names::{Renaming, renumber};
use std::collections::{HashMap, HashSet};

/// A name that two files define, and neither gives way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The name.
    pub name: String,
    /// The files, counted from 0.
    pub files: (usize, usize),
    /// Whether one defines a function, and the other a variable.
    pub kinds: bool,
}

/// One text of several, each with the name that errors call it by. What is wrong with them, else.
pub fn link_texts(units: &[(&str, &str)]) -> Result<String, String> {
    if let [(_, text)] = units {
        return Ok(text.to_string());
    }
    let parsed = units.iter().map(|(name, text)| {
        let module = parse(text);
        module.map_err(|errors| render_all(&errors, name, text))
    });
    let modules = parsed.collect::<Result<Vec<_>, _>>()?;
    let linked = link(modules).map_err(|clash| {
        let [first, second] = [clash.files.0, clash.files.1].map(|file| units[file].0);
        match clash.kinds {
            true => format!(
                "`{}` is a function in one of {first} and {second}, and a variable in the other",
                clash.name
            ),
            false => format!("`{}` is defined twice, in {first} and {second}", clash.name),
        }
    })?;
    Ok(print(&linked))
}

/// One module of several. The first says what target it is for; the newest version counts.
pub fn link(mut modules: Vec<Module>) -> Result<Module, Clash> {
    let chosen = choose(&modules)?;
    let mut linked = Module::default();
    // Names that all files know, and those that a file has to itself.
    let mut taken: HashSet<String> = chosen.keys().map(|name| name.to_string()).collect();
    let own: Vec<Vec<String>> = modules.iter().map(own_names).collect();
    let everybodys: HashSet<&String> = own.iter().flatten().collect();
    let places: HashMap<String, Place> = chosen
        .into_iter()
        .map(|(name, definition)| (name.to_string(), definition.place))
        .collect();
    let mut files = 0;
    for (number, module) in modules.iter_mut().enumerate() {
        if number == 0 {
            linked.target.clone_from(&module.target);
            linked.address_size = module.address_size;
        }
        linked.version = linked.version.max(module.version);
        keep_chosen(module, number, &places);
        let mut changed = HashMap::new();
        for name in &own[number] {
            if taken.insert(name.clone()) || changed.contains_key(name) {
                continue;
            }
            let fresh = (number..).map(|n| format!("{name}${n}"));
            let free = |new: &String| !taken.contains(new) && !everybodys.contains(new);
            let new = fresh.into_iter().find(free).unwrap_or_default();
            taken.insert(new.clone());
            changed.insert(name.clone(), new);
        }
        if !changed.is_empty() {
            Renaming { changed: &changed }.items(&mut module.items);
        }
        files = renumber(&mut module.items, files);
        linked.items.append(&mut module.items);
    }
    Ok(linked)
}

/// Where something stands: its file, and which item of it.
type Place = (usize, usize);

/// What a name is defined as.
#[derive(Clone, Copy)]
struct Definition {
    place: Place,
    linkage: Linkage,
    function: bool,
    size: u64,
}

impl Definition {
    /// Which of two is kept: what is defined for good, then the first weak one, then the largest common one.
    fn beats(&self, other: &Definition) -> bool {
        let rank = |linkage| match linkage {
            Linkage::Common => 0,
            Linkage::Weak => 1,
            _ => 2,
        };
        let (ours, theirs) = (rank(self.linkage), rank(other.linkage));
        ours > theirs || ours == 0 && theirs == 0 && self.size > other.size
    }
}

/// The definition that is kept of each name that all files know.
fn choose(modules: &[Module]) -> Result<HashMap<&str, Definition>, Clash> {
    let mut chosen: HashMap<&str, Definition> = HashMap::new();
    for (file, module) in modules.iter().enumerate() {
        for (at, item) in module.items.iter().enumerate() {
            let Some((name, new)) = defined(item, (file, at)) else {
                continue;
            };
            let Some(old) = chosen.get(name) else {
                chosen.insert(name, new);
                continue;
            };
            let kinds = old.function != new.function;
            let strong = |linkage| !matches!(linkage, Linkage::Weak | Linkage::Common);
            // What one file defines twice is lowering's to tell, with its place.
            let twice = strong(old.linkage) && strong(new.linkage) && old.place.0 != file;
            if kinds || twice {
                return Err(Clash {
                    name: name.to_string(),
                    files: (old.place.0, file),
                    kinds,
                });
            }
            if new.beats(old) {
                chosen.insert(name, new);
            }
        }
    }
    Ok(chosen)
}

/// What an item defines for all files, if it does.
fn defined(item: &Item, place: Place) -> Option<(&str, Definition)> {
    let (name, linkage, function, size) = match item {
        Item::Variable(var) => {
            let size = variable_size(var).unwrap_or(0);
            (&var.name.name, var.linkage, false, size)
        }
        Item::Function(function) => {
            function.body.as_ref()?;
            (&function.name.name, function.linkage, true, 0)
        }
        _ => return None,
    };
    let known = !matches!(linkage, Linkage::Internal | Linkage::Extern);
    known.then_some((
        name,
        Definition {
            place,
            linkage,
            function,
            size,
        },
    ))
}

/// Takes away what another file defines, or the same file before: only what may give way.
fn keep_chosen(module: &mut Module, file: usize, places: &HashMap<String, Place>) {
    let mut at = 0;
    module.items.retain(|item| {
        let place = (file, at);
        at += 1;
        let Some((name, definition)) = defined(item, place) else {
            return true;
        };
        let weak = matches!(definition.linkage, Linkage::Weak | Linkage::Common);
        !weak || places.get(name) == Some(&place)
    });
}

/// The names that a file keeps to itself, in its order.
fn own_names(module: &Module) -> Vec<String> {
    let mut known = HashSet::new();
    let named = |item: &Item| match item {
        Item::Variable(Variable { name, linkage, .. })
        | Item::Function(Function { name, linkage, .. }) => {
            (*linkage == Linkage::Internal).then(|| name.name.to_string())
        }
        Item::Alias { alias, .. } => Some(alias.name.to_string()),
        _ => None,
    };
    let names = module.items.iter().filter_map(named);
    names.filter(|name| known.insert(name.clone())).collect()
}

#[cfg(test)]
mod tests;
