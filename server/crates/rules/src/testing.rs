//! A trace and sources as texts, to the findings of one rule.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use attribution::Unit;
use attribution::lines::by_line;
use profile::Profile;
use source::{FileKey, SourceFiles};

use crate::finding::{Edit, Finding};
use crate::registry::{Context, Limits, check};

/// Sources in memory.
pub struct Texts(Vec<(FileKey, Arc<str>)>);

impl Texts {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let file = |&(name, text): &(&str, &str)| {
            (FileKey { path: format!("/w/{name}").into(), relative: name.into() }, Arc::from(text))
        };
        Self(files.iter().map(file).collect())
    }
}

impl SourceFiles for Texts {
    fn candidates(&self, base: &str) -> Vec<FileKey> {
        self.all(usize::MAX).into_iter().filter(|key| key.path.rsplit('/').next() == Some(base)).collect()
    }

    fn text(&self, file: &FileKey) -> Option<Arc<str>> {
        self.0.iter().find(|(key, _)| key == file).map(|(_, text)| text.clone())
    }

    fn map_path(&self, _: &str) -> Option<String> {
        None
    }

    fn all(&self, most: usize) -> Vec<FileKey> {
        self.0.iter().take(most).map(|(key, _)| key.clone()).collect()
    }
}

/// The findings of a rule on a trace (its events, without the brackets) and sources.
pub fn findings(code: &str, events: &str, files: &[(&str, &str)], limits: Limits) -> Vec<Finding> {
    let text = format!("{{\"traceEvents\":[{events}]}}");
    let trace = trace::read(text.as_bytes(), &AtomicBool::new(false)).expect("a readable trace");
    let (profile, sources) = (Profile::build(trace), Texts::new(files));
    let attribution = attribution::attribute(&profile, &sources);
    let context = Context {
        capture: "run",
        profile: &profile,
        attribution: &attribution,
        lines: &by_line(&attribution),
        unit: &Unit::of(&profile, attribution.totals),
        sources: &sources,
        limits,
    };
    check(&context).into_iter().filter(|finding| finding.code == code).collect()
}

/// A text after a fix.
pub fn fixed(text: &str, edits: &[Edit]) -> String {
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        text.replace_range(edit.range.start as usize..edit.range.end as usize, &edit.new_text);
    }
    text
}

/// An op of a dur in microseconds, inside whatever spans its time.
pub fn op(name: &str, ts: u64, dur: u64) -> String {
    format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{}}}}"#
    )
}

/// A Python frame.
pub fn frame(name: &str, ts: u64, dur: u64) -> String {
    let args = format!(r#"{{"Python id":{ts}}}"#);
    format!(
        r#"{{"ph":"X","cat":"python_function","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{args}}}"#
    )
}
