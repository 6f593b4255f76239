use std::fs;

use super::*;
use crate::DEFAULT_WATCH;

const TRACE: &str = r#"{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}"#;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn put(root: &Path, relative: &str, text: &str) {
    let path = root.join(relative);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("making folders");
    fs::write(path, text).expect("writing there");
}

fn found(root: &Path) -> Vec<String> {
    let watch: Vec<String> = DEFAULT_WATCH.iter().map(ToString::to_string).collect();
    find(&[root.to_path_buf()], &watch, &[])
        .captures
        .iter()
        .map(|capture| slashed(capture.path.strip_prefix(root).expect("below the root")))
        .collect()
}

#[test]
fn numbers_in_comparable_names_decide_whatever_the_file_times() {
    let root = folder();
    // Written in the wrong order, as a copy may be.
    for name in ["iteration_20", "iteration_9", "iteration_10"] {
        put(root.path(), &format!("{name}/rank0_trace.json"), TRACE);
    }
    let order: Vec<String> =
        ["20", "10", "9"].iter().map(|n| format!("iteration_{n}/rank0_trace.json")).collect();
    assert_eq!(found(root.path()), order);
}

#[test]
fn cycles_of_one_worker_are_captures_and_ranks_are_not() {
    let root = folder();
    put(root.path(), "node1.cluster.local_77.1700000000000.pt.trace.json", TRACE);
    put(root.path(), "node1.cluster.local_77.1700000060000.pt.trace.json", TRACE);
    assert_eq!(
        found(root.path()),
        [
            "node1.cluster.local_77.1700000060000.pt.trace.json",
            "node1.cluster.local_77.1700000000000.pt.trace.json"
        ]
    );
    let ranks = folder();
    put(ranks.path(), "1782763266.4276123-TP-1.trace.json", TRACE);
    put(ranks.path(), "1782763266.4276123-TP-0.trace.json", TRACE);
    assert_eq!(found(ranks.path()), ["1782763266.4276123-TP-0.trace.json"]);
}

#[test]
fn what_is_no_trace_is_not_found() {
    let root = folder();
    for (name, text) in [
        ("trace.json.tmp", "{\"traceEv"),
        (".trace.json.swp", "b0VIM"),
        ("memory_trace.json", "[[1,2],[3]]"),
        ("trace_settings.json", "{ // comment\n}"),
        ("empty_trace.json", ""),
        ("profile_output/neff_1.neff", "binary"),
    ] {
        put(root.path(), name, text);
    }
    assert!(found(root.path()).is_empty());
}

#[test]
fn large_uninteresting_trees_are_not_walked_and_excludes_hold() {
    let root = folder();
    put(root.path(), "node_modules/x/trace.json", TRACE);
    put(root.path(), "env/pyvenv.cfg", "");
    put(root.path(), "env/trace.json", TRACE);
    put(root.path(), "old/trace.json", TRACE);
    let watch: Vec<String> = DEFAULT_WATCH.iter().map(ToString::to_string).collect();
    let found = find(&[root.path().to_path_buf()], &watch, &["old/**".to_owned()]);
    assert!(found.captures.is_empty());
    let old = root.path().join("old");
    assert_eq!(found.directories, [root.path().to_path_buf(), old]);
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_twice_and_loops_end() {
    use std::os::unix::fs::symlink;
    let root = folder();
    put(root.path(), "real/trace.json", TRACE);
    symlink(root.path().join("real"), root.path().join("a_link")).expect("a link");
    symlink(root.path(), root.path().join("real/loop")).expect("a link");
    symlink(root.path().join("nowhere"), root.path().join("dangling_trace.json")).expect("a link");
    symlink(root.path().join("real/trace.json"), root.path().join("other_trace.json")).expect("a link");
    assert_eq!(found(root.path()).len(), 1);
}

#[test]
fn captures_of_one_name_are_told_apart() {
    let root = folder();
    put(root.path(), "profile_output/naive/i-0a_pid_3/20261014091502/trace.json", TRACE);
    put(root.path(), "profile_output/naive/i-0a_pid_4/20261014095849/trace.json", TRACE);
    let names: Vec<String> = in_directory(root.path()).into_iter().map(|capture| capture.name).collect();
    assert_eq!(names, ["naive #2", "naive"]);
}

#[test]
fn absolute_folders_and_globs_are_looked_through_wherever_they_are() {
    let (workspace, elsewhere) = (folder(), folder());
    put(elsewhere.path(), "runs/one.json", TRACE);
    put(elsewhere.path(), "runs/two.trace", TRACE);
    let look = |pattern: PathBuf| {
        let watch = [pattern.display().to_string()];
        let found = find(&[workspace.path().to_path_buf()], &watch, &[]);
        (found.captures.into_iter().map(|capture| capture.name).collect::<Vec<_>>(), found.missing)
    };
    assert_eq!(look(elsewhere.path().join("runs")), (vec!["one".to_owned()], false));
    assert_eq!(look(elsewhere.path().join("**/*.trace")), (vec!["runs/two".to_owned()], false));
    assert_eq!(look(elsewhere.path().join("none")), (vec![], true));
}
