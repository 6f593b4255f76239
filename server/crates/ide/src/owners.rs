//! Functions and classes that own lines with a cost.

use std::collections::HashMap;

use attribution::lines::FileLines;
use attribution::{Attribution, Cost, Direction, FileCosts, FileId, FunctionId, Place, Unit};
use source::{Module, ScopeKind};

/// A function or class with what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// 1-based line of the `def` or `class`.
    pub line: u32,
    /// Forward cost. Of a function: what its calls cost, inclusive. Of a class: the sum over its methods' own ops.
    pub cost: Cost,
    /// Backward cost of its own lines.
    pub backward: Cost,
    /// Forward ops in `cost`.
    pub ops: u32,
    /// The cost of its hottest own line, both directions.
    pub hottest: Cost,
    /// 1-based.
    pub hottest_line: u32,
}

/// The name that module-level code goes by in traces.
const MODULE: &str = "<module>";

/// Per file, its owners by line.
pub fn owners(attribution: &Attribution, lines: &[FileLines], unit: &Unit) -> Vec<Vec<Owner>> {
    let own = own_costs(attribution);
    let files = attribution.files.iter().zip(lines).enumerate();
    files.map(|(at, (file, lines))| of_file(FileId(at as u32), file, lines, unit, &own)).collect()
}

/// Per function: the forward cost charged inside it (not below it) and how many ops that is.
type Own = HashMap<(FileId, FunctionId), (Cost, u32)>;

fn own_costs(attribution: &Attribution) -> Own {
    let mut own = Own::new();
    for charge in attribution.charges.iter().filter(|charge| charge.direction == Direction::Forward) {
        let (Place::Line { file, function, .. }
        | Place::Ambiguous { file, function, .. }
        | Place::Function { file, function }) = charge.place
        else {
            continue;
        };
        let (cost, ops) = own.entry((file, function)).or_default();
        *cost += charge.cost;
        *ops += 1;
    }
    own
}

fn of_file(id: FileId, file: &FileCosts, lines: &FileLines, unit: &Unit, own: &Own) -> Vec<Owner> {
    let mut functions: Vec<Option<Owner>> = vec![None; file.functions.len()];
    for line in &lines.lines {
        let function = &file.functions[line.function.0 as usize];
        let owner = functions[line.function.0 as usize].get_or_insert_with(|| Owner {
            line: function.def_line,
            cost: function.inclusive,
            backward: Cost::default(),
            ops: function.inclusive_ops,
            hottest: Cost::default(),
            hottest_line: line.line,
        });
        owner.backward += line.backward;
        if unit.ns(line.both()) > unit.ns(owner.hottest) {
            (owner.hottest, owner.hottest_line) = (line.both(), line.line);
        }
    }
    let classes = classes(id, file, &functions, unit, own);
    let named = functions.into_iter().zip(&file.functions).filter(|(_, function)| function.name != MODULE);
    let mut owners: Vec<Owner> = named.filter_map(|(owner, _)| owner).chain(classes).collect();
    owners.sort_by_key(|owner| owner.line);
    owners
}

/// The classes around these functions, each with the sum over the functions in it.
fn classes(id: FileId, file: &FileCosts, functions: &[Option<Owner>], unit: &Unit, own: &Own) -> Vec<Owner> {
    if functions.iter().all(Option::is_none) {
        return Vec::new();
    }
    let module = Module::parse(file.text.clone());
    let mut sums: HashMap<u32, Owner> = HashMap::new();
    for (at, owner) in functions.iter().enumerate() {
        let def_line = file.functions[at].def_line;
        let around = module.scopes().iter().filter(|scope| {
            scope.kind == ScopeKind::Class && scope.def_line < def_line && def_line <= scope.end_line
        });
        let (Some(owner), Some(class)) = (owner, around.max_by_key(|scope| scope.def_line)) else { continue };
        let (cost, ops) = own.get(&(id, FunctionId(at as u32))).copied().unwrap_or_default();
        let sum = sums.entry(class.def_line).or_insert_with(|| Owner {
            line: class.def_line,
            cost: Cost::default(),
            backward: Cost::default(),
            ops: 0,
            ..owner.clone()
        });
        sum.cost += cost;
        sum.ops += ops;
        sum.backward += owner.backward;
        if unit.ns(owner.hottest) > unit.ns(sum.hottest) {
            (sum.hottest, sum.hottest_line) = (owner.hottest, owner.hottest_line);
        }
    }
    sums.into_values().collect()
}
