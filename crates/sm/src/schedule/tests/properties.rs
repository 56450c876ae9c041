//! What holds for every issue policy.

use super::{Facts, IssuePolicy, POLICIES, Place, Policy};
use crate::config::{Machine, ReadMachine};
use crate::divergence::{Group, GroupState};
use crate::exec::state::Lanes;
use crate::mechanism::Values;
use crate::time::Cycle;
use proptest::prelude::*;

const DOMAINS: usize = 3;

fn made(policy: &Policy) -> Box<dyn IssuePolicy> {
    let machine = Machine::preset("gtx480").expect("a preset");
    (policy.make)(&Values::defaults(&policy.info), &machine, DOMAINS)
}

/// What stands at a place of a pool: three PCs, some warps from an opened barrier.
fn group(index: u8) -> Group {
    Group {
        pc: index as u32 % 3,
        watch: 0,
        mask: 1 << (index % 32) | 1,
        lanes: Lanes::Static(0),
        state: GroupState::Running,
        fresh: false,
        urgent: index.is_multiple_of(11),
    }
}

/// What a domain's warps look like in a cycle, and what one of them does at a barrier then.
#[derive(Clone, Debug)]
struct Moment {
    domain: usize,
    ready: u64,
    waiting: u64,
    long_wait: u64,
    /// The warp that issued last comes to a barrier.
    arrives: bool,
    /// A barrier of this block opens.
    opens: Option<u16>,
}

/// Blocks on the SM.
const BLOCKS: u16 = 5;

fn block_of(place: Place) -> u16 {
    (place.index as u16 * DOMAINS as u16 + place.domain as u16) % BLOCKS
}

fn moments() -> impl Strategy<Value = Vec<Moment>> {
    let barrier = (any::<bool>(), prop::option::weighted(0.1, 0..BLOCKS));
    let moment = (
        0..DOMAINS,
        any::<u64>(),
        any::<u64>(),
        any::<u64>(),
        barrier,
    )
        .prop_map(
            |(domain, ready, waiting, long_wait, (arrives, opens))| Moment {
                domain,
                ready,
                // Few wait, so that most are there to choose from.
                waiting: waiting & waiting >> 7 & waiting << 5,
                long_wait: long_wait & long_wait >> 9 & long_wait << 3,
                arrives,
                opens,
            },
        );
    prop::collection::vec(moment, 1..200)
}

proptest! {
    #[test]
    fn a_policy_picks_a_ready_warp_of_the_domain_it_is_asked_for(
        resident in prop::array::uniform3(any::<u64>()),
        moments in moments(),
    ) {
        for registered in POLICIES {
            let info = registered.info;
            let mut policy = made(registered);
            for (domain, set) in resident.iter().enumerate() {
                for index in (0..64u8).filter(|i| set >> i & 1 != 0) {
                    let place = Place { domain: domain as u8, index };
                    policy.launched(place, domain as u64 * 64 + index as u64, block_of(place));
                    policy.pooled(place, &group(index));
                }
            }
            let mut at_barrier: Vec<Place> = Vec::new();
            for (now, m) in moments.iter().enumerate() {
                if let Some(block) = m.opens {
                    let mut released = at_barrier.iter().copied().filter(|&p| block_of(p) == block);
                    policy.released(block, &mut released);
                    at_barrier.retain(|&p| block_of(p) != block);
                }
                let running = resident[m.domain];
                let here = at_barrier.iter().filter(|p| p.domain as usize == m.domain);
                let waiting = here.fold(m.waiting, |set, p| set | 1 << p.index) & running;
                let facts = Facts { running, waiting, long_wait: m.long_wait & running, ..Facts::default() };
                let considered = policy.considers().map_or(!0, |p| p.consider(m.domain, &facts));
                let ready = resident[m.domain] & m.ready & considered & !waiting & !m.long_wait;
                let Some(picked) = policy.first(m.domain, ready) else {
                    prop_assert_eq!(ready, 0, "{} picks no warp", info.name);
                    continue;
                };
                prop_assert!(ready >> picked & 1 != 0, "{} picks a warp that is not ready", info.name);
                for other in (0..64u8).filter(|&i| ready >> i & 1 != 0 && i != picked) {
                    prop_assert!(policy.before(m.domain, picked, other), "{}", info.name);
                    prop_assert!(!policy.before(m.domain, other, picked), "{}", info.name);
                }
                let place = Place { domain: m.domain as u8, index: picked };
                policy.issued(place);
                policy.pooled(place, &group(picked));
                if m.arrives {
                    policy.waits(place, block_of(place), Cycle::new(now as u64));
                    at_barrier.push(place);
                }
            }
        }
    }

    #[test]
    fn lrr_reaches_a_warp_that_stays_ready_within_a_round(
        patient in 0u8..64,
        others in prop::collection::vec(any::<u64>(), 64..200),
    ) {
        let mut lrr = made(&super::lrr::POLICY);
        let mut waited = 0;
        for set in others {
            let picked = lrr.first(1, set | 1 << patient).expect("one is ready");
            lrr.issued(Place { domain: 1, index: picked });
            waited = if picked == patient { 0 } else { waited + 1 };
            prop_assert!(waited < 64, "a round has passed");
        }
    }
}
