//! Bytes to the client's positions and back. The core counts bytes; LSP counts UTF-16 units unless told otherwise, and VS
//! Code speaks nothing else.

use std::ops::Range as Bytes;

use ide::LineIndex;
use lsp_types::{Position, Range};

/// The position of a byte offset. An offset inside a character counts as its start.
pub fn position(text: &str, lines: &LineIndex, offset: u32) -> Position {
    let line = lines.line(offset);
    let start = lines.range(text, line).map_or(0, |range| range.start) as usize;
    let before = text.get(start..floor_boundary(text, offset as usize)).unwrap_or("");
    Position { line, character: utf16_len(before) }
}

/// The range of a byte range.
pub fn range(text: &str, lines: &LineIndex, bytes: &Bytes<u32>) -> Range {
    Range { start: position(text, lines, bytes.start), end: position(text, lines, bytes.end) }
}

/// The byte offset of a position. A character past the end of its line is the end of the line, a line past the end of the
/// text the end of the text, as the specification has it.
pub fn offset(text: &str, lines: &LineIndex, position: Position) -> u32 {
    let Some(range) = lines.range(text, position.line) else { return text.len() as u32 };
    let line = &text[range.start as usize..range.end as usize];
    let mut units = 0;
    for (at, c) in line.char_indices() {
        if units + c.len_utf16() as u32 > position.character {
            return range.start + at as u32;
        }
        units += c.len_utf16() as u32;
    }
    range.end
}

/// The whole of a 0-based line without its ending.
pub fn line_range(text: &str, lines: &LineIndex, line: u32) -> Option<Range> {
    lines.range(text, line).map(|bytes| range(text, lines, &bytes))
}

fn utf16_len(text: &str) -> u32 {
    text.chars().map(|c| c.len_utf16() as u32).sum()
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\u{feff}import torch\r\nx = y * 2  # 😀 é\r\n";

    #[test]
    fn emoji_are_two_units_and_carriage_returns_are_not_part_of_the_line() {
        let lines = LineIndex::new(TEXT);
        let end = line_range(TEXT, &lines, 1).map(|range| range.end);
        assert_eq!(end, Some(Position { line: 1, character: 17 }));
        let byte = TEXT.find('é').map(|at| at as u32);
        assert_eq!(byte.map(|at| position(TEXT, &lines, at).character), Some(16));
    }

    #[test]
    fn every_boundary_comes_back() {
        let lines = LineIndex::new(TEXT);
        for (at, c) in TEXT.char_indices().filter(|(_, c)| !matches!(c, '\r' | '\n')) {
            assert_eq!(offset(TEXT, &lines, position(TEXT, &lines, at as u32)), at as u32, "{c:?}");
        }
    }

    #[test]
    fn positions_past_an_end_are_clamped() {
        let lines = LineIndex::new("ab\ncd");
        assert_eq!(offset("ab\ncd", &lines, Position { line: 0, character: 99 }), 2);
        assert_eq!(offset("ab\ncd", &lines, Position { line: 9, character: 0 }), 5);
    }
}
