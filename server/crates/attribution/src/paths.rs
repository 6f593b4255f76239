//! From a path in a trace to a file of the workspace.
//!
//! torch strips every `sys.path` prefix, containers and other machines have roots of their own, and a library's
//! `core/module.py` must never land on the user's `module.py`. So a relative path must match whole, an absolute one by
//! its longest suffix, and one through `site-packages` with all that follows it.

use source::FileKey;

/// What the parts of a recorded path must match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Recorded<'a> {
    pub parts: Vec<&'a str>,
    /// How many of the last parts must be the file's own.
    pub required: usize,
}

/// Code that has no file: notebook cells, `exec`, generated modules.
const NO_FILE: [&str; 4] = ["ipykernel_", "ipython-input", "xpython_", "torchinductor_"];

/// Reads a recorded path with either separator and without its drive. `None` for code that has no file.
pub(crate) fn recorded(path: &str) -> Option<Recorded<'_>> {
    if path.starts_with('<')
        || path.contains(|c: char| c < ' ')
        || NO_FILE.iter().any(|mark| path.contains(mark))
    {
        return None;
    }
    let path = match path.as_bytes() {
        [drive, b':', ..] if drive.is_ascii_alphabetic() => &path[2..],
        _ => path,
    };
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let mut required = if path.starts_with(['/', '\\']) { 1 } else { parts.len() };
    for (at, part) in parts.iter().enumerate() {
        if matches!(*part, "site-packages" | "dist-packages") || part.starts_with("python3") {
            required = parts.len() - 1 - at;
        }
    }
    (!parts.is_empty()).then_some(Recorded { parts, required })
}

impl Recorded<'_> {
    pub fn base(&self) -> &str {
        self.parts.last().copied().unwrap_or("")
    }

    /// How many parts at the end agree with the file's path; `None` when fewer than required do.
    fn agreement(&self, file: &FileKey) -> Option<usize> {
        let file = file.path.rsplit(['/', '\\']).filter(|part| !part.is_empty());
        let agreeing = self.parts.iter().rev().zip(file).take_while(|(a, b)| *a == b).count();
        (agreeing >= self.required.max(1)).then_some(agreeing)
    }

    /// The candidates that agree in as many parts as they must.
    pub fn agreeing(&self, candidates: Vec<FileKey>) -> Vec<FileKey> {
        candidates.into_iter().filter(|file| self.agreement(file).is_some()).collect()
    }

    /// The candidates that agree in the most parts.
    pub fn best(&self, candidates: Vec<FileKey>) -> Vec<FileKey> {
        let agreeing: Vec<_> =
            candidates.into_iter().filter_map(|file| Some((self.agreement(&file)?, file))).collect();
        let most = agreeing.iter().map(|&(count, _)| count).max();
        let mut best: Vec<_> =
            agreeing.into_iter().filter(|&(count, _)| Some(count) == most).map(|(_, file)| file).collect();
        best.sort();
        best.dedup_by(|a, b| a.path == b.path);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> FileKey {
        FileKey { path: path.into(), relative: path.trim_start_matches('/').into() }
    }

    fn best(path: &str, files: &[&str]) -> Vec<String> {
        let Some(recorded) = recorded(path) else { return Vec::new() };
        let base = recorded.base();
        let candidates = files.iter().filter(|f| f.ends_with(&format!("/{base}"))).map(|f| file(f)).collect();
        recorded.best(candidates).into_iter().map(|f| f.path.to_string()).collect()
    }

    #[test]
    fn a_relative_path_matches_whole() {
        assert_eq!(best("lm/model.py", &["/w/lm/model.py", "/w/model.py"]), ["/w/lm/model.py"]);
        assert!(best("core/module.py", &["/w/module.py"]).is_empty());
        assert_eq!(best("utils.py", &["/w/a/utils.py", "/w/b/utils.py"]).len(), 2);
    }

    #[test]
    fn an_absolute_path_matches_by_its_longest_suffix() {
        let files = ["/home/me/proj/src/functional.py", "/home/me/proj/functional.py"];
        assert_eq!(best("/workspace/proj/src/functional.py", &files), [files[0]]);
        assert_eq!(best("/elsewhere/functional.py", &files[1..]), [files[1]]);
    }

    #[test]
    fn a_library_matches_with_all_that_follows_its_folder() {
        let files = ["/home/me/proj/functional.py"];
        assert!(best("/opt/lib/python3.11/site-packages/torch/nn/functional.py", &files).is_empty());
        assert!(best("/usr/lib/python3/dist-packages/torch/functional.py", &files).is_empty());
        assert!(best("C:\\Python\\Lib\\site-packages\\torch\\functional.py", &files).is_empty());
    }

    #[test]
    fn windows_paths_match_elsewhere() {
        for path in ["D:\\ml\\proj\\train.py", "d:/ml/proj/train.py", "D:\\\\ml\\\\proj\\\\train.py"] {
            assert_eq!(best(path, &["/home/me/proj/train.py"]), ["/home/me/proj/train.py"]);
        }
    }

    #[test]
    fn code_without_a_file_has_none() {
        for path in [
            "<string>",
            "<frozen importlib._bootstrap>",
            "<eval_with_key>.3",
            "/tmp/ipykernel_3021/1234.py",
            "<ipython-input-3-abc>",
            "/tmp/xpython_4/5.py",
            "/tmp/torchinductor_me/ab/cab.py",
            "a\u{1}b.py",
            "",
        ] {
            assert_eq!(recorded(path), None, "{path}");
        }
    }
}
