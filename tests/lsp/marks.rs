//! What an editor shows of the worked example.

use serde_json::{Value, json};

use crate::client::Client;
use crate::project::Project;

fn opened() -> (Project, Client, String) {
    let project = Project::copy("projects/rmsnorm");
    let mut client = Client::start(project.path());
    client.ready();
    let uri = client.open(&project.join("rmsnorm.py"));
    (project, client, uri)
}

#[test]
fn every_op_is_on_its_own_line_and_the_sum_on_the_function() {
    let (_project, mut client, uri) = opened();
    let hints = client.hints(&uri);
    let expected = [
        (5, "mul · 402 µs NEURON 17.1%"),
        (6, "mean · 341 µs NEURON 14.5%"),
        (7, "add · 435 µs NEURON 18.5%"),
        (8, "rsqrt · 415 µs NEURON 17.6%"),
        (9, "mul · 379 µs NEURON 16.1%"),
        (10, "mul · 384 µs NEURON 16.3%"),
    ];
    assert_eq!(hints, expected.map(|(line, text)| (line, text.to_owned())));
    let lenses = client.lenses(&uri);
    assert!(lenses.contains(&(3, "2.35 ms NEURON · 6 ops · 100.0%".to_owned())), "{lenses:?}");
    assert!(lenses.contains(&(3, "Open in trace".to_owned())));
    assert!(
        lenses[0].1.starts_with("ATen Lens: naive · ") && lenses[0].1.ends_with("100% on lines"),
        "{lenses:?}"
    );
}

#[test]
fn the_hover_has_the_table_the_precision_and_the_kernel() {
    let (_project, mut client, uri) = opened();
    let hover = client.hover(&uri, 5).unwrap();
    assert!(
        hover.contains("| op | calls | CPU self | CPU total | NEURON self | NEURON total | share | shapes |"),
        "{hover}"
    );
    assert!(hover.contains("| `mul` | 1 |") && hover.contains("4×512"), "{hover}");
    assert!(hover.contains("Launched: `neff_mul` ×1"), "{hover}");
    assert!(hover.contains("*aligned*"), "{hover}");
    assert!(hover.contains("](command:atenLens.openTrace?"), "{hover}");
    assert_eq!(client.hover(&uri, 1), None);
}

#[test]
fn hot_spots_and_the_unfused_norm_are_findings_with_codes_and_links() {
    let (_project, mut client, uri) = opened();
    let published = client.wait("textDocument/publishDiagnostics", |params| params["uri"] == json!(uri));
    let diagnostics = published["diagnostics"].as_array().unwrap();
    let of = |code: &str| diagnostics.iter().filter(|d| d["code"] == code).collect::<Vec<_>>();
    assert_eq!(of("hotspot").len(), 5);
    let unfused = of("unfused-rms-norm");
    assert_eq!(unfused.len(), 1);
    assert!(unfused[0]["message"].as_str().unwrap().contains("6 dispatches, 2.35 ms NEURON (100.0%)"));
    assert!(unfused[0]["codeDescription"]["href"].as_str().unwrap().starts_with("https://docs.pytorch.org/"));
    assert!(diagnostics.iter().all(|d| d["severity"] == 3 && d["source"] == "ATen Lens"));
}

#[test]
fn the_quick_fix_leaves_one_fused_call() {
    let (project, mut client, uri) = opened();
    let actions = client.code_actions(&uri, 3);
    let fix =
        actions.iter().find(|action| action["title"].as_str().unwrap().contains("torch.rms_norm")).unwrap();
    assert_eq!(fix["isPreferred"], true);
    let text = std::fs::read_to_string(project.join("rmsnorm.py")).unwrap();
    let fixed = apply(&text, fix["edit"]["changes"][&uri].as_array().unwrap());
    let body: Vec<&str> = fixed.lines().skip(3).take(5).collect();
    assert!(fixed.contains("    return torch.rms_norm(x, (x.shape[-1],), weight, eps)\n"), "{body:?}");
    assert!(!body.join("\n").contains("rsqrt"), "{body:?}");
    // Also from the middle of the pattern, and the other remedy beside it.
    let actions = client.code_actions(&uri, 8);
    let titles: Vec<_> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    assert!(titles[1].contains("@torch.compile(backend=\"neuron\", fullgraph=True)"));
}

#[test]
fn no_stacks_is_said_on_the_users_own_call_and_its_fix_adds_the_argument() {
    let project = Project::copy("projects/no_stacks");
    let mut client = Client::start(project.path());
    let status = client.ready();
    assert!(status["detail"].as_str().unwrap().contains("with_stack=True"));
    let uri = client.open(&project.join("train.py"));
    let published = client.wait("textDocument/publishDiagnostics", |params| params["uri"] == json!(uri));
    let finding = &published["diagnostics"][0];
    assert_eq!(finding["code"], "no-stacks");
    let line = finding["range"]["start"]["line"].as_u64().unwrap();
    let actions = client.code_actions(&uri, line);
    let text = std::fs::read_to_string(project.join("train.py")).unwrap();
    let fixed = apply(&text, actions[0]["edit"]["changes"][&uri].as_array().unwrap());
    assert!(!text.contains("with_stack=True") && fixed.contains("with_stack=True"));
    // What the ops read like is a candidate: on its `def` and in hovers, never a hint.
    let lenses = client.lenses(&uri);
    let candidate = lenses.iter().find(|(_, title)| title.starts_with("candidate: ~2.35 ms NEURON"));
    let &(line, _) = candidate.unwrap_or_else(|| panic!("{lenses:?}"));
    assert!(text.lines().nth(line as usize).unwrap().starts_with("def rmsnorm"));
    let hover = client.hover(&uri, line + 1).unwrap();
    assert!(hover.contains("may be here") && hover.contains("rmsnorm"), "{hover}");
    assert!(client.hints(&uri).is_empty());
}

#[test]
fn the_table_has_the_worked_examples_numbers_and_leads_to_lines() {
    let (_project, mut client, uri) = opened();
    let table = client.request("atenLens/operators", json!({ "capture": null, "asTorch": true })).unwrap();
    let rows = table["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["cells"][0]["text"] == name).unwrap();
    let texts = |row: &Value| -> Vec<String> {
        row["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["text"].as_str().unwrap().to_owned())
            .collect()
    };
    let labels: Vec<_> =
        table["columns"].as_array().unwrap().iter().map(|column| column["label"].as_str().unwrap()).collect();
    let mul = texts(row("aten::mul"));
    let cell = |label: &str| &*mul[labels.iter().position(|known| *known == label).unwrap()];
    assert_eq!(
        ["Calls", "Self CPU", "Self NEURON", "Self NEURON %", "NEURON total", "Line"].map(cell),
        ["3", "60.900us", "1.165ms", "49.5%", "1.165ms", "rmsnorm.py:6 +2"]
    );
    assert_eq!(row("aten::mul")["locations"], 3);
    assert_eq!(row("aten::mul")["location"], json!({ "uri": uri, "line": 5 }));
    assert_eq!(row("aten::rsqrt")["location"]["line"], 8);
    let asked = json!({ "capture": null, "asTorch": false, "uri": uri, "line": 8 });
    let table = client.request("atenLens/operators", asked).unwrap();
    let selected = table["selected"].as_u64().unwrap() as usize;
    assert_eq!(table["rows"][selected]["cells"][0]["text"], "aten::rsqrt");
}

#[test]
fn marks_can_be_hidden_cleared_and_brought_back() {
    let (_project, mut client, uri) = opened();
    assert_eq!(client.command("atenLens.server.toggleMarks", json!([])), Ok(json!(false)));
    assert!(client.hints(&uri).is_empty() && client.lenses(&uri).is_empty());
    client.wait("textDocument/publishDiagnostics", |params| params["diagnostics"] == json!([]));
    assert_eq!(client.command("atenLens.server.toggleMarks", json!([])), Ok(json!(true)));
    assert_eq!(client.hints(&uri).len(), 6);
    client.command("atenLens.server.clear", json!([])).unwrap();
    client.wait("atenLens/status", |status| status["state"] == "none");
    assert!(client.hints(&uri).is_empty());
    client.command("atenLens.server.refresh", json!([])).unwrap();
    client.ready();
    assert_eq!(client.hints(&uri).len(), 6);
}

#[test]
fn settings_take_effect_without_a_restart() {
    let (_project, mut client, uri) = opened();
    client.set_settings(json!({ "hints": { "minShare": 17.5 }, "diagnostics": { "severity": "off" } }));
    client.wait("textDocument/publishDiagnostics", |params| params["diagnostics"] == json!([]));
    let lines: Vec<u64> = client.hints(&uri).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [7, 8]);
    client.set_settings(json!({ "hints": { "enabled": false }, "lenses": { "enabled": false } }));
    client.wait("textDocument/publishDiagnostics", |params| params["diagnostics"] != json!([]));
    assert!(client.hints(&uri).is_empty() && client.lenses(&uri).is_empty());
}

/// Applies LSP edits (ASCII documents).
pub fn apply(text: &str, edits: &[Value]) -> String {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let offset = |at: &Value| {
        starts[at["line"].as_u64().unwrap() as usize] + at["character"].as_u64().unwrap() as usize
    };
    let mut edits: Vec<_> = edits
        .iter()
        .map(|edit| {
            (
                offset(&edit["range"]["start"]),
                offset(&edit["range"]["end"]),
                edit["newText"].as_str().unwrap(),
            )
        })
        .collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.0));
    let mut text = text.to_owned();
    for (start, end, new) in edits {
        text.replace_range(start..end, new);
    }
    text
}
