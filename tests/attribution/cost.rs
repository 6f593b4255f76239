//! What attribution costs on a file of 20,000 lines and a trace of 100,000 ops, made here, and what a keystroke costs
//! after it.
//!
//! `cargo run --release --example attribution-cost`
//!
//! Medians of several rounds. `attribute` has to be compared with `load`, which is reading the trace and building the
//! profile.
#![allow(clippy::print_stdout, reason = "a tool that prints")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use attribution::Place;
use ide::LineMap;
use profile::Profile;
use source::{FileKey, SourceFiles};

const LINES: usize = 20_000;
const OPS: usize = 100_000;
const ROUNDS: usize = 7;

fn main() -> Result<(), String> {
    for (name, function_lines) in [("400 functions of 50 lines", 50), ("one function of 20,000 lines", LINES)]
    {
        let (text, trace) = program(function_lines);
        let workspace = OneFile(Arc::from(text));
        let (mut loads, mut attributions, mut known) = (Vec::new(), Vec::new(), (0, 0));
        for _ in 0..ROUNDS {
            let started = Instant::now();
            let read = trace::read(trace.as_bytes(), &AtomicBool::new(false)).map_err(|e| e.to_string())?;
            let profile = Profile::build(read);
            loads.push(started.elapsed());
            let started = Instant::now();
            let attribution = attribution::attribute(&profile, &workspace);
            attributions.push(started.elapsed());
            let lines = attribution.charges.iter().filter(|c| matches!(c.place, Place::Line { .. })).count();
            known = (lines, attribution.charges.len());
        }
        println!(
            "{name}: load {:?}, attribute {:?}, {} of {} ops on a line",
            median(&mut loads),
            median(&mut attributions),
            known.0,
            known.1
        );
    }
    let (text, _) = program(50);
    let mut keystrokes: Vec<Duration> = (0..1000)
        .map(|at| {
            let mut edited = text.clone();
            edited.insert(text.len() / 1000 * at, 'x');
            let started = Instant::now();
            let map = LineMap::between(&text, &edited);
            let took = started.elapsed();
            assert!(map.line(0).is_some() || at == 0);
            took
        })
        .collect();
    println!("keystroke: lines of marks anew in {:?}", median(&mut keystrokes));
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A workspace of one file.
struct OneFile(Arc<str>);

impl SourceFiles for OneFile {
    fn candidates(&self, base: &str) -> Vec<FileKey> {
        let key = || FileKey { path: "/project/big.py".into(), relative: "big.py".into() };
        if base == "big.py" { vec![key()] } else { Vec::new() }
    }

    fn text(&self, _: &FileKey) -> Option<Arc<str>> {
        Some(self.0.clone())
    }

    fn all(&self, _: usize) -> Vec<FileKey> {
        self.candidates("big.py")
    }

    fn map_path(&self, _: &str) -> Option<String> {
        None
    }
}

/// One statement's text and the events it leaves: a builtin's frame with its op, and bare ops.
const STATEMENTS: [(&str, &[&str]); 3] = [
    ("x = torch.relu(x) * y + x[0]", &["relu!", "mul", "select", "add"]),
    ("if x.sum() > limit: x = x / 2", &["sum!", "gt", "is_nonzero"]),
    ("y = y.clone() - x", &["clone!", "sub"]),
];

/// A file of functions that are run one after the other until the ops are enough, and the trace of that.
fn program(function_lines: usize) -> (String, String) {
    let functions = LINES / function_lines;
    let mut text = String::new();
    for function in 0..functions {
        let _ = writeln!(text, "def f{function}(x, y, limit):");
        for line in 0..function_lines - 2 {
            let _ = writeln!(text, "    {}", STATEMENTS[line % STATEMENTS.len()].0);
        }
        text.push_str("    return x\n");
    }
    let (mut trace, mut ops, mut now) = (String::from("{\"traceEvents\":[\n"), 0, 1000);
    let mut event = |category: &str, name: &str, from: usize, to: usize| {
        let _ = writeln!(
            trace,
            "{{\"ph\":\"X\",\"cat\":\"{category}\",\"name\":\"{name}\",\"pid\":1,\"tid\":1,\"ts\":{from},\"dur\":{},\"args\":{{}}}},",
            to - from
        );
    };
    'run: loop {
        for function in 0..functions {
            let begun = now;
            for line in 0..function_lines - 2 {
                for op in STATEMENTS[line % STATEMENTS.len()].1 {
                    let (name, framed) = op.strip_suffix('!').map_or((*op, false), |name| (name, true));
                    if framed {
                        event(
                            "python_function",
                            &format!("<built-in method {name} of Tensor object at 0x1>"),
                            now + 1,
                            now + 9,
                        );
                    }
                    event("cpu_op", &format!("aten::{name}"), now + 2, now + 8);
                    now += 10;
                    ops += 1;
                }
            }
            now += 10;
            event(
                "python_function",
                &format!("big.py({}): f{function}", function * function_lines + 1),
                begun,
                now - 5,
            );
            if ops >= OPS {
                break 'run;
            }
        }
    }
    trace.push_str("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}}]}\n");
    (text, trace)
}
