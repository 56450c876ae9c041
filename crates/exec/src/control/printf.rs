//! `vprintf` and failed assertions.

use std::fmt::Write as _;

use warpsim_ptx::isa::Op;
use warpsim_ptx::kernel::{Instr, Intrinsic, window};

use crate::access::spaces::{fault, within};
use crate::fault::{Fault, FaultKind};
use crate::op::{Decoded, Plan, Regs, Value, Width, World};
use crate::state::lanes_of;

/// Longest string read from device memory.
const LONGEST: usize = 64 * 1024;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    if i.op != Op::Call {
        return None;
    }
    let wide = Width::Wide;
    Some(match i.intrinsic? {
        Intrinsic::Vprintf => Plan::full(vprintf, &[wide, wide], &[Width::Narrow]),
        // message, file, line, function, size of a character
        Intrinsic::AssertFail => {
            Plan::full(assert_fail, &[wide, wide, Width::Narrow, wide, wide], &[])
        }
        _ => return None,
    })
}

/// Reads bytes at a generic address for a lane.
fn read(w: &mut World<'_, '_>, lane: usize, address: u64, into: &mut [u8]) -> Result<(), Fault> {
    let home = w.lanes.home(lane);
    let warp = &w.threads.warps[usize::from(home)];
    let inside = |start: u64| address.wrapping_sub(start) < window::SIZE;
    let copied = if inside(window::SHARED) {
        let shared = &w.threads.blocks[usize::from(warp.block)].shared;
        copy(address - window::SHARED, shared, into)
    } else if inside(window::LOCAL) {
        let mut local = vec![0; warp.local.size()];
        warp.local.read(lane, 0, &mut local);
        copy(address - window::LOCAL, &local, into)
    } else if inside(window::PARAM) {
        copy(address - window::PARAM, &w.grid.params, into)
    } else {
        w.memory.load(address, into)
    };
    copied.map_err(|cause| {
        w.effect.address[lane] = address;
        fault(
            w,
            lane,
            warpsim_ptx::isa::Space::Generic,
            into.len(),
            false,
            cause,
        )
    })
}

fn copy(
    address: u64,
    from: &[u8],
    into: &mut [u8],
) -> Result<(), crate::memory::image::AccessError> {
    for (k, byte) in into.iter_mut().enumerate() {
        *byte = from[within(address + k as u64, 1, from.len())?.start];
    }
    Ok(())
}

fn string(w: &mut World<'_, '_>, lane: usize, address: u64) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    let mut byte = [0];
    while text.len() < LONGEST {
        read(w, lane, address + text.len() as u64, &mut byte)?;
        if byte[0] == 0 {
            break;
        }
        text.push(byte[0]);
    }
    Ok(text)
}

fn vprintf(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let mut out = u64::ZERO;
    for lane in lanes_of(r.mask) {
        let format = string(w, lane, r.lane::<u64>(d.src[0], lane))?;
        let arguments = Arguments {
            next: r.lane::<u64>(d.src[1], lane),
            count: 0,
            lane,
        };
        let (text, count) = render(w, &format, arguments)?;
        w.memory.prints.extend_from_slice(&text);
        u64::put(&mut out, lane, count);
    }
    r.commit_bits(d.dst[0], &out, false);
    Ok(())
}

/// The argument buffer: values at their natural alignment, floats as doubles.
struct Arguments {
    next: u64,
    count: u64,
    lane: usize,
}

impl Arguments {
    fn take(&mut self, w: &mut World<'_, '_>, bytes: usize) -> Result<u64, Fault> {
        self.next = self.next.next_multiple_of(bytes as u64);
        let mut value = [0; 8];
        read(w, self.lane, self.next, &mut value[..bytes])?;
        self.next += bytes as u64;
        self.count += 1;
        Ok(u64::from_le_bytes(value))
    }
}

/// One conversion specification.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
}

fn render(
    w: &mut World<'_, '_>,
    format: &[u8],
    mut arguments: Arguments,
) -> Result<(Vec<u8>, u64), Fault> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < format.len() {
        if format[at] != b'%' {
            out.push(format[at]);
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        let mut spec = Spec::default();
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        if format.get(at) == Some(&b'*') {
            let n = arguments.take(w, 4)? as u32 as i32;
            spec.left |= n < 0;
            spec.width = n.unsigned_abs() as usize;
            at += 1;
        } else {
            spec.width = number(format, &mut at);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            spec.precision = if format.get(at) == Some(&b'*') {
                at += 1;
                usize::try_from(arguments.take(w, 4)? as u32 as i32).ok()
            } else {
                Some(number(format, &mut at))
            };
        }
        while let Some(b'h' | b'l' | b'z' | b'j' | b't' | b'L') = format.get(at) {
            spec.wide |= format[at] != b'h';
            at += 1;
        }
        let Some(&conversion) = format.get(at) else {
            out.extend_from_slice(&format[start..]);
            break;
        };
        at += 1;
        convert(
            w,
            conversion,
            spec,
            &mut arguments,
            &mut out,
            &format[start..at],
        )?;
    }
    Ok((out, arguments.count))
}

fn number(text: &[u8], at: &mut usize) -> usize {
    let mut n: usize = 0;
    while let Some(digit @ b'0'..=b'9') = text.get(*at) {
        n = (n * 10 + usize::from(digit - b'0')).min(4096);
        *at += 1;
    }
    n
}

fn convert(
    w: &mut World<'_, '_>,
    conversion: u8,
    mut spec: Spec,
    arguments: &mut Arguments,
    out: &mut Vec<u8>,
    whole: &[u8],
) -> Result<(), Fault> {
    let bytes = if spec.wide { 8 } else { 4 };
    let body: (String, String) = match conversion {
        b'%' => {
            out.push(b'%');
            return Ok(());
        }
        b'd' | b'i' => {
            let raw = arguments.take(w, bytes)?;
            let value = if spec.wide {
                raw as i64
            } else {
                i64::from(raw as u32 as i32)
            };
            let prefix = sign(value < 0, &spec).to_string();
            integer(&mut spec, prefix, value.unsigned_abs().to_string())
        }
        b'u' | b'x' | b'X' | b'o' => {
            let value = arguments.take(w, bytes)?;
            let (prefix, digits) = match conversion {
                b'u' => ("", value.to_string()),
                b'x' => ("0x", format!("{value:x}")),
                b'X' => ("0X", format!("{value:X}")),
                _ => ("0", format!("{value:o}")),
            };
            let prefix = if spec.alternate && value != 0 {
                prefix
            } else {
                ""
            };
            integer(&mut spec, prefix.to_string(), digits)
        }
        b'p' => {
            let value = arguments.take(w, 8)?;
            spec.zero = false;
            (String::new(), format!("{value:#x}"))
        }
        b'c' => {
            let value = arguments.take(w, 4)? as u8;
            pad(out, &spec, b"", &[value]);
            return Ok(());
        }
        b's' => {
            let address = arguments.take(w, 8)?;
            let mut text = string(w, arguments.lane, address)?;
            text.truncate(spec.precision.unwrap_or(usize::MAX));
            spec.zero = false;
            pad(out, &spec, b"", &text);
            return Ok(());
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(arguments.take(w, 8)?);
            let mut text = float(conversion.to_ascii_lowercase(), value.abs(), &spec);
            if conversion.is_ascii_uppercase() {
                text.make_ascii_uppercase();
            }
            spec.zero &= value.is_finite();
            (sign(value.is_sign_negative(), &spec).to_string(), text)
        }
        // Unknown conversions are printed as they stand.
        _ => {
            out.extend_from_slice(whole);
            return Ok(());
        }
    };
    pad(out, &spec, body.0.as_bytes(), body.1.as_bytes());
    Ok(())
}

fn sign(negative: bool, spec: &Spec) -> &'static str {
    match negative {
        true => "-",
        false if spec.plus => "+",
        false if spec.space => " ",
        false => "",
    }
}

/// A precision gives the least number of digits and turns zero padding off.
fn integer(spec: &mut Spec, prefix: String, digits: String) -> (String, String) {
    match spec.precision {
        Some(n) => {
            spec.zero = false;
            let digits = if n == 0 && digits == "0" {
                String::new()
            } else {
                digits
            };
            (prefix, format!("{digits:0>n$}"))
        }
        None => (prefix, digits),
    }
}

fn pad(out: &mut Vec<u8>, spec: &Spec, prefix: &[u8], body: &[u8]) {
    let fill = spec.width.saturating_sub(prefix.len() + body.len());
    let (before, zeros, after) = match (spec.left, spec.zero) {
        (true, _) => (0, 0, fill),
        (false, true) => (0, fill, 0),
        (false, false) => (fill, 0, 0),
    };
    out.resize(out.len() + before, b' ');
    out.extend_from_slice(prefix);
    out.resize(out.len() + zeros, b'0');
    out.extend_from_slice(body);
    out.resize(out.len() + after, b' ');
}

/// The digits of a number that is not negative.
fn float(conversion: u8, value: f64, spec: &Spec) -> String {
    if value.is_nan() {
        return "nan".to_string();
    }
    if value.is_infinite() {
        return "inf".to_string();
    }
    let precision = spec.precision.unwrap_or(6);
    match conversion {
        b'f' => format!("{value:.precision$}"),
        b'e' => exponential(value, precision),
        b'a' => hexadecimal(value),
        _ => {
            // %g: the shorter of the two, without trailing zeros.
            let digits = precision.max(1);
            let scientific = exponential(value, digits - 1);
            let exponent: i32 = scientific
                .split_once('e')
                .and_then(|(_, e)| e.parse().ok())
                .unwrap_or(0);
            let (mantissa, tail) = if exponent < -4 || exponent >= digits as i32 {
                let (m, e) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
                (m.to_string(), format!("e{e}"))
            } else {
                let places = (digits as i32 - 1 - exponent).max(0) as usize;
                (format!("{value:.places$}"), String::new())
            };
            let mantissa = if spec.alternate || !mantissa.contains('.') {
                mantissa
            } else {
                mantissa
                    .trim_end_matches('0')
                    .trim_end_matches('.')
                    .to_string()
            };
            mantissa + &tail
        }
    }
}

/// C's `%e`: at least two digits of exponent, always signed.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (lead, exponent) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        (e, _) => (1, e - 1023),
    };
    let mut text = format!("0x{lead}");
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    if !digits.is_empty() {
        text.push('.');
        text.push_str(digits);
    }
    let _ = write!(text, "p{exponent:+}");
    text
}

fn assert_fail(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let lane = r.mask.trailing_zeros() as usize;
    let mut text = |k: usize| -> Result<String, Fault> {
        let address = r.lane::<u64>(d.src[k], lane);
        Ok(String::from_utf8_lossy(&string(w, lane, address)?).into_owned())
    };
    let kind = FaultKind::Assert {
        message: text(0)?,
        file: text(1)?,
        function: text(3)?,
        line: r.lane::<u32>(d.src[2], lane),
    };
    Err(Fault::new(kind, lane, w.lanes.home(lane)))
}
