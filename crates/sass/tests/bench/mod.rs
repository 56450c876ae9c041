//! Machine code and PTX, run on memory of their own.

use std::ops::ControlFlow;
use warpsim_exec::code::Code as PtxCode;
use warpsim_exec::functional::{self, Listeners, Options, SimFault};
use warpsim_exec::grid::Grid;
use warpsim_exec::memory::image::GlobalMemory;
use warpsim_sass::front::listing;
use warpsim_sass::program::Program;
use warpsim_sass::run::{self, Banks, Code, Launch};

/// A program of one kernel, `k`, of these instructions. An instruction may be followed by ` # 0x...`: the number that
/// its encoding holds.
pub fn program(code: &[&str]) -> Result<Program, String> {
    let mut text =
        String::from("warpsim machine code 1\narchitecture 90\nmade-by hand\nkernel k\n");
    text += "sizes registers 255 shared 4096 stack 64 parameters 0x210 64\n";
    for line in code {
        let (line, number) = line.split_once(" # 0x").unwrap_or((line, "0"));
        text += &format!("{number:0>8}00000000 000fe20000000000 {line}\n");
    }
    listing::read("test.sass", &text)
}

/// A machine with memory.
#[derive(Default)]
pub struct Bench {
    pub memory: GlobalMemory,
    /// Gives up after so many warp instructions.
    pub limit: u64,
}

impl Bench {
    pub fn new() -> Bench {
        Bench {
            memory: GlobalMemory::new(),
            limit: 10_000_000,
        }
    }

    pub fn buffer(&mut self, words: &[u32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let address = self
            .memory
            .alloc(bytes.len() as u64, 256, "buffer")
            .expect("room");
        self.memory.write(address, &bytes).expect("it is there");
        address
    }

    pub fn words(&self, address: u64, n: usize) -> Vec<u32> {
        let bytes = self
            .memory
            .slice(address, 4 * n as u64)
            .expect("it is there");
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|w| u32::from_le_bytes(*w)).collect()
    }

    fn grid(blocks: u32, threads: u32, params: &[u64]) -> Grid {
        Grid {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            params: params.iter().flat_map(|p| p.to_le_bytes()).collect(),
            ..Grid::default()
        }
    }

    fn options(&self) -> Options {
        Options {
            max_instructions: self.limit,
            ..Options::default()
        }
    }

    /// Runs the first kernel of a program of machine code.
    pub fn sass(
        &mut self,
        program: &Program,
        blocks: u32,
        threads: u32,
        params: &[u64],
    ) -> Result<(), SimFault> {
        let code = Code::new(program, &program.kernels[0]).unwrap_or_else(|e| panic!("{e}"));
        let mut banks = Banks::default();
        let grid = Bench::grid(blocks, threads, params);
        let launch = Launch {
            code: &code,
            grid: &grid,
            banks: &mut banks,
            options: self.options(),
        };
        run::run(launch, &mut self.memory, &mut |_| ControlFlow::Continue(())).map(drop)
    }

    /// Runs the first kernel of a PTX text.
    pub fn ptx(&mut self, text: &str, blocks: u32, threads: u32, params: &[u64]) {
        let module =
            warpsim_ptx::parse(text).unwrap_or_else(|e| panic!("{}", e[0].render("t", text)));
        let lowered = warpsim_ptx::lower(&module);
        let program = lowered.unwrap_or_else(|e| panic!("{}", e[0].render("t", text)));
        if let Some((name, why)) = program.rejected.first() {
            panic!("{name}: {}", why[0].render("t", text));
        }
        let kernel = &program.kernels[0];
        let code = PtxCode::new(kernel, &[]).unwrap_or_else(|e| panic!("{e}"));
        let listeners = Listeners {
            hand_on: &mut |_| ControlFlow::Continue(()),
            races: None,
            steps: None,
        };
        let grid = Bench::grid(blocks, threads, params);
        let options = self.options();
        let ran = functional::run(&code, kernel, &grid, &mut self.memory, listeners, options);
        ran.map(drop).unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
}

/// Random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 >> 33 ^ self.0;
        (x.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }

    /// Numbers that matter: all bits, few bits, floats of all kinds.
    pub fn operand(&mut self) -> u32 {
        let bits = self.next();
        match self.next() % 8 {
            0 => bits % 64,
            1 => (bits % 64).wrapping_neg(),
            2 => [0, 1, u32::MAX, 1 << 31, i32::MAX as u32][bits as usize % 5],
            3 => ((bits % 2001) as f32 / 8.0 - 125.0).to_bits(),
            4 => [
                0x7f80_0000,
                0xff80_0000,
                0x7fc0_0000,
                0x8000_0000,
                1,
                0x807f_ffff,
                0x3f80_0000,
            ][bits as usize % 7],
            5 => bits & 0x807f_ffff | (96 + bits % 60) << 23,
            _ => bits,
        }
    }
}
