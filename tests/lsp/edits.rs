//! Marks and the text as it is being typed.

use std::time::Duration;

use serde_json::json;

use crate::client::{Client, uri};
use crate::project::{Project, read_fixture};

fn insert(line: u64, character: u64, text: &str) -> serde_json::Value {
    let at = json!({ "line": line, "character": character });
    json!({ "range": { "start": at, "end": at }, "text": text })
}

fn lines(hints: &[(u64, String)]) -> Vec<u64> {
    hints.iter().map(|(line, _)| *line).collect()
}

#[test]
fn an_edit_above_moves_marks_a_changed_line_loses_its_own_and_undo_brings_it_back() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    assert_eq!(lines(&client.hints(&uri)), [5, 6, 7, 8, 9, 10]);
    client.change(&uri, 2, json!([insert(0, 0, "# one\n# two\n")]));
    assert_eq!(lines(&client.hints(&uri)), [7, 8, 9, 10, 11, 12]);
    assert!(client.hover(&uri, 7).unwrap().contains("`mul`"));
    client.change(&uri, 3, json!([insert(7, 4, "z")]));
    assert_eq!(lines(&client.hints(&uri)), [8, 9, 10, 11, 12]);
    assert_eq!(client.hover(&uri, 7), None);
    let range = json!({ "start": { "line": 7, "character": 4 }, "end": { "line": 7, "character": 5 } });
    client.change(&uri, 4, json!([{ "range": range, "text": "" }]));
    assert_eq!(lines(&client.hints(&uri)), [7, 8, 9, 10, 11, 12]);
}

#[test]
fn diagnostics_follow_an_edit_and_a_changed_function_offers_no_fix() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    let of = |code: &'static str, line: u64| {
        move |params: &serde_json::Value| {
            let diagnostics = params["diagnostics"].as_array().unwrap();
            diagnostics.iter().any(|d| d["code"] == code && d["range"]["start"]["line"] == line)
        }
    };
    client.wait("textDocument/publishDiagnostics", of("unfused-rms-norm", 3));
    client.change(&uri, 2, json!([insert(0, 0, "\n")]));
    client.wait("textDocument/publishDiagnostics", of("unfused-rms-norm", 4));
    assert_eq!(client.code_actions(&uri, 4).len(), 2);
    client.change(&uri, 3, json!([insert(8, 0, "    ms = ms * 2\n")]));
    assert!(client.code_actions(&uri, 4).is_empty());
    // What is said of the changed lines is over, too.
    let whole = json!({ "start": { "line": 6, "character": 0 }, "end": { "line": 13, "character": 0 } });
    client.change(
        &uri,
        4,
        json!([{ "range": whole, "text": "    return torch.rms_norm(x, (x.shape[-1],), weight, eps)\n" }]),
    );
    assert_eq!(client.lenses(&uri).len(), 1, "only the file's own lens is left");
    client.wait("textDocument/publishDiagnostics", |params| {
        params["diagnostics"].as_array().unwrap().iter().all(|d| d["code"] != "unfused-rms-norm")
    });
}

#[test]
fn a_fix_that_an_edit_elsewhere_makes_wrong_is_offered_no_more() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    assert_eq!(client.code_actions(&uri, 3).len(), 2);
    let range = |line: u64, from: u64, to: u64| json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
    // Torch by another name.
    client.change(&uri, 2, json!([insert(0, 12, " as th")]));
    assert!(client.code_actions(&uri, 3).is_empty());
    client.change(&uri, 3, json!([{ "range": range(0, 12, 18), "text": "" }]));
    assert_eq!(client.code_actions(&uri, 3).len(), 2);
    // A decorator.
    client.change(&uri, 4, json!([insert(3, 0, "@torch.compile\n")]));
    assert!(client.code_actions(&uri, 4).is_empty());
}

#[test]
fn the_open_text_has_the_marks_of_what_ran_when_a_trace_is_read() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    let text = std::fs::read_to_string(project.join("rmsnorm.py")).unwrap();
    let uri = client.open_text(&project.join("rmsnorm.py"), &format!("# not saved\n{text}"));
    client.ready();
    assert_eq!(lines(&client.hints(&uri)), [6, 7, 8, 9, 10, 11]);
    // A comment typed into the function before the trace came: no op is taken to have run on it.
    let unsaved = text.replace("    ms = ms + eps", "    # a comment\n\n    ms = ms + eps");
    client.change(&uri, 2, json!([{ "text": unsaved }]));
    client.command("atenLens.server.refresh", json!([])).unwrap();
    client.ready();
    assert_eq!(lines(&client.hints(&uri)), [5, 6, 9, 10, 11, 12]);
    // Closed without saving: the disk's text counts again.
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    client.wait("textDocument/publishDiagnostics", |params| {
        params["diagnostics"].as_array().unwrap().iter().any(|d| d["range"]["start"]["line"] == 10)
    });
}

#[test]
fn three_hundred_changes_in_a_row_end_in_the_right_text() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    for version in 2..302 {
        client.change(&uri, version, json!([insert(0, 0, "#\n")]));
    }
    assert_eq!(lines(&client.hints(&uri)), [305, 306, 307, 308, 309, 310]);
}

#[test]
fn columns_are_utf16_and_carriage_returns_and_a_bom_shift_nothing() {
    let project = Project::empty();
    project.write("train.py", read_fixture("cases/75-utf16-crlf-bom/train.py"));
    project.write("trace.json", read_fixture("cases/75-utf16-crlf-bom/trace.json"));
    let mut client = Client::start(project.path());
    client.ready();
    // As an editor hands it over: without the byte order mark.
    let text = String::from_utf8(read_fixture("cases/75-utf16-crlf-bom/train.py")).unwrap();
    let uri = client.open_text(&project.join("train.py"), text.trim_start_matches('\u{feff}'));
    let ends = |params: &serde_json::Value| -> Vec<(u64, u64)> {
        let end = |d: &serde_json::Value| {
            (d["range"]["end"]["line"].as_u64().unwrap(), d["range"]["end"]["character"].as_u64().unwrap())
        };
        params["diagnostics"].as_array().unwrap().iter().map(end).collect()
    };
    let published = client.wait("textDocument/publishDiagnostics", |params| !ends(params).is_empty());
    // The call, not the whole line: the mark behind it counts to the end.
    assert!(ends(&published).contains(&(5, 22)), "{published}");
    let hints = client.request(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": uri },
            "range": { "start": { "line": 5, "character": 0 }, "end": { "line": 5, "character": 30 } } }),
    );
    assert_eq!(hints.unwrap()[0]["position"], json!({ "line": 5, "character": 30 }));
}

#[cfg(unix)]
#[test]
fn answers_carry_the_uri_under_which_the_file_was_opened() {
    let project = Project::empty();
    project.write("real/train.py", read_fixture("cases/40-callfrom-exact-line/train.py"));
    project.write("real/trace.json", read_fixture("cases/40-callfrom-exact-line/trace.json"));
    std::os::unix::fs::symlink(project.join("real"), project.join("link")).unwrap();
    let mut client = Client::start(project.path());
    client.ready();
    let linked = client.open(&project.join("link/train.py"));
    client.wait("textDocument/publishDiagnostics", |params| {
        params["uri"] == json!(linked) && params["diagnostics"] != json!([])
    });
    assert!(lines(&client.hints(&linked)).contains(&5));
    // Never the same finding twice under two names.
    client.listen(Duration::from_millis(300));
    let real = uri(&project.join("real/train.py"));
    let last = client.notices.iter().rev().find(|n| n["params"]["uri"] == json!(real));
    assert!(last.is_none_or(|notice| notice["params"]["diagnostics"] == json!([])));
}
