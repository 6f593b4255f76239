//! Lines that were recorded beside a trace of torch 2.9 make its costs exact, and move none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Whether the command succeeds, what it prints, and what it says on stderr.
fn run(command: &str, path: &Path, arguments: &[&str]) -> (bool, String, String) {
    let binary = env!("CARGO_BIN_EXE_aten-lens");
    let output =
        Command::new(binary).arg(command).arg(path).args(arguments).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

fn attribute(trace: &Path) -> Vec<Value> {
    let sources = fixture("attribution/sources");
    let (_, rows, _) = run("attribute", trace, &["--sources", &sources.to_string_lossy()]);
    rows.lines().map(|row| serde_json::from_str(row).expect("a JSON row")).collect()
}

/// The trace by itself in a folder of its own.
fn alone() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = folder.path().join("lm_trace.json.gz");
    fs::copy(fixture("traces/call_lines/lm_trace.json.gz"), &trace).expect("copying there");
    (folder, trace)
}

#[test]
fn recorded_lines_make_costs_exact_where_they_are_and_move_none() {
    let (_folder, alone) = alone();
    let (without, with) = (attribute(&alone), attribute(&fixture("traces/call_lines/lm_trace.json.gz")));
    let exact = |rows: &[Value]| rows.iter().filter(|row| row["precision"] == "exact").count();
    assert_eq!((exact(&without), exact(&with), with.len()), (0, 1253, 1647));
    for (before, after) in without.iter().zip(&with).filter(|(before, _)| before["line"] != Value::Null) {
        assert_eq!((&before["file"], &before["line"]), (&after["file"], &after["line"]), "{before}");
    }
}

#[test]
fn recorded_lines_do_not_pass_for_those_of_a_newer_torch() {
    let (_folder, alone) = alone();
    let as_torch = |trace: &Path| run("report", trace, &["--as", "torch", "--format", "json"]).1;
    let rules = |text: &str| serde_json::from_str::<Value>(text).expect("JSON")[0]["rules"].clone();
    let (with, without) = (as_torch(&fixture("traces/call_lines/lm_trace.json.gz")), as_torch(&alone));
    assert_eq!((rules(&with), rules(&without)), ("torch<=2.11".into(), "torch<=2.11".into()));
}

#[test]
fn inferred_lines_are_said_to_be_that_and_recorded_ones_are_not() {
    let (_folder, alone) = alone();
    let sources = fixture("attribution/sources");
    let says = |trace: &Path| {
        run("annotate", trace, &["--sources", &sources.to_string_lossy()]).1.contains("aten-lens recorder")
    };
    assert!(says(&alone) && !says(&fixture("traces/call_lines/lm_trace.json.gz")));
}

#[test]
fn lines_of_another_run_are_said_to_be_that() {
    let (folder, alone) = alone();
    let lines =
        r#"{"version":1,"torch":"2.9.1","strings":["f"],"starts":[1],"names":[0],"files":[0],"lines":[1]}"#;
    fs::write(folder.path().join("lm_trace.lines.json.gz"), lines).expect("writing there");
    let (_, _, said) = run("report", &alone, &[]);
    assert_eq!(said.matches("of another run").count(), 1, "{said}");
}

#[test]
fn the_recorder_is_written_once_and_never_over_something_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let module = folder.path().join("aten_lens_recorder.py");
    let (done, printed, _) = run("recorder", folder.path(), &[]);
    let lines: Vec<_> = printed.lines().collect();
    assert!(done && lines[0] == module.to_string_lossy() && lines[1].contains("exact_lines"), "{printed}");
    fs::write(&module, "mine").expect("writing there");
    let (done, printed, said) = run("recorder", folder.path(), &[]);
    assert!(!done && printed.is_empty() && said.lines().count() == 1 && said.contains("--force"), "{said}");
    assert!(run("recorder", folder.path(), &["--force"]).0);
    assert_ne!(fs::read(&module).expect("replaced"), b"mine");
}
