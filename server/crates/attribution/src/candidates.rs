//! Functions that may have launched the ops of a trace without stacks.
//!
//! Nothing in such a trace says where an op comes from. But a function's text says which ops it launches, in which order:
//! where a run of the trace's ops is all that a function does, the function is a candidate for it. Other functions may fit
//! the same run, and code outside the workspace may, too: a candidate is a hint where to look and never carries a cost of
//! its own.

mod function;
mod matching;
mod sequence;

use std::collections::{BTreeMap, HashMap, HashSet};

use profile::{EventId, Profile};
use source::{Comprehensions, Module, ScopeId, SourceFiles};

use crate::{Cost, FileCosts};
use function::Function;
use matching::{Matcher, Run};
use sequence::Sequence;

/// How many files, the nearest first, are looked through.
const MOST_FILES: usize = 1_000;
/// As often functions that call others are matched again when those were found.
const MOST_ROUNDS: usize = 4;

/// A function whose text explains runs of ops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    /// 1-based line of the `def`.
    pub def_line: u32,
    /// How often the trace has what the function launches.
    pub runs: u32,
    /// Ops of all these runs.
    pub ops: u32,
    pub cost: Cost,
    /// By 1-based line: how many ops it would have launched, and their cost.
    pub lines: Vec<(u32, u32, Cost)>,
    /// How many other functions of the workspace fit one of the same runs as a whole.
    pub rivals: u32,
}

/// The functions of `sources` that may have launched `charged` ops of a trace without stacks, by file.
pub(crate) fn candidates(
    profile: &Profile,
    sources: &dyn SourceFiles,
    charged: &[(EventId, Cost)],
) -> Vec<FileCosts> {
    let sequence = Sequence::new(profile, charged);
    let mut files = Vec::new();
    let mut functions: Vec<(usize, ScopeId, Function)> = Vec::new();
    for key in sources.all(MOST_FILES) {
        let Some(text) = sources.text(&key).filter(|text| text.contains("torch")) else { continue };
        let module = Module::parse(text);
        for (scope, found) in module.functions() {
            // A generator's ops run between those of whoever resumes it.
            if !found.is_generator
                && let Some(function) =
                    Function::new(found, module.automaton(scope, Comprehensions::Inlined), &sequence)
            {
                functions.push((files.len(), scope, function));
            }
        }
        files.push((key, module));
    }
    let found = match_all(&sequence, &functions);
    let rivals = rivals(&found);
    let mut by_file: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for (at, runs) in found.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
        let (file, scope, _) = functions[at];
        let scope = files[file].1.scope(scope);
        by_file.entry(file).or_default().push(candidate(scope, runs, &sequence, rivals[at]));
    }
    let mut result = Vec::new();
    for (at, (key, module)) in files.into_iter().enumerate() {
        if let Some(candidates) = by_file.remove(&at) {
            result.push(FileCosts {
                key,
                text: module.text().clone(),
                recorded: None,
                stale: false,
                functions: Vec::new(),
                views: Vec::new(),
                candidates,
            });
        }
    }
    result
}

/// The runs of each function. Those that call others are matched again once these are found.
fn match_all(sequence: &Sequence<'_>, functions: &[(usize, ScopeId, Function)]) -> Vec<Vec<Run>> {
    let mut found: Vec<Vec<Run>> = vec![Vec::new(); functions.len()];
    let mut matcher = Matcher::new(sequence);
    let mut fresh: HashSet<&str> = HashSet::new();
    for round in 0..MOST_ROUNDS {
        let mut next: HashSet<&str> = HashSet::new();
        for (at, (_, _, function)) in functions.iter().enumerate() {
            if round > 0 && !fresh.iter().any(|name| function.may_call(name)) {
                continue;
            }
            let runs = matcher.runs(function);
            if runs != found[at] {
                next.insert(&function.name);
                found[at] = runs;
            }
        }
        if next.is_empty() {
            break;
        }
        matcher
            .know(functions.iter().zip(&found).map(|((_, _, function), runs)| (&*function.name, &runs[..])));
        fresh = next;
    }
    found
}

fn rivals(found: &[Vec<Run>]) -> Vec<u32> {
    let mut owners: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for (at, runs) in found.iter().enumerate() {
        for run in runs {
            owners.entry((run.from, run.to)).or_default().push(at);
        }
    }
    let others = |(at, runs): (usize, &Vec<Run>)| {
        let all = runs.iter().flat_map(|run| &owners[&(run.from, run.to)]);
        all.filter(|&&other| other != at).collect::<HashSet<_>>().len() as u32
    };
    found.iter().enumerate().map(others).collect()
}

fn candidate(scope: &source::Scope, runs: &[Run], sequence: &Sequence<'_>, rivals: u32) -> Candidate {
    let mut lines: BTreeMap<u32, (u32, Cost)> = BTreeMap::new();
    let (mut cost, mut ops) = (Cost::default(), 0);
    for run in runs {
        for at in run.from..run.to {
            cost += sequence.cost(at);
            ops += 1;
        }
        for &(at, line) in &run.lines {
            let sum = lines.entry(line).or_default();
            sum.0 += 1;
            sum.1 += sequence.cost(at);
        }
    }
    Candidate {
        name: scope.name.to_string(),
        def_line: scope.def_line,
        runs: runs.len() as u32,
        ops,
        cost,
        lines: lines.into_iter().map(|(line, (ops, cost))| (line, ops, cost)).collect(),
        rivals,
    }
}
