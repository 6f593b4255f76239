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
use std::rc::Rc;

use profile::{EventId, Profile};
use source::ScopeId;

use crate::files::Files;
use crate::model::{Candidate, Cost, FileId};
use function::Function;
use matching::{Matcher, Run};
use sequence::Sequence;

/// How many files, the nearest first, are looked through.
const MOST_FILES: usize = 1_000;
/// As often functions that call others are matched again when those were found.
const MOST_ROUNDS: usize = 4;

/// A function of the workspace that is matched.
struct Matched {
    file: FileId,
    scope: ScopeId,
    function: Function,
}

/// The functions that may have launched `ops` of a trace without stacks, by file, in order of their `def` lines.
pub(crate) fn candidates(
    profile: &Profile,
    files: &Files<'_>,
    ops: &[(EventId, Cost)],
) -> BTreeMap<FileId, Vec<Candidate>> {
    let sequence = Sequence::new(profile, ops);
    let mut result: BTreeMap<FileId, Vec<Candidate>> = BTreeMap::new();
    // Most texts are read for this alone.
    if sequence.ops.is_empty() {
        return result;
    }
    let mut matched = Vec::new();
    for file in files.mentioning("torch", MOST_FILES) {
        for (scope, found) in files.file(file).module.functions() {
            // A generator's ops run between those of whoever resumes it.
            if found.is_generator {
                continue;
            }
            let automaton = files.automaton(file, scope, &Rc::default());
            if let Some(function) = Function::new(found, automaton, &sequence) {
                matched.push(Matched { file, scope, function });
            }
        }
    }
    let found = match_all(&sequence, &matched);
    let rivals = rivals(&found);
    for ((matched, runs), rivals) in matched.iter().zip(&found).zip(rivals) {
        if !runs.is_empty() {
            let file = files.file(matched.file);
            let candidate = candidate(file.module.scope(matched.scope), runs, &sequence, rivals);
            result.entry(matched.file).or_default().push(candidate);
        }
    }
    result
}

/// The runs of each function. Those that call others are matched again once these are found.
fn match_all(sequence: &Sequence<'_>, functions: &[Matched]) -> Vec<Vec<Run>> {
    let mut found: Vec<Vec<Run>> = vec![Vec::new(); functions.len()];
    let mut matcher = Matcher::new(sequence);
    let mut fresh: HashSet<&str> = HashSet::new();
    for round in 0..MOST_ROUNDS {
        let mut next: HashSet<&str> = HashSet::new();
        for (at, Matched { function, .. }) in functions.iter().enumerate() {
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
        matcher.know(functions.iter().zip(&found).map(|(of, runs)| (&*of.function.name, &runs[..])));
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
