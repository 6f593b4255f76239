//! Finds captures: one walk that knows the directories to watch, the files that match, and which of them are the newest.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::open::looks_like_trace;
use crate::paths::{canonical, slashed};
use crate::{Capture, call_lines, naming, stamp};

/// Directories that hold no captures and are large: never walked, never watched.
const SKIPPED: [&str; 9] = [
    ".git",
    ".hg",
    "node_modules",
    "__pycache__",
    "site-packages",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
];
/// What is looked for in a folder that is named as such.
const EVERYTHING: [&str; 3] = ["**/*.json", "**/*.gz", "**/profile_output/**"];
/// How deep below a folder is looked.
const DEPTH: usize = 24;
/// How many of the newest files are looked into to tell whether they are traces; the rest go by their names.
const SNIFFED: usize = 256;

/// How far clocks of a network's machines may be apart.
const CLOCK_SKEW: Duration = Duration::from_mins(5);

/// What a walk found.
#[derive(Debug)]
pub struct Found {
    /// Newest first.
    pub captures: Vec<Capture>,
    /// Every directory walked: what is to be watched.
    pub directories: Vec<PathBuf>,
    /// A folder that should be looked through is not there.
    pub missing: bool,
    /// How long it took.
    pub took: Duration,
}

/// Looks through folders for captures whose path matches `watch` and not `exclude`: globs relative to the folder. An
/// absolute path among `watch` is a folder of its own, an absolute glob one with that pattern.
pub fn find(folders: &[PathBuf], watch: &[String], exclude: &[String]) -> Found {
    let started = Instant::now();
    let (absolute, relative): (Vec<&String>, Vec<&String>) =
        watch.iter().partition(|pattern| Path::new(pattern.as_str()).is_absolute());
    let relative = globs(relative);
    let mut roots: Vec<(PathBuf, GlobSet)> =
        folders.iter().map(|folder| (folder.clone(), relative.clone())).collect();
    roots.extend(absolute.into_iter().map(|pattern| elsewhere(pattern)));
    let mut walk = Walk {
        watch: relative,
        exclude: globs(exclude),
        seen: HashSet::new(),
        files: Vec::new(),
        links: Vec::new(),
        directories: Vec::new(),
    };
    let mut missing = false;
    for (root, watch) in roots {
        walk.watch = watch;
        walk.folder(&root);
        missing |= !root.is_dir();
    }
    let directories = std::mem::take(&mut walk.directories);
    Found { captures: captures(walk.files()), directories, missing, took: started.elapsed() }
}

/// The folder of an absolute pattern and what to look for in it: everything below a plain folder.
fn elsewhere(pattern: &str) -> (PathBuf, GlobSet) {
    let special = pattern.find(['*', '?', '[', '{']);
    let Some(special) = special else { return (PathBuf::from(pattern), globs(EVERYTHING)) };
    let split = pattern[..special].rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    (PathBuf::from(&pattern[..split]), globs([&pattern[split..]]))
}

/// The captures of a directory named by hand, newest first: every file in it that is a trace by its content.
pub fn in_directory(directory: &Path) -> Vec<Capture> {
    let everything: Vec<String> = EVERYTHING.iter().map(ToString::to_string).collect();
    find(&[directory.to_path_buf()], &everything, &[]).captures
}

/// Whether a text is a glob that [`find`] understands; else one line why not.
///
/// # Errors
/// The reason.
pub fn check_glob(pattern: &str) -> Result<(), String> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .empty_alternates(true)
        .build()
        .map(|_| ())
        .map_err(|e| e.to_string())
}

/// Globs that cannot be read match nothing; whoever takes them from a user has [`check_glob`].
fn globs(patterns: impl IntoIterator<Item = impl AsRef<str>>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Ok(glob) =
            GlobBuilder::new(pattern.as_ref()).literal_separator(true).empty_alternates(true).build()
        {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// A file that matches.
struct File {
    path: PathBuf,
    /// Below the folder it was found in, `/`-separated.
    relative: String,
    root: PathBuf,
    modified: SystemTime,
    len: u64,
}

struct Walk {
    watch: GlobSet,
    exclude: GlobSet,
    /// Directories already seen, under their real paths: links lead nowhere new.
    seen: HashSet<PathBuf>,
    files: Vec<File>,
    /// Files reached by a link of their own.
    links: Vec<File>,
    directories: Vec<PathBuf>,
}

impl Walk {
    fn folder(&mut self, root: &Path) {
        let mut waiting = VecDeque::from([(root.to_path_buf(), 0)]);
        // What is reached through a link comes last, so that a file that also has a straight path goes by that.
        let mut linked = VecDeque::new();
        while let Some((directory, depth)) = waiting.pop_front().or_else(|| linked.pop_front()) {
            if depth > DEPTH || !self.seen.insert(canonical(&directory)) {
                continue;
            }
            let Ok(entries) = std::fs::read_dir(&directory) else { continue };
            self.directories.push(directory);
            for entry in entries.flatten() {
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                let name = entry.file_name();
                let relative = slashed(path.strip_prefix(root).unwrap_or(&path));
                if self.exclude.is_match(&relative) {
                    continue;
                }
                let link = kind.is_symlink();
                let is_directory = kind.is_dir() || (link && path.is_dir());
                if !is_directory {
                    self.file(root, path, relative, link);
                } else if !skipped(&path, &name.to_string_lossy()) {
                    if link { &mut linked } else { &mut waiting }.push_back((path, depth + 1));
                }
            }
        }
    }

    fn file(&mut self, root: &Path, path: PathBuf, relative: String, link: bool) {
        if !self.watch.is_match(&relative) || is_temporary(&relative) || call_lines::are(&relative) {
            return;
        }
        // Unreadable and dangling ones are passed over: what does not open is no trace.
        let Ok(metadata) = std::fs::metadata(&path) else { return };
        if !metadata.is_file() {
            return;
        }
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let file = File { path, relative, root: root.to_path_buf(), modified, len: metadata.len() };
        if link { &mut self.links } else { &mut self.files }.push(file);
    }

    /// The files, those behind links only where nothing else leads to them.
    fn files(self) -> Vec<File> {
        let (mut files, mut seen) = (self.files, HashSet::new());
        for link in self.links {
            let target = canonical(&link.path);
            let known = files.iter().any(|file| {
                file.len == link.len
                    && file.path.file_name() == target.file_name()
                    && canonical(&file.path) == target
            });
            if !known && seen.insert(target) {
                files.push(link);
            }
        }
        files
    }
}

fn skipped(path: &Path, name: &str) -> bool {
    SKIPPED.contains(&name) || path.join("pyvenv.cfg").is_file()
}

/// Names of files that are not finished or not meant: editors' swap files, `name.tmp` that Kineto renames when whole.
fn is_temporary(relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(
        ending,
        "tmp" | "swp" | "swo" | "part" | "crdownload" | "neff" | "ntff" | "pb" | "py" | "pt" | "txt"
    ) || name.starts_with(".#")
        || name.ends_with('~')
}

/// The ranks of one run, and the numbers in the first one's path.
type Run = (Vec<u128>, Vec<File>);

/// Groups ranks, orders by newness, drops what is no trace by its content.
fn captures(files: Vec<File>) -> Vec<Capture> {
    let mut runs: HashMap<(String, String), Vec<(u32, File)>> = HashMap::new();
    for file in files {
        let (folder, name) = file.relative.rsplit_once('/').unwrap_or(("", &file.relative));
        let (rank, rest) = naming::rank(name).unwrap_or((0, name.to_owned()));
        let key = (slashed(&file.root.join(folder)), rest);
        runs.entry(key).or_default().push((rank, file));
    }
    let mut series: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for mut ranks in runs.into_values() {
        ranks.sort_by(|a, b| (a.0, &a.1.path).cmp(&(b.0, &b.1.path)));
        let files: Vec<File> = ranks.into_iter().map(|(_, file)| file).collect();
        let Some(first) = files.first() else { continue };
        let (template, numbers) = stamp::template(&slashed(&first.path));
        series.entry(template).or_default().push((numbers, files));
    }
    // Within a series of comparable names the numbers decide; between series the time of the newest of each.
    let mut series: Vec<_> = series.into_values().collect();
    for runs in &mut series {
        runs.sort_by(|a, b| b.0.cmp(&a.0));
    }
    series
        .sort_by_cached_key(|runs| std::cmp::Reverse(runs.iter().map(|(_, files)| written(&files[0])).max()));
    let ordered = series.into_iter().flatten().map(|(_, files)| files);
    let mut captures: Vec<Capture> = ordered
        .enumerate()
        .filter(|(at, files)| *at >= SNIFFED || looks_like_trace(&files[0].path))
        .filter_map(|(_, files)| capture(&files))
        .collect();
    tell_apart(&mut captures);
    captures
}

/// When a file was written: the time in its name, which survives copying, else the file's own.
fn written(file: &File) -> SystemTime {
    // A time to come is a clock's mistake: such a file must not hide every newer one until then.
    let is_to_come = file.modified > SystemTime::now() + CLOCK_SKEW;
    let modified = if is_to_come { SystemTime::UNIX_EPOCH } else { file.modified };
    stamp::stamp(&file.relative).unwrap_or(modified)
}

fn capture(files: &[File]) -> Option<Capture> {
    let first = files.first()?;
    Some(Capture {
        path: first.path.clone(),
        name: naming::name(&first.path, Some(&first.root)),
        modified: first.modified,
        len: first.len,
        call_lines: call_lines::state(&first.path),
        ranks: files.iter().map(|file| file.path.clone()).collect(),
    })
}

/// Captures of one name get a number each, the oldest 1.
fn tell_apart(captures: &mut [Capture]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for capture in captures.iter() {
        *counts.entry(capture.name.clone()).or_default() += 1;
    }
    for capture in captures.iter_mut() {
        let Some(left) = counts.get_mut(&capture.name) else { continue };
        let number = *left;
        // The oldest of a name keeps it as it was before there were others.
        *left -= 1;
        if number > 1 {
            capture.name = format!("{} #{number}", capture.name);
        }
    }
}

#[cfg(test)]
mod tests;
