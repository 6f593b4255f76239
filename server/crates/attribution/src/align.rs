//! Which line left which event: the children of a frame, in order, read against the function's automaton.
//!
//! Every way to run through the automaton that explains the observed sequence has a cost. The cheapest ways are found
//! exactly (forward, then backward over the same lattice), and for each observation the lines that any of them uses. One
//! line: it is known. Several: they are kept. The work is bounded per observation, so that a function of any length and a
//! trace of any size take time in proportion.

mod closure;
mod inputs;
mod observation;
mod score;

use std::collections::{HashMap, HashSet};

use source::{Automaton, Cost, Emitter, EmitterKind, IMPROBABLE, OBLIGED, State};

use closure::{Closure, Direction};
pub(crate) use inputs::Inputs;
pub(crate) use observation::{Kind, Observation};
pub(crate) use score::is_wrapper;
use score::{UNNAMED_LINE, is_special};

/// Readings that cost at most this much more than the cheapest count as equally good.
const SLACK: Cost = 2;
/// The same where something is on no line.
const DOUBT: Cost = 20;

/// Two unexplained observations: rather than take so many for none of the text's, what cannot be is believed.
const MOST_DOUBT: Cost = 2 * UNEXPLAINED;

/// Readings this much dearer than the cheapest are dropped on the way.
const WINDOW: Cost = 172;
/// An observation that no place in the text explains.
const UNEXPLAINED: Cost = 86;
/// The same for an op that dispatch itself puts in.
const IMPLICIT: Cost = 18;
/// What it costs not to reach the end of the function.
const UNFINISHED: Cost = 600;
/// Silent edges that may be looked at for one frame.
const MOST_WORK: usize = 40_000_000;

/// An expression over more lines than this is not looked for on its last ones.
const MOST_LINES: u32 = 500;

/// Ops that dispatch puts in by itself: casts, copies, bookkeeping.
const IMPLICIT_OPS: [&str; 12] = [
    "to",
    "_to_copy",
    "lift_fresh",
    "detach_",
    "result_type",
    "expand",
    "alias",
    "detach",
    "empty",
    "resolve_conj",
    "resolve_neg",
    "copy_",
];

/// Where reading may begin and end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// At the beginning, to the end.
    Whole,
    /// A generator or coroutine: from the beginning or behind a pause, to a pause or the end. The line is the one that
    /// the frame names.
    Resumed { line: u32, begins: bool },
    /// A frame that was running before the recording began: anywhere, at best from this line on.
    Running { line: u32 },
}

/// What is asked of [`align`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    pub entry: Entry,
    /// The frame was still running when the recording ended: it may end anywhere.
    pub cut: bool,
}

/// What is known of one observation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Explained {
    /// Sorted lines that the best readings put it on.
    pub lines: Vec<u32>,
    /// Sorted byte ranges, start and end, of the expressions that the best readings put it on.
    pub expressions: Vec<(u32, u32)>,
    /// Some best reading puts it nowhere.
    pub unexplained: bool,
    /// Some best reading puts it where the text does not name it: a variable that is called may hold any function.
    pub unnamed: bool,
}

/// One way to explain one observation.
struct Transition {
    /// The index of its step.
    step: u32,
    from: State,
    to: State,
    cost: Cost,
    named: bool,
}

struct Layer {
    /// States before the observation and what reaching them cost.
    before: Vec<(State, Cost)>,
    transitions: Vec<Transition>,
    insertion: Cost,
}

/// The lines of each observation; `None` when the function is too large to read within bounds. `work` is what is left
/// for all frames together, counted in silent edges, and is reduced by what this one took.
pub(crate) fn align(
    automaton: &Automaton,
    observations: &[Observation<'_>],
    span: &Span,
    work: &mut usize,
) -> Option<Vec<Explained>> {
    if automaton.states() == 0 {
        return None;
    }
    let allowed = MOST_WORK.min(*work);
    let mut closure = Closure::new(automaton, allowed);
    let found = read(automaton, &mut closure, observations, span);
    *work -= allowed - closure.work_left();
    found
}

/// What the cheapest reading costs that assumes nothing that cannot be if the text is what ran.
pub(crate) fn strict_cost(
    automaton: &Automaton,
    observations: &[Observation<'_>],
    span: &Span,
    work: &mut usize,
) -> Option<Cost> {
    if automaton.states() == 0 {
        return None;
    }
    let allowed = MOST_WORK.min(*work);
    let mut closure = Closure::new(automaton, allowed);
    closure.be_strict(true);
    let seen = called_by_name(automaton, observations);
    let found = forward(automaton, &mut closure, observations, span, &seen);
    *work -= allowed - closure.work_left();
    Some(found?.best)
}

/// Names of functions that were called and that no attribute of the text may stand for: a property may give a function of
/// another name.
fn called_by_name<'o>(automaton: &Automaton, observations: &[Observation<'o>]) -> HashSet<&'o str> {
    let attributes = automaton.steps().iter().filter(|step| step.emitter.kind == EmitterKind::Attribute);
    let attributes: HashSet<&str> = attributes.filter_map(|step| step.emitter.name.as_deref()).collect();
    let mut seen: HashSet<&str> = observations.iter().filter_map(Observation::function).collect();
    seen.retain(|name| !attributes.contains(name));
    seen
}

fn read(
    automaton: &Automaton,
    closure: &mut Closure<'_>,
    observations: &[Observation<'_>],
    span: &Span,
) -> Option<Vec<Explained>> {
    let seen = called_by_name(automaton, observations);
    let Forward { layers, rest, best } = forward(automaton, closure, observations, span, &seen)?;
    // What every reading costs: the lines that the trace does not name.
    let least = observations.iter().filter(|seen| seen.line.is_none()).count() as Cost * UNNAMED_LINE;
    let mut slack = SLACK;
    if best >= least + OBLIGED {
        // It may assume what cannot be if the text is what ran. If it does, the cheapest that does not counts as well.
        closure.be_strict(true);
        let strict = forward(automaton, closure, observations, span, &seen)?.best;
        closure.be_strict(false);
        if strict > best && strict - best <= MOST_DOUBT {
            slack += strict - best;
        }
    }
    let found = backward(automaton, closure, &layers, rest.clone(), best + slack)?;
    if slack < DOUBT && found.iter().zip(observations).any(|(found, seen)| is_foreign(found, seen)) {
        // The text does not explain everything: the cheapest reading is no longer sure to be the right one.
        return backward(automaton, closure, &layers, rest, best + DOUBT);
    }
    Some(found)
}

/// What reading onward finds.
struct Forward {
    layers: Vec<Layer>,
    /// What is left to pay from each state after the last observation.
    rest: Vec<(State, Cost)>,
    /// What the cheapest reading costs.
    best: Cost,
}

fn forward(
    automaton: &Automaton,
    closure: &mut Closure<'_>,
    observations: &[Observation<'_>],
    span: &Span,
    seen: &HashSet<&str>,
) -> Option<Forward> {
    let mut layers = Vec::with_capacity(observations.len());
    let mut now = starts(automaton, &span.entry);
    for observation in observations {
        let (layer, next) = step(automaton, closure, now, observation, seen)?;
        layers.push(layer);
        now = next;
    }
    let ends = end_costs(automaton, closure, span, &now)?;
    let best = now.iter().zip(&ends).map(|(&(_, cost), &end)| cost + end).min()?;
    let rest = now.iter().zip(&ends).map(|(&(state, _), &end)| (state, end)).collect();
    Some(Forward { layers, rest, best })
}

/// Whether an op that dispatch does not put in by itself is on no line.
pub(crate) fn is_foreign(found: &Explained, seen: &Observation<'_>) -> bool {
    found.unexplained && !is_implicit(seen)
}

/// Whether an op is one that dispatch puts in by itself.
pub(crate) fn is_implicit(observation: &Observation<'_>) -> bool {
    matches!(observation.kind, Kind::Op(name) if is_put_in_by_dispatch(name))
}

/// The same of an op's complete name.
pub(crate) fn is_put_in_by_dispatch(name: &str) -> bool {
    name.strip_prefix("aten::").is_some_and(|base| IMPLICIT_OPS.contains(&base))
}

/// Whether a place in the text explains an op without contradiction.
pub(crate) fn fits(emitter: &Emitter, observation: &Observation<'_>) -> bool {
    emitter.dear != IMPROBABLE
        && score::score(emitter, observation)
            .is_some_and(|cost| cost < UNNAMED_LINE + emitter.dear + inputs::CONTRADICTION)
}

/// How the lines of the trace fit the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AnchorFit {
    /// A line holds nothing that can be what was called from it: it is not the text that was profiled.
    Contradicted,
    /// Every line may hold the call; some call what the text does not name.
    Possible,
    /// Every line names what was called.
    Named,
}

/// Compares the lines that the trace names with what the text has on those very lines.
pub(crate) fn anchor_fit(automaton: &Automaton, observations: &[Observation<'_>]) -> AnchorFit {
    let mut by_line: HashMap<u32, Vec<&Emitter>> = HashMap::new();
    for step in automaton.steps() {
        let (first, last) = step.emitter.lines;
        for line in first..=last.min(first + MOST_LINES) {
            by_line.entry(line).or_default().push(&step.emitter);
        }
    }
    let fit = |observation: &Observation<'_>| {
        let there = by_line.get(&observation.line?).map_or(&[][..], Vec::as_slice);
        Some(if there.iter().any(|emitter| score::names(emitter, observation)) {
            AnchorFit::Named
        } else if there.iter().any(|emitter| score::score(emitter, observation).is_some()) {
            AnchorFit::Possible
        } else {
            AnchorFit::Contradicted
        })
    };
    let worst = observations.iter().filter_map(fit).min().unwrap_or(AnchorFit::Named);
    // All that a function did is one call of Python code, from a line with a call: nothing there tells of an edit.
    let lone = observations.first().and_then(|first| first.line).filter(|&line| {
        by_line.get(&line).is_some_and(|there| there.iter().any(|emitter| emitter.kind == EmitterKind::Call))
            && observations
                .iter()
                .all(|o| o.line == Some(line) && matches!(o.kind, Kind::Python { .. } | Kind::Module(_)))
    });
    if lone.is_some() { worst.max(AnchorFit::Possible) } else { worst }
}

fn starts(automaton: &Automaton, entry: &Entry) -> Vec<(State, Cost)> {
    let mut starts = Vec::new();
    match *entry {
        Entry::Whole => starts.push((automaton.start, 0)),
        Entry::Resumed { line, begins } => {
            if begins {
                starts.push((automaton.start, 0));
            }
            starts.extend(automaton.pauses.iter().filter(|p| p.line == line).map(|p| (p.after, 0)));
            if starts.is_empty() {
                starts.push((automaton.start, 10));
                starts.extend(automaton.pauses.iter().map(|p| (p.after, 10)));
            }
        }
        Entry::Running { line } => {
            starts.push((automaton.start, 20));
            for step in automaton.steps() {
                starts.push((step.from, if step.emitter.line == line { 0 } else { 10 }));
            }
        }
    }
    starts.sort_unstable();
    starts.dedup_by_key(|&mut (state, _)| state);
    starts
}

/// Explains one observation in every affordable way.
fn step(
    automaton: &Automaton,
    closure: &mut Closure<'_>,
    before: Vec<(State, Cost)>,
    observation: &Observation<'_>,
    seen: &HashSet<&str>,
) -> Option<(Layer, Vec<(State, Cost)>)> {
    let insertion = if is_implicit(observation) { IMPLICIT } else { UNEXPLAINED };
    let mut transitions = Vec::new();
    let mut next: Vec<(State, Cost)> =
        before.iter().map(|&(state, cost)| (state, cost + insertion)).collect();
    // What is further off is dearer than to leave it unexplained, and would be dropped.
    closure.run(&before, Direction::Onward, insertion + WINDOW)?;
    for &state in closure.reached() {
        let reached = closure.cost(state);
        for at in automaton.steps_from(state) {
            let step = &automaton.steps()[at as usize];
            if closure.is_strict() && step.emitter.dear == IMPROBABLE {
                continue;
            }
            let Some(cost) = score::score(&step.emitter, observation) else { continue };
            let named = score::is_named(&step.emitter, observation);
            // What opens a frame of its own name here opens none of another.
            let own =
                |name: &str| seen.contains(name) && observation.function().is_some_and(|f| !is_special(f));
            if !named && step.emitter.name.as_deref().is_some_and(own) {
                continue;
            }
            next.push((step.to, reached + cost));
            transitions.push(Transition { step: at, from: state, to: step.to, cost, named });
            if let Some(again) = step.emitter.repeat {
                next.push((state, reached + cost + again));
                transitions.push(Transition { step: at, from: state, to: state, cost: cost + again, named });
            }
        }
    }
    // The cheapest way to each state, without those that fell too far behind.
    next.sort_unstable();
    next.dedup_by_key(|&mut (state, _)| state);
    let least = next.iter().map(|&(_, cost)| cost).min()?;
    next.retain(|&(_, cost)| cost <= least + WINDOW);
    Some((Layer { before, transitions, insertion }, next))
}

/// What ending after the last observation costs from each state.
fn end_costs(
    automaton: &Automaton,
    closure: &mut Closure<'_>,
    span: &Span,
    last: &[(State, Cost)],
) -> Option<Vec<Cost>> {
    if span.cut || matches!(span.entry, Entry::Running { .. }) {
        return Some(vec![0; last.len()]);
    }
    let mut ends = vec![(automaton.end, 0)];
    if matches!(span.entry, Entry::Resumed { .. }) {
        ends.extend(automaton.pauses.iter().map(|pause| (pause.before, 0)));
    }
    closure.run(&ends, Direction::Back, UNFINISHED)?;
    Some(last.iter().map(|&(state, _)| closure.cost(state).min(UNFINISHED)).collect())
}

/// Walks back over the readings that cost at most `limit` and notes the lines they use.
fn backward(
    automaton: &Automaton,
    closure: &mut Closure<'_>,
    layers: &[Layer],
    mut rest: Vec<(State, Cost)>,
    limit: Cost,
) -> Option<Vec<Explained>> {
    let mut found = vec![Explained::default(); layers.len()];
    for (layer, found) in layers.iter().zip(&mut found).rev() {
        let rest_of =
            |state: State| rest.binary_search_by_key(&state, |&(state, _)| state).ok().map(|at| rest[at].1);
        // From where each explanation starts, the cheapest way to the end.
        let mut middle: Vec<(State, Cost)> =
            layer.transitions.iter().filter_map(|t| Some((t.from, t.cost + rest_of(t.to)?))).collect();
        middle.sort_unstable();
        middle.dedup_by_key(|&mut (state, _)| state);
        let least = layer.before.iter().map(|&(_, cost)| cost).min().unwrap_or(0);
        closure.run(&middle, Direction::Back, limit.saturating_sub(least))?;
        let mut before = Vec::with_capacity(layer.before.len());
        for &(state, cost) in &layer.before {
            let mut to_end = closure.cost(state);
            if let Some(rest) = rest_of(state) {
                to_end = to_end.min(layer.insertion + rest);
                found.unexplained |= cost + layer.insertion + rest <= limit;
            }
            if to_end != Cost::MAX && cost + to_end <= limit {
                before.push((state, to_end));
            }
        }
        let reached: Vec<(State, Cost)> = layer.before.clone();
        closure.run(&reached, Direction::Onward, layer.insertion + WINDOW)?;
        for transition in &layer.transitions {
            let Some(rest) = rest_of(transition.to) else { continue };
            let start = closure.cost(transition.from);
            if start != Cost::MAX && start + transition.cost + rest <= limit {
                let emitter = &automaton.steps()[transition.step as usize].emitter;
                found.lines.push(emitter.line);
                found.expressions.push((emitter.range.start, emitter.range.end));
                found.unnamed |= !transition.named;
            }
        }
        found.lines.sort_unstable();
        found.lines.dedup();
        found.expressions.sort_unstable();
        found.expressions.dedup();
        rest = before;
    }
    Some(found)
}

#[cfg(test)]
mod constructs;
#[cfg(test)]
mod tests;
