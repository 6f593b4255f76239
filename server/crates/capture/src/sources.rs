//! The workspace's Python files by base name, with the texts of open documents in place of the disk's.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::WalkBuilder;
use source::{FileKey, SourceFiles};

use crate::paths::{canonical, read_source, slashed};

/// How many source files are indexed at most.
const FILES: usize = 100_000;

/// An index made on first use. Only files found in its folders are ever read, whatever a trace names; a link that somebody
/// put into a folder is theirs to follow.
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
            // The nearest first. Of one file reached under one name by several paths, the first alone; a link with a
            // name of its own is a way to call the file that a trace may know.
            keys.sort_by_key(|key| (key.relative.matches('/').count(), key.path.clone()));
            let mut seen = HashSet::new();
            keys.retain(|key| seen.insert((base(key).to_owned(), canonical(Path::new(&*key.path)))));
            keys
        })
    }

    fn by_base(&self) -> &HashMap<String, Vec<u32>> {
        self.by_base.get_or_init(|| {
            let mut by_base: HashMap<String, Vec<u32>> = HashMap::new();
            for (at, key) in self.files().iter().enumerate() {
                by_base.entry(base(key).to_owned()).or_default().push(at as u32);
            }
            by_base
        })
    }
}

/// The last part of a file's path.
fn base(key: &FileKey) -> &str {
    key.path.rsplit('/').next().unwrap_or(&key.path)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn index(root: &Path, mappings: &[(&str, &str)]) -> SourceIndex {
        let owned = mappings.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        SourceIndex::new(vec![root.to_path_buf()], owned, HashMap::new())
    }

    #[cfg(unix)]
    #[test]
    fn a_link_by_another_name_hides_nothing_and_a_linked_folder_doubles_nothing() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(root.path().join("z")).expect("a folder");
        std::fs::write(root.path().join("z/train.py"), "x = 1\n").expect("a file");
        symlink("z/train.py", root.path().join("alias.py")).expect("a link");
        symlink("z", root.path().join("a")).expect("a link");
        let index = index(root.path(), &[]);
        assert_eq!(index.candidates("train.py").len(), 1);
        assert_eq!(index.candidates("alias.py").len(), 1);
    }

    #[test]
    fn environments_and_caches_are_no_sources_and_mappings_replace_whole_parts() {
        let root = tempfile::tempdir().expect("a temporary folder");
        for folder in ["env", "node_modules", "src"] {
            std::fs::create_dir(root.path().join(folder)).expect("a folder");
            std::fs::write(root.path().join(folder).join("m.py"), "").expect("a file");
        }
        std::fs::write(root.path().join("env/pyvenv.cfg"), "").expect("a file");
        let index = index(root.path(), &[("/app/src", "/home/me/src"), ("/app", "/other")]);
        assert_eq!(
            index.candidates("m.py").iter().map(|key| &*key.relative).collect::<Vec<_>>(),
            ["src/m.py"]
        );
        assert_eq!(index.map_path("/app/src/m.py").as_deref(), Some("/home/me/src/m.py"));
        assert_eq!(index.map_path("/app/m.py").as_deref(), Some("/other/m.py"));
        assert_eq!(index.map_path("/application/m.py"), None);
    }
}
