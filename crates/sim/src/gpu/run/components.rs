//! The GPU's components, and what each needs of the others before it may go on.
//!
//! ```text
//!  component         may come as far as
//!  an SM             replies are known: a quantum further than the back end
//!  the dispatcher    all SMs have
//!  request network   all SMs have, and the back end, which says when slices had room
//!  back end          the request network, and its lead: what the network brings later, no slice looks at earlier
//! ```
//!
//! Where the back end may not be ahead, it and the request network are one component, which may come as far as all SMs have.

use super::site::Others;
use crate::config::Machine;
use crate::gpu::Options;
use crate::memory::system::{lead, lookahead, period};
use warpsim_engine::{Crew, Engine, Input, Place};

/// The numbers of components: SMs come first, in their order.
pub fn others(machine: &Machine) -> Others {
    let sms = machine.gpu.sms as usize;
    Others {
        dispatcher: sms,
        network: sms + 1,
    }
}

/// By component: what it needs of the others, and how much it has to do.
fn places(machine: &Machine) -> Vec<Place> {
    let sms = machine.gpu.sms as usize;
    let quantum = u64::from(machine.gpu.quantum.max(1));
    let Others { network, .. } = others(machine);
    let is_ahead = lookahead(machine) > 0;
    let backend = network + usize::from(is_ahead);
    let input = |from, latency| Input { from, latency };
    let place = |inputs, work| Place {
        inputs,
        work,
        ahead: 0,
    };
    let of_sms = || -> Vec<Input> { (0..sms).map(|sm| input(sm, 0)).collect() };
    let mut places = vec![place(vec![input(backend, quantum)], 1); sms];
    places.push(place(of_sms(), 0));
    places.push(place(of_sms(), 0));
    if is_ahead {
        places[network].inputs.push(input(backend, 0));
        places.push(Place {
            ahead: period(machine) * quantum,
            ..place(vec![input(network, lead(machine))], 1)
        });
    }
    places
}

/// The engine for a machine's components, on as many threads as the options say, but no more than there is to do for.
pub fn engine(machine: &Machine, options: &Options) -> Engine {
    let sms = machine.gpu.sms as usize;
    let is_ahead = lookahead(machine) > 0;
    let quantum = u64::from(machine.gpu.quantum.max(1));
    let threads = match options.functional {
        true => 1,
        false => options.threads.min(sms + usize::from(is_ahead)),
    };
    let crew = Crew::new(threads.saturating_sub(1));
    Engine::new(places(machine), period(machine) * quantum, crew)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReadMachine;

    fn machine(set: &[&str]) -> Machine {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        Machine::resolve("gtx480", &set).expect("a machine")
    }

    /// Of each component how far it may come when all have come to these cycles.
    fn horizon(machine: &Machine, clocks: &[u64]) -> Vec<u64> {
        let places = places(machine);
        assert_eq!(places.len(), clocks.len());
        let of = |place: &Place| {
            let inputs = place.inputs.iter();
            let arrives = inputs.map(|input| clocks[input.from] + input.latency);
            arrives.min().expect("every component hears of some other")
        };
        places.iter().map(of).collect()
    }

    /// Blocks are handed out when all SMs have come, not when some have; and requests go through the network in the order of their times.
    #[test]
    fn dispatcher_and_network_go_no_further_than_the_slowest_sm() {
        for (set, others) in [(&["gpu.sms=3"][..], 3), (&["gpu.sms=3", "l2.latency=0"], 2)] {
            let machine = machine(set);
            for slowest in 0..3 {
                let mut clocks = vec![500; 3 + others];
                clocks[slowest] = 100;
                let horizon = horizon(&machine, &clocks);
                assert_eq!(horizon[3..5], [100, 100], "dispatcher and network");
            }
        }
    }

    #[test]
    fn the_back_end_is_ahead_of_the_network_by_less_than_a_slices_delay_and_says_when_slices_had_room()
     {
        let machine = machine(&["gpu.sms=2"]);
        let delay = u64::from(machine.l2.latency);
        let at = |network, backend| horizon(&machine, &[500, 500, 500, network, backend]);
        let backend = at(100, 100)[4];
        assert!(
            (100 + delay - 12..100 + delay).contains(&backend),
            "{backend}"
        );
        assert_eq!(at(100, 140)[3], 140);
        // A reply takes longer than a quantum.
        assert_eq!(at(100, 140)[0], 140 + u64::from(machine.gpu.quantum));
    }
}
