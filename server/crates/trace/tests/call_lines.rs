//! Recorded call lines join the calls they were recorded of, and no others.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use trace::{CallLines, Trace, WarningKind, read};

const BASE_NS: i64 = 1_790_857_026_000_000_000;

/// A call of `f<name>` from `line` of `a.py`, so many nanoseconds after the base.
#[derive(Debug, Clone, Copy)]
struct Call {
    start_ns: i64,
    name: u32,
    line: u32,
}

/// The trace of these calls, as torch from 2.4 on writes it, or with microseconds since the epoch as 2.2 does.
fn trace(calls: &[Call], is_2_2: bool) -> Trace {
    let mut text = String::from("{\"schemaVersion\":1,");
    if !is_2_2 {
        let _ = write!(text, "\"baseTimeNanoseconds\":{BASE_NS},");
    }
    text.push_str("\"traceEvents\":[");
    for (id, Call { start_ns, name, .. }) in calls.iter().enumerate() {
        let ts = if is_2_2 {
            ((BASE_NS + start_ns) / 1000).to_string()
        } else {
            format!("{}.{:03}", start_ns / 1000, start_ns % 1000)
        };
        let comma = if id == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}{{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f{name}\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":0,\"args\":{{\"Python id\":{id}}}}}"
        );
    }
    text.push_str("]}");
    read(text.as_bytes(), &AtomicBool::new(false)).expect("a trace")
}

fn recorded(calls: &[Call]) -> CallLines {
    let names: Vec<String> = (0..10).map(|name| format!("\"f{name}\"")).collect();
    let mut last = -BASE_NS;
    let mut columns = [const { Vec::<String>::new() }; 4];
    for &Call { start_ns, name, line } in calls {
        let column_values = [start_ns - last, i64::from(name), 10, i64::from(line)];
        for (column, value) in columns.iter_mut().zip(column_values) {
            column.push(value.to_string());
        }
        last = start_ns;
    }
    let [starts, names_of, files, lines] = columns.map(|column| column.join(","));
    let text = format!(
        r#"{{"version":1,"torch":"2.9.1","strings":[{},"a.py"],"starts":[{starts}],"names":[{names_of}],"files":[{files}],"lines":[{lines}],"sha256":{{"a.py":"{}"}}}}"#,
        names.join(","),
        "07".repeat(32)
    );
    CallLines::read(text.as_bytes()).expect("the format")
}

/// The `CallFrom` of each event, in file order.
fn call_from(trace: &Trace) -> Vec<Option<String>> {
    let of = |event| trace.args(event).call_from.map(|symbol| trace.text(symbol).to_owned());
    trace.events.iter().map(of).collect()
}

fn place(call: Call) -> String {
    format!("a.py:{}", call.line)
}

/// Calls in order of start, in which torch numbers and the recorder writes them.
fn calls(starts: std::ops::Range<i64>) -> impl Strategy<Value = Vec<Call>> {
    let call = (starts, 0..3_u32, 1..5_u32).prop_map(|(start_ns, name, line)| Call { start_ns, name, line });
    prop::collection::vec(call, 1..60).prop_map(|mut calls| {
        calls.sort_by_key(|call| call.start_ns);
        calls
    })
}

proptest! {
    #[test]
    fn a_joined_line_is_the_recorded_one(calls in calls(0..40), is_2_2 in any::<bool>()) {
        let mut trace = trace(&calls, is_2_2);
        trace.add_call_lines(&recorded(&calls));
        for (found, call) in call_from(&trace).into_iter().zip(&calls) {
            prop_assert!(found.is_none_or(|found| found == place(*call)));
        }
    }

    #[test]
    fn every_call_that_begins_at_a_time_of_its_own_is_joined(mut calls in calls(0..9_000), is_2_2 in any::<bool>()) {
        calls.dedup_by_key(|call| call.start_ns);
        let mut trace = trace(&calls, is_2_2);
        trace.add_call_lines(&recorded(&calls));
        let all: Vec<_> = calls.iter().map(|call| Some(place(*call))).collect();
        prop_assert_eq!(call_from(&trace), all);
        prop_assert_eq!(trace.recorded_torch.as_deref(), Some("2.9.1"));
    }

    #[test]
    fn where_a_call_is_missing_on_either_side_its_like_get_no_line(
        calls in calls(0..40), missing in any::<prop::sample::Index>(), from_trace in any::<bool>()
    ) {
        let gone = calls[missing.index(calls.len())];
        let mut fewer = calls.clone();
        fewer.remove(missing.index(calls.len()));
        let (in_trace, in_lines) = if from_trace { (&fewer, &calls) } else { (&calls, &fewer) };
        let mut trace = trace(in_trace, false);
        trace.add_call_lines(&recorded(in_lines));
        for (found, call) in call_from(&trace).into_iter().zip(in_trace) {
            let alike = call.start_ns == gone.start_ns && call.name == gone.name;
            prop_assert!(found.is_none_or(|found| !alike && found == place(*call)));
        }
    }
}

#[test]
fn lines_of_another_run_are_left_with_a_warning() {
    let calls = [Call { start_ns: 5, name: 1, line: 3 }];
    let mut trace = trace(&calls, false);
    trace.add_call_lines(&recorded(&[Call { start_ns: 6, ..calls[0] }]));
    assert_eq!(call_from(&trace), [None]);
    assert!(trace.recorded_torch.is_none() && trace.recorded_sources.is_empty());
    assert_eq!(trace.log.warnings[0].kind, WarningKind::CallLines);
}

#[test]
fn a_trace_with_lines_of_its_own_keeps_them_alone_and_takes_the_hashes() {
    let text = format!(
        r#"{{"baseTimeNanoseconds":{BASE_NS},"traceEvents":[
        {{"ph":"X","cat":"python_function","name":"f1","pid":1,"tid":1,"ts":0.005,"dur":0}},
        {{"ph":"X","cat":"python_function","name":"f2","pid":1,"tid":1,"ts":0.006,"dur":0,"args":{{"CallFrom":"b.py:9"}}}}]}}"#
    );
    let mut trace = read(text.as_bytes(), &AtomicBool::new(false)).expect("a trace");
    trace.add_call_lines(&recorded(&[Call { start_ns: 4, name: 1, line: 3 }]));
    assert!(trace.recorded_sources.is_empty(), "a call of another run");
    trace.add_call_lines(&recorded(&[Call { start_ns: 5, name: 1, line: 3 }]));
    assert_eq!(call_from(&trace), [None, Some("b.py:9".to_owned())]);
    assert!(trace.recorded_torch.is_none() && trace.log.warnings.is_empty());
    assert_eq!(trace.recorded_sources.get("a.py"), Some(&[7; 32]));
}
