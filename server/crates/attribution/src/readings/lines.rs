//! From what alignment found to what is claimed.

use source::Automaton;

use super::{Reading, ScopeReading, Spot};
use crate::align::{self, Explained, Observation, Span};

/// Reads what is seen below a frame against an automaton.
pub(super) fn readings(
    automaton: &Automaton,
    observations: &[Observation<'_>],
    span: &Span,
    stale: bool,
    profiled: bool,
    work: &mut usize,
) -> Vec<Reading> {
    let Some(lines) = align::align(automaton, observations, span, work) else {
        let unknown = Reading::Unknown("the function is too large to align");
        let named = |line| Reading::Exact(Spot::line(line));
        return observations.iter().map(|o| o.line.map_or(unknown.clone(), named)).collect();
    };
    // What the text merely allows for is believed only where all the rest of the function fits.
    let open = !stale && !lines.iter().zip(observations).any(|(lines, seen)| align::is_foreign(lines, seen));
    let mut readings: Vec<Reading> = lines
        .iter()
        .zip(observations)
        .map(|(lines, observation)| reading(lines, observation, open))
        .collect();
    if !profiled {
        leave_open_around_unexplained(&mut readings, observations, &lines);
    }
    between_neighbours(&mut readings, observations, &lines);
    readings
}

/// What several scopes that a frame may have run say of its children: a line where all of them name the same.
pub(super) fn merged(scopes: &[ScopeReading]) -> Vec<Reading> {
    let count = scopes.first().map_or(0, |scope| scope.readings.len());
    let all_of = |child: usize| {
        let mut lines = Vec::new();
        for scope in scopes {
            match &scope.readings[child] {
                Reading::Exact(spot) | Reading::Aligned(spot) => lines.push(spot.line),
                Reading::Ambiguous(several) => lines.extend(several),
                Reading::Unknown(why) => return Reading::Unknown(why),
            }
        }
        lines.sort_unstable();
        lines.dedup();
        match (&scopes[0].readings[child], &lines[..]) {
            (first, _) if scopes.iter().all(|scope| scope.readings[child] == *first) => first.clone(),
            (Reading::Exact(_), &[line]) => Reading::Exact(Spot::line(line)),
            (_, &[line]) => Reading::Aligned(Spot::line(line)),
            _ => Reading::Ambiguous(lines),
        }
    };
    (0..count).map(all_of).collect()
}

fn reading(lines: &Explained, observation: &Observation<'_>, open: bool) -> Reading {
    let expression = match lines.expressions[..] {
        [(start, end)] if !lines.unexplained => Some(start..end),
        _ => None,
    };
    match (observation.line, &lines.lines[..]) {
        // An expression over several lines was called from one of them, which is another by now.
        (Some(line), &[now]) if now != line && !lines.unexplained => {
            Reading::Aligned(Spot { line: now, expression })
        }
        (Some(line), _) => Reading::Exact(Spot { line, expression }),
        (None, &[line]) if !lines.unexplained && (open || !lines.unnamed) => {
            Reading::Aligned(Spot { line, expression })
        }
        (None, &[_]) if lines.unnamed && !lines.unexplained => {
            Reading::Unknown("the text does not name it, and not all of the function fits")
        }
        (None, [] | [_]) => Reading::Unknown("no line of the function explains it"),
        (None, several) => Reading::Ambiguous(several.to_vec()),
    }
}

/// A statement that is gone from the text leaves several ops, of which some may look like those of another. Where one is not
/// explained, the ops up to the next call that the text names, on both sides, are not sure either.
fn leave_open_around_unexplained(
    readings: &mut [Reading],
    observations: &[Observation<'_>],
    lines: &[Explained],
) {
    let is_fixed = |at: usize| {
        !lines[at].unexplained
            && (observations[at].line.is_some()
                || (observations[at].function().is_some() && !lines[at].unnamed))
    };
    let foreign = |at: usize| align::is_foreign(&lines[at], &observations[at]);
    let mut from = 0;
    while from < readings.len() {
        let to = (from..readings.len()).find(|&at| is_fixed(at)).unwrap_or(readings.len());
        if (from..to).any(foreign) {
            for reading in &mut readings[from..to] {
                if matches!(reading, Reading::Aligned(_)) {
                    *reading = Reading::Unknown("the text does not explain what is next to it");
                }
            }
        }
        from = to + 1;
    }
}

/// An op that dispatch put in by itself belongs to the line of both its neighbours, where they agree.
fn between_neighbours(readings: &mut [Reading], observations: &[Observation<'_>], lines: &[Explained]) {
    let line = |reading: &Reading| match reading {
        Reading::Exact(spot) | Reading::Aligned(spot) => Some(spot.line),
        _ => None,
    };
    for at in 0..readings.len() {
        if !lines[at].lines.is_empty() || !align::is_implicit(&observations[at]) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| line(&readings[before]));
        let after = (at + 1..readings.len())
            .find(|&next| !(lines[next].lines.is_empty() && align::is_implicit(&observations[next])))
            .and_then(|next| line(&readings[next]));
        if let (Some(before), Some(after)) = (before, after)
            && before == after
        {
            readings[at] = Reading::Aligned(Spot::line(before));
        }
    }
}
