//! The buckets add up to the totals, whatever a trace holds.

mod common;

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use attribution::{Attribution, Cost, Place, attribute};
use profile::Profile;
use proptest::prelude::*;

const TRAIN: &str = "import torch


def step(x, w, c):
    y = torch.mm(x, w)
    if c:
        y = y * 2
    else:
        y = y * 3
    return torch.relu(y) + inner(y)


def inner(y):
    z = [t * 2 for t in y]
    return z
";

const FRAMES: [&str; 6] = [
    "train.py(4): step",
    "train.py(13): inner",
    "train.py(9): step",
    "train.py(14): <listcomp>",
    "torch/nn/functional.py(10): relu",
    "<built-in method mm of type object at 0x7f00>",
];
const OPS: [&str; 6] = [
    "aten::mm",
    "aten::mul",
    "Torch-Compiled Region: 0/0",
    "autograd::engine::evaluate_function: MulBackward0",
    "aten::add",
    "CompiledFunction",
];

/// An event of a generated trace: what it is, where, and to what it is joined.
#[derive(Debug, Clone)]
struct Made {
    what: u8,
    name: u8,
    thread: u8,
    start: u16,
    dur: u16,
    id: u8,
    line: u8,
}

fn made() -> impl Strategy<Value = Made> {
    (0u8..12, any::<u8>(), 0u8..2, 0u16..300, 0u16..200, 0u8..12, 0u8..20).prop_map(
        |(what, name, thread, start, dur, id, line)| Made { what, name, thread, start, dur, id, line },
    )
}

fn json(events: &[Made]) -> String {
    let mut text = r#"{"schemaVersion":1,"traceEvents":["#.to_owned();
    for (at, Made { what, name, thread, start, dur, id, line }) in events.iter().enumerate() {
        let frame = FRAMES[*name as usize % FRAMES.len()];
        let op = OPS[*name as usize % OPS.len()];
        let (category, name, args) = match what {
            0..3 => {
                let from = format!(r#""CallFrom":"train.py:{line}","#);
                let from = if line % 2 == 0 { from } else { String::new() };
                ("python_function", frame, format!(r#"{from}"Python id":{at}"#))
            }
            3..7 => {
                let backward = u8::from(op.starts_with("autograd"));
                let args =
                    format!(r#""External id":{id},"Sequence number":{line},"Fwd thread id":{backward}"#);
                ("cpu_op", op, args)
            }
            7 => ("user_annotation", "ProfilerStep#1", format!(r#""External id":{id}"#)),
            8 | 9 => ("cuda_runtime", "cudaLaunchKernel", format!(r#""correlation":{id}"#)),
            10 => ("kernel", "k", format!(r#""correlation":{id},"stream":7"#)),
            _ => ("kernel", "k", format!(r#""External id":{id},"stream":7"#)),
        };
        let (pid, thread) = if category == "kernel" { (0, 7) } else { (1, *thread) };
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            text,
            r#"{comma}{{"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{thread},"ts":{start},"dur":{dur},"args":{{{args},"Ev Idx":{at}}}}}"#
        );
    }
    text.push_str("]}");
    text
}

/// Every charge once by its place, the functions' own costs from the files, and what is unattributed.
fn buckets(attribution: &Attribution) -> Cost {
    let mut sum = attribution.unattributed;
    for charge in &attribution.charges {
        match charge.place {
            Place::Line { .. } | Place::Ambiguous { .. } => sum += charge.cost,
            Place::Function { .. } | Place::None => {}
        }
    }
    for function in attribution.files.iter().flat_map(|file| &file.functions) {
        sum += function.own;
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_buckets_add_up(events in proptest::collection::vec(made(), 0..60)) {
        let text = json(&events);
        let Ok(trace) = trace::read(text.as_bytes(), &AtomicBool::new(false)) else { return Ok(()) };
        let profile = Profile::build(trace);
        let attribution = attribute(&profile, &common::OneFile(TRAIN));
        prop_assert_eq!(buckets(&attribution), attribution.totals);
        prop_assert_eq!(attribution.totals.device_ns, profile.device_total_ns());
        let mut charged = Cost::default();
        for charge in &attribution.charges {
            charged += charge.cost;
        }
        prop_assert_eq!(charged.cpu_ns, attribution.totals.cpu_ns);
        for charge in &attribution.charges {
            if let Place::Line { line, .. } = charge.place {
                prop_assert!((1..=15).contains(&line));
            }
            if let Place::Ambiguous { lines, .. } = &charge.place {
                prop_assert!(lines.len() > 1 && lines.is_sorted());
            }
        }
    }
}

#[test]
fn the_generated_traces_are_attributed() {
    let at = |what, name, start, dur, id, line| Made { what, name, thread: 0, start, dur, id, line };
    // `step` calls mm, then one of its two arms multiplies, with a kernel.
    let events = [
        at(0, 0, 0, 100, 0, 1),
        at(0, 5, 10, 20, 0, 6),
        at(3, 0, 12, 10, 1, 1),
        at(3, 1, 40, 10, 2, 1),
        at(11, 0, 200, 5, 2, 0),
    ];
    let trace = trace::read(json(&events).as_bytes(), &AtomicBool::new(false)).expect("a trace");
    let attribution = attribute(&Profile::build(trace), &common::OneFile(TRAIN));
    let places: Vec<_> = attribution.charges.iter().map(|charge| &charge.place).collect();
    assert!(matches!(places[0], Place::Line { line: 5, .. }), "{places:?}");
    assert!(matches!(places[1], Place::Ambiguous { lines, .. } if **lines == [7, 9]), "{places:?}");
    assert_eq!(attribution.charges[1].cost, Cost { cpu_ns: 10_000, device_ns: 5_000 });
}
