//! The ops of a trace as one sequence, with equal ones numbered alike.

use std::collections::HashMap;

use profile::{EventId, Kind, Profile};

use crate::Cost;
use crate::align::Inputs;

/// What one op is: its name and its recorded arguments.
pub(super) struct Op<'a> {
    /// Complete: `aten::mul`.
    pub name: &'a str,
    pub inputs: Inputs<'a>,
}

/// Forward ops in the order they were launched, thread by thread.
pub(super) struct Sequence<'a> {
    /// The distinct ops.
    pub ops: Vec<Op<'a>>,
    /// Index into `ops` of each op; `None` where something else lies between two ops: another thread's begin, the
    /// backward pass, a compiled region.
    items: Vec<Option<u32>>,
    costs: Vec<Cost>,
}

impl<'a> Sequence<'a> {
    pub fn new(profile: &'a Profile, charged: &[(EventId, Cost)]) -> Self {
        let mut order: Vec<&(EventId, Cost)> =
            charged.iter().filter(|(event, _)| profile.event(*event).kind == Kind::Op).collect();
        order.sort_by_key(|(event, _)| {
            let event = profile.event(*event);
            (event.track, event.start_ns)
        });
        let mut numbers = HashMap::new();
        let mut sequence = Self { ops: Vec::new(), items: Vec::new(), costs: Vec::new() };
        let mut track = None;
        for &&(event, cost) in &order {
            if track.replace(profile.event(event).track) != Some(profile.event(event).track) {
                sequence.push(None, Cost::default());
            }
            let name = profile.name(event);
            if profile.is_backward(event) || !name.contains("::") {
                sequence.push(None, cost);
                continue;
            }
            let info = profile.info(event);
            let number = *numbers
                .entry((name, info.input_types, info.input_dims, info.concrete_inputs))
                .or_insert_with(|| {
                    let text = |symbol: Option<_>| symbol.map_or("", |symbol| profile.text(symbol));
                    let inputs = Inputs::read(
                        text(info.input_types),
                        text(info.input_dims),
                        text(info.concrete_inputs),
                    );
                    sequence.ops.push(Op { name, inputs });
                    sequence.ops.len() as u32 - 1
                });
            sequence.push(Some(number), cost);
        }
        sequence
    }

    fn push(&mut self, item: Option<u32>, cost: Cost) {
        self.items.push(item);
        self.costs.push(cost);
    }

    pub fn len(&self) -> u32 {
        self.items.len() as u32
    }

    /// The number of the op at a place.
    pub fn at(&self, place: u32) -> Option<u32> {
        *self.items.get(place as usize)?
    }

    /// As many items from a place on.
    pub fn from(&self, place: u32, count: usize) -> &[Option<u32>] {
        let rest = self.items.get(place as usize..).unwrap_or_default();
        &rest[..count.min(rest.len())]
    }

    pub fn cost(&self, place: u32) -> Cost {
        self.costs[place as usize]
    }
}
