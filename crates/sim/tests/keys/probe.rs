//! A program that uses every part of the machine a little: its statistics change when any part
//! does.

use std::sync::Arc;
use warpsim_ptx::diagnostic::render_all;
use warpsim_ptx::kernel::Program;
use warpsim_ptx::rewrite::vtw::{Variant, mark, rewrite_within};
use warpsim_sim::config::{Machine, VirtualMode};
use warpsim_sim::gpu::api::{Launch, TexelKind, Texture};
use warpsim_sim::gpu::{Gpu, Options};
use warpsim_sim::occupancy::hoist_limit;
use warpsim_sim::stats::LaunchReport;

/// Bytes of each buffer.
const BUFFER: u64 = 1 << 18;

const HEAD: &str = "
.version 8.6
.target sm_90
.address_size 64
.const .align 4 .b32 table[2048];
.global .texref image;
";

const REGISTERS: &str = "
    .reg .b32 %r<24>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
";

/// Two of each class of operations: one waits for the other's result, a third for neither.
const COMPUTE: &str = "
    add.u32 %r5, %r5, %r4; add.u32 %r6, %r5, 3; add.u32 %r7, %r4, 7;
    min.u32 %r8, %r6, 900; max.u32 %r9, %r8, 5; min.u32 %r10, %r4, 800;
    mul.lo.u32 %r8, %r9, 3; mul.lo.u32 %r9, %r8, 5; mul.lo.u32 %r10, %r4, 9;
    mad.lo.u32 %r8, %r9, 3, %r4; mad.lo.u32 %r9, %r8, 5, 1; mad.lo.u32 %r10, %r4, 9, 2;
    or.b32 %r9, %r9, 1; div.u32 %r8, %r10, %r9; div.u32 %r11, %r4, %r9; rem.u32 %r12, %r4, %r9;
    rem.u32 %r13, %r12, %r9; xor.b32 %r5, %r8, %r11; xor.b32 %r5, %r5, %r13;
    add.f32 %f2, %f1, 0f3f800000; add.f32 %f3, %f2, %f1; add.f32 %f4, %f1, %f1;
    setp.lt.f32 %p3, %f3, %f4;
    min.f32 %f2, %f3, %f4; max.f32 %f3, %f2, %f1; min.f32 %f4, %f1, %f1;
    mul.f32 %f2, %f3, %f4; mul.f32 %f3, %f2, %f1; mul.f32 %f4, %f1, %f1;
    mad.rn.f32 %f2, %f3, %f4, %f1; mad.rn.f32 %f3, %f2, %f4, %f1; mad.rn.f32 %f4, %f1, %f1, %f1;
    fma.rn.f32 %f2, %f3, %f4, %f1; fma.rn.f32 %f3, %f2, %f4, %f1; fma.rn.f32 %f4, %f1, %f1, %f1;
    div.rn.f32 %f2, %f3, %f1; div.rn.f32 %f3, %f2, %f1; div.rn.f32 %f4, %f1, %f1;
    sin.approx.f32 %f2, %f3; ex2.approx.f32 %f3, %f2; sin.approx.f32 %f5, %f1;
    add.f64 %d2, %d1, %d1; add.f64 %d3, %d2, %d1; add.f64 %d4, %d1, %d1;
    min.f64 %d2, %d3, %d4; max.f64 %d3, %d2, %d1; min.f64 %d4, %d1, %d1;
    mul.f64 %d2, %d3, %d4; mul.f64 %d3, %d2, %d1; mul.f64 %d4, %d1, %d1;
    mad.rn.f64 %d2, %d3, %d4, %d1; mad.rn.f64 %d3, %d2, %d4, %d1; mad.rn.f64 %d4, %d1, %d1, %d1;
    fma.rn.f64 %d2, %d3, %d4, %d1; fma.rn.f64 %d3, %d2, %d4, %d1; fma.rn.f64 %d4, %d1, %d1, %d1;
    div.rn.f64 %d2, %d3, %d1; div.rn.f64 %d3, %d2, %d1; div.rn.f64 %d4, %d1, %d1;
    mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r14, %r15}, {%r4}, {%r4}, {%r5, %r6};
    mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r16, %r17}, {%r4}, {%r4}, {%r14, %r15};
    mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r18, %r19}, {%r4}, {%r4}, {%r4, %r4};
    xor.b32 %r5, %r5, %r17;
";

/// Every space: scattered and repeated global accesses, local, shared with bank conflicts,
/// constant and texture reads that differ between lanes, atomics.
const MEMORY: &str = "
    .shared .align 4 .b8 tile[8192]; .local .align 4 .b8 own[512];
    mov.u32 %r5, 0; mov.u32 %r6, tile; mov.u64 %rd8, own; mov.u64 %rd9, table;
    LOOP:
    mul.lo.u32 %r7, %r4, 68; mad.lo.u32 %r7, %r5, 8224, %r7; and.b32 %r7, %r7, 262140;
    cvt.u64.u32 %rd3, %r7; add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
    ld.global.u32 %r8, [%rd4]; ld.global.u32 %r9, [%rd5]; add.u32 %r8, %r8, %r9;
    st.global.u32 [%rd5], %r8; ld.global.u32 %r9, [%rd5];
    shl.b32 %r10, %r5, 6; cvt.u64.u32 %rd6, %r10; add.u64 %rd7, %rd8, %rd6;
    st.local.u32 [%rd7], %r9; st.local.u32 [%rd7+4], %r8; ld.local.u32 %r11, [%rd7];
    add.u32 %r11, %r11, %r9; st.local.u32 [%rd7], %r11; ld.local.u32 %r11, [%rd7];
    mul.lo.u32 %r12, %r1, 36; and.b32 %r12, %r12, 8188; add.u32 %r12, %r12, %r6;
    st.shared.u32 [%r12], %r11; ld.shared.u32 %r13, [%r12];
    mul.lo.u32 %r14, %r4, 148; and.b32 %r14, %r14, 8188; cvt.u64.u32 %rd10, %r14;
    add.u64 %rd11, %rd9, %rd10; ld.const.u32 %r15, [%rd11];
    mul.lo.u32 %r16, %r4, 37; add.u32 %r16, %r16, %r5; and.b32 %r16, %r16, 127;
    cvt.rn.f32.u32 %f1, %r16; and.b32 %r17, %r4, 127; cvt.rn.f32.u32 %f2, %r17;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [image, {%f1, %f2}];
    cvt.rzi.u32.f32 %r18, %f3; add.u32 %r15, %r15, %r18; add.u32 %r13, %r13, %r15;
    div.u32 %r20, %r4, 3; and.b32 %r20, %r20, 252; cvt.u64.u32 %rd12, %r20;
    add.u64 %rd13, %rd1, %rd12; atom.global.add.u32 %r19, [%rd13], %r13;
    add.u32 %r19, %r19, 1; st.global.u32 [%rd5+4], %r19;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 6; @%p1 bra LOOP;
    ret;
";

/// Sectors that two stores write together, and halves of lines, read again past the L1 behind a
/// fence.
const PARTS: &str = "
    mul.wide.u32 %rd3, %r4, 8; add.u64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r4; st.global.u32 [%rd4+4], %r4;
    and.b32 %r5, %r1, 31; setp.ge.u32 %p1, %r5, 16; sub.u32 %r6, %r4, %r5;
    mul.wide.u32 %rd5, %r6, 8; add.u64 %rd5, %rd1, %rd5; mul.wide.u32 %rd6, %r5, 4;
    add.u64 %rd5, %rd5, %rd6; @%p1 st.global.u32 [%rd5+65536], %r4;
    membar.gl;
    ld.global.cg.u32 %r7, [%rd4]; add.u32 %r7, %r7, 1;
    @%p1 ld.global.cg.u32 %r8, [%rd5+65536]; add.u32 %r8, %r8, 1;
    ret;
";

/// Warps of a block that come to a barrier at different times and finish at different times,
/// with branches that part them, and a loop that starts over at two places and has a way out.
const CONTROL: &str = "
    mov.u32 %r5, 0; mov.u32 %r10, 0;
    shr.u32 %r6, %r1, 5; add.u32 %r6, %r6, %r2; and.b32 %r6, %r6, 3; add.u32 %r7, %r6, 2;
    ROUND:
    mov.u32 %r8, 0; and.b32 %r9, %r1, 7; add.u32 %r9, %r9, %r7;
    INNER:
    and.b32 %r11, %r8, 1; xor.b32 %r11, %r11, %r1; and.b32 %r11, %r11, 1; setp.eq.u32 %p1, %r11, 0;
    @%p1 bra EVEN;
    mad.lo.u32 %r10, %r10, 5, %r8; xor.b32 %r10, %r10, %r1; bra NEXT;
    EVEN: sub.u32 %r10, %r10, %r8;
    NEXT: add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, %r9; @%p2 bra INNER;
    bar.sync 0;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r12, [%rd4];
    add.u32 %r10, %r10, %r12; bar.sync 0;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra ROUND;
    mul.lo.u32 %r7, %r7, 9;
    LATE: sub.u32 %r7, %r7, 1; add.u32 %r10, %r10, %r7; setp.gt.s32 %p1, %r7, 0; @%p1 bra LATE;
    mov.u32 %r14, 0; and.b32 %r16, %r1, 31;
    AGAIN: add.u32 %r14, %r14, 1; xor.b32 %r15, %r14, %r1; and.b32 %r15, %r15, 1;
    setp.eq.u32 %p1, %r15, 0; @%p1 bra OTHER;
    setp.gt.u32 %p2, %r14, %r16; @%p2 bra LEFT;
    mad.lo.u32 %r10, %r10, 3, %r14; bra BACK;
    OTHER: add.u32 %r10, %r10, 7;
    BACK: and.b32 %r17, %r14, 3; setp.ne.u32 %p3, %r17, 0; @%p3 bra AGAIN;
    add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r14, 24; @%p3 bra AGAIN;
    LEFT:
    st.global.u32 [%rd4], %r10;
    ret;
";

fn text() -> String {
    let kernel = |name: &str, body: &str| {
        let parameters = ".param .u64 out, .param .u64 in";
        format!(".visible .entry {name}({parameters})\n{{{REGISTERS}{body}}}\n")
    };
    let start = "mov.u32 %r5, 1; mov.f32 %f1, 0f3fc00000; mov.f64 %d1, 0d3ff8000000000000;";
    // Long enough that the instruction cache does not hold it.
    let unrolled = COMPUTE.repeat(5);
    let end = "cvt.rzi.u32.f32 %r6, %f3; cvt.rzi.u32.f64 %r7, %d3; add.u32 %r5, %r5, %r6;
        add.u32 %r5, %r5, %r7; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3;
        st.global.u32 [%rd4], %r5; ret;";
    let compute = format!("{start}{unrolled}{end}");
    [
        HEAD.to_string(),
        kernel("compute", &compute),
        kernel("memory", MEMORY),
        kernel("control", CONTROL),
        kernel("parts", PARTS),
    ]
    .concat()
}

/// The program, ready to run on any machine.
pub struct Probe {
    text: String,
    plain: Arc<Program>,
}

impl Probe {
    /// Compiles it.
    pub fn new() -> Probe {
        let ptx = text();
        let module = warpsim_ptx::parse(&ptx);
        match module.and_then(|m| warpsim_ptx::lower::lower(&m)) {
            Ok(program) if program.rejected.is_empty() => Probe {
                plain: Arc::new(program),
                text: ptx,
            },
            Ok(program) => panic!("{}", render_all(&program.rejected[0].1, "probe", &ptx)),
            Err(errors) => panic!("{}", render_all(&errors, "probe", &ptx)),
        }
    }

    /// The program, with virtual blocks if the machine wants them.
    fn program(&self, machine: &Machine) -> Arc<Program> {
        let variant = match machine.virtual_blocks.mode {
            VirtualMode::Off => return self.plain.clone(),
            VirtualMode::Software => Variant::Software,
            VirtualMode::Hardware => Variant::Hardware,
        };
        let module = warpsim_ptx::parse(&self.text).expect("it parses");
        let limit = |kernel: &_| hoist_limit(machine, kernel);
        let done = rewrite_within(&module, variant, &limit).expect("it lowers");
        let mut program = warpsim_ptx::lower(&done.module).expect("it lowers");
        mark(&mut program, &done.outcomes, variant);
        Arc::new(program)
    }

    /// Statistics of all launches on a machine, or why they do not end.
    pub fn run(&self, machine: &Machine) -> Result<Vec<LaunchReport>, String> {
        let options = Options {
            max_cycles: Some(20_000_000),
            ..Options::default()
        };
        let mut gpu = Gpu::new(machine.clone(), options).map_err(|e| e.to_string())?;
        let module = gpu.load(self.program(machine)).map_err(|e| e.to_string())?;
        let out = gpu.alloc(2 * BUFFER, "out").ok_or("no room")?;
        let input = gpu.alloc(2 * BUFFER, "in").ok_or("no room")?;
        let words: Vec<u8> = (0..BUFFER as u32 / 2).flat_map(u32::to_le_bytes).collect();
        gpu.write(out, &vec![0; 2 * BUFFER as usize])
            .map_err(|e| e.to_string())?;
        gpu.write(input, &words).map_err(|e| e.to_string())?;
        gpu.bind_texref(module, "image", texture(input))
            .map_err(|e| e.to_string())?;
        for (kernel, grid, block) in [
            (0, 6, 128),
            (1, 6, 128),
            (2, 23, 160),
            (1, 3, 96),
            (3, 6, 128),
        ] {
            let launch = Launch {
                kernel,
                grid: [grid, 1, 1],
                block: [block, 1, 1],
                dynamic_shared: 0,
                params: [out.to_le_bytes(), input.to_le_bytes()].concat(),
                registers: None,
            };
            gpu.launch(module, &launch).map_err(|e| e.to_string())?;
        }
        Ok(gpu.reports().to_vec())
    }
}

fn texture(address: u64) -> Texture {
    Texture {
        address,
        size: [128, 128, 1],
        dimensions: 2,
        channels: 1,
        bits: 32,
        kind: TexelKind::Float,
        linear_memory: false,
        filter_linear: false,
        wrap: false,
        normalized: false,
        read_normalized: false,
    }
}
