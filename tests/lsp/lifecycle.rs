//! Start, end, and clients that misbehave.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Manner};
use crate::project::Project;

#[test]
fn shutdown_and_exit_end_with_zero_while_stdin_stays_open() {
    let project = Project::empty();
    assert_eq!(Client::start(project.path()).end().code(), Some(0));
}

#[test]
fn exit_without_shutdown_ends_with_one() {
    let mut client = Client::start(Project::empty().path());
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_status().code(), Some(1));
}

#[test]
fn a_closed_stdin_ends_the_server_even_while_a_trace_is_read() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.close_stdin();
    assert!(client.exit_status().code().is_some());
}

#[test]
fn shutdown_is_accepted_with_null_and_with_absent_params() {
    for message in [
        json!({ "jsonrpc": "2.0", "id": 900, "method": "shutdown", "params": null }),
        json!({ "jsonrpc": "2.0", "id": 900, "method": "shutdown" }),
    ] {
        let mut client = Client::start(Project::empty().path());
        client.send(&message);
        assert_eq!(client.answer(900), Ok(Value::Null));
    }
}

#[test]
fn a_request_before_initialize_is_refused_and_the_server_goes_on() {
    let mut client = Client::spawn(Manner::default());
    let at = json!({ "textDocument": { "uri": "file:///a.py" }, "position": { "line": 0, "character": 0 } });
    assert!(client.request("textDocument/hover", at).is_err());
    assert_eq!(client.initialize(None)["serverInfo"]["name"], "ATen Lens");
}

#[test]
fn a_client_that_answers_nothing_still_gets_answers() {
    let project = Project::copy("projects/rmsnorm");
    let silent = Manner { settings: None, answers_refresh: false, ..Manner::default() };
    let mut client = Client::start_with(project.path(), silent);
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    for _ in 0..8 {
        client.command("atenLens.server.toggleMarks", json!([])).unwrap();
    }
    assert!(client.hover(&uri, 5).is_some());
    assert!(client.asked.iter().filter(|method| *method == "workspace/codeLens/refresh").count() > 4);
}

#[test]
fn late_and_unknown_answers_of_the_client_do_no_harm() {
    let mut client = Client::start(Project::empty().path());
    for id in [0, 1, 12345] {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
    }
    client.send(&json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "what?" } }));
    assert!(client.request("atenLens/captures", json!({})).is_ok());
}

#[test]
fn nonsense_on_the_wire_is_answered_or_passed_over() {
    let mut client = Client::start(Project::empty().path());
    for body in ["{", "[]", "{\"jsonrpc\":\"2.0\",\"id\":77}", "{\"jsonrpc\":\"2.0\",\"method\":7,\"id\":78}"]
    {
        client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
    assert!(client.request("no/such/method", json!({})).is_err());
    assert!(client.request("textDocument/hover", json!({ "wrong": true })).is_err());
    client.notify("textDocument/didChange", json!({ "wrong": true }));
    client.notify("$/setTrace", json!({ "value": "off" }));
    assert!(client.request("atenLens/captures", json!({})).is_ok());
    client.listen(Duration::from_millis(50));
    assert!(client.is_running());
}

#[test]
fn sixty_slow_requests_do_not_hold_up_a_cancel_or_the_shutdown() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let ids: Vec<i64> = (0..40).map(|_| client.ask("atenLens/captures", json!({}))).collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    // Each is answered, with its result or as cancelled; none hangs.
    for id in ids {
        let _ = client.answer(id);
    }
    assert_eq!(client.end().code(), Some(0));
}
