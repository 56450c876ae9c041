//! Literals turned into the bits that an instruction's type asks for.

use crate::isa::Type;

/// Bits of an integer literal used as a `ty`. Integers stay sign-extended to 64 bits; a
/// float type takes only zero, whose bits are the same, and half types take raw bits.
pub(in crate::lower) fn integer(value: i64, ty: Type) -> Result<u64, String> {
    match ty {
        Type::F32 | Type::F64 | Type::Tf32 if value != 0 => Err(format!(
            "an integer stands where a `.{}` is needed",
            spelled(ty)
        )),
        Type::Pred => Ok(u64::from(value != 0)),
        _ => Ok(value as u64),
    }
}

/// Bits of a floating-point literal (`width` bits as written) used as a `ty`.
pub(in crate::lower) fn float(bits: u64, width: u8, ty: Type) -> Result<u64, String> {
    let narrow = || {
        if width == 32 {
            bits
        } else {
            u64::from((f64::from_bits(bits) as f32).to_bits())
        }
    };
    let wide = || {
        if width == 64 {
            bits
        } else {
            f64::from(f32::from_bits(bits as u32)).to_bits()
        }
    };
    match ty.bytes() {
        4 if ty != Type::F16x2 && ty != Type::Bf16x2 => Ok(narrow()),
        8 => Ok(wide()),
        _ => Err(format!(
            "a floating-point literal stands where a `.{}` is needed",
            spelled(ty)
        )),
    }
}

/// A type as PTX writes it, without the dot.
pub(crate) fn spelled(ty: Type) -> String {
    format!("{ty:?}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_take_the_width_of_the_instruction() {
        let one = u64::from(1f32.to_bits());
        assert_eq!(float(one, 32, Type::F32), Ok(one));
        assert_eq!(float(one, 32, Type::F64), Ok(1f64.to_bits()));
        assert_eq!(float(1f64.to_bits(), 64, Type::F32), Ok(one));
        assert_eq!(float(one, 32, Type::B32), Ok(one));
        assert!(float(one, 32, Type::F16).is_err());
        assert!(float(one, 32, Type::Pred).is_err());
    }

    #[test]
    fn integers_are_sign_extended_and_are_no_floats() {
        assert_eq!(integer(-1, Type::S32), Ok(u64::MAX));
        assert_eq!(integer(0x3c00, Type::F16), Ok(0x3c00));
        assert_eq!(integer(0, Type::F32), Ok(0));
        assert!(integer(1, Type::F64).is_err());
    }
}
