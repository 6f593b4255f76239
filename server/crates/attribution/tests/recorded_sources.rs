//! Hashes of the sources that were recorded with a trace: what is known of a text and no longer guessed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use attribution::{Attribution, Place, Precision, attribute};
use profile::Profile;
use source::{FileKey, SourceFiles, text_sha256};

const TRAIN: &str = "import torch


def step(x, deep):
    if deep:
        return torch.relu(x)
    return torch.relu(x)


def run(function, x):
    return function(x, False)
";

/// Files by path.
struct Folder(Vec<(&'static str, String)>);

impl SourceFiles for Folder {
    fn candidates(&self, base: &str) -> Vec<FileKey> {
        self.all(usize::MAX).into_iter().filter(|key| key.path.ends_with(&format!("/{base}"))).collect()
    }

    fn text(&self, file: &FileKey) -> Option<Arc<str>> {
        self.0.iter().find(|(path, _)| **path == *file.path).map(|(_, text)| text.as_str().into())
    }

    fn map_path(&self, _: &str) -> Option<String> {
        None
    }

    fn all(&self, _: usize) -> Vec<FileKey> {
        self.0.iter().map(|(path, _)| FileKey { path: (*path).into(), relative: path[1..].into() }).collect()
    }
}

/// What `run` costs that called `step`, which called a function named `callee` from line 7, under the recorded `path`.
/// The text that ran was `profiled`, if anybody recorded it.
fn attributed(
    path: &str,
    callee: &str,
    profiled: Option<&str>,
    folder: Vec<(&'static str, String)>,
) -> Attribution {
    let frame = |name: &str, ts: u32, dur: u32, from: &str| {
        format!(
            r#"{{"ph":"X","cat":"python_function","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{"Python id":{ts}{from}}}}}"#
        )
    };
    let events = [
        frame(&format!("{path}(10): run"), 0, 100, ""),
        frame(&format!("{path}(4): step"), 10, 80, &format!(r#","CallFrom":"{path}:11""#)),
        frame(callee, 20, 60, &format!(r#","CallFrom":"{path}:7""#)),
        r#"{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":30,"dur":40,"args":{"Ev Idx":0}}"#.to_owned(),
    ];
    let text = format!(r#"{{"traceEvents":[{}]}}"#, events.join(","));
    let mut trace = trace::read(text.as_bytes(), &AtomicBool::new(false)).expect("it is a trace");
    let hash = profiled.map(|text| text_sha256(text).expect("a text"));
    trace.recorded_sources.extend(hash.map(|hash| (path.to_owned(), hash)));
    attribute(&Profile::build(trace), &Folder(folder))
}

const RELU: &str = "<built-in method relu of type object at 0x7f0000000000>";
/// Something that dispatch has in between, and whose name no text has.
const UNKNOWN: &str = "<built-in method intercepted of object at 0x7f0000000000>";

/// The line of the one op and how it is known.
fn line(attribution: &Attribution) -> Option<(u32, Precision)> {
    match attribution.charges[..] {
        [ref charge] => match charge.place {
            Place::Line { line, precision, .. } => Some((line, precision)),
            _ => None,
        },
        _ => panic!("one op: {:?}", attribution.charges),
    }
}

/// Whether the file is stale, and those of its functions that are.
fn stale(attribution: &Attribution) -> (bool, Vec<&str>) {
    let file = &attribution.files[0];
    let functions = file.functions.iter().filter(|function| function.stale);
    (file.stale, functions.map(|function| function.name.as_str()).collect())
}

fn one(text: &str) -> Vec<(&'static str, String)> {
    vec![("/w/train.py", text.to_owned())]
}

#[test]
fn lines_in_the_text_that_was_profiled_are_believed_whatever_was_called_from_them() {
    let guessed = attributed("train.py", UNKNOWN, None, one(TRAIN));
    assert_eq!((line(&guessed), stale(&guessed)), (None, (true, vec!["step"])));
    let known = attributed("train.py", UNKNOWN, Some(TRAIN), one(TRAIN));
    assert_eq!((line(&known), stale(&known)), (Some((7, Precision::Exact)), (false, vec![])));
    let windows = attributed("train.py", UNKNOWN, Some(TRAIN), one(&TRAIN.replace('\n', "\r\n")));
    assert_eq!((line(&windows), stale(&windows)), (Some((7, Precision::Exact)), (false, vec![])));
}

#[test]
fn a_file_edited_elsewhere_is_known_to_be_edited_and_its_lines_stay() {
    let appended = format!("{TRAIN}# a comment\n");
    let guessed = attributed("train.py", RELU, None, one(&appended));
    assert_eq!((line(&guessed), stale(&guessed)), (Some((7, Precision::Exact)), (false, vec![])));
    let known = attributed("train.py", RELU, Some(TRAIN), one(&appended));
    assert_eq!((line(&known), stale(&known)), (Some((7, Precision::Exact)), (true, vec![])));
}

#[test]
fn in_an_edited_file_a_function_that_does_not_fit_is_read_afresh_and_the_others_are_not() {
    let edited =
        TRAIN.replace("def step(x, deep):\n", "def step(x, deep):\n    x = x.float()\n    x = x.half()\n");
    let known = attributed("train.py", RELU, Some(TRAIN), one(&edited));
    assert_eq!((line(&known), stale(&known)), (None, (true, vec!["step"])));
}

#[test]
fn a_text_that_cannot_be_compared_is_judged_by_how_it_fits() {
    let replaced = format!("{TRAIN}# \u{fffd}\n");
    let known = attributed("train.py", RELU, Some(TRAIN), one(&replaced));
    assert_eq!((line(&known), stale(&known)), (Some((7, Precision::Exact)), (false, vec![])));
}

#[test]
fn of_files_of_one_name_the_one_that_ran_counts_however_the_paths_agree() {
    let two = || {
        let other = format!("{TRAIN}# another copy\n");
        vec![("/w/job/train.py", other), ("/w/old/train.py", TRAIN.to_owned())]
    };
    let file = |attribution: &Attribution| attribution.files.first().map(|file| file.key.path.to_string());
    let by_path = attributed("/srv/job/train.py", RELU, None, two());
    assert_eq!(file(&by_path).as_deref(), Some("/w/job/train.py"));
    let by_hash = attributed("/srv/job/train.py", RELU, Some(TRAIN), two());
    assert_eq!(file(&by_hash).as_deref(), Some("/w/old/train.py"));
    let undecided = attributed("train.py", RELU, None, two());
    assert_eq!(file(&undecided), None);
    let decided = attributed("train.py", RELU, Some(TRAIN), two());
    assert_eq!((file(&decided).as_deref(), stale(&decided)), (Some("/w/old/train.py"), (false, vec![])));
    let neither = attributed("/srv/job/train.py", RELU, Some("x = 1\n"), two());
    assert_eq!((file(&neither).as_deref(), stale(&neither).0), (Some("/w/job/train.py"), true));
}
