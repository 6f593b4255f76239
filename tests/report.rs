//! `report` against what torch itself printed: recorded traces of torch 2.9 and 2.15 and of a `PrivateUse1` backend, each
//! with the table that `key_averages()` printed in the run that recorded it, and for some its values.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_aten-lens")).args(arguments).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn tables(ending: &str) -> Vec<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/traces/tables");
    let mut found = Vec::new();
    for version in fs::read_dir(root).expect("fixtures/traces/tables") {
        for file in fs::read_dir(version.expect("a folder").path()).expect("a readable folder") {
            let table = file.expect("a file").path();
            if let Some(stem) = table.to_string_lossy().strip_suffix(ending) {
                found.push((PathBuf::from(format!("{stem}.json.gz")), table.clone()));
            }
        }
    }
    found.sort();
    found
}

/// A table as printed: heads, rows of cells, footer lines.
struct Printed {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    footer: Vec<(String, String)>,
}

fn parse(text: &str) -> Printed {
    let mut printed = Printed { heads: Vec::new(), rows: Vec::new(), footer: Vec::new() };
    for line in text.lines().filter(|line| !line.starts_with("---")) {
        if let Some((label, value)) =
            line.split_once(" time total: ").filter(|(label, _)| label.starts_with("Self "))
        {
            printed.footer.push((label.to_owned(), value.trim().to_owned()));
            continue;
        }
        let cells: Vec<String> =
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
        if printed.heads.is_empty() {
            if cells.first().is_some_and(|cell| cell == "Name") {
                printed.heads = cells;
            }
        } else if cells.len() == printed.heads.len() {
            printed.rows.push(cells);
        }
    }
    printed
}

/// A cell's number and the value of its last printed digit.
fn number(cell: &str) -> Option<(f64, f64)> {
    for (unit, factor, digit) in [("us", 1.0, 0.001), ("ms", 1e3, 1.0), ("s", 1e6, 1e3), ("%", 1.0, 0.01)] {
        if let Some(value) = cell.strip_suffix(unit).and_then(|text| text.parse::<f64>().ok()) {
            return Some((value * factor, digit));
        }
    }
    cell.parse::<f64>().ok().map(|value| (value, 0.0))
}

/// Equal but for the last digit: torch sums floating microseconds, and a tie may round the other way.
fn same(theirs: &str, ours: &str) -> bool {
    match (number(theirs), number(ours)) {
        (Some((a, digit)), Some((b, _))) => (a - b).abs() <= digit * 1.01,
        _ => theirs == ours,
    }
}

#[test]
fn every_row_that_torch_printed_is_printed() {
    let tables = tables(".key_averages.txt");
    assert!(tables.len() >= 34, "only {} tables", tables.len());
    for (trace, table) in tables {
        let theirs = parse(&fs::read_to_string(&table).expect("a readable table"));
        let path = trace.to_string_lossy();
        let (status, text, complaint) = run(&["report", &path, "--as", "torch", "--limit", "10000"]);
        assert_eq!(status, Some(0), "{complaint}");
        let ours = parse(&text);
        let columns: Vec<(usize, usize)> = (0..theirs.heads.len())
            // Memory is not in the exported events that a report reads.
            .filter(|&at| !theirs.heads[at].contains("Mem"))
            .map(|at| {
                let head = &theirs.heads[at];
                let here = ours.heads.iter().position(|h| h == head);
                (at, here.unwrap_or_else(|| panic!("{path}: no column {head:?} in {:?}", ours.heads)))
            })
            .collect();
        assert_eq!(columns.len(), ours.heads.len(), "{path}: columns that torch does not print");
        assert_eq!(theirs.rows.len(), ours.rows.len(), "{path}");
        let mut left = ours.rows;
        for row in &theirs.rows {
            let fits = |ours: &Vec<String>| columns.iter().all(|&(a, b)| same(&row[a], &ours[b]));
            let Some(at) = left.iter().position(fits) else {
                let near: Vec<_> = left.iter().filter(|ours| ours[0] == row[0]).collect();
                panic!("{path}: {row:?} is not printed; of that name: {near:?}");
            };
            left.swap_remove(at);
        }
        for (label, value) in &theirs.footer {
            let ours = ours.footer.iter().find(|(known, _)| known == label).map(|(_, value)| value.as_str());
            assert!(
                ours.is_some_and(|ours| same(value, ours)),
                "{path}: {label} is {ours:?}, torch's {value}"
            );
        }
    }
}

#[test]
fn every_value_that_torch_computed_is_computed() {
    let values = tables(".key_averages.json");
    assert!(values.len() >= 10, "only {} files of values", values.len());
    for (trace, file) in values {
        let text = fs::read_to_string(&file).expect("readable values");
        let theirs: Vec<Value> = serde_json::from_str(&text).expect("values are JSON");
        let path = trace.to_string_lossy();
        let (status, text, complaint) = run(&["report", &path, "--as", "torch", "--format", "json"]);
        assert_eq!(status, Some(0), "{complaint}");
        let reports: Value = serde_json::from_str(&text).expect("report prints JSON");
        let rows = reports[0]["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), theirs.len(), "{path}");
        let mut by_name: HashMap<(&str, bool), &Value> = HashMap::new();
        for row in rows {
            by_name.insert((row["name"].as_str().expect("a name"), row["kind"] == "annotation"), row);
        }
        for row in &theirs {
            let name = row["key"].as_str().expect("a name");
            let ours =
                by_name.get(&(name, row["ua"] == true)).unwrap_or_else(|| panic!("{path}: no row {name}"));
            assert_eq!(ours["calls"], row["count"], "{path}: calls of {name}");
            for (theirs, field) in [
                ("cpu_total", "cpu_total_ns"),
                ("self_cpu", "self_cpu_ns"),
                ("dev_total", "device_total_ns"),
                ("self_dev", "self_device_ns"),
            ] {
                let expected = row[theirs].as_f64().expect("microseconds") * 1000.0;
                let given = ours[field].as_i64().expect("nanoseconds") as f64;
                assert!(
                    (expected - given).abs() < 1.0,
                    "{path}: {name}.{field} is {given}, torch's {expected}"
                );
            }
        }
    }
}

#[test]
fn the_rules_are_named_and_can_be_chosen() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/traces/tables");
    let rules = |trace: &str, more: &[&str]| {
        let path = root.join(trace).to_string_lossy().into_owned();
        let (_, text, _) = run(&[&["report", path.as_str(), "--format", "json"], more].concat());
        let reports: Value = serde_json::from_str(&text).expect("report prints JSON");
        reports[0]["rules"].as_str().expect("rules").to_owned()
    };
    let new = "torch-2.15/a_rmsnorm_stack1_shapes1.json.gz";
    assert_eq!(rules(new, &[]), "canonical");
    assert_eq!(rules(new, &["--as", "torch"]), "torch>=2.14");
    assert_eq!(rules(new, &["--as", "torch", "--torch", "2.13"]), "torch 2.12-2.13");
    assert_eq!(rules("torch-2.9/a_rmsnorm_stack1_shapes1.json.gz", &["--as", "torch"]), "torch<=2.11");
}

#[test]
fn wrong_usage_and_unreadable_input_are_one_line_and_status_2() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let empty = folder.path().join("empty.json");
    fs::write(&empty, "").expect("writing there");
    for path in [folder.path().join("none.json"), empty, folder.path().to_path_buf()] {
        let (status, out, complaint) = run(&["report", &path.to_string_lossy()]);
        assert_eq!((status, out.as_str()), (Some(2), ""));
        assert_eq!(complaint.trim().lines().count(), 1, "{complaint}");
        assert!(complaint.contains(&*path.to_string_lossy()), "{complaint}");
    }
    for usage in [&["report"][..], &["report", "x", "--torch", "new"], &["unknown"]] {
        assert_eq!(run(usage).0, Some(2), "{usage:?}");
    }
    assert_eq!(run(&["--help"]).0, Some(0));
}

#[test]
fn a_directory_stands_for_the_newest_capture_in_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases/63-naming-schemes");
    let copy = tempfile::tempdir().expect("a temporary folder");
    let old = "node1.cluster.local_77.1700000000000.pt.trace.json";
    let new = "node1.cluster.local_77.1700000060000.pt.trace.json";
    for name in [new, old] {
        fs::copy(root.join(name), copy.path().join(name)).expect("copying a trace");
    }
    let (status, text, complaint) = run(&["report", &copy.path().to_string_lossy(), "--format", "json"]);
    assert_eq!(status, Some(0), "{complaint}");
    let reports: Value = serde_json::from_str(&text).expect("report prints JSON");
    assert_eq!(reports.as_array().map(Vec::len), Some(1));
    assert!(
        reports[0]["trace"].as_str().is_some_and(|trace| trace.ends_with(new)),
        "{}",
        reports[0]["trace"]
    );
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_panic() {
    let trace =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/traces/tables/torch-2.15/d_lm_full.json.gz");
    let command = format!("'{}' report '{}' | head -n 1", env!("CARGO_BIN_EXE_aten-lens"), trace.display());
    let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    assert!(output.status.success());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
