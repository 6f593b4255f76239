//! Traces that appear, grow, are replaced and vanish, with nothing touched in the editor.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::client::{Client, Manner};
use crate::project::{Project, read_fixture};

const FULL: &str = "cases/65-partial-write-and-rename/full.json";
const FULL2: &str = "cases/65-partial-write-and-rename/full2.json";

/// A project with the source of the cases and no trace yet.
fn project() -> Project {
    let project = Project::empty();
    project.write("train.py", read_fixture("cases/65-partial-write-and-rename/train.py"));
    project
}

fn mm_total(client: &mut Client) -> String {
    let rows = client.operators();
    let row = rows
        .iter()
        .find(|row| row["name"] == "aten::mm")
        .unwrap_or_else(|| panic!("no aten::mm in {rows:?}"));
    row["cpu_total"].clone()
}

fn until(client: &mut Client, total: &str) {
    for _ in 0..100 {
        client.ready();
        if mm_total(client) == total {
            return;
        }
    }
    panic!("aten::mm never becomes {total}");
}

#[test]
fn a_trace_written_in_pieces_is_shown_once_whole_and_both_renames_over_it_are_noticed() {
    let project = project();
    let mut client = Client::start(project.path());
    client.wait("atenLens/status", |status| status["state"] == "none");
    let full = read_fixture(FULL);
    let mut file = fs::File::create(project.join("run_trace.json")).unwrap();
    for chunk in full.chunks(full.len().div_ceil(5)) {
        file.write_all(chunk).unwrap();
        file.flush().unwrap();
        sleep(Duration::from_millis(200));
    }
    client.ready();
    // The first state ever shown is the whole one: nothing partial came before it.
    assert_eq!(mm_total(&mut client), "180 µs");
    assert!(!client.notices.iter().any(|notice| notice["method"] == "window/showMessage"));
    for (fixture, total) in [(FULL2, "280 µs"), (FULL, "180 µs"), (FULL2, "280 µs")] {
        project.write("run_trace.json.tmp", read_fixture(fixture));
        fs::rename(project.join("run_trace.json.tmp"), project.join("run_trace.json")).unwrap();
        until(&mut client, total);
    }
}

#[test]
fn a_new_capture_in_a_new_directory_changes_the_numbers() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    assert_eq!(client.hints(&uri)[0].1, "mul · 402 µs NEURON 17.1%");
    let newer = "profile_output/naive/i-0a1b2c3d4e5f60718_pid_31877/20261014095849/trace.json";
    project.write(newer, read_fixture("traces/rmsnorm_faster.json"));
    client.ready();
    let hint = client.hints(&uri)[0].1.clone();
    assert!(hint.starts_with("mul · 30") && hint.contains("NEURON"), "{hint}");
}

#[test]
fn a_deleted_trace_gives_way_to_the_one_before_and_a_recreated_directory_is_seen() {
    let project = project();
    let mut client = Client::start(project.path());
    project.write("runs/a_trace.json", read_fixture(FULL));
    until(&mut client, "180 µs");
    sleep(Duration::from_millis(20));
    project.write("runs/b_trace.json", read_fixture(FULL2));
    until(&mut client, "280 µs");
    fs::remove_file(project.join("runs/b_trace.json")).unwrap();
    until(&mut client, "180 µs");
    fs::remove_dir_all(project.join("runs")).unwrap();
    client.wait("atenLens/status", |status| status["state"] == "none");
    client.wait("textDocument/publishDiagnostics", |params| params["diagnostics"] == json!([]));
    project.write("runs/c_trace.json", read_fixture(FULL2));
    until(&mut client, "280 µs");
}

#[test]
fn a_newer_small_trace_wins_over_an_older_big_one_that_is_still_read() {
    let project = project();
    project.write("w.1700000000000000001.pt.trace.json", big(60_000));
    let mut client = Client::start(project.path());
    client.wait("atenLens/status", |status| status["state"] == "loading");
    project.write("w.1700000000000000002.pt.trace.json", read_fixture(FULL));
    // Requests are answered meanwhile.
    assert!(client.request("atenLens/captures", json!({})).is_ok());
    until(&mut client, "180 µs");
    project.write("w.1700000000000000001.pt.trace.json", big(60_000));
    client.listen(Duration::from_millis(1500));
    assert_eq!(mm_total(&mut client), "180 µs");
}

#[test]
fn polling_finds_what_watching_would() {
    let project = project();
    let manner = Manner { settings: Some(json!({ "poll": true })), ..Manner::default() };
    let mut client = Client::start_with(project.path(), manner);
    client.wait("atenLens/status", |status| status["detail"].as_str().unwrap().contains("every few seconds"));
    project.write("trace.json", read_fixture(FULL));
    until(&mut client, "180 µs");
}

#[test]
fn what_is_no_trace_is_passed_over_without_a_word() {
    let project = project();
    for (name, text) in [
        ("trace_settings.json", "{ // not even JSON"),
        ("a_trace.json", "{}"),
        ("b_trace.json", ""),
        ("c_trace.json", "[[1,2],[3,4]]"),
        ("d_trace.json.gz", "\u{1f}not gzip"),
    ] {
        project.write(name, text);
    }
    let mut client = Client::start(project.path());
    client.wait("atenLens/status", |status| status["state"] == "none");
    project.write("e_trace.json", "[]");
    client.listen(Duration::from_millis(600));
    assert!(
        client.notices.iter().all(|notice| notice["method"] != "window/showMessage"),
        "{:?}",
        client.notices
    );
    project.write("f_trace.json", read_fixture(FULL));
    until(&mut client, "180 µs");
}

#[test]
fn call_lines_that_follow_their_trace_settle_what_was_ambiguous() {
    let project = Project::empty();
    let source = "import torch\n\ndef step(x, big):\n    if big:\n        return torch.relu(x)\n    return torch.relu(x)\n";
    let path = project.write("train.py", source);
    let mut client = Client::start(project.path());
    client.wait("atenLens/status", |status| status["state"] == "none");
    project.write(
        "run_trace.json",
        r#"{"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
        {"ph":"X","cat":"python_function","name":"train.py(3): step","pid":1,"tid":1,"ts":100.001,"dur":600,"args":{"Python id":1}},
        {"ph":"X","cat":"python_function","name":"<built-in method relu of type object at 0x1>","pid":1,"tid":1,"ts":110.002,"dur":200,"args":{"Python id":2,"Python parent id":1}},
        {"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":120,"dur":180,"args":{"External id":1}}]}"#,
    );
    client.ready();
    let uri = client.open(&path);
    let lines = |client: &mut Client| client.hints(&uri).into_iter().map(|hint| hint.0).collect::<Vec<_>>();
    assert_eq!(lines(&mut client), [2], "on the def");
    project.write(
        "run_trace.lines.json.gz",
        r#"{"version":1,"torch":"2.9.1","strings":["train.py","<built-in method relu of type object at 0x1>"],
        "starts":[1700000000000110002],"names":[1],"files":[0],"lines":[6]}"#,
    );
    for _ in 0..100 {
        client.ready();
        if lines(&mut client) == [5] {
            return;
        }
    }
    panic!("the call lines are not picked up");
}

#[test]
fn thousands_of_traces_and_links_in_circles_start_as_fast_as_few() {
    let project = project();
    for at in 0..3000 {
        project.write(&format!("many/run_{at:04}_trace.json"), read_fixture(FULL));
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(project.path(), project.join("many/loop")).unwrap();
    project.write("many/run_3000_trace.json", read_fixture(FULL2));
    let mut client = Client::start(project.path());
    client.ready();
    assert_eq!(mm_total(&mut client), "280 µs");
}

/// A valid trace with so many calls of `aten::mm`.
fn big(calls: u64) -> String {
    let mut text = String::from("{\"traceEvents\":[\n");
    for call in 0..calls {
        let at = call * 20;
        let _ = writeln!(
            text,
            "{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":{at},\"dur\":10,\"args\":{{\"External id\":{call}}}}},"
        );
    }
    text.push_str("{\"ph\":\"M\",\"name\":\"end\"}]}");
    text
}
