//! Where bytes of a copy come from or go to.

use super::Words;

/// What kind of place it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// Memory of the program, by its address there.
    Host,
    /// Memory of the GPU, by its address.
    Device,
    /// A CUDA array, by its handle.
    Array,
}

/// One end of a copy of `width` bytes in `height` rows and `depth` slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is.
    pub kind: PlaceKind,
    /// Address of the first byte, or an array's handle.
    pub base: u64,
    /// Bytes from one row to the next; an array knows its own.
    pub pitch: u64,
    /// Rows from one slice to the next; an array knows its own.
    pub rows: u64,
    /// The first byte, row and slice of an array.
    pub first: [u32; 3],
}

impl Place {
    /// Bytes one after the other.
    pub fn plain(kind: PlaceKind, base: u64) -> Place {
        Place {
            kind,
            base,
            pitch: 0,
            rows: 0,
            first: [0; 3],
        }
    }

    /// Rows of `pitch` bytes.
    pub fn pitched(kind: PlaceKind, base: u64, pitch: u64) -> Place {
        Place {
            pitch,
            ..Place::plain(kind, base)
        }
    }

    /// A place in an array.
    pub fn array(handle: u64, first: [u32; 3]) -> Place {
        Place {
            first,
            ..Place::plain(PlaceKind::Array, handle)
        }
    }
}

impl Words for Place {
    fn put(&self, to: &mut Vec<u64>) {
        to.extend([self.kind as u64, self.base, self.pitch, self.rows]);
        self.first.put(to);
    }
    fn take(from: &mut std::slice::Iter<'_, u64>) -> Option<Place> {
        let kind = match from.next()? {
            0 => PlaceKind::Host,
            1 => PlaceKind::Device,
            2 => PlaceKind::Array,
            _ => return None,
        };
        Some(Place {
            kind,
            base: u64::take(from)?,
            pitch: u64::take(from)?,
            rows: u64::take(from)?,
            first: Words::take(from)?,
        })
    }
}
