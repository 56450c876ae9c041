//! Sixteen bytes for each thread in some state space.

use crate::form::Form;

/// Where a thread's bytes are.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// What the form's name says about it.
    pub(super) name: &'static str,
    /// The space as an instruction writes it, empty for generic addresses.
    pub(super) space: &'static str,
    module: &'static str,
    local: &'static str,
    /// Sets `%cell`.
    setup: &'static str,
}

const GLOBAL: &str = ".global .align 16 .b8 cells[65536];\n";
const SHARED: &str = "\t.shared .align 16 .b8 cells[4096];\n";
const LOCAL: &str = "\t.local .align 16 .b8 cells[16];\n";
const AT_GLOBAL: &str = "mov.u64 %cell, cells;\n\tmad.wide.u32 %cell, %n, 16, %cell;";
const AT_SHARED: &str =
    "mov.u64 %cell, cells;\n\tmov.u32 %word, %tid.x;\n\tmad.wide.u32 %cell, %word, 16, %cell;";

/// Every space that can be written, and what generic addresses point to.
pub(super) const PLACES: &[Place] = &[
    Place {
        name: "",
        space: ".global",
        module: GLOBAL,
        local: "",
        setup: AT_GLOBAL,
    },
    Place {
        name: "",
        space: ".shared",
        module: "",
        local: SHARED,
        setup: AT_SHARED,
    },
    Place {
        name: "(generic, global)",
        space: "",
        module: GLOBAL,
        local: "",
        setup: "mov.u64 %cell, cells;\n\tmad.wide.u32 %cell, %n, 16, %cell;\n\tcvta.global.u64 %cell, %cell;",
    },
    Place {
        name: "(generic, shared)",
        space: "",
        module: "",
        local: SHARED,
        setup: "mov.u64 %cell, cells;\n\tmov.u32 %word, %tid.x;\n\tmad.wide.u32 %cell, %word, 16, %cell;\n\tcvta.shared.u64 %cell, %cell;",
    },
    Place {
        name: "",
        space: ".local",
        module: "",
        local: LOCAL,
        setup: "mov.u64 %cell, cells;",
    },
    Place {
        name: "(generic, local)",
        space: "",
        module: "",
        local: LOCAL,
        setup: "mov.u64 %cell, cells;\n\tcvta.local.u64 %cell, %cell;",
    },
];

/// The places that atomics work on: the first of [`PLACES`].
pub(super) const ATOMIC_PLACES: usize = 4;

impl Form {
    /// Puts the setup of a place before the body and declares what it needs.
    pub(super) fn at(&mut self, place: &Place) -> &mut Form {
        self.module = place.module.into();
        self.locals = format!("\t.reg .b64 %cell;\n{}", place.local);
        self.body = format!("{}\n\t{}", place.setup, self.body);
        self
    }
}
