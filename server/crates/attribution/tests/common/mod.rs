//! A workspace of one file, for tests that bring their own trace.

use std::sync::Arc;

use source::{FileKey, SourceFiles};

/// One file, `train.py`.
pub struct OneFile(pub &'static str);

impl SourceFiles for OneFile {
    fn candidates(&self, base: &str) -> Vec<FileKey> {
        let key = FileKey { path: "/w/train.py".into(), relative: "train.py".into() };
        if base == "train.py" { vec![key] } else { Vec::new() }
    }

    fn text(&self, _: &FileKey) -> Option<Arc<str>> {
        Some(self.0.into())
    }

    fn map_path(&self, _: &str) -> Option<String> {
        None
    }

    fn all(&self, _: usize) -> Vec<FileKey> {
        self.candidates("train.py")
    }
}
