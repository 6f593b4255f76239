//! Where the lines of one text are in another. Marks are anchored to the text that was attributed; the editor shows a
//! later one. A line that changed has no place there, so its mark is dropped rather than shown on a wrong line.

use imara_diff::{Algorithm, Diff, InternedInput};
use source::LineIndex;

/// Maps 0-based lines of an older text to a newer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineMap {
    /// Both texts are the same.
    Same,
    /// Per line of the older text: its line in the newer one, if it is still there unchanged.
    Moved(Vec<Option<u32>>),
}

impl LineMap {
    pub fn between(old: &str, new: &str) -> Self {
        if old == new {
            return Self::Same;
        }
        let mut input = InternedInput::default();
        input.update_before(lines(old));
        input.update_after(lines(new));
        let diff = Diff::compute(Algorithm::Histogram, &input);
        let mut moved = Vec::with_capacity(input.before.len());
        let mut new_line = 0;
        for hunk in diff.hunks() {
            while (moved.len() as u32) < hunk.before.start {
                moved.push(Some(new_line));
                new_line += 1;
            }
            moved.resize(hunk.before.end as usize, None);
            new_line = hunk.after.end;
        }
        while moved.len() < input.before.len() {
            moved.push(Some(new_line));
            new_line += 1;
        }
        Self::Moved(moved)
    }

    /// Where a 0-based line of the older text is now.
    pub fn line(&self, old: u32) -> Option<u32> {
        match self {
            Self::Same => Some(old),
            Self::Moved(moved) => moved.get(old as usize).copied().flatten(),
        }
    }

    /// Which line of the older text a 0-based line of the newer one was.
    pub fn origin(&self, new: u32) -> Option<u32> {
        match self {
            Self::Same => Some(new),
            Self::Moved(moved) => moved.iter().position(|&line| line == Some(new)).map(|old| old as u32),
        }
    }

    /// Where a run of lines is now, if every one of them is unchanged and they still follow each other.
    pub fn run(&self, old: std::ops::RangeInclusive<u32>) -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = (self.line(*old.start())?, self.line(*old.end())?);
        let unbroken =
            last - first == old.end() - old.start() && old.clone().all(|line| self.line(line).is_some());
        unbroken.then_some(first..=last)
    }
}

/// Lines without their endings, so that a changed line-ending style moves no mark.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let index = LineIndex::new(text);
    (0..index.count()).map(move |line| {
        index
            .range(text, line)
            .and_then(|range| text.get(range.start as usize..range.end as usize))
            .unwrap_or("")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insertion_above_shifts_and_an_edit_drops() {
        let old = "a\nb\nc\nd\n";
        let map = LineMap::between(old, "new\na\nb\nC\nd\n");
        assert_eq!(map.line(0), Some(1));
        assert_eq!(map.line(1), Some(2));
        assert_eq!(map.line(2), None);
        assert_eq!(map.line(3), Some(4));
        assert_eq!(map.origin(4), Some(3));
        assert_eq!(map.origin(3), None);
        assert_eq!(map.run(0..=1), Some(1..=2));
        assert_eq!(map.run(1..=3), None);
    }

    #[test]
    fn undo_brings_marks_back_and_line_endings_do_not_matter() {
        assert_eq!(LineMap::between("a\nb\n", "a\nb\n"), LineMap::Same);
        let map = LineMap::between("a\nb\n", "a\r\nb\r\n");
        assert_eq!((map.line(0), map.line(1)), (Some(0), Some(1)));
    }

    #[test]
    fn lines_that_are_gone_have_no_place() {
        let map = LineMap::between("a\nb\nc", "c");
        assert_eq!((map.line(0), map.line(1), map.line(2)), (None, None, Some(0)));
    }
}
