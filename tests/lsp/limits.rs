//! What the system refuses: more watches, files of others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use notify::{RecommendedWatcher, Watcher};
use serde_json::json;

use crate::client::{Client, Manner};
use crate::project::{Project, read_fixture};

const TRACE: &str = "cases/65-partial-write-and-rename/full.json";

/// Takes every inotify instance that this user may have, so it must run alone (`.config/nextest.toml`).
#[test]
fn alone_when_the_system_gives_no_more_watches_folders_are_polled_and_it_is_said_once() {
    let project = Project::empty();
    project.write("train.py", read_fixture("cases/65-partial-write-and-rename/train.py"));
    let mut hogs = Vec::new();
    while let Ok(hog) = RecommendedWatcher::new(|_| (), notify::Config::default()) {
        hogs.push(hog);
        if hogs.len() > 10_000 {
            // This system has no limit to run into.
            return;
        }
    }
    let mut client = Client::start(project.path());
    let said = client.wait("window/showMessage", |_| true);
    assert!(said["message"].as_str().unwrap().contains("watch limit"), "{said}");
    project.write("trace.json", read_fixture(TRACE));
    client.ready();
    project.write("trace.json", read_fixture("cases/65-partial-write-and-rename/full2.json"));
    client.ready();
    assert!(client.notices.iter().all(|notice| notice["method"] != "window/showMessage"));
}

#[test]
fn files_that_may_not_be_read_are_passed_over_and_named_when_picked() {
    let project = Project::empty();
    project.write("train.py", read_fixture("cases/65-partial-write-and-rename/train.py"));
    project.write("a_trace.json", read_fixture(TRACE));
    let secret = project.write("z_trace.json", read_fixture(TRACE));
    set_mode(project.path(), 0o755);
    set_mode(&secret, 0o000);
    let mut client = Client::run(command_without_privileges(&project), Manner::default());
    client.initialize(Some(project.path()));
    client.ready();
    let answer = client.request("atenLens/captures", json!({})).unwrap();
    assert_eq!(answer["captures"].as_array().unwrap().len(), 1, "{answer}");
    let line = client.command("atenLens.server.showCapture", json!([secret])).unwrap_err();
    assert!(line.contains("permission denied") && line.contains("z_trace.json"), "{line}");
    assert!(client.notices.iter().all(|notice| notice["method"] != "window/showMessage"));
}

/// The server as somebody who may not read everything: root may, so root becomes somebody else.
fn command_without_privileges(project: &Project) -> Command {
    let server = env!("CARGO_BIN_EXE_aten-lens");
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0\n"));
    if !root {
        return Command::new(server);
    }
    // Where the build lies may be closed to others; the copy is not.
    let copy = project.join(".server");
    fs::copy(server, &copy).unwrap();
    set_mode(&copy, 0o755);
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy);
    command
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
