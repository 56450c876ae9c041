//! The short way does what the long way does, whatever it is given.

use proptest::prelude::*;
use warpsim_ptx::isa::{Mods, Op, Space, Type};
use warpsim_ptx::kernel::{AddrBase, Instr, Operand, RegId};

use crate::code::Code;
use crate::memory::store_buffer::{GlobalView, StoreBuffer};
use crate::op::Action;
use crate::state::{EffectKind, LANES, Lanes, Moment};
use crate::testing::{Bench, instr, kernel, mods, n, w};

const BYTES: u64 = 1024;

/// What one access is made of.
#[derive(Clone, Debug)]
struct Case {
    store: bool,
    ty: Type,
    /// Values per lane.
    count: usize,
    space: Space,
    base: Base,
    /// Where each lane's base lies, from the start of the space.
    at: [u64; LANES],
    offset: i64,
    active: u32,
    buffered: bool,
}

#[derive(Clone, Copy, Debug)]
enum Base {
    Wide,
    Narrow,
    None,
}

impl Case {
    fn instr(&self) -> Instr {
        let m = Mods {
            space: Some(self.space),
            ..mods(self.ty)
        };
        let base = match self.base {
            Base::Wide => AddrBase::Reg(RegId(8)),
            Base::Narrow => AddrBase::Reg(RegId(0)),
            Base::None => AddrBase::Zero,
        };
        let address = Operand::Address {
            base,
            offset: self.offset,
        };
        let value = |k| if self.ty.bytes() == 8 { w(k) } else { n(k) };
        if self.store {
            instr(Op::St, m, &[], &[address, value(1)])
        } else {
            let values: Vec<Operand> = (1..=self.count as u16).map(value).collect();
            instr(Op::Ld, m, &values, &[address])
        }
    }

    /// Everything that the access changes or tells.
    fn run(&self, code: &Code) -> String {
        let mut bench = Bench::new();
        bench.grid.params = (0..=255).collect();
        bench.threads.blocks[0].shared = (0..=255).rev().collect();
        let global = bench.image.alloc(BYTES, 256, "global").unwrap();
        let contents: Vec<u8> = (0..BYTES).map(|k| (k * 7 + k / 256) as u8).collect();
        bench.image.write(global, &contents).unwrap();
        let start = match self.space {
            Space::Global | Space::Generic => global,
            _ => 0,
        };
        for lane in 0..LANES {
            bench.set(w(0), lane, start.wrapping_add(self.at[lane]));
            bench.set(n(0), lane, self.at[lane]);
            let value = 0x0102_0384_8586_8788u64.wrapping_mul(lane as u64 + 3);
            bench.set(w(1), lane, value);
            bench.set(n(1), lane, value);
        }
        let local = &mut bench.threads.warps[0].local;
        local.reset(200);
        for lane in 0..LANES {
            local.write(lane, 0, &contents[lane..lane + 200]);
        }
        let mut stores = StoreBuffer::new();
        let mut prints = Vec::new();
        let Bench {
            threads,
            grid,
            image,
            effect,
            ..
        } = &mut bench;
        if self.buffered {
            let mut view = GlobalView::buffered(image, &mut stores, &mut prints);
            view.store(global + 131, &[0xaa; 90]).unwrap();
        }
        let mut view = match self.buffered {
            true => GlobalView::buffered(image, &mut stores, &mut prints),
            false => GlobalView::direct(image, &mut prints),
        };
        let (lanes, now) = (Lanes::Static(0), Moment::default());
        let result = code.step(
            0,
            &lanes,
            self.active,
            threads,
            grid,
            &mut view,
            now,
            effect,
        );
        stores.flush_into(image);
        if let EffectKind::Access(access) = &mut effect.kind
            && let Some(steps) = access.steps.take()
        {
            // The short way says how the lanes lie: it is true, and all that it says more.
            assert_eq!(effect.executed, u32::MAX);
            for lane in (0..LANES).filter(|lane| lane % 16 != 0) {
                let step = effect.address[lane].wrapping_sub(effect.address[lane - 1]);
                assert_eq!(step, u64::from(steps[lane / 16]), "lane {lane}");
            }
        }
        let told = result.map(|()| {
            let executed = (0..LANES).filter(|l| effect.executed >> l & 1 != 0);
            let addresses: Vec<u64> = executed.map(|l| effect.address[l]).collect();
            (effect.executed, &effect.kind, addresses)
        });
        let memory = image.slice(global, BYTES).unwrap();
        let (warp, shared) = (&threads.warps[0], &threads.blocks[0].shared);
        let (rows, local) = (&warp.rows, &warp.local);
        format!("{told:?} {rows:?} {memory:?} {shared:?} {local:?}")
    }
}

fn cases() -> impl Strategy<Value = Case> {
    use Space::{Generic, Global, Local, Param, Shared};
    let types = [
        Type::U8,
        Type::S8,
        Type::U16,
        Type::S16,
        Type::B32,
        Type::B64,
    ];
    let base = prop_oneof![4 => Just(Base::Wide), 1 => Just(Base::Narrow), 1 => Just(Base::None)];
    let spaces = proptest::sample::select(vec![
        Global, Global, Global, Generic, Shared, Shared, Param, Local,
    ]);
    let shape = (
        any::<bool>(),
        proptest::sample::select(types.to_vec()),
        spaces,
        base,
    );
    // Some go beyond the small spaces, few beyond the large one, and one lane may go astray.
    let at = proptest::collection::vec(0u64..264, LANES);
    let astray = prop_oneof![8 => Just(0), 1 => Just(1), 1 => Just(BYTES), 1 => Just(1u64 << 63)];
    let mask = prop_oneof![Just(u32::MAX), any::<u32>(), Just(0)];
    let offset = prop_oneof![Just(0i64), Just(8), Just(-8)];
    // By half: bytes from one lane to the next, if they are in line.
    let step = || prop_oneof![2 => Just(None), 1 => Just(Some(0u64)), 1 => Just(Some(4)), 1 => Just(Some(8))];
    let steps = (step(), step()).prop_map(|(first, second)| [first, second]);
    let count = proptest::sample::select(vec![1, 1, 2, 4]);
    let shape = (shape, count);
    (shape, at, astray, mask, offset, any::<bool>(), steps).prop_map(
        |(((store, ty, space, base), count), at, astray, active, offset, buffered, steps)| {
            // Several are loaded from where all of them are aligned.
            let count = if store || ty.bytes() < 4 { 1 } else { count };
            let align = 8u64.max(u64::from(ty.bytes()) * count as u64);
            let placed = |l: usize| match steps[l / 16] {
                None => at[l] / align * align,
                Some(step) => at[l / 16 * 16] / align * align + step * (l as u64 % 16),
            };
            let mut at: [u64; LANES] = std::array::from_fn(placed);
            at[17] += astray;
            Case {
                store: store && space != Param,
                ty,
                count,
                space,
                base,
                at,
                offset,
                active,
                buffered,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn both_ways_do_the_same(case in cases()) {
        let kernel = kernel(vec![case.instr()]);
        let short = Code::new(&kernel, &[]).unwrap();
        let mut long = Code::new(&kernel, &[]).unwrap();
        let Action::Access { by_lane, .. } = long.ops[0].action else {
            panic!("such an access has a short way");
        };
        long.ops[0].action = Action::Full(by_lane);
        prop_assert_eq!(case.run(&short), case.run(&long));
    }
}
