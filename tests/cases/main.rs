//! Every case of `fixtures/cases`: small inputs that are damaged or unusual, each with what must come out.
//!
//! `expected.json` holds times in microseconds. Keys: `table` (these rows, exactly), `table_min`, `table_for` (by file),
//! `per_file`, `sum_self_dev`, `sum_self_cpu`, `unattributed_dev`, `device_busy_union`, `device_column`, `partial`, `rank`,
//! `modules`, `steps`, `warning_about`, `load`; for sources see `lines.rs`. `not_checked` names files left out.

mod lines;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A case's folder and what is expected of it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) expected: Value,
    /// Where the folder was copied to, if it could not be kept as it must be.
    _copy: Option<tempfile::TempDir>,
}

/// What a run of the binary gave.
pub(crate) enum Run {
    Output(String),
    /// Exit 2; what stderr says.
    Refused(String),
}

/// Runs the binary. Any status but 0 and 2 is a defect.
pub(crate) fn run(arguments: &[&str]) -> Run {
    let output =
        Command::new(env!("CARGO_BIN_EXE_aten-lens")).args(arguments).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.code() {
        Some(0) => Run::Output(text(&output.stdout)),
        Some(2) => Run::Refused(text(&output.stderr)),
        other => panic!("{arguments:?} ended with {other:?}: {}", text(&output.stderr)),
    }
}

/// The object that `report` gives of one trace.
pub(crate) fn report_of(trace: &Path) -> Result<Value, String> {
    match run(&["report", &trace.to_string_lossy(), "--format", "json"]) {
        Run::Output(text) => {
            let reports: Value = serde_json::from_str(&text).expect("report prints JSON");
            Ok(reports[0].clone())
        }
        Run::Refused(why) => Err(why),
    }
}

impl Case {
    pub(crate) fn is(&self, key: &str) -> bool {
        self.expected.get(key).is_some_and(|value| *value != Value::Bool(false))
    }

    /// How the case loads: `ok`, `ok-with-warning`, `ignored`, `empty`, `error…`.
    pub(crate) fn load(&self) -> &str {
        self.expected["load"].as_str().unwrap_or("ok")
    }

    /// Whether the input is one that a user would rather not see mentioned, or that is too damaged.
    pub(crate) fn may_be_refused(&self) -> bool {
        matches!(self.load(), "ignored" | "empty") || self.load().starts_with("error")
    }

    /// The inputs: every trace at the top of the folder.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let left_out: Vec<&str> =
            self.expected["not_checked"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut inputs: Vec<PathBuf> = fs::read_dir(&self.folder)
            .expect("a readable case")
            .map(|entry| entry.expect("a readable entry").path())
            .filter(|path| {
                let name = file_name(path);
                let inner = name.strip_suffix(".gz").unwrap_or(&name);
                Path::new(inner).extension().is_some_and(|ending| ending == "json")
                    && name != "expected.json"
                    && !left_out.contains(&name.as_str())
            })
            .collect();
        inputs.sort();
        inputs
    }
}

/// All cases, in order of their names.
pub(crate) fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)
        .expect("fixtures/cases")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    folders.sort();
    folders.iter().map(|folder| case(folder)).collect()
}

fn case(folder: &Path) -> Case {
    let name = file_name(folder);
    let text = fs::read_to_string(folder.join("expected.json")).expect("every case says what it expects");
    let expected = serde_json::from_str(&text).expect("expected.json is JSON");
    if name.starts_with("48-") {
        let copy = with_a_colon(folder);
        return Case { name, folder: copy.path().to_path_buf(), expected, _copy: Some(copy) };
    }
    Case { name, folder: folder.to_path_buf(), expected, _copy: None }
}

/// A folder whose name holds a colon cannot be checked out everywhere: it is made here.
fn with_a_colon(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a temporary folder");
    copy_tree(folder, copy.path());
    let odd = copy.path().join("runs (2)").join("a:b");
    fs::create_dir_all(&odd).expect("a folder with a colon");
    fs::rename(copy.path().join("colon_train.py"), odd.join("train.py")).expect("moving a file");
    copy
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("making folders");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let target = to.join(file_name(&path));
        if path.is_dir() {
            copy_tree(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copying a file");
        }
    }
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Microseconds of an expectation as nanoseconds.
pub(crate) fn ns(us: &Value) -> i64 {
    (us.as_f64().expect("a time in microseconds") * 1000.0).round() as i64
}

/// Fails with all of them at once.
pub(crate) fn nothing_wrong(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
