//! Matrix instructions: which forms there are, and which thread of a warp holds which element.
//!
//! `mma` is for one multiplication whose operands the threads of a warp hold in a layout that the
//! PTX manual gives. `wmma` leaves the layout open; here it is that of the `mma` instructions which
//! it is made of: tiles of 16 (or 8) rows by 8 columns, one behind the other. Where a fragment has
//! more registers than elements, the elements are there several times.

use crate::isa::Type;

/// What a matrix instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `mma`, `wmma.mma`.
    Multiply,
    /// `wmma.load`, `wmma.store` of this matrix.
    Load(Matrix),
    #[allow(missing_docs)]
    Store(Matrix),
    /// `ldmatrix`, `stmatrix`, `movmatrix`: so many matrices of 8 by 8 elements of 16 bits.
    Tiles(u8),
}

/// A matrix of `D = A * B + C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Matrix {
    A,
    B,
    C,
    D,
}

/// How the product of single bits is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BitOp {
    Xor,
    And,
}

/// Everything the suffixes of a matrix instruction say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// What it does.
    pub role: Role,
    /// `wmma` rather than `mma`.
    pub warp_wide: bool,
    /// Rows of A, columns of B, columns of A.
    pub shape: [u16; 3],
    /// A, B (or the one matrix that is loaded or stored) lies column by column.
    pub by_column: [bool; 2],
    /// Elements of D, A, B, C.
    pub types: [Type; 4],
    /// Operation on single bits.
    pub bits: Option<BitOp>,
    /// `.trans`.
    pub transposed: bool,
    /// `mma.sp`: of A only every second element is there, and a register says which.
    pub sparse: bool,
}

/// How the elements of a sparse matrix lie in a row, and where the register is that says so.
///
/// Of each chunk of a row half the elements are there. Four bits of a register say which: two
/// numbers of two bits, each that of an element (of `tf32`: one element of two, by one number), or of
/// two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparsity {
    /// Elements of a chunk.
    pub chunk: u32,
    /// Neighbours that go together.
    pub run: u32,
    /// Chunks of a row.
    pub chunks: u32,
    /// A register is about one row, not about two that are eight apart.
    pub one_row: bool,
}

impl Sparsity {
    /// Threads of four that have the numbers of all chunks between them.
    pub fn threads(&self) -> u32 {
        (self.chunks / 4).max(1)
    }

    /// The lane and the bit of its register where the four bits of a chunk begin; `selector` says
    /// which of the four threads are meant.
    pub fn place(&self, row: u32, chunk: u32, selector: u32) -> (u32, u32) {
        let (group, upper) = (row % 8, row / 8);
        if self.one_row {
            // Neighbouring threads have the two rows that are eight apart.
            let member = (selector * self.threads() + chunk / 8 * 2 + upper) % 4;
            return (4 * group + member, 4 * (chunk % 8));
        }
        let member = (selector * self.threads() + chunk / 4) % 4;
        (4 * group + member, 16 * upper + 4 * (chunk % 4))
    }

    /// The column of the whole matrix where stored element `index` of a chunk belongs.
    pub fn column(&self, chunk: u32, index: u32, four: u32) -> u32 {
        let within = match self.chunk {
            // Of two elements of 32 bits: four halves, of which the two of one are named.
            2 => four >> 1 & 1,
            _ => (four >> (2 * (index / self.run)) & 3) * self.run + index % self.run,
        };
        chunk * self.chunk + within
    }
}

/// Bits of an element.
pub fn element_bits(ty: Type) -> u32 {
    match ty {
        Type::B1 => 1,
        Type::U4 | Type::S4 => 4,
        other => other.bytes() * 8,
    }
}

impl Tensor {
    /// Multiplications that a warp does at once: `mma.m8n8k4` of half precision is one for each
    /// eight threads, 4 neighbours and the 4 that are 16 lanes further.
    pub fn products(&self) -> u32 {
        if self.in_quarters() { 4 } else { 1 }
    }

    /// Whether it is such a one.
    pub fn in_quarters(&self) -> bool {
        let half = self.types[1] == Type::F16;
        !self.warp_wide && half && self.shape == [8, 8, 4]
    }

    /// Rows and columns of a matrix as it is stored: several are one below the other, B beside the
    /// other; of a sparse one there are half as many columns.
    pub fn size(&self, matrix: Matrix) -> [u32; 2] {
        let [m, n, k] = self.shape.map(u32::from);
        let count = self.products();
        match matrix {
            Matrix::A if self.sparse => [m, k / 2],
            Matrix::A => [m * count, k],
            Matrix::B => [k, n * count],
            Matrix::C | Matrix::D => [m * count, n],
        }
    }

    /// The type of a matrix's elements.
    pub fn element(&self, matrix: Matrix) -> Type {
        let [d, a, b, c] = self.types;
        match matrix {
            Matrix::A => a,
            Matrix::B => b,
            Matrix::C => c,
            Matrix::D => d,
        }
    }

    /// Registers of a fragment are 64 bits wide.
    pub fn is_wide(&self) -> bool {
        self.types[1] == Type::F64
    }

    /// Elements in one register of a fragment.
    pub fn packed(&self, matrix: Matrix) -> u32 {
        let bits = element_bits(self.element(matrix));
        if self.is_wide() {
            1
        } else {
            (32 / bits).max(1)
        }
    }

    /// Registers that hold every element of a matrix once.
    fn distinct(&self, matrix: Matrix) -> u32 {
        let [rows, columns] = self.size(matrix);
        rows * columns / 32 / self.packed(matrix)
    }

    /// Registers of a fragment.
    pub fn registers(&self, matrix: Matrix) -> u32 {
        let half = self.element(matrix) == Type::F16;
        match matrix {
            // By the manual: 8 registers, whatever the shape.
            Matrix::A | Matrix::B if self.warp_wide && half => 8,
            _ => self.distinct(matrix),
        }
    }

    /// Row and column of element `index` of a register of the thread on `lane`.
    pub fn place(&self, matrix: Matrix, lane: u32, register: u32, index: u32) -> [u32; 2] {
        if self.in_quarters() {
            return self.place_in_quarters(matrix, lane, register, index);
        }
        let (group, member) = (lane / 4, lane % 4);
        let packed = self.packed(matrix);
        let register = register % self.distinct(matrix).max(1);
        let [rows, columns] = self.size(matrix);
        // Rows of a tile of A and C: 16, or 8 where there are no more.
        let halves = if rows >= 16 { 2 } else { 1 };
        match matrix {
            Matrix::A => {
                let chunks = columns / (4 * packed);
                let tile = register / (halves * chunks);
                let within = register % (halves * chunks);
                let row = 16 * tile + 8 * (within % halves) + group;
                let column = within / halves * 4 * packed + member * packed + index;
                [row, column]
            }
            Matrix::B => {
                let chunks = u32::from(self.shape[2]) / (4 * packed);
                let (tile, chunk) = (register / chunks, register % chunks);
                let row = chunk * 4 * packed + member * packed + index;
                [row, 8 * tile + group]
            }
            Matrix::C | Matrix::D => {
                // Two neighbouring columns a row: in one register, or in two.
                let element = register * packed + index;
                let tiles_across = u32::from(self.shape[1]) / 8;
                let tile = element / (2 * halves);
                let within = element % (2 * halves);
                let (down, across) = (tile / tiles_across, tile % tiles_across);
                let row = 16 * down + 8 * (within / 2) + group;
                [row, 8 * across + 2 * member + within % 2]
            }
        }
    }

    fn place_in_quarters(&self, matrix: Matrix, lane: u32, register: u32, index: u32) -> [u32; 2] {
        let element = register * self.packed(matrix) + index;
        let first = 8 * (lane % 16 / 4);
        // The threads of the upper half have the second four lines.
        let (half, member) = (lane / 16 * 4, lane % 4);
        match (matrix, self.by_column) {
            (Matrix::A, [false, _]) => [first + half + member, element],
            (Matrix::A, _) => [first + half + element, member],
            (Matrix::B, [_, false]) => [member, first + half + element],
            (Matrix::B, _) => [element, first + half + member],
            _ if self.element(matrix) == Type::F16 => [first + half + member, element],
            _ => [
                first + half + (lane & 1) + (element & 2),
                (element & 4) + (lane & 2) + (element & 1),
            ],
        }
    }

    /// How the elements of a sparse A lie in a row.
    pub fn sparsity(&self) -> Sparsity {
        let (chunk, run) = match self.types[1] {
            Type::Tf32 => (2, 1),
            Type::U4 | Type::S4 => (8, 2),
            _ => (4, 1),
        };
        Sparsity {
            chunk,
            run,
            chunks: u32::from(self.shape[2]) / chunk,
            one_row: element_bits(self.types[1]) <= 8,
        }
    }

    /// Why there is no such instruction, if there is none.
    pub fn misfit(&self) -> Option<String> {
        if matches!(self.role, Role::Tiles(_)) {
            return None;
        }
        let [m, n, k] = self.shape;
        let [d, a, b, c] = self.types;
        use Type::*;
        let shapes: &[[u16; 3]] = match (self.warp_wide, a) {
            (_, F16 | Bf16) if self.sparse => &[[16, 8, 16], [16, 8, 32]],
            (_, Tf32) if self.sparse => &[[16, 8, 8], [16, 8, 16]],
            (_, U8 | S8) if self.sparse => &[[16, 8, 32], [16, 8, 64]],
            (_, U4 | S4) if self.sparse => &[[16, 8, 64], [16, 8, 128]],
            (_, E4m3 | E5m2) if self.sparse => &[[16, 8, 64]],
            _ if self.sparse => {
                return Some(format!("sparse elements of A cannot be `.{}`", a.text()));
            }
            (true, F16 | Bf16 | U8 | S8) => &[[16, 16, 16], [32, 8, 16], [8, 32, 16]],
            (true, Tf32) => &[[16, 16, 8]],
            (true, F64) => &[[8, 8, 4]],
            (true, U4 | S4) => &[[8, 8, 32]],
            (true, B1) => &[[8, 8, 128]],
            (false, F16) => &[[8, 8, 4], [16, 8, 8], [16, 8, 16]],
            (false, Bf16) => &[[16, 8, 8], [16, 8, 16]],
            (false, Tf32) => &[[16, 8, 4], [16, 8, 8]],
            (false, F64) => &[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]],
            (false, U8 | S8) => &[[8, 8, 16], [16, 8, 16], [16, 8, 32]],
            (false, U4 | S4) => &[[8, 8, 32], [16, 8, 32], [16, 8, 64]],
            (false, B1) => &[[8, 8, 128], [16, 8, 128], [16, 8, 256]],
            (false, E4m3 | E5m2) => &[[16, 8, 16], [16, 8, 32]],
            _ => return Some(format!("elements of A cannot be `.{}`", a.text())),
        };
        if !shapes.contains(&self.shape) {
            let all: Vec<String> = shapes
                .iter()
                .map(|[m, n, k]| format!("m{m}n{n}k{k}"))
                .collect();
            return Some(format!(
                "`.{}` matrices of shape m{m}n{n}k{k} are not supported: {} are",
                a.text(),
                all.join(", ")
            ));
        }
        let class = |ty: Type| match ty {
            U8 | S8 => U8,
            U4 | S4 => U4,
            E4m3 | E5m2 => E4m3,
            other => other,
        };
        if class(a) != class(b) {
            return Some(format!(
                "A of `.{}` does not go with B of `.{}`",
                a.text(),
                b.text()
            ));
        }
        let sums: &[Type] = match a {
            F16 | E4m3 | E5m2 => &[F16, F32],
            Bf16 | Tf32 => &[F32],
            F64 => &[F64],
            _ => &[S32],
        };
        if let Some(wrong) = [d, c].into_iter().find(|ty| !sums.contains(ty)) {
            return Some(format!(
                "products of `.{}` are not summed in `.{}`",
                a.text(),
                wrong.text()
            ));
        }
        if !self.warp_wide && !self.in_quarters() && self.by_column != [false, true] {
            return Some("A lies row by row (`.row`), B column by column (`.col`)".into());
        }
        if (a == B1) != self.bits.is_some() && self.role == Role::Multiply {
            return Some("single bits, and only those, need `.xor.popc` or `.and.popc`".into());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_form() -> Vec<Tensor> {
        let mut all = Vec::new();
        for warp_wide in [false, true] {
            for a in [
                Type::F16,
                Type::Bf16,
                Type::Tf32,
                Type::F64,
                Type::S8,
                Type::U4,
                Type::B1,
                Type::E4m3,
            ] {
                for m in [8, 16, 32] {
                    for n in [8, 16, 32] {
                        for k in [4, 8, 16, 32, 64, 128, 256] {
                            for d in [Type::F16, Type::F32, Type::F64, Type::S32] {
                                all.push(Tensor {
                                    role: Role::Multiply,
                                    warp_wide,
                                    shape: [m, n, k],
                                    by_column: [false, true],
                                    types: [d, a, a, d],
                                    bits: (a == Type::B1).then_some(BitOp::And),
                                    transposed: false,
                                    sparse: false,
                                });
                                let mut sparse = all[all.len() - 1];
                                sparse.sparse = !warp_wide;
                                all.push(sparse);
                            }
                        }
                    }
                }
            }
        }
        all.retain(|t| t.misfit().is_none());
        all
    }

    /// Every element of every fragment is in the matrix, and each as often as any other.
    #[test]
    fn fragments_cover_their_matrices() {
        let forms = every_form();
        assert!(forms.len() > 30, "{}", forms.len());
        for form in forms {
            for matrix in [Matrix::A, Matrix::B, Matrix::C, Matrix::D] {
                let [rows, columns] = form.size(matrix);
                let mut seen = vec![0; (rows * columns) as usize];
                for lane in 0..32 {
                    for register in 0..form.registers(matrix) {
                        for index in 0..form.packed(matrix) {
                            let [row, column] = form.place(matrix, lane, register, index);
                            assert!(row < rows && column < columns, "{form:?} {matrix:?}");
                            seen[(row * columns + column) as usize] += 1;
                        }
                    }
                }
                assert!(
                    seen.iter().all(|n| *n == seen[0] && *n > 0),
                    "{form:?} {matrix:?}"
                );
            }
        }
    }

    /// Some places by the tables of the PTX manual.
    #[test]
    fn places_are_those_of_the_manual() {
        let of = |a: Type, shape| Tensor {
            role: Role::Multiply,
            warp_wide: false,
            shape,
            by_column: [false, true],
            types: [Type::F32, a, a, Type::F32],
            bits: None,
            transposed: false,
            sparse: false,
        };
        let f16 = of(Type::F16, [16, 8, 16]);
        // a5 of thread 6: row 1 (groupID), column 2 * 2 + 1 + 8.
        assert_eq!(f16.place(Matrix::A, 6, 2, 1), [1, 13]);
        // a2 of thread 31: row 7 + 8, column 6.
        assert_eq!(f16.place(Matrix::A, 31, 1, 0), [15, 6]);
        // b3 of thread 9: row 1 * 2 + 1 + 8, column 2.
        assert_eq!(f16.place(Matrix::B, 9, 1, 1), [11, 2]);
        // c2 of thread 9: row 2 + 8, column 2.
        assert_eq!(f16.place(Matrix::C, 9, 2, 0), [10, 2]);
        let s8 = of(Type::S8, [16, 8, 32]);
        // a9 of thread 5: row 1, column 1 * 4 + 1 + 16.
        assert_eq!(s8.place(Matrix::A, 5, 2, 1), [1, 21]);
        let tf32 = of(Type::Tf32, [16, 8, 8]);
        assert_eq!(tf32.place(Matrix::A, 5, 3, 0), [9, 5]);
        let quads = of(Type::F16, [8, 8, 4]);
        // Thread 21 belongs to the second multiplication: row 1 + 4 of A, the third element.
        assert_eq!(quads.place(Matrix::A, 21, 1, 0), [8 + 5, 2]);
        assert_eq!(quads.place(Matrix::B, 21, 1, 1), [3, 8 + 5]);
        // c6 of thread 6: row 0 + 2, column 4 + 2.
        assert_eq!(quads.place(Matrix::C, 6, 6, 0), [8 + 2, 6]);
    }

    #[test]
    fn four_bits_say_where_stored_elements_belong() {
        let of = |a: Type, k| {
            let tensor = Tensor {
                role: Role::Multiply,
                warp_wide: false,
                shape: [16, 8, k],
                by_column: [false, true],
                types: [Type::F32, a, a, Type::F32],
                bits: None,
                transposed: false,
                sparse: true,
            };
            assert_eq!(tensor.size(Matrix::A), [16, u32::from(k) / 2]);
            tensor.sparsity()
        };
        let half = of(Type::F16, 32);
        assert_eq!((half.chunks, half.threads()), (8, 2));
        // Row 9, the second chunk of the second thread of the pair.
        assert_eq!(half.place(9, 5, 1), (4 + 3, 16 + 4));
        assert_eq!([0, 1].map(|i| half.column(5, i, 0b1101)), [21, 23]);
        let single = of(Type::Tf32, 8);
        assert_eq!(
            [0b0100, 0b1110].map(|four| single.column(3, 0, four)),
            [6, 7]
        );
        let nibbles = of(Type::S4, 64);
        let columns: Vec<u32> = (0..4).map(|i| nibbles.column(1, i, 0b1100)).collect();
        assert_eq!(columns, [8, 9, 14, 15]);
        // Row 9: the second thread of the second pair; of all four, the last for the upper half.
        assert_eq!(nibbles.place(9, 5, 1), (4 + 3, 20));
        assert_eq!(nibbles.place(1, 5, 1), (4 + 2, 20));
        let bytes = of(Type::S8, 64);
        assert_eq!((bytes.chunks, bytes.threads()), (16, 4));
        assert_eq!(bytes.place(9, 9, 0), (4 + 3, 4));
        assert_eq!(bytes.place(1, 7, 0), (4, 28));
    }
}
