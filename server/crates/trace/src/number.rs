//! Numbers as the file writes them, read without a loss: Kineto's timestamps have up to 19 significant digits, which
//! a 64-bit float cannot hold.

/// Digits of the mantissa that are kept exactly; further ones only decide the rounding.
const KEPT: i128 = 10_i128.pow(36);

/// Decimal microseconds (`12.345`, `-5`, `3.0e2`) to integer nanoseconds, half to even below one nanosecond.
///
/// `None` for what is no finite decimal number, and for what does not fit.
pub fn nanoseconds(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], exponent(&digits[at + 1..])?),
        None => (digits, 0),
    };
    let (mut value, mut scale, mut seen, mut fraction, mut rest) = (0_i128, 0_i64, false, false, false);
    for byte in mantissa.bytes() {
        match byte {
            b'0'..=b'9' if value < KEPT => {
                value = value * 10 + i128::from(byte - b'0');
                scale -= i64::from(fraction);
                seen = true;
            }
            b'0'..=b'9' => {
                rest |= byte != b'0';
                scale += i64::from(!fraction);
            }
            b'.' if !fraction => fraction = true,
            _ => return None,
        }
    }
    if !seen {
        return None;
    }
    let nanoseconds = shift(value, scale + exponent + 3, rest)?;
    i64::try_from(if negative { -nanoseconds } else { nanoseconds }).ok()
}

/// The digits after `e`. Beyond ±10,000 the sign alone matters.
fn exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse::<i64>().unwrap_or(i64::MAX).min(10_000);
    Some(if text.starts_with('-') { -value } else { value })
}

/// `value * 10^by`, half to even; `rest` says that non-zero digits follow those of `value`.
fn shift(value: i128, by: i64, rest: bool) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    if by >= 0 {
        let factor = 10_i128.checked_pow(u32::try_from(by).ok()?)?;
        return value.checked_mul(factor);
    }
    let Some(divisor) = u32::try_from(-by).ok().and_then(|by| 10_i128.checked_pow(by)) else {
        return Some(0);
    };
    let (quotient, remainder) = (value / divisor, value % divisor);
    let up = match (remainder * 2).cmp(&divisor) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => rest || quotient % 2 == 1,
        std::cmp::Ordering::Greater => true,
    };
    Some(quotient + i128::from(up))
}

/// A non-negative integer id. Negative numbers (`correlation: -1`) and fractions are none.
pub fn id(text: &str) -> Option<u64> {
    let text = text.trim();
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keeps_every_digit_of_absolute_times() {
        assert_eq!(nanoseconds("1778640000000120.001"), Some(1_778_640_000_000_120_001));
        assert_eq!(nanoseconds("9223372036854775.807"), Some(i64::MAX));
        assert_eq!(nanoseconds("9223372036854775.808"), None);
    }

    #[test]
    fn reads_exponents_signs_and_spaces() {
        assert_eq!(nanoseconds("3.0e2"), Some(300_000));
        assert_eq!(nanoseconds("1E-3"), Some(1));
        assert_eq!(nanoseconds("-5"), Some(-5_000));
        assert_eq!(nanoseconds(" 7 "), Some(7_000));
        assert_eq!(nanoseconds("1e999999999999999999999"), None);
        assert_eq!(nanoseconds("0e999999999999999999999"), Some(0));
        assert_eq!(nanoseconds("1e-999999999999999999999"), Some(0));
    }

    #[test]
    fn rounds_half_to_even_below_a_nanosecond() {
        assert_eq!(nanoseconds("0.0005"), Some(0));
        assert_eq!(nanoseconds("0.0015"), Some(2));
        assert_eq!(nanoseconds("0.00050000000000000000000000000000000000000000001"), Some(1));
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["", "-", ".", "NaN", "Infinity", "N/A", "1.2.3", "1e", "1e+", "0x10", "12 34"] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }

    #[test]
    fn ids_reach_beyond_63_bits() {
        assert_eq!(id("18446744073709551615"), Some(u64::MAX));
        assert_eq!(id("3.0"), Some(3));
        assert_eq!((id("-1"), id(""), id("1.5")), (None, None, None));
    }

    proptest! {
        /// The oracle writes the number of nanoseconds as text, moves the point, and must get the number back.
        #[test]
        fn agrees_with_text_shifted_by_three_digits(ns in any::<i64>(), zeros in 0_usize..20, exponent in -6_i32..7) {
            let digits = format!("{:020}", ns.unsigned_abs());
            let point = i32::try_from(digits.len()).unwrap_or(0) - 3 + exponent;
            let mut text = String::from(if ns < 0 { "-" } else { "" });
            if point >= digits.len() as i32 {
                text += &digits;
                text += &"0".repeat(point as usize - digits.len());
            } else {
                text += &digits[..point as usize];
                text.push('.');
                text += &digits[point as usize..];
                text += &"0".repeat(zeros);
            }
            text.push('e');
            text += &(-exponent).to_string();
            prop_assert_eq!(nanoseconds(&text), Some(ns));
        }

        #[test]
        fn never_panics(text in "[-+0-9.eE]{0,60}") {
            let _ = nanoseconds(&text);
        }
    }
}
