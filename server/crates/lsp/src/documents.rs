//! Open documents: immutable values in a map. A change makes a new value, so a handler's copy never moves under it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dashmap::DashMap;
use ide::{LineIndex, LineMap};
use lsp_types::{TextDocumentContentChangeEvent, Url};

use crate::position;

/// An open document at one version.
#[derive(Debug)]
pub struct Document {
    /// As the client spelled it: what answers must carry.
    pub uri: Url,
    /// The file behind it with symlinks resolved, if it is one.
    pub path: Option<PathBuf>,
    pub version: i32,
    pub text: Arc<str>,
    pub lines: LineIndex,
    /// Line maps from the texts that marks are anchored to. Few: one or two a document.
    maps: Mutex<Vec<(Arc<str>, Arc<LineMap>)>>,
}

impl Document {
    fn new(uri: Url, path: Option<PathBuf>, version: i32, text: Arc<str>) -> Self {
        let lines = LineIndex::new(&text);
        Self { uri, path, version, text, lines, maps: Mutex::default() }
    }

    /// Where the lines of `base` are in this document now.
    pub fn map_from(&self, base: &Arc<str>) -> Arc<LineMap> {
        let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, map)) = maps.iter().find(|(known, _)| Arc::ptr_eq(known, base)) {
            return map.clone();
        }
        let map = Arc::new(LineMap::between(base, &self.text));
        maps.push((base.clone(), map.clone()));
        map
    }
}

/// All open documents.
#[derive(Debug, Default)]
pub struct Documents(DashMap<Url, Arc<Document>>);

impl Documents {
    pub fn open(&self, uri: Url, version: i32, text: &str) {
        let path = uri.to_file_path().ok().map(|path| capture::canonical(&path));
        self.0.insert(uri.clone(), Arc::new(Document::new(uri, path, version, Arc::from(text))));
    }

    /// Applies changes in their order. An unknown document or an older version changes nothing.
    pub fn change(&self, uri: &Url, version: i32, changes: &[TextDocumentContentChangeEvent]) {
        let Some(mut slot) = self.0.get_mut(uri) else { return };
        if version < slot.version {
            return;
        }
        let mut text = slot.text.to_string();
        // Most often there is one change, and its lines are known.
        let mut known = Some(slot.lines.clone());
        for change in changes {
            match change.range {
                None => {
                    known = None;
                    text.clone_from(&change.text);
                }
                Some(range) => {
                    let lines = known.take().unwrap_or_else(|| LineIndex::new(&text));
                    let start = position::offset(&text, &lines, range.start) as usize;
                    let end = (position::offset(&text, &lines, range.end) as usize).max(start);
                    text.replace_range(start..end, &change.text);
                }
            }
        }
        *slot = Arc::new(Document::new(uri.clone(), slot.path.clone(), version, Arc::from(text)));
    }

    pub fn close(&self, uri: &Url) -> Option<Arc<Document>> {
        self.0.remove(uri).map(|(_, document)| document)
    }

    pub fn get(&self, uri: &Url) -> Option<Arc<Document>> {
        self.0.get(uri).map(|slot| slot.clone())
    }

    /// The open documents of a file: more than one where it is open under several names.
    pub fn of_path(&self, path: &Path) -> Vec<Arc<Document>> {
        self.0.iter().filter(|slot| slot.path.as_deref() == Some(path)).map(|slot| slot.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range};

    use super::*;

    fn change(line: u32, from: u32, to: u32, text: &str) -> TextDocumentContentChangeEvent {
        let range =
            Range { start: Position { line, character: from }, end: Position { line, character: to } };
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.to_owned() }
    }

    fn opened(text: &str) -> Option<(Documents, Url)> {
        let documents = Documents::default();
        let uri = Url::parse("untitled:one.py").ok()?;
        documents.open(uri.clone(), 1, text);
        Some((documents, uri))
    }

    #[test]
    fn changes_apply_in_order_and_count_utf16() {
        let (documents, uri) = opened("a😀b\nsecond\n").expect("a valid URI");
        documents.change(&uri, 2, &[change(0, 3, 4, "c"), change(1, 0, 6, "2nd")]);
        assert_eq!(documents.get(&uri).map(|d| d.text.to_string()).as_deref(), Some("a😀c\n2nd\n"));
    }

    #[test]
    fn a_late_older_version_changes_nothing() {
        let (documents, uri) = opened("a").expect("a valid URI");
        documents.change(&uri, 5, &[change(0, 0, 1, "b")]);
        documents.change(&uri, 4, &[change(0, 0, 1, "c")]);
        assert_eq!(documents.get(&uri).map(|d| d.text.to_string()).as_deref(), Some("b"));
    }

    #[test]
    fn a_handlers_copy_does_not_move_under_it() {
        let (documents, uri) = opened("a").expect("a valid URI");
        let copy = documents.get(&uri);
        documents.change(&uri, 2, &[change(0, 0, 1, "b")]);
        assert_eq!(copy.map(|d| d.text.to_string()).as_deref(), Some("a"));
    }
}
