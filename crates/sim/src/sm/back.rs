//! The back of the pipeline: operations entering units, results and memory coming back, and what
//! that lets a warp do.

use super::*;

impl Sm {
    /// ALU results whose time has come.
    pub(super) fn write_back(&mut self, now: u64, launched: &Launched) {
        while let Some(d) = self.wheel.pop(now) {
            let info = &launched.infos[d.pc as usize];
            self.collectors.write(d.slot, &info.write_banks);
            self.complete(d.slot, info, launched);
            self.follow_groups(launched);
            if info.control && self.machine.fetch.wait_for_branch {
                self.resolve(d.slot);
            }
        }
    }

    /// An instruction is complete: registers are free, its warp may be waiting for that.
    pub(super) fn complete(&mut self, slot: u16, info: &OpInfo, launched: &Launched) {
        self.scoreboard.release(slot, info);
        let state = &mut self.slots[slot as usize];
        state.in_flight -= 1;
        state.memory_in_flight -= (info.unit == Unit::Mem) as u16;
        let quiet = state.in_flight == 0;
        let place = self.place(slot);
        if self.domains[place.domain as usize].clear >> place.index & 1 == 0 {
            self.check_hazard(slot, launched);
        }
        if quiet {
            self.settle_quiet(slot);
        }
    }

    /// A warp with nothing in flight any more may leave a fence, be regrouped, or retire.
    #[inline(always)]
    pub(super) fn settle(&mut self, slot: u16) {
        if self.slots[slot as usize].in_flight == 0 {
            self.settle_quiet(slot);
        }
    }

    #[inline]
    fn settle_quiet(&mut self, slot: u16) {
        let place = self.place(slot);
        if self.domains[place.domain as usize].waiting() >> place.index & 1 != 0 {
            self.leave_fence(slot, place);
        }
        match self.groups.get(slot).state {
            GroupState::Stopped => self.settle_stopped(slot),
            GroupState::Finished => self.check_leaving(slot),
            _ => {}
        }
    }

    /// Lets a warp go that waits at a fence, if no store of it is on its way.
    #[cold]
    fn leave_fence(&mut self, slot: u16, place: Place) {
        let waits = self.domains[place.domain as usize].fence >> place.index & 1 != 0;
        if waits && self.slots[slot as usize].stores == 0 {
            self.touch(place.domain);
            self.domains[place.domain as usize].hold(Hold::Fence, place.index, false);
        }
    }

    /// The threads of a stopped warp may go elsewhere once nothing holds them any more: a warp
    /// that stops right behind a barrier, say, waits there first.
    #[inline(never)]
    fn settle_stopped(&mut self, slot: u16) {
        self.check_settling(slot);
        let place = self.place(slot);
        if self.domains[place.domain as usize].waiting() >> place.index & 1 == 0 {
            self.model.settled(slot, &mut self.groups);
        }
    }

    /// A warp no longer waits for `what`.
    pub(super) fn let_go(&mut self, what: Hold, slot: u16) {
        let place = self.place(slot);
        self.touch(place.domain);
        self.domains[place.domain as usize].hold(what, place.index, false);
        self.settle(slot);
    }

    /// Recomputes what holds back the instruction at the head of a warp's buffer.
    #[inline(always)]
    fn check_hazard(&mut self, slot: u16, launched: &Launched) {
        let Some(pc) = self.slots[slot as usize].buffer.head() else {
            return self.check_settling(slot);
        };
        let hazard = self.hazard(slot, &launched.infos[pc as usize]);
        let Place { domain, index } = self.place(slot);
        if self.domains[domain as usize].held_back(index) != hazard {
            self.touch(domain);
            self.domains[domain as usize].hold_back(index, hazard);
        }
    }

    /// What holds back an instruction of a warp.
    #[inline(always)]
    fn hazard(&self, slot: u16, info: &OpInfo) -> Hazard {
        let state = &self.slots[slot as usize];
        if state.in_flight == 0 {
            // Nothing is owed.
            debug_assert_eq!(self.scoreboard.check(slot, info), Hazard::default());
            return Hazard::default();
        }
        let mut hazard = self.scoreboard.check(slot, info);
        if self.one_in_flight {
            hazard.any = true;
            hazard.memory |= state.memory_in_flight != 0;
        }
        hazard
    }

    /// Recomputes what a warp held by the divergence model has in flight: it waits for that
    /// before its threads can be regrouped.
    #[inline(always)]
    pub(super) fn check_settling(&mut self, slot: u16) {
        let Place { domain, index } = self.place(slot);
        if self.domains[domain as usize].stopped >> index & 1 != 0 {
            self.note_settling(slot);
        }
    }

    #[inline(never)]
    fn note_settling(&mut self, slot: u16) {
        let Place { domain, index } = self.place(slot);
        let d = &self.domains[domain as usize];
        let state = &self.slots[slot as usize];
        let (settling, memory) = (state.in_flight != 0, state.memory_in_flight != 0);
        let is = |set: u64| set >> index & 1 != 0;
        if (is(d.settling), is(d.settling_memory)) != (settling, memory) {
            self.touch(domain);
            let d = &mut self.domains[domain as usize];
            assign(&mut d.settling, index, settling);
            assign(&mut d.settling_memory, index, memory);
        }
    }

    /// Recomputes everything that depends on the head of a warp's buffer.
    pub(super) fn update_head(&mut self, slot: u16, launched: &Launched) {
        let place = self.place(slot);
        self.touch(place.domain);
        self.refresh_head(slot, place, launched);
    }

    /// The same where the warp's domain has been [touched](Sm::touch).
    #[inline(always)]
    pub(super) fn refresh_head(&mut self, slot: u16, place: Place, launched: &Launched) {
        let buffer = self.slots[slot as usize].buffer;
        let Some(buffered) = buffer.head() else {
            let domain = &mut self.domains[place.domain as usize];
            domain.wants_fetch |= 1 << place.index;
            domain.empty_head(place.index);
            if domain.stopped >> place.index & 1 != 0 {
                self.note_settling(slot);
            }
            return;
        };
        let info = &launched.infos[buffered as usize];
        let hazard = self.hazard(slot, info);
        let wants = buffer.wants_fetch(&self.machine.fetch, launched.infos.len() as Pc);
        let right_path = buffered == self.groups.get(slot).pc;
        let domain = &mut self.domains[place.domain as usize];
        assign(&mut domain.wants_fetch, place.index, wants);
        domain.set_head(place.index, info.unit, right_path);
        domain.hold_back(place.index, hazard);
    }

    /// Collected operations enter their units.
    #[inline]
    pub(super) fn enter_units(&mut self, now: u64, launched: &Launched) {
        if self.collectors.none_collected() {
            return;
        }
        let (sp, all) = (self.sp_units, self.sp_units + self.sfu_units);
        if self.collectors.oldest(Unit::Sp).is_some() {
            self.enter(Unit::Sp, 0..sp, now, launched);
        }
        if self.collectors.oldest(Unit::Sfu).is_some() {
            self.enter(Unit::Sfu, sp..all, now, launched);
        }
    }

    fn enter(&mut self, unit: Unit, pipes: std::ops::Range<usize>, now: u64, launched: &Launched) {
        for pipe in pipes {
            let Some(op) = self.collectors.oldest(unit) else {
                break;
            };
            let info = &launched.infos[op.pc as usize];
            let interval = info.interval.max(self.passes as u16);
            let at = now + info.latency as u64 + EXIT_STAGES + self.passes - 1;
            let results = &mut self.wheel;
            if !self.units.enter(pipe, now, interval, at, results) {
                continue;
            }
            let op = self.collectors.leave(unit);
            self.gangs
                .each(op, |slot| self.wheel.push(at, Done { slot, pc: op.pc }));
        }
    }

    /// The load/store unit, and with it the operand collectors.
    #[inline(always)] // its one caller is the cycle
    pub(super) fn memory_cycle(&mut self, now: u64, launched: &Launched) {
        let awake = self.ldst.is_awake(now);
        let collectors_rest = self.collectors.stand_still();
        if !awake && collectors_rest {
            debug_assert!(!self.ldst.accepts() || self.collectors.oldest(Unit::Mem).is_none());
            self.collectors.end_cycle();
            return;
        }
        let mut with = Surroundings {
            collectors: &mut self.collectors,
            infos: &launched.infos,
            port: &mut self.port,
            stats: &mut self.stats.counters,
            events: &mut self.events,
        };
        if awake {
            self.ldst.write_back(now, &mut with);
        }
        if collectors_rest {
            with.collectors.end_cycle();
        } else {
            with.collectors.step(with.infos);
        }
        if awake {
            self.ldst.cycle(now, &mut with);
        }
        if self.ldst.accepts() && self.collectors.oldest(Unit::Mem).is_some() {
            let op = self.collectors.leave(Unit::Mem);
            self.ldst.enter(op.memory, now);
        }
        if !self.events.is_empty() {
            self.memory_events(launched);
            self.follow_groups(launched);
        }
    }

    fn memory_events(&mut self, launched: &Launched) {
        for i in 0..self.events.len() {
            match self.events[i] {
                Event::Loaded { slot, pc } => {
                    self.complete(slot, &launched.infos[pc as usize], launched);
                }
                Event::Stored { slot } => self.store_sent(slot, launched),
                Event::StoresSent { slot, count } => self.slots[slot as usize].stores += count,
                Event::Acknowledged { slot } => {
                    self.slots[slot as usize].stores -= 1;
                    self.settle(slot);
                }
                Event::AtomicBack { op, lanes, last } => {
                    self.atomic_back(op, lanes, last, launched)
                }
            }
        }
        self.events.clear();
    }

    /// A store has left the pipeline.
    fn store_sent(&mut self, slot: u16, launched: &Launched) {
        let state = &mut self.slots[slot as usize];
        state.in_flight -= 1;
        state.memory_in_flight -= 1;
        self.check_hazard(slot, launched);
        self.settle(slot);
    }

    /// Old values of an atomic have come: they are in the registers before anybody who waits
    /// for them can issue.
    #[inline(never)]
    pub(super) fn atomic_back(&mut self, op: u16, lanes: u32, last: bool, launched: &Launched) {
        let record = self.ldst.ops.get(op);
        if let Some(data) = record.atomic.as_deref() {
            for lane in (0..LANES).filter(|l| lanes >> l & 1 != 0) {
                launched.code.complete_atomic(
                    &data.lanes,
                    &data.what,
                    lane,
                    data.old[lane],
                    &mut self.threads,
                );
            }
        }
        if last {
            let owners = record.owners.len();
            for i in 0..owners {
                let slot = self.ldst.ops.get(op).owners[i].slot;
                self.let_go(Hold::Atomic, slot);
            }
        }
    }

    /// Performs an atomic access that has reached the L2.
    pub fn perform_atomic(&mut self, token: u32, image: &mut GlobalMemory) -> Result<(), SmFault> {
        let flight = self.ldst.ops.flight(port::untoken(token).1);
        let record = self.ldst.ops.get_mut(flight.op);
        let pc = record.pc;
        let Some(data) = record.atomic.as_deref_mut() else {
            return Ok(());
        };
        for lane in (0..LANES).filter(|l| flight.lanes >> l & 1 != 0) {
            let operands = [data.operands[0][lane], data.operands[1][lane]];
            let old =
                crate::exec::access::atomic::apply(image, data.address[lane], &data.what, operands);
            data.old[lane] = old.map_err(|cause| {
                let kind = FaultKind::Memory {
                    space: Space::Global,
                    address: data.address[lane],
                    bytes: data.what.ty.bytes(),
                    store: true,
                    cause,
                };
                SmFault::new(Fault::new(kind, lane, data.lanes.home(lane)), pc)
            })?;
        }
        Ok(())
    }
}
