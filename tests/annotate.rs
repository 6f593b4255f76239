//! What `annotate` prints of a trace without stacks: candidates, apart from every sum.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/projects/no_stacks")
}

fn annotated(format: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_aten-lens"))
        .arg("annotate")
        .arg(project().join("profile_output"))
        .arg("--sources")
        .arg(project())
        .args(["--format", format])
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn candidates_stand_in_the_margin_and_in_no_sum() {
    let text = annotated("text");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("NEURON · 0% on lines, 100% unattributed"));
    assert!(lines.next().is_some_and(|legend| legend.starts_with("? may be here")), "{text}");
    assert!(
        text.contains("\ntrain.py · 1 candidate\n") && !text.contains("= the trace names the line"),
        "{text}"
    );
    let marked: Vec<&str> =
        text.lines().filter_map(|line| line.split_once(" ? ")).map(|(_, row)| row).collect();
    assert_eq!(marked.len(), 6, "{text}");
    assert!(marked[0].ends_with("x2 = x * x") && marked[5].ends_with("return y * weight"), "{text}");
}

#[test]
fn candidates_of_the_json_cost_what_is_unattributed() {
    let document: Value = serde_json::from_str(&annotated("json")).expect("it is JSON");
    let file = &document["files"][0];
    let candidate = &file["candidates"][0];
    assert_eq!(
        (&candidate["name"], &candidate["runs"], &candidate["ops"]),
        (&"rmsnorm".into(), &1.into(), &6.into())
    );
    assert_eq!(candidate["rivals"], 0);
    let ns = |line: &Value| line["device_ns"].as_i64().expect("a number");
    let lines = candidate["lines"].as_array().expect("an array");
    assert_eq!(lines.len(), 6);
    assert_eq!(lines.iter().map(ns).sum::<i64>(), ns(candidate));
    assert!(ns(candidate) > 0 && ns(candidate) <= ns(&document["unattributed"]));
    assert_eq!(document["unattributed"], document["totals"]);
    assert_eq!(file["lines"].as_array().map(Vec::len), Some(0));
}
