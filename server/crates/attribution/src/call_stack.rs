//! The `Call stack` argument that torch 1.8 to 1.12 and torch_npu wrote in place of frames: `;`-separated, outermost first
//! in some versions and innermost first in others. `<module>` is the outermost, which tells the direction.

use crate::FileId;
use crate::files::Files;
use crate::frames::{FunctionKey, displaced, key};

/// Where a call stack says an op was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Called {
    pub file: FileId,
    pub function: FunctionKey,
    /// The executing line, which only stacks that begin with the innermost frame give.
    pub line: Option<u32>,
    pub stale: bool,
}

/// `path.py(12): function`, split from the right: directories may hold parentheses.
fn frame(text: &str) -> Option<(&str, u32, &str)> {
    let (place, function) = text.trim().rsplit_once("): ")?;
    let (path, line) = place.rsplit_once('(')?;
    Some((path, line.parse().ok()?, function))
}

/// Reads a stack. `None` when its direction is not known or no frame of it is in the sources.
pub(crate) fn read(files: &Files<'_>, stack: &str) -> Option<Called> {
    let mut frames: Vec<_> = stack.split(';').filter(|text| !text.trim().is_empty()).map(frame).collect();
    let module =
        frames.iter().position(|frame| frame.is_some_and(|(.., function)| function == "<module>"))?;
    let inner_first = module > 0 || frames.len() == 1;
    if !inner_first {
        frames.reverse();
    }
    frames.into_iter().flatten().find_map(|(path, line, name)| {
        let file = files.resolve(path, Some((name, line)))?;
        let fit = files.fit(file, name, line, inner_first);
        let loaded = files.file(file);
        let module = &loaded.module;
        let Some(fit) = fit else {
            let function = displaced(module, name, line);
            return Some(Called { file, function, line: None, stale: true });
        };
        let function = key(module.scope(module.function_of(fit.scope)));
        let line = (inner_first && fit.as_profiled).then_some(line);
        Some(Called { file, function, line, stale: !fit.as_profiled })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_split_from_the_right() {
        assert_eq!(frame(" runs (2)/a:b/train.py(5): step"), Some(("runs (2)/a:b/train.py", 5, "step")));
        assert_eq!(frame("C:\\proj\\train.py(6): step"), Some(("C:\\proj\\train.py", 6, "step")));
        assert_eq!(frame("x.py(abc): f"), None);
        assert_eq!(frame("<built-in method mm>"), None);
    }
}
