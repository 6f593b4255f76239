//! Copies of the fixture projects in throw-away folders.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder of its own for one test.
pub struct Project {
    folder: TempDir,
}

impl Project {
    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A copy of `fixtures/<name>`.
    pub fn copy(name: &str) -> Self {
        let project = Self::empty();
        copy(&fixture(name), project.path());
        project
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn join(&self, relative: &str) -> PathBuf {
        self.path().join(relative)
    }

    pub fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

pub fn read_fixture(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
