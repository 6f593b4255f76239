//! Charges gathered by line and by op: the view that hints, hovers, findings and `annotate` share.

use std::collections::BTreeMap;
use std::ops::Range;

use profile::{EventId, Profile};

use crate::Unit;
use crate::model::{Attribution, Charge, Cost, Direction, FileId, FunctionId, Place, Precision};

/// What one line costs. Forward and backward are two numbers and are never mixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCost {
    /// 1-based, in the text the attribution was made with.
    pub line: u32,
    pub function: FunctionId,
    pub forward: Cost,
    pub backward: Cost,
    pub precision: Precision,
    /// The charged events, in order of start.
    pub events: Vec<(EventId, Direction)>,
    /// Byte ranges of the expressions on the line with what they cost, both directions, in order of first start. Events
    /// whose expression is not known are in none.
    pub expressions: Vec<(Range<u32>, Cost)>,
}

impl LineCost {
    /// Forward and backward together: what thresholds and ranks compare.
    pub fn both(&self) -> Cost {
        let mut sum = self.forward;
        sum += self.backward;
        sum
    }

    /// The byte range of the expression that costs most, by the leading number.
    pub fn costliest(&self, unit: &Unit) -> Option<&Range<u32>> {
        let most = self.expressions.iter().max_by_key(|(_, cost)| unit.ns(*cost));
        most.map(|(expression, _)| expression)
    }

    fn add(&mut self, charge: &Charge, precision: Precision, expression: Option<&Range<u32>>) {
        if let Some(expression) = expression {
            let known = self.expressions.iter_mut().find(|(known, _)| known == expression);
            match known {
                Some((_, cost)) => *cost += charge.cost,
                None => self.expressions.push((expression.clone(), charge.cost)),
            }
        }
        match charge.direction {
            Direction::Forward => self.forward += charge.cost,
            Direction::Backward => self.backward += charge.cost,
        }
        self.precision = self.precision.max(precision);
        self.events.push((charge.event, charge.direction));
    }
}

/// What several lines share because the trace cannot tell them apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousCost {
    pub function: FunctionId,
    /// 1-based, sorted.
    pub lines: Vec<u32>,
    pub forward: Cost,
    pub backward: Cost,
    pub events: Vec<(EventId, Direction)>,
}

/// The costs of one file by line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileLines {
    /// Sorted by line.
    pub lines: Vec<LineCost>,
    /// Sorted by function and lines.
    pub ambiguous: Vec<AmbiguousCost>,
}

impl FileLines {
    /// The cost of a 1-based line.
    pub fn line(&self, line: u32) -> Option<&LineCost> {
        self.lines.binary_search_by_key(&line, |cost| cost.line).ok().map(|at| &self.lines[at])
    }
}

/// The charges of each file of an attribution, gathered by line. Indexed by [`FileId`].
pub fn by_line(attribution: &Attribution) -> Vec<FileLines> {
    let mut lines: BTreeMap<(FileId, u32), LineCost> = BTreeMap::new();
    let mut sets: BTreeMap<(FileId, FunctionId, &[u32]), AmbiguousCost> = BTreeMap::new();
    for charge in &attribution.charges {
        match &charge.place {
            &Place::Line { file, function, line, precision, ref expression } => lines
                .entry((file, line))
                .or_insert_with(|| LineCost {
                    line,
                    function,
                    forward: Cost::default(),
                    backward: Cost::default(),
                    precision,
                    events: Vec::new(),
                    expressions: Vec::new(),
                })
                .add(charge, precision, expression.as_ref()),
            Place::Ambiguous { file, function, lines } => {
                let set = sets.entry((*file, *function, lines)).or_insert_with(|| AmbiguousCost {
                    function: *function,
                    lines: lines.clone(),
                    forward: Cost::default(),
                    backward: Cost::default(),
                    events: Vec::new(),
                });
                match charge.direction {
                    Direction::Forward => set.forward += charge.cost,
                    Direction::Backward => set.backward += charge.cost,
                }
                set.events.push((charge.event, charge.direction));
            }
            Place::Function { .. } | Place::None => {}
        }
    }
    let mut files = vec![FileLines::default(); attribution.files.len()];
    for ((file, _), cost) in lines {
        files[file.0 as usize].lines.push(cost);
    }
    for ((file, ..), cost) in sets {
        files[file.0 as usize].ambiguous.push(cost);
    }
    files
}

/// The ops of one name among some events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpCost {
    /// As the trace names it: `aten::mul`.
    pub name: String,
    pub direction: Direction,
    pub calls: u32,
    pub self_cpu_ns: i64,
    pub cpu_total_ns: i64,
    pub self_device_ns: i64,
    pub device_total_ns: i64,
    /// Distinct `Input Dims`, at most [`SHAPES_KEPT`], as raw JSON text.
    pub shapes: Vec<String>,
    pub first: EventId,
}

/// How many different shapes of one op a hover lists.
pub const SHAPES_KEPT: usize = 3;

/// Groups events by name and direction, in order of device total, then CPU total.
pub fn by_op(profile: &Profile, events: &[(EventId, Direction)]) -> Vec<OpCost> {
    let mut ops: Vec<OpCost> = Vec::new();
    for &(event, direction) in events {
        let name = profile.name(event);
        let at =
            ops.iter().position(|op| op.name == name && op.direction == direction).unwrap_or_else(|| {
                ops.push(OpCost {
                    name: name.to_owned(),
                    direction,
                    calls: 0,
                    self_cpu_ns: 0,
                    cpu_total_ns: 0,
                    self_device_ns: 0,
                    device_total_ns: 0,
                    shapes: Vec::new(),
                    first: event,
                });
                ops.len() - 1
            });
        let op = &mut ops[at];
        op.calls += 1;
        op.self_cpu_ns += profile.self_cpu_ns(event);
        op.cpu_total_ns += profile.event(event).dur_ns;
        op.self_device_ns += profile.self_device_ns(event);
        op.device_total_ns += profile.device_total_of(event);
        if let Some(dims) = profile.info(event).input_dims.map(|dims| profile.text(dims))
            && op.shapes.len() < SHAPES_KEPT
            && !op.shapes.iter().any(|known| known == dims)
        {
            op.shapes.push(dims.to_owned());
        }
    }
    ops.sort_by_key(|op| std::cmp::Reverse((op.device_total_ns, op.cpu_total_ns)));
    ops
}

/// `mul` of `aten::mul`; `MulBackward0` of `autograd::engine::evaluate_function: MulBackward0`; else the name itself.
pub fn short_name(name: &str) -> &str {
    name.strip_prefix("aten::")
        .or_else(|| name.strip_prefix("autograd::engine::evaluate_function: "))
        .unwrap_or(name)
}
