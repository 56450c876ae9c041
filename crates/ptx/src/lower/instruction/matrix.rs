//! Matrix instructions: fragments are vectors of registers.

use crate::ast::{self, Instruction};
use crate::isa::{Op, Type};
use crate::kernel::{Operand, RegId};
use crate::lower::builder::Builder;
use crate::lower::operand::shape::Kind;
use crate::lower::operand::span_of;
use crate::parse::instruction::matrix::suffixes;
use crate::tensor::{Matrix, Role, Tensor};

type Guard = Option<(RegId, bool)>;

impl Builder<'_> {
    /// Any matrix instruction.
    pub(in crate::lower) fn matrix(&mut self, instr: &Instruction, guard: Guard) -> Option<()> {
        let Some(tensor) = instr.mods.tensor else {
            let list: Vec<&str> = instr.text.split('.').skip(1).collect();
            let why = suffixes(instr.op, &list).err().unwrap_or_default();
            self.unsupported(instr.span, format!("`{}`: {why}", instr.text));
            return None;
        };
        let (dst, src) = match (tensor.role, &instr.operands[..]) {
            (Role::Multiply, [d, a, b, c, rest @ ..])
                if rest.len() == if tensor.sparse { 2 } else { 0 } =>
            {
                let dst = self.fragment(d, &tensor, Matrix::D, true, instr);
                let mut src = Vec::new();
                for (operand, matrix) in [(a, Matrix::A), (b, Matrix::B), (c, Matrix::C)] {
                    src.extend(self.fragment(operand, &tensor, matrix, false, instr)?);
                }
                if let [which, selector] = rest {
                    src.extend(self.words(which, 1, Type::B32, false, instr)?);
                    src.push(self.selector(selector, &tensor, instr)?);
                }
                (dst?, src)
            }
            (Role::Load(matrix), [d, address, stride @ ..]) if stride.len() < 2 => {
                let dst = self.fragment(d, &tensor, matrix, true, instr)?;
                (
                    dst,
                    self.tile(address, stride.first(), &tensor, matrix, instr)?,
                )
            }
            (Role::Store(matrix), [address, d, stride @ ..]) if stride.len() < 2 => {
                let values = self.fragment(d, &tensor, matrix, false, instr)?;
                let mut src = self.tile(address, stride.first(), &tensor, matrix, instr)?;
                src.extend(values);
                (vec![], src)
            }
            (Role::Tiles(n), [d, a]) => {
                let n = usize::from(n);
                match instr.op {
                    Op::Ldmatrix => {
                        let dst = self.words(d, n, Type::B32, true, instr)?;
                        (dst, vec![self.tile_address(a, instr)?])
                    }
                    Op::Stmatrix => {
                        let mut src = vec![self.tile_address(d, instr)?];
                        src.extend(self.words(a, n, Type::B32, false, instr)?);
                        (vec![], src)
                    }
                    _ => (
                        self.words(d, 1, Type::B32, true, instr)?,
                        self.words(a, 1, Type::B32, false, instr)?,
                    ),
                }
            }
            _ => {
                self.wrong_number_of_operands(instr);
                return None;
            }
        };
        let mut mods = instr.mods;
        if let Some(Operand::Address { .. }) = src.first()
            && mods.space.is_none()
        {
            mods.space = self.generic_space(instr);
        }
        self.emit(instr.op, mods, dst, src).guard = guard;
        Some(())
    }

    /// Which threads have the places of a sparse matrix's elements.
    fn selector(
        &mut self,
        operand: &ast::Operand,
        tensor: &Tensor,
        instr: &Instruction,
    ) -> Option<Operand> {
        let last = u64::from(4 / tensor.sparsity().threads()) - 1;
        let source = self.source(operand, Kind::Value(Type::U32), &instr.text)?;
        if !matches!(source, Operand::Imm(n) if n <= last) {
            self.error(
                span_of(operand),
                format!(
                    "the last operand of `{}` is a number from 0 to {last}",
                    instr.text
                ),
            );
            return None;
        }
        Some(source)
    }

    /// Where the named variable of an address without a space lies.
    fn generic_space(&mut self, instr: &Instruction) -> Option<crate::isa::Space> {
        let mut mods = instr.mods;
        let address = instr
            .operands
            .iter()
            .find(|o| matches!(o, ast::Operand::Address { .. }))?;
        self.place(address, &mut mods, instr)?;
        mods.space
    }

    fn tile_address(&mut self, operand: &ast::Operand, instr: &Instruction) -> Option<Operand> {
        self.address_in_memory(operand, instr, "a matrix does not lie in a parameter")
    }

    /// The address of a matrix and how many elements apart its rows (or columns) begin.
    fn tile(
        &mut self,
        address: &ast::Operand,
        stride: Option<&ast::Operand>,
        tensor: &Tensor,
        matrix: Matrix,
        instr: &Instruction,
    ) -> Option<Vec<Operand>> {
        let address = self.tile_address(address, instr)?;
        let [rows, columns] = tensor.size(matrix);
        let stride = match stride {
            Some(stride) => self.source(stride, Kind::Value(Type::U32), &instr.text)?,
            None if tensor.by_column[0] => Operand::Imm(u64::from(rows)),
            None => Operand::Imm(u64::from(columns)),
        };
        Some(vec![address, stride])
    }

    /// The registers of a fragment.
    fn fragment(
        &mut self,
        operand: &ast::Operand,
        tensor: &Tensor,
        matrix: Matrix,
        written: bool,
        instr: &Instruction,
    ) -> Option<Vec<Operand>> {
        let ty = if tensor.is_wide() {
            Type::B64
        } else {
            Type::B32
        };
        let count = tensor.registers(matrix) as usize;
        self.words(operand, count, ty, written, instr)
    }

    fn words(
        &mut self,
        operand: &ast::Operand,
        count: usize,
        ty: Type,
        written: bool,
        instr: &Instruction,
    ) -> Option<Vec<Operand>> {
        let list = self.elements(operand);
        if list.len() != count {
            self.error(
                span_of(operand),
                format!(
                    "`{}` takes {count} register{} here, not {}",
                    instr.text,
                    if count == 1 { "" } else { "s" },
                    list.len()
                ),
            );
            return None;
        }
        let kind = Kind::Value(ty);
        list.iter()
            .map(|one| match written {
                true => self.destination(one, kind, &instr.text),
                false => self.source(one, kind, &instr.text),
            })
            .collect()
    }
}
