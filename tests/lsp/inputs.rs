//! What a user may pick by hand, good and bad: one clear line, and the server goes on.

use serde_json::json;

use crate::client::Client;
use crate::project::{Project, read_fixture};

const SHOW: &str = "atenLens.server.showCapture";

#[test]
fn captures_are_listed_newest_first_with_what_they_hold() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let answer = client.request("atenLens/captures", json!({})).unwrap();
    let captures = answer["captures"].as_array().unwrap();
    let of = |key: &str| captures.iter().map(|c| c[key].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(of("name"), ["naive", "fused", "compiled"]);
    assert_eq!(of("device"), ["2.35 ms", "403 µs", "376 µs"]);
    assert_eq!(of("backend"), ["NEURON", "NEURON", "NEURON"]);
    assert_eq!(captures.iter().map(|c| c["shown"] == true).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn another_capture_can_be_shown_and_a_newer_one_takes_over() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let answer = client.request("atenLens/captures", json!({})).unwrap();
    let fused = answer["captures"][1]["id"].clone();
    client.command(SHOW, json!([fused])).unwrap();
    let uri = client.open(&project.join("rmsnorm.py"));
    let hints = client.hints(&uri);
    assert_eq!(hints.len(), 1);
    assert!(hints[0].1.contains("rms_norm · 403 µs NEURON 100.0%"), "{hints:?}");
    let newer = "profile_output/naive/i-0a1b2c3d4e5f60718_pid_31877/20261014095849/trace.json";
    project.write(newer, read_fixture("traces/rmsnorm_faster.json"));
    client.wait("atenLens/status", |s| {
        s["state"] == "ready" && s["text"].as_str().unwrap().starts_with("naive #2")
    });
    assert_eq!(client.hints(&uri).len(), 6);
}

#[test]
fn a_bad_pick_is_one_clear_line_that_names_it_and_what_was_shown_stays() {
    let project = Project::copy("projects/rmsnorm");
    project.write("other/empty.json", "");
    project.write("other/package.json", "{\"name\": \"x\"}");
    project.write("other/broken.json", "{\"traceEvents\": 7}");
    project.write("nothing/readme.md", "no trace here");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    for name in ["other/empty.json", "other/package.json", "other/broken.json", "nothing", "missing.json"] {
        let path = project.join(name);
        let line = client.command(SHOW, json!([path])).unwrap_err();
        assert!(!line.trim().is_empty() && !line.contains('\n'), "{line:?}");
        assert!(line.contains(path.to_str().unwrap()), "{line:?}");
        // The capture that was on screen comes back or stays.
        client.command("atenLens.server.refresh", json!([])).unwrap();
        client.ready();
        assert_eq!(client.hints(&uri).len(), 6, "after {name}");
    }
    assert!(client.command(SHOW, json!([])).is_err());
    assert!(client.command("no.such.command", json!([])).is_err());
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_unreadable_files_are_refused_without_blocking() {
    let project = Project::copy("projects/rmsnorm");
    let pipe = project.join("pipe_trace.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut client = Client::start(project.path());
    client.ready();
    for path in [pipe.to_str().unwrap(), "/dev/zero"] {
        let line = client.command(SHOW, json!([path])).unwrap_err();
        assert!(line.contains("not a regular file"), "{line}");
    }
}

#[test]
fn a_broken_python_file_and_sources_elsewhere_take_nothing_else_down() {
    let project = Project::copy("projects/rmsnorm");
    let broken = "import torch\n\n\ndef rmsnorm(x, weight, eps=1e-6):\n    x2 = x * (\n";
    project.write("rmsnorm.py", broken);
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    client.hints(&uri);
    assert!(client.operators().iter().any(|row| row["name"] == "aten::mul"));
    // A trace whose sources are not in the workspace: the table works, and the reason is said.
    let elsewhere = Project::empty();
    elsewhere.write("trace.json", read_fixture("traces/rmsnorm_faster.json"));
    let mut client = Client::start(elsewhere.path());
    let status = client.ready();
    assert!(status["detail"].as_str().unwrap().contains("atenLens.pathMappings"), "{status}");
}

#[test]
fn describe_tells_a_lines_cost_to_clients_without_views() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    let told = client.command("atenLens.server.describe", json!([uri, 5])).unwrap();
    assert!(told.as_str().unwrap().contains("402 µs NEURON"), "{told}");
    assert!(client.command("atenLens.server.describe", json!(["file:///none.py", 1])).is_err());
}
