//! Where the lines of one text are in another. Marks are anchored to the text that was attributed; the editor shows a
//! later one. A line that changed has no place there, so its mark is dropped rather than shown on a wrong line.

use imara_diff::{Algorithm, Diff, InternedInput};
use source::LineIndex;

/// Maps 0-based lines of an older text to a newer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineMap {
    /// Both texts are the same.
    Same,
    Moved(Moved),
}

/// A keystroke changes a line or two: what is above and below them is the same and needs no table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// So many lines at the beginning are the same.
    head: u32,
    /// Per line of the older text from there on: its line in the newer one, if it is still there unchanged.
    middle: Vec<Option<u32>>,
    /// The line of the newer text that follows.
    after: u32,
    /// How many lines at the end are the same.
    tail: u32,
}

impl LineMap {
    pub fn between(old: &str, new: &str) -> Self {
        if old == new {
            return Self::Same;
        }
        let (start, end) = common(old.as_bytes(), new.as_bytes());
        let head = breaks(&old[..start]);
        // Both texts end in the same lines, of which the last has no line ending.
        let tail = if end == 0 { 0 } else { breaks(&old[old.len() - end..]) + 1 };
        let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
        let mut input = InternedInput::default();
        input.update_before(lines(old, end > 0));
        input.update_after(lines(new, end > 0));
        let diff = Diff::compute(Algorithm::Histogram, &input);
        let mut middle = Vec::with_capacity(input.before.len());
        let mut new_line = head;
        for hunk in diff.hunks() {
            while (middle.len() as u32) < hunk.before.start {
                middle.push(Some(new_line));
                new_line += 1;
            }
            middle.resize(hunk.before.end as usize, None);
            new_line = head + hunk.after.end;
        }
        while middle.len() < input.before.len() {
            middle.push(Some(new_line));
            new_line += 1;
        }
        Self::Moved(Moved { head, middle, after: head + input.after.len() as u32, tail })
    }

    /// Where a 0-based line of the older text is now.
    pub fn line(&self, old: u32) -> Option<u32> {
        let Self::Moved(moved) = self else { return Some(old) };
        let Some(below) = old.checked_sub(moved.head) else { return Some(old) };
        match below.checked_sub(moved.middle.len() as u32) {
            None => moved.middle.get(below as usize).copied().flatten(),
            Some(at) => (at < moved.tail).then_some(moved.after + at),
        }
    }

    /// Which line of the older text a 0-based line of the newer one was.
    pub fn origin(&self, new: u32) -> Option<u32> {
        let Self::Moved(moved) = self else { return Some(new) };
        if new < moved.head {
            return Some(new);
        }
        let old = match new.checked_sub(moved.after) {
            None => moved.middle.iter().position(|&line| line == Some(new))? as u32,
            Some(at) if at < moved.tail => moved.middle.len() as u32 + at,
            Some(_) => return None,
        };
        Some(moved.head + old)
    }

    /// Where a run of lines is now, if every one of them is unchanged and they still follow each other.
    pub fn run(&self, old: std::ops::RangeInclusive<u32>) -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = (self.line(*old.start())?, self.line(*old.end())?);
        let unbroken =
            last - first == old.end() - old.start() && old.clone().all(|line| self.line(line).is_some());
        unbroken.then_some(first..=last)
    }
}

/// How many bytes two texts have in common at the beginning and at the end, in whole lines: both ranges border on a `\n`.
fn common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let start = equal(old, new);
    let start = memchr::memrchr(b'\n', &old[..start]).map_or(0, |at| at + 1);
    let (old, new) = (&old[start..], &new[start..]);
    let end = equal_end(old, new);
    // From behind the first line ending in it.
    let end = memchr::memchr(b'\n', &old[old.len() - end..]).map_or(0, |at| end - at - 1);
    (start, end)
}

/// Bytes that are compared at once.
const CHUNK: usize = 256;

/// How many bytes are equal at the beginning.
fn equal(old: &[u8], new: &[u8]) -> usize {
    let chunks = old.chunks_exact(CHUNK).zip(new.chunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let at = chunks * CHUNK;
    at + old[at..].iter().zip(&new[at..]).take_while(|(a, b)| a == b).count()
}

/// How many bytes are equal at the end.
fn equal_end(old: &[u8], new: &[u8]) -> usize {
    let chunks = old.rchunks_exact(CHUNK).zip(new.rchunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let at = chunks * CHUNK;
    let (old, new) = (&old[..old.len() - at], &new[..new.len() - at]);
    at + old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// How many line endings there are.
fn breaks(text: &str) -> u32 {
    LineIndex::new(text).count() - 1
}

/// Lines without their endings, so that a changed line-ending style moves no mark. `whole`: more follows after the last
/// line ending, which is not of this text.
fn lines(text: &str, whole: bool) -> impl Iterator<Item = &str> {
    let index = LineIndex::new(text);
    let count = index.count() - u32::from(whole);
    (0..count).map(move |line| {
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

    /// Every text of up to four short lines against every edit of one of them.
    #[test]
    fn a_mapped_line_is_the_same_line_in_order_and_back() {
        let texts: Vec<String> = (0..3_usize.pow(5))
            .map(|seed| {
                let pieces = ["a\n", "b\r\n", "c"];
                (0..5).map(|place| pieces[seed / 3_usize.pow(place) % 3]).collect()
            })
            .collect();
        for old in &texts {
            for new in texts.iter().step_by(7) {
                let map = LineMap::between(old, new);
                let (before, after): (Vec<_>, Vec<_>) =
                    (lines(old, false).collect(), lines(new, false).collect());
                let mut last = None;
                for line in 0..before.len() as u32 {
                    let Some(now) = map.line(line) else { continue };
                    assert_eq!(before[line as usize], after[now as usize], "{old:?} {new:?}");
                    assert_eq!(map.origin(now), Some(line), "{old:?} {new:?}");
                    assert!(last < Some(now), "{old:?} {new:?}");
                    last = Some(now);
                }
                assert_eq!(
                    map.line(before.len() as u32),
                    (map == LineMap::Same).then_some(before.len() as u32)
                );
            }
        }
    }
}
