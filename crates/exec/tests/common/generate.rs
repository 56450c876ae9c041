//! Random kernels that end: nested branches, loops whose trip count varies from thread to
//! thread and breaks in them, predication, shared memory behind barriers, reductions, several exits. Integers only
//! and free of races, so that memory afterwards does not depend on any schedule.

use std::fmt::Write;

/// Puts a body between the head and tail of a kernel `k(out, in, n)` with plenty of registers.
/// `%rd1` and `%rd2` hold the buffers, `%r1` the thread's number in the block.
pub fn kernel(shared_bytes: u32, body: &str) -> String {
    let shared = match shared_bytes {
        0 => String::new(),
        n => format!(".shared .align 128 .b8 tile[{n}];\n"),
    };
    format!(
        ".version 6.0\n.target sm_35\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{{\n\
         .reg .pred %p<16>;\n.reg .b32 %r<64>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<32>;\n\
         .reg .f64 %fd<32>;\n{shared}\
         ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// Words of output a thread has, and where the shared histogram lies behind them.
const WORDS: u32 = 8;
const HISTOGRAM: u32 = 60_000;

/// State registers `%r10` to `%r17`.
const STATE: u32 = 8;

/// Writes a kernel, one choice at a time.
pub struct Generator {
    random: u64,
    text: String,
    labels: u32,
    threads: u32,
    breaks: bool,
}

impl Generator {
    /// The body of a kernel for blocks of `threads` threads.
    pub fn body(seed: u64, threads: u32) -> String {
        Generator::new(seed, threads, false).write()
    }

    /// The same with loops that are left from inside their bodies, in several ways.
    pub fn body_with_breaks(seed: u64, threads: u32) -> String {
        Generator::new(seed, threads, true).write()
    }

    fn new(seed: u64, threads: u32, breaks: bool) -> Generator {
        Generator {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            text: String::new(),
            labels: 0,
            threads,
            breaks,
        }
    }

    fn write(mut self) -> String {
        let g = &mut self;
        g.head();
        for _ in 0..2 + g.below(3) {
            g.statements(3);
            match g.below(4) {
                0 => g.guarded_exit(),
                1 => g.line("bar.sync 0;"),
                _ => g.exchange(),
            }
        }
        // Behind the last barrier threads may leave from inside branches too.
        g.leave_from_inside();
        g.statements(3);
        g.store_all();
        self.text
    }

    fn below(&mut self, n: u32) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 33) % n as u64) as u32
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn state(&mut self) -> u32 {
        10 + self.below(STATE)
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// Thread numbers, addresses, first values.
    fn head(&mut self) {
        self.line("mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;");
        let _ = writeln!(
            self.text,
            "mul.wide.u32 %rd3, %r4, {}; add.u64 %rd4, %rd1, %rd3; shl.b32 %r5, %r1, 2;",
            4 * WORDS
        );
        for i in 0..STATE {
            let (factor, plus) = (1 + 2 * self.below(50), self.below(1000));
            let line = format!("mad.lo.u32 %r{}, %r4, {factor}, {plus};", 10 + i);
            self.line(&line);
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.below(4) {
            match self.below(if depth == 0 { 5 } else { 8 }) {
                0 | 1 => self.arithmetic(""),
                2 => self.predicated(),
                3 => self.load(),
                4 => self.store_or_add(),
                5 | 6 => self.branch(depth - 1),
                _ => self.repeat(depth - 1),
            }
        }
    }

    fn arithmetic(&mut self, guard: &str) {
        let (d, a, b) = (self.state(), self.state(), self.state());
        let (small, wide) = (self.below(31), self.below(5000));
        let text = match self.below(10) {
            0 => format!("add.s32 %r{d}, %r{a}, %r{b};"),
            1 => format!("sub.s32 %r{d}, %r{a}, {wide};"),
            2 => format!("mul.lo.s32 %r{d}, %r{a}, %r{b};"),
            3 => format!("mad.lo.s32 %r{d}, %r{a}, %r{b}, %r{d};"),
            4 => format!("xor.b32 %r{d}, %r{a}, %r{b};"),
            5 => format!("min.s32 %r{d}, %r{a}, %r{b};"),
            6 => format!("max.u32 %r{d}, %r{a}, {wide};"),
            7 => format!("shr.u32 %r{d}, %r{a}, {small};"),
            8 => format!("div.u32 %r{d}, %r{a}, {};", wide + 1),
            _ => format!("mov.u32 %r{d}, %r{a};"),
        };
        self.line(&format!("{guard}{text}"));
    }

    /// Sets `%p` from a few bits of a state register, so that lanes differ.
    fn condition(&mut self, p: u32) {
        let (a, shift, limit) = (self.state(), self.below(6), 1 + self.below(6));
        let comparison = ["lt", "eq", "ge", "ne"][self.below(4) as usize];
        let line = format!(
            "shr.u32 %r40, %r{a}, {shift}; and.b32 %r40, %r40, 7; setp.{comparison}.u32 %p{p}, %r40, {limit};"
        );
        self.line(&line);
    }

    fn predicated(&mut self) {
        self.condition(1);
        self.arithmetic("@%p1 ");
        self.arithmetic("@!%p1 ");
    }

    fn load(&mut self) {
        let (d, a) = (self.state(), self.state());
        let way = ["", ".cg"][self.below(2) as usize];
        let line = match self.below(3) {
            0 => format!("ld.global.u32 %r{d}, [%rd4+{}];", 4 * self.below(WORDS)),
            _ => format!(
                "and.b32 %r41, %r{a}, 2047; mul.wide.u32 %rd5, %r41, 4; add.u64 %rd5, %rd2, %rd5; \
                 ld.global{way}.u32 %r{d}, [%rd5];"
            ),
        };
        self.line(&line);
    }

    fn store_or_add(&mut self) {
        let a = self.state();
        let line = match self.below(3) {
            0 => format!(
                "and.b32 %r41, %r{a}, 15; mul.wide.u32 %rd5, %r41, 4; add.u64 %rd5, %rd1, %rd5; \
                 red.global.add.u32 [%rd5+{HISTOGRAM}], %r{a};"
            ),
            _ => format!("st.global.u32 [%rd4+{}], %r{a};", 4 * self.below(WORDS)),
        };
        self.line(&line);
    }

    fn branch(&mut self, depth: u32) {
        let n = self.label();
        self.condition(2);
        if self.below(3) == 0 {
            self.line(&format!("@%p2 bra END{n};"));
            self.statements(depth);
        } else {
            self.line(&format!("@%p2 bra ELSE{n};"));
            self.statements(depth);
            self.line(&format!("bra END{n};"));
            self.line(&format!("ELSE{n}:"));
            self.statements(depth);
        }
        self.line(&format!("END{n}:"));
    }

    /// Up to seven times, by a few bits of the thread's state; the counter belongs to the
    /// nesting depth, so that it survives inner loops.
    fn repeat(&mut self, depth: u32) {
        if self.breaks && self.below(4) != 0 {
            return self.repeat_with_break(depth);
        }
        let (n, a, counter) = (self.label(), self.state(), 50 + depth);
        self.line(&format!("and.b32 %r{counter}, %r{a}, 7;"));
        self.line(&format!("LOOP{n}:"));
        self.line(&format!(
            "setp.eq.u32 %p3, %r{counter}, 0; @%p3 bra OUT{n};"
        ));
        self.statements(depth.min(1));
        self.line(&format!(
            "sub.u32 %r{counter}, %r{counter}, 1; bra LOOP{n};"
        ));
        self.line(&format!("OUT{n}:"));
    }

    /// A loop with its test at the end and a break in one side of its body, now and then with a
    /// `continue` in the other or with an exit instead of the break.
    fn repeat_with_break(&mut self, depth: u32) {
        let (n, a, counter) = (self.label(), self.state(), 50 + depth);
        self.line(&format!("and.b32 %r{counter}, %r{a}, 7;"));
        self.line(&format!("LOOP{n}:"));
        self.statements(0);
        self.condition(2);
        self.line(&format!("@%p2 bra SIDE{n};"));
        self.statements(depth.min(1));
        self.condition(5);
        self.line(&format!("@%p5 bra OUT{n};"));
        self.statements(0);
        self.line(&format!("bra NEXT{n};"));
        self.line(&format!("SIDE{n}:"));
        self.statements(depth.min(1));
        if self.below(3) == 0 {
            self.condition(5);
            let back = format!(
                "@%p5 bra NEXT{n}; sub.u32 %r{counter}, %r{counter}, 1; \
                 setp.lt.s32 %p6, %r{counter}, 1; @!%p6 bra LOOP{n}; bra OUT{n};"
            );
            self.line(&back);
        }
        self.line(&format!("NEXT{n}:"));
        self.statements(0);
        self.line(&format!(
            "sub.u32 %r{counter}, %r{counter}, 1; setp.gt.s32 %p6, %r{counter}, 0; @%p6 bra LOOP{n};"
        ));
        self.line(&format!("OUT{n}:"));
    }

    /// Every thread reads what another wrote to shared memory.
    fn exchange(&mut self) {
        let (a, d, by) = (self.state(), self.state(), 1 + self.below(40));
        let n = self.threads;
        let line = format!(
            "mov.u32 %r42, tile; add.u32 %r43, %r42, %r5; st.shared.u32 [%r43], %r{a}; bar.sync 0; \
             add.u32 %r44, %r1, {by}; rem.u32 %r44, %r44, {n}; shl.b32 %r44, %r44, 2; \
             add.u32 %r44, %r44, %r42; ld.shared.u32 %r{d}, [%r44]; bar.sync 0;"
        );
        self.line(&line);
    }

    fn guarded_exit(&mut self) {
        let a = self.state();
        self.line(&format!(
            "and.b32 %r40, %r{a}, 15; setp.eq.u32 %p4, %r40, 3;"
        ));
        for i in 0..STATE {
            self.line(&format!(
                "@%p4 st.global.u32 [%rd4+{}], %r{};",
                4 * i,
                10 + i
            ));
        }
        self.line("@%p4 exit;");
    }

    fn leave_from_inside(&mut self) {
        let n = self.label();
        self.condition(2);
        self.line(&format!("@%p2 bra STAY{n};"));
        self.statements(1);
        self.guarded_exit();
        if self.below(2) == 0 {
            self.store_all();
            self.line("ret;");
        }
        self.line(&format!("STAY{n}:"));
    }

    fn store_all(&mut self) {
        for i in 0..STATE {
            self.line(&format!("st.global.u32 [%rd4+{}], %r{};", 4 * i, 10 + i));
        }
    }
}
