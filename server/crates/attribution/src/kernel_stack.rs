//! The stacks that inductor's trace handler (`torch._inductor.profiler`, torch 2.15) writes on the kernels of compiled
//! regions: for each statement that was fused into a kernel, Python's own text of the stack, outermost frame first.
//!
//! ```text
//!   File "/home/me/model.py", line 12, in forward
//!     return x * torch.rsqrt(ms)
//! ```

use std::collections::BTreeSet;

use crate::FileId;
use crate::files::Files;
use crate::frames::{FunctionKey, key};

/// The lines that were fused into a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fused {
    pub file: FileId,
    pub function: FunctionKey,
    /// 1-based, sorted, at least one.
    pub lines: Vec<u32>,
}

/// Reads the stacks of one kernel. `None` when one of them leads nowhere in the sources, when the text there is another
/// by now, or when they lead to several functions: then the kernel belongs to its region.
pub(crate) fn read<'s>(files: &Files<'_>, stacks: impl Iterator<Item = &'s str>) -> Option<Fused> {
    let mut places = BTreeSet::new();
    for stack in stacks {
        places.insert(innermost(files, stack)?);
    }
    let (file, function, _) = places.first()?.clone();
    if places.iter().any(|place| (place.0, &place.1) != (file, &function)) {
        return None;
    }
    Some(Fused { file, function, lines: places.into_iter().map(|(.., line)| line).collect() })
}

/// The innermost frame of a stack that is in the sources.
fn innermost(files: &Files<'_>, stack: &str) -> Option<(FileId, FunctionKey, u32)> {
    let lines: Vec<&str> = stack.lines().collect();
    for (at, text) in lines.iter().enumerate().rev() {
        let Some((path, line, name)) = frame(text) else { continue };
        let Some(file) = files.resolve(path, Some((name, line))) else { continue };
        let fit = files.fit(file, name, line, true).filter(|fit| fit.as_profiled)?;
        let loaded = files.file(file);
        let module = &loaded.module;
        let profiled = lines.get(at + 1).map_or("", |text| text.trim());
        let range = module.lines().range(module.text(), line - 1)?;
        let now = module.text().get(range.start as usize..range.end as usize)?.trim();
        // Python prints the line as it was.
        if !profiled.is_empty() && frame(profiled).is_none() && profiled != now {
            return None;
        }
        return Some((file, key(module.scope(module.function_of(fit.scope))), line));
    }
    None
}

/// `File "path", line 12, in name`.
fn frame(text: &str) -> Option<(&str, u32, &str)> {
    let rest = text.trim().strip_prefix("File \"")?;
    let (path, rest) = rest.rsplit_once("\", line ")?;
    let (line, name) = rest.split_once(", in ")?;
    Some((path, line.parse().ok().filter(|&line| line > 0)?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_python_prints_them() {
        assert_eq!(frame("  File \"/a b/m.py\", line 5, in forward"), Some(("/a b/m.py", 5, "forward")));
        assert_eq!(frame("File \"m.py\", line 7, in <module>"), Some(("m.py", 7, "<module>")));
        assert_eq!(frame("    y = x * x"), None);
        assert_eq!(frame("  File \"m.py\", line 0, in f"), None);
    }
}
