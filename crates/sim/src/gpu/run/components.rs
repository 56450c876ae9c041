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
use warpsim_engine::{Crew, Engine, Input};

/// The numbers of components: SMs come first, in their order.
pub fn others(machine: &Machine) -> Others {
    let sms = machine.gpu.sms as usize;
    Others {
        dispatcher: sms,
        network: sms + 1,
    }
}

/// The engine for a machine's components, on as many threads as the options say, but no more than there is to do for.
pub fn engine(machine: &Machine, options: &Options) -> Engine {
    let sms = machine.gpu.sms as usize;
    let quantum = u64::from(machine.gpu.quantum.max(1));
    let Others { network, .. } = others(machine);
    let is_ahead = lookahead(machine) > 0;
    let backend = network + usize::from(is_ahead);
    let input = |from, latency| Input { from, latency };
    let of_sms = || (0..sms).map(move |sm| input(sm, 0));
    let mut inputs = vec![vec![input(backend, quantum)]; sms];
    inputs.push(of_sms().collect());
    inputs.push(of_sms().collect());
    // How much an SM, and each of the others, has to do.
    let mut work = vec![1; sms];
    work.extend([0, 0]);
    if is_ahead {
        inputs[network].push(input(backend, 0));
        inputs.push(vec![input(network, lead(machine))]);
        work.push(1);
    }
    let engine = Engine::new(inputs, period(machine) * quantum);
    let threads = options.threads.min(sms + usize::from(is_ahead));
    if threads <= 1 || options.functional {
        return engine;
    }
    let crew = match options.all_threads {
        true => Crew::new(threads - 1),
        false => Crew::giving_way(threads - 1),
    };
    engine.on(crew, &work)
}
