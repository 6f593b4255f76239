//! A profile with recorded call lines is as if the trace had them, and still of the torch that wrote it.

use std::sync::atomic::AtomicBool;

use profile::Profile;
use profile::key_averages::TorchVersion;
use trace::CallLines;

/// The profile of one call, with the line that this version of torch recorded for it, a Windows path.
fn build(torch: &str) -> Profile {
    let text = r#"{"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
        {"ph":"X","cat":"python_function","name":"<built-in function len>","pid":1,"tid":1,"ts":0.001,"dur":1}]}"#;
    let lines = format!(
        r#"{{"version":1,"torch":"{torch}","strings":["<built-in function len>","d:\\ml\\train.py"],
        "starts":[1700000000000000001],"names":[0],"files":[1],"lines":[6]}}"#
    );
    let mut trace = trace::read(text.as_bytes(), &AtomicBool::new(false)).expect("a trace");
    trace.add_call_lines(&CallLines::read(lines.as_bytes()).expect("the format"));
    Profile::build(trace)
}

#[test]
fn the_line_is_the_frames() {
    let profile = build("2.9.1");
    let frame = profile.ids().find_map(|id| profile.frame(id)).expect("a frame");
    let (file, line) = frame.call_from.expect("a line");
    assert_eq!((profile.text(file), line), (r"d:\ml\train.py", 6));
}

#[test]
fn the_rules_are_those_of_the_version_that_recorded() {
    for (torch, rules) in [
        ("2.2.2", TorchVersion::UpTo2_11),
        ("2.9.1+cu128", TorchVersion::UpTo2_11),
        ("2.13.0a0+git1", TorchVersion::From2_12To2_13),
        ("", TorchVersion::UpTo2_11),
    ] {
        assert_eq!(TorchVersion::detect(&build(torch)), rules, "{torch}");
    }
}
