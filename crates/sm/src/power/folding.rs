//! Warp Folding (Abdel-Majeed et al., Origami, PACT 2016): in each cluster of lanes the upper half's
//! threads follow the lower half's on the same lanes. Which lanes an instruction uses then, and the
//! parameters.

use super::FoldingPolicy;
use warpsim_machine::mechanism::{Info, Integer, OneOf, Switch};

/// Every folding policy.
pub const FOLDING: &[FoldingPolicy] = &[
    FoldingPolicy {
        info: Info {
            name: "none",
            description: "warps are never folded",
            parameters: &[],
        },
        make: |_| None,
    },
    FoldingPolicy {
        info: Info {
            name: "phases",
            description: "warps are issued as two halves on half of the lanes for a part of each phase",
            parameters: &[
                &PHASE, &MINORITY, &MAJORITY, &CUTOFF, &CUTOFF_OF, &SKIP, &EAGER, &SHIFT, &STAGES,
            ],
        },
        make: |values| {
            Some(Folding {
                phase: values.get(&PHASE).into(),
                minority: values.get(&MINORITY).into(),
                majority: values.get(&MAJORITY).into(),
                cutoff: values.get(&CUTOFF).into(),
                cutoff_of: values.get(&CUTOFF_OF),
                skip: values.get(&SKIP),
                eager: values.get(&EAGER),
                shift: values.get(&SHIFT),
                stages: values.get(&STAGES).into(),
            })
        },
    },
];

/// Origami, section 3.1.1: 300 of the 250 to 400 that it found best.
const PHASE: Integer = Integer {
    name: "phase",
    low: 1,
    high: 1_000_000,
    default: 300,
    unit: "cycles",
    description: "length of a phase; what is folded is decided at its start",
};

/// Origami, section 3.1.1.
const MINORITY: Integer = Integer {
    name: "minority",
    low: 0,
    high: 100,
    default: 70,
    unit: "%",
    description: "share of a phase for which the rarer of the two types is folded",
};

/// Origami, section 3.1.1.
const MAJORITY: Integer = Integer {
    name: "majority",
    low: 0,
    high: 100,
    default: 40,
    unit: "%",
    description: "share of a phase for which the other type is folded; both, where there is no difference",
};

/// Origami, section 3.1.1.
const CUTOFF: Integer = Integer {
    name: "cutoff",
    low: 0,
    high: 1000,
    default: 90,
    unit: "%",
    description: "nothing is folded in a phase after one that issued so much of what it could",
};

/// Origami, section 3.1.1: "we decided to disable Warp Folding when the total number of issued instructions in the
/// previous phase is 90% of the maximum possible issued instructions". What issues is a scheduler, and a folded
/// instruction is one: hence the default.
const CUTOFF_OF: OneOf<CutoffOf> = OneOf {
    name: "cutoff_of",
    words: &["issue", "type", "slots"],
    meanings: &[CutoffOf::Issue, CutoffOf::Type, CutoffOf::Slots],
    description: "what it could: issue slots of all schedulers, instructions of each type that its pipelines take, \
                  or cycles of these pipelines' entries, both types and second halves included",
};

/// Origami, section 3.3: "whether the entire upper or lower half of the active mask vector is idle". Folding itself is
/// inside clusters (section 3.1), and `cluster` looks at what is folded.
const SKIP: OneOf<Skip> = OneOf {
    name: "skip",
    words: &["half", "cluster"],
    meanings: &[Skip::Half, Skip::Cluster],
    description: "no second half where this half of the warp, or of each cluster, has no active lane",
};

/// Origami, section 3.3.
const EAGER: Switch = Switch {
    name: "eager",
    default: true,
    description: "while warps are folded, idle upper lanes are switched off at once",
};

/// Origami, section 3.2: a part of the Origami scheduler.
const SHIFT: Switch = Switch {
    name: "shift",
    default: false,
    description: "active lanes are packed to the left in each cluster",
};

/// Origami, section 3.4: one to shift, one to shift back.
const STAGES: Integer = Integer {
    name: "stages",
    low: 0,
    high: 10,
    default: 2,
    unit: "cycles",
    description: "pipeline stages that shifting adds to every instruction of these units",
};

/// How warps are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Folding {
    pub phase: u64,
    /// In percent, as the next ones.
    pub minority: u64,
    pub majority: u64,
    pub cutoff: u64,
    pub cutoff_of: CutoffOf,
    pub skip: Skip,
    pub eager: bool,
    pub shift: bool,
    pub stages: u64,
}

/// What of a phase the cut-off compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutoffOf {
    /// Instructions of all types, with what the schedulers can issue.
    Issue,
    /// Those of a type, with what the pipelines of that type can take.
    Type,
    /// Cycles in which entries of these pipelines are taken, with all of them.
    Slots,
}

/// When there is no second half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The lower or the upper lanes of every cluster are inactive.
    Cluster,
    /// The lower or the upper half of the warp is; it then uses its own lanes.
    Half,
}

/// The lanes that an instruction uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// These, in one or both halves.
    pub lanes: u32,
    /// In two halves.
    pub folded: bool,
}

/// The lower lanes of every cluster.
pub fn lower(cluster: u32) -> u32 {
    let half = (1u64 << (cluster / 2)) - 1;
    let every = (0..32).step_by(cluster as usize);
    every.fold(0, |all, at| all | (half << at) as u32)
}

/// Packs the active lanes of every cluster to the left.
pub fn pack(lanes: u32, cluster: u32) -> u32 {
    let mut packed = 0u64;
    for at in (0..32).step_by(cluster as usize) {
        let own = u64::from(lanes) >> at & ((1 << cluster) - 1);
        packed |= ((1u64 << own.count_ones()) - 1) << at;
    }
    packed as u32
}

impl Folding {
    /// The way of an instruction with these active lanes, where `width` lanes make a warp and its
    /// type is folded now, or not.
    pub fn way(&self, active: u32, width: u32, cluster: u32, folds: bool) -> Way {
        let active = match self.shift {
            true => pack(active, cluster),
            false => active,
        };
        let whole = Way {
            lanes: active,
            folded: false,
        };
        if !folds {
            return whole;
        }
        let lower = lower(cluster);
        let (first, second) = (active & lower, (active & !lower) >> (cluster / 2));
        let folded = Way {
            lanes: first | second,
            folded: first != 0 && second != 0,
        };
        let half = (1u64 << (width / 2)) - 1;
        let low = active & half as u32;
        match self.skip {
            Skip::Half if low == 0 || low == active => whole,
            // A half that is empty makes no second issue, but the halves of the warp were looked at.
            Skip::Half => Way {
                folded: true,
                ..folded
            },
            Skip::Cluster => folded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Values;

    fn folding(set: &[(&str, toml::Value)]) -> Folding {
        let policy = FOLDING[1];
        let mut values = Values::defaults(&policy.info);
        set.iter().for_each(|(k, v)| values.set(k, v.clone()));
        (policy.make)(&values).expect("it folds")
    }

    #[test]
    fn upper_lanes_follow_on_the_lower_ones() {
        let folding = folding(&[]);
        assert_eq!(lower(4), 0x3333_3333);
        let way = |active, folds| folding.way(active, 32, 4, folds);
        let whole = |lanes| Way {
            lanes,
            folded: false,
        };
        assert_eq!(way(!0, false), whole(!0));
        assert_eq!(
            way(!0, true),
            Way {
                lanes: 0x3333_3333,
                folded: true
            }
        );
        // Figure 8 with one lane of the second half, and one in the warp's upper half.
        assert_eq!(
            way(0x1_0043, true),
            Way {
                lanes: 0x1_0013,
                folded: true
            }
        );
    }

    #[test]
    fn nothing_is_folded_where_half_of_every_cluster_is_inactive() {
        let folding = folding(&[("skip", "cluster".into())]);
        let way = |active| folding.way(active, 32, 4, true);
        let whole = |lanes| Way {
            lanes,
            folded: false,
        };
        assert_eq!(way(0x3333_3333), whole(0x3333_3333));
        assert_eq!(
            way(0xcccc_cccc),
            whole(0x3333_3333),
            "shifted to where lanes are on"
        );
        assert!(way(0xffff).folded, "sixteen threads take both halves");
    }

    #[test]
    fn or_where_half_of_the_warp_is() {
        let folding = folding(&[]);
        let way = |active| folding.way(active, 32, 4, true);
        assert_eq!(
            way(0xffff),
            Way {
                lanes: 0xffff,
                folded: false
            }
        );
        assert_eq!(way(0xffff_0000).lanes, 0xffff_0000, "on its own lanes");
        assert!(way(0x3333_3333).folded);
    }

    #[test]
    fn shifting_packs_lanes_in_their_clusters() {
        assert_eq!(pack(0b1000_1010, 4), 0b0001_0011);
        assert_eq!(pack(!0, 32), !0);
        let folding = folding(&[("shift", true.into()), ("skip", "cluster".into())]);
        let way = folding.way(0b1000_0101, 32, 4, true);
        let packed = Way {
            lanes: 0b0001_0011,
            folded: false,
        };
        assert_eq!(way, packed, "two in each cluster fit on the lower lanes");
    }
}
