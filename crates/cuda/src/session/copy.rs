//! Copies and fills.

use super::memory::Kind;
use super::operation::Operation;
use super::{Program, Reply, Session};
use crate::refused::{Answer, Refused};
use warpsim_doors::wire::{Place, PlaceKind, Question, WINDOW, status};
use warpsim_sim::exec::memory::image::AccessError;

/// A copy of so many bytes, rows and slices.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    pub from: Place,
    pub to: Place,
    pub extent: [u64; 3],
}

/// Memory set to a value: rows of elements of 1, 2 or 4 bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    pub to: u64,
    pub pitch: u64,
    pub element: u32,
    pub value: u32,
    pub width: u64,
    pub height: u64,
}

/// Where the rows of one end lie.
struct Rows {
    /// In the program, not in the GPU's memory.
    is_own: bool,
    starts: Vec<u64>,
}

/// Rows of one copy, so that nothing asks for more memory than there is.
const MOST_ROWS: u64 = 1 << 26;

/// That a range is not the GPU's.
fn outside(what: &str) -> impl Fn(AccessError) -> Refused + '_ {
    move |e| Refused::told(status::INVALID_VALUE, format!("{what}: {e}"))
}

impl Session {
    /// A copy that the program asks for: what lies in the program comes along, or goes back.
    pub(super) fn asked_transfer(
        &mut self,
        copy: Copy,
        stream: u64,
        bytes: Vec<u8>,
        program: &mut dyn Program,
    ) -> Answer<Reply> {
        if self.capturing(stream)? {
            self.captured(stream, Operation::Transfer(copy))?;
            return Ok(1.into());
        }
        let _ = program;
        let (from, to) = (
            self.rows(&copy.from, copy.extent)?,
            self.rows(&copy.to, copy.extent)?,
        );
        let [width, ..] = copy.extent;
        let data = match from.is_own {
            true if bytes.len() as u64 != width * from.starts.len() as u64 => {
                return Err(status::INVALID_VALUE.into());
            }
            true => bytes,
            false => self.gather(&from, width)?,
        };
        if to.is_own {
            return Ok(Reply::bytes(data));
        }
        self.scatter(&to, width, &data)?;
        Ok(Reply::default())
    }

    /// A copy of a graph: the program is asked for what lies there.
    pub(super) fn transfer_now(&mut self, copy: &Copy, program: &mut dyn Program) -> Answer<()> {
        let (from, to) = (
            self.rows(&copy.from, copy.extent)?,
            self.rows(&copy.to, copy.extent)?,
        );
        let [width, ..] = copy.extent;
        let data = match from.is_own {
            false => self.gather(&from, width)?,
            true => {
                let mut all = Vec::new();
                for &address in &from.starts {
                    all.extend(program.ask(
                        &Question::ReadHost {
                            address,
                            bytes: width,
                        },
                        &[],
                    )?);
                }
                all
            }
        };
        if !to.is_own {
            return self.scatter(&to, width, &data);
        }
        for (&address, row) in to.starts.iter().zip(data.chunks_exact(width as usize)) {
            program.ask(&Question::WriteHost { address }, row)?;
        }
        Ok(())
    }

    /// Where the rows of a place are. What is said to be the program's has to be.
    fn rows(&self, place: &Place, [width, height, depth]: [u64; 3]) -> Answer<Rows> {
        let invalid = || Refused::from(status::INVALID_VALUE);
        let count = height
            .checked_mul(depth)
            .filter(|n| *n <= MOST_ROWS)
            .ok_or_else(invalid)?;
        if width == 0 || count == 0 {
            return Err(invalid());
        }
        let (base, pitch, rows) = match place.kind {
            PlaceKind::Array => {
                let array = self.arrays.get(&place.base).ok_or(status::INVALID_HANDLE)?;
                let [x, y, z] = place.first.map(u64::from);
                let [pitch, rows, slices] = array.lengths();
                if x + width > pitch || y + height > rows || z + depth > slices {
                    return Err(invalid());
                }
                (array.address + (z * rows + y) * pitch + x, pitch, rows)
            }
            _ => (place.base, place.pitch, place.rows.max(height)),
        };
        if place.kind == PlaceKind::Host
            && self
                .around(base)
                .is_some_and(|(_, a)| a.kind == Kind::Device)
        {
            return Err(Refused::told(
                status::INVALID_VALUE,
                format!("a copy names {base:#x} as memory of the program; it is memory of the GPU"),
            ));
        }
        let start = |z: u64, y: u64| {
            let row = z.checked_mul(rows)?.checked_add(y)?;
            row.checked_mul(pitch)?.checked_add(base)
        };
        let all = (0..depth).flat_map(|z| (0..height).map(move |y| (z, y)));
        let starts = all
            .map(|(z, y)| start(z, y))
            .collect::<Option<Vec<u64>>>()
            .ok_or_else(invalid)?;
        let is_own = place.kind == PlaceKind::Host && !WINDOW.contains(&base);
        Ok(Rows { is_own, starts })
    }

    fn gather(&self, rows: &Rows, width: u64) -> Answer<Vec<u8>> {
        let gpu = &self.device.gpu;
        if let [start] = rows.starts[..] {
            return gpu
                .read(start, width)
                .map_err(outside("a copy from the GPU"));
        }
        let mut all = Vec::new();
        for &start in &rows.starts {
            all.extend_from_slice(
                gpu.look(start, width)
                    .map_err(outside("a copy from the GPU"))?,
            );
        }
        Ok(all)
    }

    fn scatter(&mut self, rows: &Rows, width: u64, data: &[u8]) -> Answer<()> {
        for (&start, row) in rows.starts.iter().zip(data.chunks_exact(width as usize)) {
            self.device
                .gpu
                .write(start, row)
                .map_err(outside("a copy to the GPU"))?;
        }
        Ok(())
    }

    /// Sets memory.
    pub(super) fn fill(&mut self, fill: &Fill) -> Answer<()> {
        let element = fill.element as usize;
        if ![1, 2, 4].contains(&element) {
            return Err(status::INVALID_VALUE.into());
        }
        let bytes = fill
            .width
            .checked_mul(element as u64)
            .ok_or(status::INVALID_VALUE)?;
        if bytes == 0 || fill.height == 0 {
            return Ok(());
        }
        if fill.height > 1 && fill.pitch < bytes {
            return Err(status::INVALID_PITCH.into());
        }
        let place = Place::pitched(PlaceKind::Device, fill.to, fill.pitch);
        let rows = self.rows(&place, [bytes, fill.height, 1])?;
        // Looked at before anything as large is made.
        self.device
            .gpu
            .look(fill.to, bytes)
            .map_err(outside("a fill of the GPU's memory"))?;
        let row = fill.value.to_le_bytes()[..element].repeat(fill.width as usize);
        for &start in &rows.starts {
            self.device
                .gpu
                .write(start, &row)
                .map_err(outside("a fill of the GPU's memory"))?;
        }
        Ok(())
    }
}
