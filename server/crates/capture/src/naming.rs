//! What a capture is called, and which files are ranks of one.

use std::path::Path;

use crate::paths::slashed;

/// The telling part of a trace's path below `root`: without what every capture has in its path.
///
/// `profile_output/naive/i-0a1b_pid_30193/20261014091502/trace.json` → `naive`;
/// `log/host_77.1700000060000.pt.trace.json` → `log/host_77`; a bare `trace.json` → `trace`.
pub fn name(path: &Path, root: Option<&Path>) -> String {
    let relative = root.and_then(|root| path.strip_prefix(root).ok());
    let text = slashed(relative.unwrap_or(path));
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    let Some((file, folders)) = parts.split_last() else { return text };
    let stem = stem(file);
    let mut kept: Vec<&str> = folders.iter().copied().filter(|folder| !is_generic(folder)).collect();
    if !matches!(stem, "trace" | "pytorch_trace" | "") || kept.is_empty() {
        kept.push(if stem.is_empty() { file } else { stem });
    }
    // Of a path by itself the last parts say enough.
    let from = if relative.is_some() { 0 } else { kept.len().saturating_sub(2) };
    kept[from..].join("/")
}

/// A file name without what says that it is a trace, and without the time that exporters append.
fn stem(file: &str) -> &str {
    let mut stem = file;
    for ending in [".gz", ".json", ".trace", ".pt"] {
        stem = stem.strip_suffix(ending).unwrap_or(stem);
    }
    match stem.rsplit_once('.') {
        Some((before, digits)) if digits.len() >= 10 && digits.bytes().all(|b| b.is_ascii_digit()) => before,
        _ => stem,
    }
}

fn is_generic(folder: &str) -> bool {
    matches!(folder, "profile_output" | "plugins" | "profile")
        || folder.contains("_pid_")
        || (folder.len() >= 8 && folder.bytes().all(|b| b.is_ascii_digit() || b"-_T:".contains(&b)))
}

/// The rank in a file's name and the name without it: files of one folder with equal rests are one capture.
///
/// Knows `rank0_…`, `…_rank_3.…`, `…-rank-3…`, and the parallel-group names of serving engines (`…-TP-0.…`, `…-DP-1…`).
pub fn rank(file: &str) -> Option<(u32, String)> {
    let lower = file.to_ascii_lowercase();
    for marker in ["rank", "-tp-", "-dp-", "-pp-", "-ep-", "_tp", "worker"] {
        for (at, _) in lower.match_indices(marker) {
            let after = at + marker.len();
            let skip = usize::from(lower[after..].starts_with(['_', '-']));
            let digits: String = lower[after + skip..].chars().take_while(char::is_ascii_digit).collect();
            if let Ok(rank) = digits.parse() {
                let rest = format!("{}#{}", &file[..after], &file[after + skip + digits.len()..]);
                return Some((rank, rest));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_telling_part() {
        let root = Path::new("/w");
        let named = |path: &str| name(Path::new(path), Some(root));
        assert_eq!(named("/w/profile_output/naive/i-0a_pid_3/20261014091502/trace.json"), "naive");
        assert_eq!(named("/w/log/host_77.1700000060000.pt.trace.json.gz"), "log/host_77");
        assert_eq!(named("/w/trace.json"), "trace");
        assert_eq!(named("/w/runs/iteration_20/rank0_trace.json"), "runs/iteration_20/rank0_trace");
        assert_eq!(name(Path::new("/a/b/run7/trace.json"), None), "b/run7");
        let neuron = "/a/profile_output/naive/i-0a_pid_3/20261014091502/trace.json";
        assert_eq!(name(Path::new(neuron), None), "a/naive");
    }

    #[test]
    fn ranks_are_found_where_exporters_put_them() {
        assert_eq!(rank("rank0_trace.json").map(|r| r.0), Some(0));
        assert_eq!(rank("neuron_framework_trace_rank_12.json").map(|r| r.0), Some(12));
        assert_eq!(rank("1782763266.4276123-TP-1.trace.json").map(|r| r.0), Some(1));
        assert_eq!(rank("rank_1.json").map(|r| r.1), rank("rank_2.json").map(|r| r.1));
        assert_eq!(rank("franken_trace.json"), None);
    }
}
