//! Cheapest silent ways from a set of states: Dijkstra with buckets over small integer costs.

use source::{Automaton, Cost, IMPROBABLE, OBLIGED, State};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Onward,
    Back,
}

/// Reusable room for searches over one automaton. A search touches only what it reaches.
pub(super) struct Closure<'a> {
    automaton: &'a Automaton,
    /// Cost of each state in the search whose number it was stamped with.
    costs: Vec<(u32, Cost)>,
    search: u32,
    reached: Vec<State>,
    buckets: Vec<Vec<State>>,
    work_left: usize,
    /// Whether silent edges that cannot be if the text is what ran are left out.
    strict: bool,
}

impl<'a> Closure<'a> {
    pub fn new(automaton: &'a Automaton, work: usize) -> Self {
        Self {
            automaton,
            costs: vec![(0, 0); automaton.states() as usize],
            search: 0,
            reached: Vec::new(),
            buckets: Vec::new(),
            work_left: work,
            strict: false,
        }
    }

    /// From now on leaves out edges that cannot be if the text is what ran.
    pub fn be_strict(&mut self, strict: bool) {
        self.strict = strict;
    }

    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Finds every state within `reach` of the cheapest of `from`. `None` when the work allowed is used up.
    pub fn run(&mut self, from: &[(State, Cost)], direction: Direction, reach: Cost) -> Option<()> {
        self.search += 1;
        self.reached.clear();
        let Some(base) = from.iter().map(|&(_, cost)| cost).min() else { return Some(()) };
        let limit = if direction == Direction::Back { reach } else { base.saturating_add(reach) };
        for &(state, cost) in from {
            self.offer(state, cost, base, limit);
        }
        let mut bucket = 0;
        while bucket < self.buckets.len() {
            while let Some(state) = self.buckets[bucket].pop() {
                let cost = base + bucket as Cost;
                if self.cost(state) != cost {
                    continue;
                }
                let automaton = self.automaton;
                let edges = match direction {
                    Direction::Onward => automaton.silent_from(state),
                    Direction::Back => automaton.silent_into(state),
                };
                let Some(left) = self.work_left.checked_sub(edges.len() + 1) else {
                    self.work_left = 0;
                    return None;
                };
                self.work_left = left;
                for edge in edges {
                    if self.strict && (edge.cost == IMPROBABLE || edge.cost == OBLIGED) {
                        continue;
                    }
                    self.offer(edge.other, cost + edge.cost, base, limit);
                }
            }
            bucket += 1;
        }
        Some(())
    }

    fn offer(&mut self, state: State, cost: Cost, base: Cost, limit: Cost) {
        if cost > limit {
            return;
        }
        let slot = &mut self.costs[state as usize];
        if slot.0 != self.search {
            self.reached.push(state);
        } else if slot.1 <= cost {
            return;
        }
        *slot = (self.search, cost);
        let bucket = (cost - base) as usize;
        if self.buckets.len() <= bucket {
            self.buckets.resize_with(bucket + 1, Vec::new);
        }
        self.buckets[bucket].push(state);
    }

    /// Silent edges that may still be looked at.
    pub fn work_left(&self) -> usize {
        self.work_left
    }

    /// States that the last search reached.
    pub fn reached(&self) -> &[State] {
        &self.reached
    }

    /// What the last search found; `Cost::MAX` where it did not come.
    pub fn cost(&self, state: State) -> Cost {
        match self.costs.get(state as usize) {
            Some(&(search, cost)) if search == self.search => cost,
            _ => Cost::MAX,
        }
    }
}
