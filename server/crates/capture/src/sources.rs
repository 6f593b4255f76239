//! The workspace's Python files by base name, with the texts of open documents in place of the disk's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::WalkBuilder;
use source::{FileKey, SourceFiles};

use crate::paths::{canonical, read_source, slashed};

/// How many source files are indexed at most.
const FILES: usize = 100_000;

/// An index made on first use. Only files below its folders are ever read, whatever a trace names.
#[derive(Debug)]
pub struct SourceIndex {
    folders: Vec<PathBuf>,
    mappings: Vec<(String, String)>,
    /// Texts of open documents by their real path.
    open: HashMap<PathBuf, Arc<str>>,
    files: OnceLock<Vec<FileKey>>,
    by_base: OnceLock<HashMap<String, Vec<u32>>>,
}

impl SourceIndex {
    /// `mappings` are prefixes of recorded paths and what to put in their place, the first that fits applies. `open` are
    /// documents' texts by real path.
    pub fn new(
        folders: Vec<PathBuf>,
        mappings: Vec<(String, String)>,
        open: HashMap<PathBuf, Arc<str>>,
    ) -> Self {
        Self { folders, mappings, open, files: OnceLock::new(), by_base: OnceLock::new() }
    }

    fn files(&self) -> &[FileKey] {
        self.files.get_or_init(|| {
            let mut keys: Vec<FileKey> = Vec::new();
            for folder in &self.folders {
                keys.extend(walk(folder).take(FILES - keys.len().min(FILES)));
            }
            // The nearest first, and of one file reached by several paths the first alone.
            keys.sort_by_key(|key| (key.relative.matches('/').count(), key.path.clone()));
            let mut seen = std::collections::HashSet::new();
            keys.retain(|key| seen.insert(canonical(Path::new(&*key.path))));
            keys
        })
    }

    fn by_base(&self) -> &HashMap<String, Vec<u32>> {
        self.by_base.get_or_init(|| {
            let mut by_base: HashMap<String, Vec<u32>> = HashMap::new();
            for (at, key) in self.files().iter().enumerate() {
                let base = key.path.rsplit('/').next().unwrap_or(&key.path);
                by_base.entry(base.to_owned()).or_default().push(at as u32);
            }
            by_base
        })
    }
}

impl SourceFiles for SourceIndex {
    fn candidates(&self, base: &str) -> Vec<FileKey> {
        let found = self.by_base().get(base).map_or(&[][..], Vec::as_slice);
        found.iter().map(|&at| self.files()[at as usize].clone()).collect()
    }

    fn text(&self, file: &FileKey) -> Option<Arc<str>> {
        let path = Path::new(&*file.path);
        match self.open.get(&canonical(path)) {
            Some(text) => Some(text.clone()),
            None => read_source(path).map(Arc::from),
        }
    }

    fn map_path(&self, recorded: &str) -> Option<String> {
        self.mappings.iter().find_map(|(from, to)| {
            let rest = recorded.strip_prefix(from.trim_end_matches(['/', '\\']))?;
            rest.is_empty()
                .then(String::new)
                .or_else(|| rest.starts_with(['/', '\\']).then(|| rest.to_owned()))
                .map(|rest| format!("{}{rest}", to.trim_end_matches(['/', '\\'])))
        })
    }

    fn all(&self, most: usize) -> Vec<FileKey> {
        self.files().iter().take(most).cloned().collect()
    }
}

/// The Python files below a folder; ignored trees, virtual environments and hidden folders are not walked.
fn walk(folder: &Path) -> impl Iterator<Item = FileKey> + use<> {
    let root = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let walker = WalkBuilder::new(&root)
        .follow_links(true)
        .filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let tree = matches!(&*name, "node_modules" | "__pycache__" | "site-packages");
            entry.depth() == 0 || !is_directory || !(tree || entry.path().join("pyvenv.cfg").is_file())
        })
        .build();
    walker.flatten().filter_map(move |entry| {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "py") || !entry.file_type()?.is_file() {
            return None;
        }
        let relative = slashed(path.strip_prefix(&root).ok()?);
        Some(FileKey { path: slashed(path).into(), relative: relative.into() })
    })
}
