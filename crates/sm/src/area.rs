//! The area that variable warp sizing adds, as its paper estimates it (table 2, section 6.7): 40 nm,
//! on a Fermi-sized SM and GPU.

/// A latch and a flip-flop, in µm².
const LATCH: f64 = 2.1;
const FLIP_FLOP: f64 = 3.6;
/// What control around latches and comparators around flip-flops multiply them by.
const LATCH_OVERHEAD: f64 = 1.5;
const FLIP_FLOP_OVERHEAD: f64 = 3.0;
/// An instruction cache of 64 KB with one port and with two, by CACTI, as a difference, in mm².
const SECOND_PORT: f64 = 0.108;
/// Bits of the decoded instruction buffers and of the scoreboard of a slice.
const BUFFER_BITS: u32 = 4096;
const SCOREBOARD_BITS: u32 = 1800;
/// Entries of the gang table, and bits of each.
const GANG_ENTRIES: u32 = 128;
const GANG_BITS: u32 = 64;
/// The share of the SM that control of the datapath takes, for each slice.
const CONTROL: f64 = 0.01;
/// An SM, a GPU, in mm², and SMs of a GPU.
const SM: f64 = 16.0;
const GPU: f64 = 529.0;
const SMS: f64 = 15.0;

/// A component: its own area, and what it adds to an SM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// What it is.
    pub name: &'static str,
    /// Area of one, in mm².
    pub area: f64,
    /// How many are added to an SM.
    pub count: u32,
}

impl Component {
    /// What it adds to an SM, in mm².
    pub fn added(&self) -> f64 {
        self.area * f64::from(self.count)
    }
}

/// The area that warps of a width add.
#[derive(Clone, Debug)]
pub struct Area {
    /// What it is made of.
    pub components: Vec<Component>,
}

/// Storage of so many bits in mm².
fn latches(bits: u32) -> f64 {
    f64::from(bits) * LATCH * LATCH_OVERHEAD * 1e-6
}

impl Area {
    /// For single warps of `width` threads (a power of two, at most 32), and a cache of `l0_bytes` in
    /// each slice.
    pub fn of(width: u32, l0_bytes: u32) -> Area {
        let slices = 32 / width;
        let component = |name, area, count| Component { name, area, count };
        let scoreboard = f64::from(SCOREBOARD_BITS) * FLIP_FLOP * FLIP_FLOP_OVERHEAD * 1e-6;
        Area {
            components: vec![
                component("second port of the L1 I-cache (64 KB)", SECOND_PORT, 1),
                component("L0 I-cache", latches(8 * l0_bytes), slices),
                component("decoded instruction buffers", latches(BUFFER_BITS), slices),
                component("gang table", latches(GANG_ENTRIES * GANG_BITS), 1),
                component("scoreboard", scoreboard, slices),
                component("control", CONTROL * SM, slices),
            ],
        }
    }

    /// What is added to an SM, in mm².
    pub fn sm(&self) -> f64 {
        self.components.iter().map(Component::added).sum()
    }

    /// What is added to an SM, as a share of it.
    pub fn sm_share(&self) -> f64 {
        self.sm() / SM
    }

    /// What is added to a GPU, in mm².
    pub fn gpu(&self) -> f64 {
        self.sm() * SMS
    }

    /// What is added to a GPU, as a share of it.
    pub fn gpu_share(&self) -> f64 {
        self.gpu() / GPU
    }
}

#[cfg(test)]
mod tests {
    use super::Area;

    fn near(value: f64, paper: f64, within: f64) {
        assert!((value - paper).abs() <= within, "{value}, not {paper}");
    }

    #[test]
    fn the_paper_s_table() {
        let (four, eight) = (Area::of(4, 256), Area::of(8, 256));
        let own: Vec<f64> = four.components.iter().map(|c| c.area).collect();
        for (area, paper) in own.iter().zip([0.108, 0.006, 0.013, 0.026, 0.019, 0.160]) {
            near(*area, paper, 0.0006);
        }
        let added: Vec<f64> = four.components.iter().map(|c| c.added()).collect();
        for (area, paper) in added.iter().zip([0.108, 0.052, 0.103, 0.026, 0.154, 1.280]) {
            near(*area, paper, 0.002);
        }
        near(four.sm(), 1.7, 0.05);
        near(eight.sm(), 0.93, 0.005);
        near(four.gpu(), 25.8, 0.1);
        near(eight.gpu(), 13.9, 0.05);
        near(four.sm_share(), 0.11, 0.005);
        near(eight.sm_share(), 0.06, 0.005);
        near(four.gpu_share(), 0.05, 0.005);
        near(eight.gpu_share(), 0.025, 0.002);
    }

    #[test]
    fn a_larger_l0_takes_more() {
        let step = Area::of(4, 1024).sm() - Area::of(4, 256).sm();
        near(step, 8.0 * 768.0 * 8.0 * 2.1 * 1.5 * 1e-6, 1e-9);
    }
}
