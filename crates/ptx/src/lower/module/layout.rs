//! Sizes, alignment and the placing of variables.

use crate::ast::{Init, Linkage, Variable};
use crate::isa::Space;
use crate::lower::module::reach::Reach;
use std::collections::HashMap;

/// Bytes of one element (a vector counts as one).
pub(in crate::lower) fn element_bytes(var: &Variable) -> u64 {
    u64::from(var.ty.bytes()) * u64::from(var.vector.max(1))
}

/// Bytes of a whole variable. An open dimension (`[]`) takes its length from the
/// initialiser, or is empty. `None` when the size does not fit.
pub(crate) fn variable_bytes(var: &Variable) -> Option<u64> {
    let mut bytes = element_bytes(var);
    for dim in &var.dims {
        let length = match (dim, &var.init) {
            (Some(n), _) => *n,
            (None, Some(Init::List(items))) => items.len() as u64,
            (None, _) => 0,
        };
        bytes = bytes.checked_mul(length)?;
    }
    Some(bytes)
}

/// Alignment of a variable: as declared, else that of an element.
pub(in crate::lower) fn variable_align(var: &Variable) -> u64 {
    u64::from(var.align.unwrap_or(0))
        .max(element_bytes(var))
        .clamp(1, 1 << 20)
        .next_power_of_two()
}

/// `offset` moved up to a multiple of `align`.
pub(in crate::lower) fn align_up(offset: u64, align: u64) -> u64 {
    offset.div_ceil(align.max(1)).saturating_mul(align.max(1))
}

/// Does the variable stand for the dynamically sized shared memory of a launch?
pub(in crate::lower) fn is_dynamic_shared(var: &Variable) -> bool {
    var.space == Space::Shared
        && var.linkage == Linkage::Extern
        && (var.dims.is_empty() || variable_bytes(var) == Some(0) || var.dims.contains(&None))
}

/// Where the shared variables of one kernel lie.
#[derive(Debug, Default)]
pub(in crate::lower) struct SharedLayout {
    /// Offset by variable, known by its address in the tree: a device function's own shared
    /// variable exists once in a kernel, however often the function is inlined.
    offsets: HashMap<*const Variable, u64>,
    /// Static bytes.
    pub bytes: u64,
    /// Where dynamic shared memory begins, when the kernel names it.
    pub dynamic: Option<u64>,
}

impl SharedLayout {
    /// Places the static variables in order of first use, then the dynamic ones, all at the
    /// same place behind them.
    pub fn new(reach: &Reach<'_>) -> Self {
        let mut layout = SharedLayout::default();
        for var in reach.shared.iter().filter(|v| !is_dynamic_shared(v)) {
            let offset = align_up(layout.bytes, variable_align(var));
            layout.offsets.insert(std::ptr::from_ref(*var), offset);
            layout.bytes = offset.saturating_add(variable_bytes(var).unwrap_or(u64::MAX));
        }
        let dynamic: Vec<_> = reach
            .shared
            .iter()
            .filter(|v| is_dynamic_shared(v))
            .collect();
        if let Some(align) = dynamic.iter().map(|v| variable_align(v)).max() {
            let base = align_up(layout.bytes, align);
            layout.dynamic = Some(base);
            for var in dynamic {
                layout.offsets.insert(std::ptr::from_ref(*var), base);
            }
        }
        layout
    }

    /// The offset of a variable that the kernel uses.
    pub fn offset(&self, var: &Variable) -> Option<u64> {
        self.offsets.get(&std::ptr::from_ref(var)).copied()
    }
}
