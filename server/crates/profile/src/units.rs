//! Nanoseconds to text. The only place that does so.

/// A duration for people: three significant digits or more, in the unit that keeps it readable.
///
/// `1_164_500` → `1.16 ms`, `403_300` → `403 µs`, `15_600` → `15.6 µs`, `820` → `820 ns`.
pub fn short(ns: i64) -> String {
    let value = ns as f64;
    let (scaled, unit) = match ns.unsigned_abs() {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (value / 1e3, "µs"),
        1_000_000..1_000_000_000 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    let decimals = if scaled.abs() >= 99.95 {
        0
    } else if scaled.abs() >= 9.995 {
        1
    } else {
        2
    };
    format!("{scaled:.decimals$} {unit}")
}

/// A duration the way `torch.autograd.profiler_util._format_time` prints it: `12.345us`, `1.165ms`, `2.000s`.
pub fn torch(ns: i64) -> String {
    torch_us(ns as f64 / 1e3)
}

fn torch_us(us: f64) -> String {
    if us >= 1e6 {
        format!("{:.3}s", us / 1e6)
    } else if us >= 1e3 {
        format!("{:.3}ms", us / 1e3)
    } else {
        format!("{us:.3}us")
    }
}

/// `part` of `whole` in percent with one decimal; `-` where there is no whole.
pub fn share(part: i64, whole: i64) -> String {
    if whole <= 0 { "-".to_owned() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

/// `total / calls` the way torch prints an average.
pub fn torch_average(total_ns: i64, calls: u64) -> String {
    torch_us(if calls == 0 { 0.0 } else { total_ns as f64 / calls as f64 / 1e3 })
}

/// `part` of `whole` the way torch prints a share: `12.34%`; `NaN` where torch has no whole is `-` here.
pub fn torch_share(part: i64, whole: i64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.2}%", 100.0 * part as f64 / whole as f64) }
}
