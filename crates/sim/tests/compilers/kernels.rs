// The kernels that Rust is given: the same as in kernels.cu, without even a core library, which no
// toolchain brings for this target.
#![feature(no_core, lang_items, abi_ptx, intrinsics, auto_traits, link_llvm_intrinsics, rustc_attrs)]
#![allow(internal_features)]
#![no_core]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
#[lang = "freeze"]
unsafe auto trait Freeze {}
impl Copy for i32 {}
impl Copy for u32 {}
impl Copy for isize {}
impl Copy for bool {}
impl<T: PointeeSized> Copy for *const T {}
impl<T: PointeeSized> Copy for *mut T {}
#[lang = "legacy_receiver"]
pub trait LegacyReceiver {}
impl<T: PointeeSized> LegacyReceiver for &T {}

#[lang = "eq"]
pub trait PartialEq<Rhs: PointeeSized = Self>: PointeeSized {
    fn eq(&self, other: &Rhs) -> bool;
    fn ne(&self, other: &Rhs) -> bool;
}
#[lang = "partial_ord"]
pub trait PartialOrd<Rhs: PointeeSized = Self>: PartialEq<Rhs> + PointeeSized {
    fn lt(&self, other: &Rhs) -> bool;
    fn gt(&self, other: &Rhs) -> bool;
}
#[lang = "bitand"]
pub trait BitAnd<Rhs = Self> {
    type Output;
    fn bitand(self, rhs: Rhs) -> Self::Output;
}

// The compiler knows what the operators of numbers do; the traits have to be there.
macro_rules! operators {
    ($($ty:ty)*) => {$(
        impl PartialEq for $ty {
            fn eq(&self, other: &$ty) -> bool { *self == *other }
            fn ne(&self, other: &$ty) -> bool { *self != *other }
        }
        impl PartialOrd for $ty {
            fn lt(&self, other: &$ty) -> bool { *self < *other }
            fn gt(&self, other: &$ty) -> bool { *self > *other }
        }
        impl BitAnd for $ty {
            type Output = $ty;
            fn bitand(self, rhs: $ty) -> $ty { self & rhs }
        }
    )*};
}
operators!(i32 isize);

#[rustc_intrinsic]
pub const fn wrapping_add<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const fn wrapping_sub<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const fn wrapping_mul<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const unsafe fn unchecked_div<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const unsafe fn unchecked_rem<T: Copy>(a: T, b: T) -> T;
#[rustc_intrinsic]
pub const unsafe fn offset<Ptr: Copy, Delta: Copy>(pointer: Ptr, by: Delta) -> Ptr;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    fn tid() -> i32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    fn ctaid() -> i32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    fn ntid() -> i32;
}

unsafe fn index() -> isize {
    wrapping_add(wrapping_mul(ctaid(), ntid()), tid()) as isize
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn affine(input: *const i32, out: *mut i32, n: i32) {
    let i = index();
    if i < n as isize {
        *offset(out, i) = wrapping_sub(wrapping_mul(*offset(input, i), 7), 3);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn collatz(input: *const i32, out: *mut i32, n: i32) {
    let i = index();
    if i < n as isize {
        let mut x = wrapping_add((*offset(input, i)) & 1023, 1);
        let mut steps = 0;
        while x != 1 {
            x = if x & 1 != 0 {
                wrapping_add(wrapping_mul(x, 3), 1)
            } else {
                unchecked_div(x, 2)
            };
            steps = wrapping_add(steps, 1);
            if steps > 60 {
                break;
            }
        }
        *offset(out, i) = wrapping_add(wrapping_mul(steps, 1000), unchecked_rem(x, 1000));
    }
}
