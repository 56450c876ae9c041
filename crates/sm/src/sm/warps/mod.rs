//! The hardware warps of an SM: bit sets by domain, instruction buffers, what is in flight, the
//! scoreboard.
//!
//! This table is the only writer of the bit sets. A change goes through an [`Edit`], and making
//! one accounts for the cycles that lie behind ([`Books`]): no change can be made that would be
//! counted too early. What fetch keeps for itself ([`fetching`]) is in
//! no account.

mod accounting;
mod buffer;
mod classes;
mod domain;
mod edit;
mod fetching;
mod flight;
mod gangs;
mod landing;
mod leaving;
mod lockstep;
mod scoreboard;
mod together;
mod turn;
mod warp;

use super::facts::OpFacts;
use super::observe::Books;
use crate::config::{Fetch, Machine, Scoreboard as ScoreboardKind};
use crate::place::each;
use crate::place::{Layout, Place};
use crate::sm::limits::MOST_DOMAINS;
use crate::time::Cycle;
use accounting::Residency;
use classes::Classes;
use domain::Domains;
pub use domain::{Domain, Hold, Waiters};
pub use edit::Edit;
pub use flight::Landed;
use scoreboard::Scoreboard;
pub use warp::Warp;
use warpsim_ptx::kernel::Pc;

/// The stages that have to look at the warps again.
#[derive(Clone, Copy, Debug)]
struct Stirred {
    /// Issue has, in these domains (a bit each).
    issue: u64,
    /// Fetch has: a warp may have become one that it would do something about. That one has ceased to
    /// be is no reason to look.
    fetch: bool,
    /// Where some stand for others: domains that differed may hold the same by now.
    join: bool,
}

impl Stirred {
    /// Warps of any domain may have changed.
    const ALL: Stirred = Stirred {
        issue: !0,
        fetch: true,
        join: true,
    };
}

/// What the table has to know of the machine.
#[derive(Clone, Debug)]
struct Rules {
    fetch: Fetch,
    /// A warp waits for everything it has in flight before it issues again.
    one_in_flight: bool,
    /// Memory instructions are chosen apart from others.
    gathers: bool,
    /// A policy, or the gathering of accesses, looks at what the instructions at the heads of the buffers are, beyond their units.
    heads_are_seen: bool,
}

/// Slices of an SM.
const MOST_SLICES: usize = 8;

/// The warps.
#[derive(Debug)]
pub struct WarpTable {
    layout: Layout,
    /// All slices, a bit each.
    slices: u8,
    rules: Rules,
    /// When the launch began, as far as it is not yet counted, and how long warps have been here.
    began: Cycle,
    residency: Residency,
    warps: Vec<Warp>,
    domains: Domains,
    scoreboard: Scoreboard,
    /// The cycle under way, and the domains whose issue turn in it is over (a bit each; all of
    /// them once issue is over).
    now: Cycle,
    turned: u64,
    /// Domains cannot be accounted for one by one: an observer wants to hear things in order,
    /// and a policy that looks at warps sees the domains in step.
    in_step: bool,
    /// Domains that hold the same, and which stands for them: see [`lockstep`].
    classes: Classes<MOST_DOMAINS>,
    /// Where every slice has one scheduler, by index: warps of a home warp that hold the same, and which
    /// stands for them: see [`together`]. How many home warps have such.
    together: Vec<Classes<MOST_SLICES>>,
    standing: u32,
    /// By index: the home warps of which one stands for all.
    as_one: u64,
    /// Domains are in step, or any domain or warp stands for another.
    special: bool,
    /// Whether warps have changed since issue last looked, and since fetch did. Until then both
    /// would find what they found before.
    stirred: Stirred,
}

impl WarpTable {
    /// `slots` places without warps.
    pub fn new(machine: &Machine, slots: usize) -> WarpTable {
        let layout = Layout::of(machine);
        WarpTable {
            layout,
            slices: u8::MAX >> (8 - layout.slices().min(8)),
            rules: Rules {
                fetch: machine.fetch.clone(),
                one_in_flight: machine.sm.scoreboard == ScoreboardKind::OneInFlight,
                gathers: machine.sm.gather_memory,
                heads_are_seen: true,
            },
            began: Cycle::ZERO,
            residency: Residency::default(),
            warps: (0..slots as u16)
                .map(|slot| Warp::new(layout.place_of(slot), 0, Cycle::ZERO))
                .collect(),
            domains: Domains::new(layout.domains()),
            scoreboard: Scoreboard::default(),
            now: Cycle::ZERO,
            turned: 0,
            in_step: false,
            classes: Classes::new(layout.domains()),
            together: match layout.schedulers() == 1 && layout.domains() > 1 {
                true => vec![Classes::new(layout.domains()); slots.div_ceil(layout.domains())],
                false => Vec::new(),
            },
            standing: 0,
            as_one: 0,
            special: false,
            stirred: Stirred::ALL,
        }
    }

    /// A launch of a kernel with so many registers begins.
    pub fn begin(&mut self, now: Cycle, registers: usize, books: &Books) {
        self.part();
        self.rules.heads_are_seen = self.rules.gathers || books.considers() || books.plans();
        self.began = now;
        self.residency = Residency::default();
        self.scoreboard.reset(self.warps.len(), registers);
        for domain in self.domains.iter_mut() {
            domain.accounted = now;
        }
    }

    /// Where the warps sit.
    #[inline]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Places for warps.
    #[inline]
    pub fn slots(&self) -> usize {
        self.warps.len()
    }

    /// Where a slot sits.
    #[inline]
    pub fn place(&self, slot: u16) -> Place {
        self.warps[slot as usize].place
    }

    /// The slot at a place.
    #[inline]
    pub fn slot_at(&self, place: Place) -> u16 {
        place.index as u16 * self.domains.len() as u16 + place.domain as u16
    }

    /// What is kept for a warp beside its bits.
    #[inline]
    pub fn warp(&self, slot: u16) -> &Warp {
        &self.warps[slot as usize]
    }

    /// What is kept for a warp beside its bits, to change.
    #[inline]
    pub fn warp_mut(&mut self, slot: u16) -> &mut Warp {
        &mut self.warps[slot as usize]
    }

    /// The sets of a domain that no other stands for.
    #[inline]
    pub fn domain(&self, domain: usize) -> &Domain {
        debug_assert_eq!(self.leader_of(domain), domain);
        &self.domains[domain]
    }

    /// The sets of a domain.
    #[inline]
    pub fn sets(&self, domain: usize) -> &Domain {
        &self.domains[self.classes.leader_of(domain)]
    }

    /// The sets of all domains, where none stands for others.
    #[inline]
    pub fn domains(&self) -> &[Domain] {
        debug_assert!(!self.classes.any());
        &self.domains
    }

    /// Whether this is so for any domain.
    #[inline]
    pub fn any_domain(&self, is: impl Fn(&Domain) -> bool) -> bool {
        match self.classes.any() {
            true => each(self.classes.leaders()).any(|d| is(&self.domains[d])),
            false => self.domains.iter().any(is),
        }
    }

    /// The sets of a slot's domain, and the slot's bit there.
    #[inline]
    fn find(&self, slot: u16) -> (&Domain, u64) {
        let Place { domain, index } = self.place(slot);
        (self.sets(domain as usize), 1 << index)
    }

    /// Whether a warp waits for something other than instructions, data or units.
    #[inline]
    pub fn is_held(&self, slot: u16) -> bool {
        let (domain, bit) = self.find(slot);
        domain.held & bit != 0
    }

    /// Whether a warp waits until other threads come to where it is.
    #[inline]
    pub fn waits_for_threads(&self, place: Place) -> bool {
        let domain = self.sets(place.domain as usize);
        domain.waits_for_threads() >> place.index & 1 != 0
    }

    /// Whether a warp has threads that go on.
    #[inline]
    pub fn is_running(&self, slot: u16) -> bool {
        let (domain, bit) = self.find(slot);
        domain.running & bit != 0
    }

    /// Whether a warp waits at a fence.
    pub fn is_at_fence(&self, slot: u16) -> bool {
        let (domain, bit) = self.find(slot);
        domain.fence & bit != 0
    }

    /// Whether no instruction in flight owes a register to a warp.
    pub fn is_owed_nothing(&self, slot: u16) -> bool {
        self.scoreboard.is_clear(self.kept(slot))
    }

    /// Whether a warp is held by the divergence model.
    #[inline]
    pub fn is_stopped(&self, slot: u16) -> bool {
        let (domain, bit) = self.find(slot);
        domain.stopped & bit != 0
    }

    /// Whether a warp is at a place.
    #[inline]
    pub fn is_resident(&self, slot: u16) -> bool {
        let (domain, bit) = self.find(slot);
        domain.resident & bit != 0
    }

    /// Whether any warp is.
    pub fn any_resident(&self) -> bool {
        self.any_domain(|d| d.resident != 0)
    }

    /// The instruction that a ready warp issues next.
    #[inline]
    pub fn next_instruction(&self, slot: u16) -> Pc {
        debug_assert_eq!(self.kept(slot), slot, "one of several that are kept as one");
        let head = self.warps[slot as usize].buffer.head();
        head.expect("ready warps have an instruction")
    }

    /// The cycle under way.
    #[inline]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// The state of a warp is about to change: accounts for the cycles up to the one from which
    /// on the change counts.
    #[inline(always)]
    pub fn edit(&mut self, slot: u16, books: &mut Books) -> Edit<'_> {
        match self.special {
            true => self.touch_slot_specially(slot, books),
            false => self.touch_plainly(self.place(slot).domain, books),
        }
        self.edit_touched(slot)
    }

    /// The state of a warp is about to change, in a domain that has had its turn in this cycle: with that its
    /// cycles are accounted for.
    #[inline(always)]
    pub fn edit_after_turn(&mut self, slot: u16, books: &mut Books) -> Edit<'_> {
        if self.special {
            self.touch_slot_specially(slot, books);
        }
        let domain = self.place(slot).domain;
        debug_assert!(self.domains[domain as usize].accounted > self.now);
        self.stir(domain, books);
        self.edit_touched(slot)
    }

    #[inline(always)]
    fn edit_touched(&mut self, slot: u16) -> Edit<'_> {
        let warp = &mut self.warps[slot as usize];
        let place = warp.place;
        Edit {
            domain: &mut self.domains[place.domain as usize],
            warp,
            scoreboard: &self.scoreboard,
            rules: &self.rules,
            stirs_fetch: &mut self.stirred.fetch,
            residency: &mut self.residency,
            slot,
            index: place.index,
        }
    }

    /// All domains are about to change, or the order in which the policy looks at their warps.
    pub fn touch_all(&mut self, books: &mut Books) {
        self.stirred = Stirred::ALL;
        for d in each(self.classes.leaders()) {
            self.pass_turn(d, books);
        }
    }

    #[inline(always)]
    fn touch(&mut self, domain: u8, books: &mut Books) {
        match self.special {
            true => self.touch_specially(domain, books),
            false => self.touch_plainly(domain, books),
        }
    }

    #[inline(always)]
    fn touch_plainly(&mut self, domain: u8, books: &mut Books) {
        self.stir(domain, books);
        self.pass_turn(domain as usize, books);
    }

    /// Issue, and perhaps fetch, has to look at the domain's warps again.
    #[inline(always)]
    fn stir(&mut self, domain: u8, books: &Books) {
        self.stirred.issue |= 1 << domain;
        // Where warps are fetched for together, it depends on more than an edit knows of.
        self.stirred.fetch |= books.plans();
    }

    /// Touches the domain of a slot that may stand for others, and does not any more.
    #[inline(never)]
    fn touch_slot_specially(&mut self, slot: u16, books: &mut Books) {
        self.isolate_specially(slot);
        self.touch_specially(self.place(slot).domain, books);
    }

    /// Touches a domain where domains are looked at in step, or one stands for all.
    #[inline(never)]
    fn touch_specially(&mut self, domain: u8, books: &mut Books) {
        if self.in_step {
            return self.touch_all(books);
        }
        self.isolate(1 << domain);
        self.stirred.issue |= 1 << domain;
        self.stirred.fetch = true; // as where a policy plans
        self.stirred.join = true;
        self.pass_turn(domain as usize, books);
    }

    /// A slot's domain, and its warp, stand for themselves alone.
    #[inline(always)]
    pub fn isolate_slot(&mut self, slot: u16) {
        if self.special {
            self.isolate_specially(slot);
        }
    }

    #[inline(never)]
    fn isolate_specially(&mut self, slot: u16) {
        let Place { domain, index } = self.place(slot);
        self.isolate(1 << domain);
        self.isolate_warps(index, 1 << domain);
    }
}
