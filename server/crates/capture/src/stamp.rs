//! Times and numbers in names. Exporters put them there, and copies of files keep names but lose times.

use std::time::{Duration, SystemTime};

/// The time that the last long number of a path stands for: seconds, milli-, micro- or nanoseconds since the epoch (what
/// `tensorboard_trace_handler`, vLLM and sglang write), or `YYYYMMDDhhmmss`.
pub fn stamp(path: &str) -> Option<SystemTime> {
    numbers(path).rev().find_map(|digits| match digits.len() {
        14 if digits.starts_with("20") || digits.starts_with("19") => calendar(digits),
        10..=12 => epoch(digits, 10),
        13..=15 => epoch(digits, 13),
        16..=18 => epoch(digits, 16),
        19 => epoch(digits, 19),
        _ => None,
    })
}

/// The path with every number replaced, and the numbers: paths with equal templates are comparable by their numbers.
pub fn template(path: &str) -> (String, Vec<u128>) {
    let mut template = String::with_capacity(path.len());
    let mut inside = false;
    for c in path.chars() {
        if !c.is_ascii_digit() {
            template.push(c);
        } else if !inside {
            template.push('#');
        }
        inside = c.is_ascii_digit();
    }
    (template, numbers(path).map(|digits| digits.parse().unwrap_or(u128::MAX)).collect())
}

fn numbers(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty())
}

/// `digits` as a time whose unit makes a number of `unit_digits` digits of today.
fn epoch(digits: &str, unit_digits: u32) -> Option<SystemTime> {
    let value: u64 = digits.parse().ok()?;
    let per_second = 10u64.pow(unit_digits - 10);
    let nanos = (value % per_second) * (1_000_000_000 / per_second);
    // Between 2001 and 2128: other numbers of that length are hashes or ids.
    let seconds = value / per_second;
    (1_000_000_000..5_000_000_000)
        .contains(&seconds)
        .then(|| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos as u32))
}

/// `YYYYMMDDhhmmss`, read as UTC: only the order matters.
fn calendar(digits: &str) -> Option<SystemTime> {
    let part = |from: usize, to: usize| digits.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, second) = (part(8, 10)?, part(10, 12)?, part(12, 14)?);
    let valid =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    if !valid {
        return None;
    }
    // Days from civil date: Howard Hinnant's public-domain formula.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(path: &str) -> Option<u64> {
        stamp(path)?.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
    }

    #[test]
    fn all_usual_units_and_a_calendar_time_are_read() {
        assert_eq!(seconds("host_77.1700000060000.pt.trace.json"), Some(1_700_000_060));
        assert_eq!(seconds("1782763266.4276123-TP-0.trace.json"), Some(1_782_763_266));
        assert_eq!(seconds("w.1700000000000000001.pt.trace.json"), Some(1_700_000_000));
        assert_eq!(seconds("naive/i-0a1_pid_30193/20261014091502/trace.json"), Some(1_791_969_302));
        assert_eq!(seconds("iteration_20/rank0_trace.json"), None);
        assert_eq!(seconds("hash_99999999999999999/trace.json"), None);
    }

    #[test]
    fn templates_compare_by_their_numbers() {
        let (a, ten) = template("iteration_10/rank0_trace.json");
        let (b, twenty) = template("iteration_20/rank0_trace.json");
        assert_eq!(a, b);
        assert!(ten < twenty);
    }
}
