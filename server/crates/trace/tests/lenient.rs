//! What damage costs: one event, never the file, never a panic.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use trace::{ReadError, Trace, WarningKind, read};

fn load(bytes: &[u8]) -> Result<Trace, ReadError> {
    read(bytes, &AtomicBool::new(false))
}

fn loaded(text: &str) -> Trace {
    load(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn names(trace: &Trace) -> Vec<&str> {
    trace.events.iter().map(|event| trace.text(event.name)).collect()
}

fn kinds(trace: &Trace) -> Vec<WarningKind> {
    trace.log.warnings.iter().map(|warning| warning.kind).collect()
}

/// No two of them are one edit apart.
const NAMES: [&str; 6] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];

/// A named op with arguments of every shape that real traces hold.
fn event(number: usize) -> String {
    let name = NAMES[number];
    format!(
        r#"{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 7, "tid": "stream 7", "ts": {number}.125, "dur": 3, "args": {{"External id": {number}, "Input Dims": [[8, 4], []], "list": [{{"name": "x", "deep": [1, {{"id": 2}}]}}], "note": "a \"b\" \\ c", "CallFrom": "train.py:{number}"}}}}"#
    )
}

fn document(events: &[String]) -> String {
    format!(
        "{{\"schemaVersion\": 1, \"traceEvents\": [\n  {}\n], \"traceName\": \"t.json\", \"distributedInfo\": {{\"rank\": 3}}}}\n",
        events.join(",\n  ")
    )
}

#[test]
fn reads_header_on_both_sides_of_the_events() {
    let trace = loaded(&document(&[event(1), event(2)]));
    assert_eq!(names(&trace), ["bravo", "charlie"]);
    assert_eq!((trace.header.schema_version, trace.header.rank), (Some(1), Some(3)));
    assert_eq!(trace.events[1].start_ns, 2_125);
    assert_eq!(trace.args(&trace.events[1]).external_id.map(|id| id.0), Some(2));
    assert!(trace.log.warnings.is_empty() && !trace.log.partial);
    assert_eq!((trace.log.events, trace.log.skipped), (2, 0));
}

#[test]
fn takes_every_root() {
    for text in [
        format!("[{}]", event(1)),
        format!("\u{feff}{{\"traceEvents\":[{}]}}", event(1)),
        format!("{{\"traceEvents\":{{\"x\":1,\"traceEvents\":[{}]}}}}", event(1)),
    ] {
        assert_eq!(names(&loaded(&text)), ["bravo"], "{text}");
    }
}

#[test]
fn says_what_a_file_is_that_holds_no_trace() {
    assert_eq!(load(b"").err(), Some(ReadError::Empty));
    assert_eq!(load(b" \n").err(), Some(ReadError::Empty));
    assert_eq!(load(b"hello").err(), Some(ReadError::NotJson { offset: 0 }));
    assert!(matches!(load(b"{}").err(), Some(ReadError::NotATrace { .. })));
    assert!(matches!(load(b"[[1,2],[3]]").err(), Some(ReadError::NotATrace { .. })));
    assert!(matches!(load(b"{\"traceEvents\": 3}").err(), Some(ReadError::NotATrace { .. })));
    assert_eq!(loaded("{\"traceEvents\":[]}").events.len(), 0);
}

#[test]
fn a_set_flag_stops_the_read() {
    let stopped = read(document(&[event(1)]).as_bytes(), &AtomicBool::new(true));
    assert_eq!(stopped.err(), Some(ReadError::Cancelled));
}

#[test]
fn one_windows_path_makes_all_backslashes_literal() {
    let path = r#"{"ph": "X", "name": "C:\Users\me\train.py(5): step", "ts": 1, "args": {"CallFrom": "C:\train.py:6"}}"#;
    let early = r#"{"ph": "X", "name": "C:\train.py(1): early", "ts": 0}"#;
    let trace = loaded(&document(&[early.to_owned(), path.to_owned(), event(3)]));
    assert_eq!(names(&trace), [r"C:\train.py(1): early", r"C:\Users\me\train.py(5): step", "delta"]);
    let call = trace.args(&trace.events[1]).call_from.map(|call| trace.text(call).to_owned());
    assert_eq!(call.as_deref(), Some(r"C:\train.py:6"));
    assert_eq!(kinds(&trace), [WarningKind::Escape]);
}

#[test]
fn quotes_inside_a_name_cost_nothing_else() {
    let bad =
        r#"{"ph": "X", "cat": "python_function", "name": "{"a": "b", "c": 1}.py(3): f", "ts": 1, "dur": 2}"#;
    let trace = loaded(&document(&[event(1), bad.to_owned(), event(3)]));
    assert_eq!(names(&trace), ["bravo", "{\"a\": \"b\", \"c\": 1}.py(3): f", "delta"]);
    assert_eq!(trace.log.warnings.len(), 1);
    assert!(trace.log.warnings[0].message.contains("byte"));
}

#[test]
fn tokens_that_json_lacks_are_null() {
    let bad = r#"{"ph": "X", "name": "k", "ts": 1, "dur": NaN, "args": {"a": -inf, "b": N/A, "stream": Infinity, "correlation": 9}}"#;
    let trace = loaded(&document(&[bad.to_owned()]));
    assert_eq!(trace.events[0].dur_ns, None);
    assert_eq!(trace.args(&trace.events[0]).correlation.map(|id| id.0), Some(9));
    assert_eq!(kinds(&trace), [WarningKind::Duration, WarningKind::Number]);
    let header = format!("{{\"deviceProperties\": [{{\"id\": N/A}}], \"traceEvents\": [{}]}}", event(1));
    assert_eq!(names(&loaded(&header)), ["bravo"]);
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let text = document(&[event(1), event(2)]).replace("bravo", "br?vo");
    let bytes: Vec<u8> = text.bytes().map(|b| if b == b'?' { 0xC0 } else { b }).collect();
    let trace = load(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(names(&trace), ["br\u{FFFD}vo", "charlie"]);
    assert_eq!(kinds(&trace), [WarningKind::Utf8]);
}

#[test]
fn control_bytes_and_duplicate_keys_are_no_loss() {
    let odd = "{\"ph\": \"X\", \"name\": \"first\", \"name\": \"a\x01b\nc\", \"ts\": 1, \"ts\": 2}";
    let trace = loaded(&document(&[odd.to_owned()]));
    assert_eq!(names(&trace), ["a\u{1}b\nc"]);
    assert_eq!(trace.events[0].start_ns, 2_000);
    assert!(trace.log.warnings.is_empty());
}

#[test]
fn another_export_in_the_middle_ends_the_first() {
    let events: Vec<String> = (0..6).map(event).collect();
    let whole = document(&events);
    for cut in
        [whole.len() / 2, whole.find("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"delta\"").unwrap_or(0)]
    {
        let both = format!("{}{whole}", &whole[..cut]);
        let trace = loaded(&both);
        assert!(kinds(&trace).contains(&WarningKind::Corrupt), "cut at {cut}: {:?}", trace.log);
        assert!(trace.log.partial && trace.events.len() < events.len());
    }
    let appended = loaded(&format!("{whole}{whole}"));
    assert_eq!(appended.events.len(), events.len());
    assert_eq!(kinds(&appended), [WarningKind::Corrupt]);
}

#[test]
fn depth_does_not_overflow_the_stack() {
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let bad = format!(r#"{{"ph": "X", "name": "deep", "ts": 1, "args": {{"a": {deep}, "b": NaN}}}}"#);
    assert_eq!(names(&loaded(&document(&[bad, event(2)]))), ["deep", "charlie"]);
    let good = format!(r#"{{"ph": "X", "name": "deep", "ts": 1, "args": {{"a": {deep}}}}}"#);
    assert_eq!(names(&loaded(&document(&[good, event(2)]))), ["deep", "charlie"]);
}

#[test]
fn ids_keep_all_their_digits() {
    let flow = r#"{"ph": "s", "cat": "async_npu", "id": "17786400000000105001234567", "pid": 1, "tid": 18446744073709551615, "ts": "1778640000000020.500"}"#;
    let trace = loaded(&document(&[flow.to_owned()]));
    assert_eq!(trace.text(trace.flows[0].id), "17786400000000105001234567");
    assert_eq!(trace.text(trace.flows[0].tid), "18446744073709551615");
    assert_eq!(trace.flows[0].at_ns, 1_778_640_000_000_020_500);
}

#[test]
fn external_ts_is_no_external_id_and_zero_is_no_correlation() {
    let old = r#"{"ph": "X", "name": "k", "ts": 1, "args": {"external ts": 5, "external id": 6, "correlation": 0}}"#;
    let trace = loaded(&document(&[old.to_owned()]));
    let args = trace.args(&trace.events[0]);
    assert_eq!((args.external_id.map(|id| id.0), args.correlation), (Some(6), None));
}

/// Bytes that hurt, and any others.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![proptest::sample::select(&b"\"\\{}[]:, \n\x00\xffN09ue"[..]), any::<u8>()]
}

#[derive(Debug, Clone, Copy)]
enum Edit {
    Replace(u8),
    Insert(u8),
    Remove,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![byte().prop_map(Edit::Replace), byte().prop_map(Edit::Insert), Just(Edit::Remove)]
}

fn apply(bytes: &mut Vec<u8>, at: usize, edit: Edit) {
    match edit {
        Edit::Replace(byte) => bytes[at] = byte,
        Edit::Insert(byte) => bytes.insert(at, byte),
        Edit::Remove => {
            bytes.remove(at);
        }
    }
}

/// Quick by default; `PROPTEST_CASES=20000` hits every byte with most edits.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(1_000), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn one_damaged_event_costs_at_most_itself(which in 0_usize..6, at in any::<prop::sample::Index>(), edit in edit()) {
        let events: Vec<String> = (0..6).map(event).collect();
        let mut bad = events[which].clone().into_bytes();
        let at = at.index(bad.len());
        apply(&mut bad, at, edit);
        let before = document(&events);
        let start = before.find(&events[which]).unwrap_or(0);
        let bytes = [&before.as_bytes()[..start], &bad, &before.as_bytes()[start + events[which].len()..]].concat();
        let trace = load(&bytes);
        let trace = trace.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in names(&trace) {
            *counts.entry(name).or_default() += 1;
        }
        for other in (0..6).filter(|&other| other != which) {
            prop_assert_eq!(counts.get(NAMES[other]), Some(&1), "lost or doubled {}: {:?}", NAMES[other], trace.log);
        }
        prop_assert!(trace.events.len() <= 6, "{:?}", names(&trace));
        prop_assert_eq!(trace.header.rank, Some(3));
    }

    #[test]
    fn a_cut_file_keeps_its_whole_events(cut in any::<prop::sample::Index>()) {
        let events: Vec<String> = (0..6).map(event).collect();
        let whole = document(&events);
        let cut = cut.index(whole.len() - 2);
        let ends: Vec<usize> = events.iter().map(|e| whole.find(e.as_str()).unwrap_or(0) + e.len()).collect();
        let complete = ends.iter().filter(|&&end| end <= cut).count();
        if let Ok(trace) = load(&whole.as_bytes()[..cut]) {
            prop_assert!(trace.log.partial);
            prop_assert_eq!(trace.events.len(), complete);
        } else {
            prop_assert_eq!(complete, 0);
        }
    }

    #[test]
    fn never_panics(edits in proptest::collection::vec((any::<prop::sample::Index>(), edit()), 1..12)) {
        let mut bytes = document(&(0..6).map(event).collect::<Vec<_>>()).into_bytes();
        for (at, edit) in edits {
            let at = at.index(bytes.len());
            apply(&mut bytes, at, edit);
        }
        if let Ok(trace) = load(&bytes) {
            prop_assert!(trace.events.len() as u64 <= trace.log.events);
        }
    }
}
