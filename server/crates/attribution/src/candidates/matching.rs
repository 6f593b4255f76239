//! Where a sequence of ops is all that a function launches.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use source::{Callee, Cost, EmitterKind, State};

use super::function::Function;
use super::sequence::Sequence;
use crate::align;

/// What the ops of a run must tell at least: two that the text names, or one and three operators, or six operators.
pub(super) const LEAST_TOLD: u32 = 6;
/// A run has at least so many ops.
const LEAST_OPS: u32 = 3;
/// What a run of another function within a run tells.
const OF_RUN: u32 = 3;
/// What the ops of a run may cost on average.
const MOST_COST: Cost = 3;
/// An op that dispatch puts in by itself.
const IMPLICIT: Cost = 6;
/// A run is no longer than this.
const LONGEST: u32 = 600;
/// Ways that are followed from one start.
const MOST_WAYS: usize = 4_000;
/// Ways that are followed in all: some seconds.
const MOST_WORK: usize = 30_000_000;
/// Starts that are followed by as many equal ops are matched once.
const ALIKE: usize = 48;

/// A function's run: the ops from `from` to before `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub from: u32,
    pub to: u32,
    /// The ops that the function launches itself, each with its 1-based line.
    pub lines: Vec<(u32, u32)>,
}

/// Finds runs in a sequence.
pub(super) struct Matcher<'s> {
    sequence: &'s Sequence<'s>,
    /// By where it begins: where a known run ends, and whose it is.
    known: HashMap<u32, Vec<(u32, &'s str)>>,
    work: usize,
}

/// How a point of a run was reached.
struct Way {
    cost: Cost,
    told: u32,
    /// The way before, and what it explained: an op at its line, or (`None`) something without one.
    before: Option<usize>,
    explained: Option<(u32, u32)>,
}

/// The best run from one start, relative to it.
#[derive(Clone)]
struct Found {
    ops: u32,
    lines: Vec<(u32, u32)>,
}

impl<'s> Matcher<'s> {
    pub fn new(sequence: &'s Sequence<'s>) -> Self {
        Self { sequence, known: HashMap::new(), work: MOST_WORK }
    }

    /// Takes over which runs are known by now.
    pub fn know<'r>(&mut self, runs: impl Iterator<Item = (&'s str, &'r [Run])>) {
        self.known.clear();
        for (name, runs) in runs {
            for run in runs {
                self.known.entry(run.from).or_default().push((run.to, name));
            }
        }
    }

    /// The runs of a function, one after the other.
    pub fn runs(&mut self, function: &Function) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut seen: HashMap<u64, Option<Found>> = HashMap::new();
        let mut at = 0;
        while at < self.sequence.len() && self.work > 0 {
            if self.sequence.at(at).is_none() {
                at += 1;
                continue;
            }
            // What is known of other functions' runs depends on the place.
            let alike = self.known.is_empty().then(|| {
                let mut hasher = DefaultHasher::new();
                self.sequence.from(at, ALIKE).hash(&mut hasher);
                hasher.finish()
            });
            let found = match alike.and_then(|alike| seen.get(&alike)) {
                Some(found) => found.clone(),
                None => {
                    let (found, looked) = self.from(function, at);
                    if let Some(alike) = alike.filter(|_| looked <= ALIKE as u32) {
                        seen.insert(alike, found.clone());
                    }
                    found
                }
            };
            let Some(found) = found else {
                at += 1;
                continue;
            };
            let lines = found.lines.iter().map(|&(op, line)| (at + op, line)).collect();
            runs.push(Run { from: at, to: at + found.ops, lines });
            at += found.ops;
        }
        runs
    }

    /// The longest run of a function that begins at `start`, and how many ops were looked at.
    fn from(&mut self, function: &Function, start: u32) -> (Option<Found>, u32) {
        let automaton = &function.automaton;
        let mut ways = vec![Way { cost: 0, told: 0, before: None, explained: None }];
        let mut points: BTreeMap<u32, HashMap<State, usize>> = BTreeMap::new();
        points.entry(start).or_default().insert(automaton.start, 0);
        let mut best: Option<(u32, usize)> = None;
        let mut furthest = start;
        while let Some((at, states)) = points.pop_first() {
            furthest = furthest.max(at + 1);
            let reached = self.closure(function, &ways, states);
            let op = self.sequence.at(at).filter(|_| at - start < LONGEST);
            for (state, cost, way) in reached {
                let told = ways[way].told;
                if state == automaton.end && at > start {
                    let ops = at - start;
                    let before = best.map(|(to, way)| (to, Reverse(ways[way].cost)));
                    if ops >= LEAST_OPS
                        && told >= LEAST_TOLD
                        && cost <= MOST_COST * ops
                        && before.is_none_or(|before| (at, Reverse(cost)) > before)
                    {
                        ways.push(Way { cost, told, before: Some(way), explained: None });
                        best = Some((at, ways.len() - 1));
                    }
                    continue;
                }
                if ways.len() > MOST_WAYS {
                    continue;
                }
                let Some(op) = op else { continue };
                let mut go = |to: (u32, State), next: Way| {
                    let states = points.entry(to.0).or_default();
                    match states.get(&to.1) {
                        Some(&known) if ways[known].cost <= next.cost => {}
                        _ => {
                            states.insert(to.1, ways.len());
                            ways.push(next);
                        }
                    }
                };
                for step in automaton.steps_from(state) {
                    let to = automaton.steps()[step as usize].to;
                    let emitter = &automaton.steps()[step as usize].emitter;
                    if let Some(tells) = function.explains(step, op) {
                        let cost = cost + if emitter.callee == Callee::Open { emitter.dear } else { 0 };
                        let way = |cost| Way {
                            cost,
                            told: told + tells,
                            before: Some(way),
                            explained: Some((at - start, emitter.line)),
                        };
                        go((at + 1, to), way(cost));
                        if let Some(again) = emitter.repeat.filter(|_| emitter.kind != EmitterKind::Call) {
                            go((at + 1, state), way(cost + again));
                        }
                    }
                    for (end, name) in self.known.get(&at).into_iter().flatten() {
                        if function.runs(step, name) {
                            let told = told + OF_RUN;
                            go((*end, to), Way { cost, told, before: Some(way), explained: None });
                        }
                    }
                }
                if at > start && align::is_put_in_by_dispatch(self.sequence.ops[op as usize].name) {
                    let next = Way { cost: cost + IMPLICIT, told, before: Some(way), explained: None };
                    go((at + 1, state), next);
                }
            }
        }
        self.work = self.work.saturating_sub(ways.len());
        let found = best.map(|(to, way)| {
            let mut lines = Vec::new();
            let mut at = Some(way);
            while let Some(way) = at {
                lines.extend(ways[way].explained);
                at = ways[way].before;
            }
            lines.reverse();
            Found { ops: to - start, lines }
        });
        // A function that is nothing but a call of another is that one.
        (found.filter(|found| !found.lines.is_empty()), furthest - start)
    }

    /// Every state that is reached without an op, each by its cheapest way.
    fn closure(
        &mut self,
        function: &Function,
        ways: &[Way],
        from: HashMap<State, usize>,
    ) -> Vec<(State, Cost, usize)> {
        let mut best: HashMap<State, (Cost, usize)> = HashMap::new();
        let mut queue: BinaryHeap<Reverse<(Cost, State, usize)>> =
            from.into_iter().map(|(state, way)| Reverse((ways[way].cost, state, way))).collect();
        while let Some(Reverse((cost, state, way))) = queue.pop() {
            if best.contains_key(&state) {
                continue;
            }
            best.insert(state, (cost, way));
            let edges = function.automaton.silent_from(state);
            self.work = self.work.saturating_sub(1 + edges.len());
            for edge in edges {
                if let Some(price) = function.price(state, edge.other, edge.cost) {
                    queue.push(Reverse((cost + price, edge.other, way)));
                }
            }
        }
        let mut reached: Vec<_> = best.into_iter().map(|(state, (cost, way))| (state, cost, way)).collect();
        reached.sort_unstable();
        reached
    }
}
