//! Measures attribution on traces with ground truth.
//!
//! `cargo run --release --example attribution-bench -- DIR --sources DIR [--strip-callfrom | --strip-stacks] [--misses]`
//!
//! Prints a line for each folder below DIR that holds `trace.json.gz` and `groundtruth.json.gz` (or, for backward passes,
//! `truth.json.gz`), then one for all of them. `--strip-callfrom` hides the call lines that torch 2.14 and later write,
//! `--strip-stacks` all of Python: then the candidates are scored.
#![allow(clippy::print_stdout, reason = "a tool that prints")]

mod candidates;
mod score;

use std::path::{Path, PathBuf};
use std::time::Instant;

use score::Recorded;

fn main() -> Result<(), String> {
    let (mut roots, mut sources, mut recorded, mut misses) = (Vec::new(), None, Recorded::All, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--sources" => sources = arguments.next().map(PathBuf::from),
            "--strip-callfrom" => recorded = Recorded::NoCallFrom,
            "--strip-stacks" => recorded = Recorded::NoStacks,
            "--misses" => misses = true,
            _ => roots.push(PathBuf::from(argument)),
        }
    }
    let sources = sources
        .ok_or("usage: attribution-bench DIR --sources DIR [--strip-callfrom | --strip-stacks] [--misses]")?;
    let mut all = score::Score::default();
    for (trace, truth, key) in roots.iter().flat_map(|root| cases(root)) {
        let started = Instant::now();
        let (profile, attribution) = score::attribute(&trace, &sources, recorded)?;
        let took = started.elapsed();
        if recorded == Recorded::NoStacks {
            let score = candidates::score(&profile, &attribution, &score::bytes(&truth)?)?;
            println!("{}: {score}, {} ms", trace.parent().unwrap_or(&trace).display(), took.as_millis());
            if misses {
                score.misses.iter().for_each(|miss| println!("  {miss}"));
            }
            continue;
        }
        let score = score::score(&profile, &attribution, &score::bytes(&truth)?, key, &sources)?;
        println!("{}: {score}, {} ms", trace.parent().unwrap_or(&trace).display(), took.as_millis());
        all += &score;
        if misses {
            score.misses.iter().for_each(|miss| println!("  {miss}"));
            score.wrong_expressions.iter().for_each(|wrong| println!("  expression: {wrong}"));
        }
    }
    println!("in all: {all}");
    Ok(())
}

/// Every folder below `root`, itself included, that holds a trace and its ground truth.
fn cases(root: &Path) -> Vec<(PathBuf, PathBuf, &'static str)> {
    let mut found = Vec::new();
    for (truth, key) in [("groundtruth.json.gz", "user"), ("truth.json.gz", "forward")] {
        let (trace, truth) = (root.join("trace.json.gz"), root.join(truth));
        if trace.is_file() && truth.is_file() {
            found.push((trace, truth, key));
        }
    }
    let mut below: Vec<_> =
        std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    below.sort();
    for folder in below.into_iter().filter(|path| path.is_dir()) {
        found.extend(cases(&folder));
    }
    found
}
