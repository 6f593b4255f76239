//! The recorder of call lines: how it is offered, and what is known of sources that were hashed.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, Manner, uri};
use crate::marks::apply;
use crate::project::{Project, read_fixture};

const SCRIPT: &str = "profile_rmsnorm.py";
const MODULE: &str = "aten_lens_recorder.py";
const NAIVE: &str = "profile_output/naive/i-0a1b2c3d4e5f60718_pid_30193/20261014091502/trace.json";

/// The worked example as torch up to 2.13 would have recorded it: without the lines of calls.
fn older() -> Project {
    let project = Project::empty();
    for name in [SCRIPT, "rmsnorm.py"] {
        project.write(name, read_fixture(&format!("projects/rmsnorm/{name}")));
    }
    let trace = read_fixture(&format!("projects/rmsnorm/{NAIVE}"));
    let mut trace: Value = serde_json::from_slice(&trace).unwrap();
    for event in trace["traceEvents"].as_array_mut().unwrap() {
        if let Some(args) = event["args"].as_object_mut() {
            args.remove("CallFrom");
        }
    }
    project.write(NAIVE, trace.to_string());
    project
}

/// The worked example with its script open, and the fix that is offered on the handler.
fn offered(project: &Project, manner: Manner) -> (Client, String, Value) {
    let mut client = Client::start_with(project.path(), manner);
    client.ready();
    let uri = client.open(&project.join(SCRIPT));
    let line = text(project).lines().position(|line| line.contains("on_trace_ready=")).unwrap() as u64;
    let mut actions = client.code_actions(&uri, line);
    assert_eq!(actions.len(), 1, "{actions:?}");
    (client, uri, actions.remove(0))
}

fn text(project: &Project) -> String {
    std::fs::read_to_string(project.join(SCRIPT)).unwrap()
}

fn is_wrapped(text: &str) -> bool {
    text.contains("\nfrom aten_lens_recorder import exact_lines\n")
        && text.contains("on_trace_ready=exact_lines(NeuronProfiler(config).export_trace),")
}

#[test]
fn inferred_lines_are_a_hint_on_the_handler_however_findings_are_shown() {
    let project = older();
    let mut client = Client::start(project.path());
    let uri = uri(&project.join(SCRIPT));
    let published = client.wait("textDocument/publishDiagnostics", |params| params["uri"] == json!(uri));
    let [finding] = &published["diagnostics"].as_array().unwrap()[..] else { panic!("{published}") };
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("inferred-lines"), &json!(4)));
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("exact_lines") && !message.contains('\n'), "{message}");
    client.set_settings(json!({ "diagnostics": { "severity": "off" } }));
    client.wait("textDocument/publishDiagnostics", |params| {
        params["uri"] == json!(uri) && params["diagnostics"] == json!([])
    });
}

#[test]
fn one_edit_wraps_the_handler_and_makes_the_module() {
    let project = older();
    let (mut client, uri, action) = offered(&project, Manner::default());
    assert!(action["title"].as_str().unwrap().ends_with(MODULE) && action["command"].is_null());
    let [create, module, script] = &action["edit"]["documentChanges"].as_array().unwrap()[..] else {
        panic!("{action}")
    };
    assert_eq!(create, &json!({ "kind": "create", "uri": crate::client::uri(&project.join(MODULE)) }));
    assert_eq!(module["textDocument"], json!({ "uri": create["uri"], "version": null }));
    assert!(module["edits"][0]["newText"].as_str().unwrap().contains("def exact_lines("));
    assert_eq!(script["textDocument"], json!({ "uri": uri, "version": 1 }));
    let fixed = apply(&text(&project), script["edits"].as_array().unwrap());
    assert!(is_wrapped(&fixed), "{fixed}");
    // With the handler changed there is nothing to offer.
    client.change(&uri, 2, json!([{ "text": fixed }]));
    assert!((0..40).all(|line| client.code_actions(&uri, line).is_empty()));
}

#[test]
fn a_client_that_makes_no_files_gets_the_module_by_command() {
    let project = older();
    let (mut client, uri, action) = offered(&project, Manner { makes_files: false, ..Manner::default() });
    assert!(is_wrapped(&apply(&text(&project), action["edit"]["changes"][&uri].as_array().unwrap())));
    let command = action["command"]["command"].as_str().unwrap();
    client.command(command, action["command"]["arguments"].clone()).unwrap();
    assert!(std::fs::read_to_string(project.join(MODULE)).unwrap().contains("def exact_lines("));
    // From now on the script alone has to change.
    let again = client.code_actions(&uri, 35);
    assert!(again[0]["command"].is_null() && again[0]["edit"]["changes"].is_object(), "{again:?}");
    assert!(!again[0]["title"].as_str().unwrap().contains(MODULE));
}

#[test]
fn the_module_is_added_by_command_and_replaced_only_when_told_to() {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let folder = project.path().to_string_lossy().into_owned();
    let added = client.command("atenLens.server.addRecorder", json!([])).unwrap();
    let module = project.join(MODULE);
    assert_eq!((&added["path"], &added["differs"]), (&json!(module.to_string_lossy()), &json!(false)));
    assert!(added["usage"].as_str().unwrap().contains("exact_lines"));
    project.write(MODULE, "mine");
    let mut add = |arguments| client.command("atenLens.server.addRecorder", arguments);
    assert!(add(json!([folder])).unwrap_err().contains("differs"));
    assert_eq!(add(json!([folder, false])).unwrap()["differs"], json!(true));
    assert_eq!(std::fs::read(&module).unwrap(), b"mine");
    assert_eq!(add(json!([folder, true])).unwrap()["differs"], json!(false));
    assert_ne!(std::fs::read(module).unwrap(), b"mine");
}

/// A script and a trace of it, with its call lines and the hash of the script beside it.
fn recorded(script: &str) -> Project {
    let project = Project::empty();
    let path = project.write("train.py", script);
    let hash = Command::new("sha256sum").arg(path).output().unwrap().stdout;
    let hash = String::from_utf8(hash).unwrap();
    let hash = hash.split(' ').next().unwrap();
    let relu = "<built-in method relu of type object at 0x7f0000000000>";
    project.write(
        "trace.json",
        format!(
            r#"{{"traceEvents":[
            {{"ph":"X","cat":"python_function","name":"train.py(4): step","pid":1,"tid":1,"ts":10,"dur":90,"args":{{"Python id":1}}}},
            {{"ph":"X","cat":"python_function","name":"{relu}","pid":1,"tid":1,"ts":20,"dur":60,"args":{{"Python id":2}}}},
            {{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":30,"dur":40,"args":{{"Ev Idx":0}}}}]}}"#
        ),
    );
    project.write(
        "trace.lines.json.gz",
        format!(
            r#"{{"version":1,"torch":"2.9.1","strings":["train.py(4): step","{relu}","train.py"],"starts":[10000,10000],
            "names":[0,1],"files":[2,2],"lines":[10,7],"sha256":{{"train.py":"{hash}"}}}}"#
        ),
    );
    project
}

const TRAIN: &str = "import torch


def step(x, deep):
    if deep:
        return torch.relu(x)
    return torch.relu(x)


step(torch.ones(2), False)
";

#[test]
fn a_file_as_it_ran_has_its_lines_and_nothing_is_said_of_edits_until_there_is_one() {
    let project = recorded(TRAIN);
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("train.py"));
    let hover = client.hover(&uri, 6).unwrap();
    assert!(hover.contains("*exact*") && !hover.contains("edited"), "{hover}");
    client.change(&uri, 2, json!([{ "text": format!("{TRAIN}# more\n") }]));
    let hover = client.hover(&uri, 6).unwrap();
    assert!(hover.contains("edited after the run; this line still fits"), "{hover}");
    // The same text with the line endings of another system is no edit.
    client.change(&uri, 3, json!([{ "text": TRAIN.replace('\n', "\r\n") }]));
    assert!(!client.hover(&uri, 6).unwrap().contains("edited"));
}

#[test]
fn a_file_edited_before_the_trace_is_read_says_so_and_keeps_what_fits() {
    let project = recorded(TRAIN);
    project.write("train.py", format!("{TRAIN}# a comment at the end\n"));
    let mut client = Client::start(project.path());
    let status = client.ready();
    assert!(status["detail"].as_str().unwrap().contains("`train.py` was edited after the run"), "{status}");
    let uri = client.open(&project.join("train.py"));
    assert_eq!(client.hints(&uri).len(), 1);
    assert!(client.lenses(&uri)[0].1.ends_with("file edited since"));
    let hover = client.hover(&uri, 6).unwrap();
    assert!(
        hover.contains("*exact*") && hover.contains("edited after the run; this line still fits"),
        "{hover}"
    );
    // Undone: what is on screen is what ran.
    client.change(&uri, 2, json!([{ "text": TRAIN }]));
    assert!(!client.hover(&uri, 6).unwrap().contains("edited"));
}
