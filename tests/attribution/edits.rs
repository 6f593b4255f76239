//! Statements taken out, silenced, moved down or written twice since the recording: what is still claimed is true.

use std::path::Path;

use crate::{fixture, recorded, score};

/// Knuth's MMIX generator: the same edits in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A line of the text as it is now, and its number in the text that was profiled.
type Line = (String, Option<u64>);

/// Whether a line is a statement of its own within a function.
fn is_statement(line: &str) -> bool {
    let text = line.trim();
    let keyword = ["return", "def ", "class ", "import ", "from ", "@", "\"", "#", ")", "]", "}", "yield"];
    let count = |of: [char; 3]| text.chars().filter(|c| of.contains(c)).count();
    line.starts_with("    ")
        && !text.is_empty()
        && !text.ends_with([':', ',', '(', '[', '\\'])
        && !keyword.iter().any(|word| text.starts_with(word))
        && count(['(', '[', '{']) == count([')', ']', '}'])
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// One edit; says what it was.
fn edit(lines: &mut Vec<Line>, random: &mut Random) -> String {
    loop {
        let at = random.below(lines.len());
        let text = lines[at].0.clone();
        if !is_statement(&text) {
            continue;
        }
        let silenced = || (format!("{}pass  # {}", " ".repeat(indent(&text)), text.trim()), None);
        match random.below(4) {
            0 if !lines[at - 1].0.trim_end().ends_with(':') => {
                lines.remove(at);
                return format!("{} removed: {text}", at + 1);
            }
            1 => {
                lines[at] = silenced();
                return format!("{} silenced: {text}", at + 1);
            }
            3 if !text.trim().starts_with("pass") => {
                lines.insert(at + 1, (text.clone(), None));
                return format!("{} written twice: {text}", at + 1);
            }
            2 => {
                lines.insert(at, (format!("{}# note", " ".repeat(indent(&text))), None));
                return format!("{} remarked on: {text}", at + 1);
            }
            _ => {}
        }
    }
}

/// Edits `file` in a copy of the sources, and scores the trace against where its lines went.
fn check(trace: &str, truth: &str, files: &[&str], edited: &str, rounds: u64) {
    let original = std::fs::read_to_string(fixture("attribution/sources").join(edited)).expect("a source");
    let truth = score::bytes(&fixture(truth)).expect("its truth");
    for seed in 0..rounds {
        let mut lines: Vec<Line> =
            original.lines().zip(1..).map(|(line, at)| (line.to_owned(), Some(at))).collect();
        let what = edit(&mut lines, &mut Random(seed));
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            copy(file, folder.path());
        }
        let text: String = lines.iter().map(|(line, _)| line.clone() + "\n").collect();
        std::fs::write(folder.path().join(edited), text).expect("writing the edited file");
        let mut now: serde_json::Value = serde_json::from_slice(&truth).expect("the truth is JSON");
        for entry in now.as_object_mut().expect("an object").values_mut() {
            if entry["user"][0] == edited {
                let line = entry["user"][1].as_u64();
                let moved = lines.iter().position(|(_, from)| *from == line);
                entry["user"][1] = moved.map_or(0, |at| at + 1).into();
            }
        }
        for with_call_from in [true, false] {
            let (profile, attribution) =
                score::attribute(&fixture(trace), folder.path(), recorded(with_call_from)).expect("a trace");
            let now = now.to_string();
            let score =
                score::score(&profile, &attribution, now.as_bytes(), "user", folder.path()).expect("JSON");
            let wrong: Vec<_> = score.misses.iter().filter(|miss| miss.contains("WRONG")).collect();
            assert_eq!(score.sure_and_wrong, 0, "{edited}:{what} (CallFrom: {with_call_from}) {wrong:#?}");
        }
    }
}

fn copy(file: &str, folder: &Path) {
    let to = folder.join(file);
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("making it");
    std::fs::copy(fixture("attribution/sources").join(file), to).expect("copying");
}

#[test]
fn an_edit_makes_nothing_sure_and_wrong_in_a_language_model() {
    let files = ["train_lm.py", "lm/model.py", "lm/layers.py"];
    for edited in ["train_lm.py", "lm/model.py"] {
        check(crate::LM, "attribution/lm/groundtruth.json.gz", &files, edited, 3);
    }
}

#[test]
fn an_edit_makes_nothing_sure_and_wrong_in_unusual_constructs() {
    let truth = "attribution/hard/groundtruth.json.gz";
    check("attribution/hard/trace.json.gz", truth, &["hard.py"], "hard.py", 24);
}
