//! What `attribute` and `annotate` share: reading a trace, the sources, and the cost of every line.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use attribution::{Attribution, Place, Precision};
use capture::SourceIndex;
use clap::Args;
use profile::Profile;

#[derive(Debug, Args)]
pub struct Input {
    /// A trace (`.json`, `.json.gz`) or a profile directory, whose newest capture is taken.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// A folder with the profiled sources; may be given several times.
    #[arg(long, value_name = "DIR", required = true)]
    sources: Vec<PathBuf>,
    /// Rewrite recorded paths that begin with FROM to begin with TO, before anything else.
    #[arg(long = "map", value_name = "FROM=TO", value_parser = mapping)]
    mappings: Vec<(String, String)>,
}

fn mapping(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() => Ok((from.to_owned(), to.to_owned())),
        _ => Err("expected FROM=TO".to_owned()),
    }
}

/// A trace with the cost of its lines.
pub(crate) struct Costs {
    pub profile: Profile,
    pub attribution: Attribution,
}

impl Input {
    /// Reads everything. The error is one line for people.
    pub fn read(&self) -> Result<Costs, String> {
        if let Some(folder) = self.sources.iter().find(|folder| !folder.is_dir()) {
            return Err(format!("{}: not a folder with sources", folder.display()));
        }
        let path = capture::at(&self.path).map_err(|error| error.to_string())?.path;
        let opened = capture::open(&path).map_err(|error| error.to_string())?;
        let profile =
            ide::profile(opened.bytes(), opened.log(), opened.call_lines(), &AtomicBool::new(false))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        let index = SourceIndex::new(self.sources.clone(), self.mappings.clone(), Some(&path));
        let attribution = attribution::attribute(&profile, &index);
        Ok(Costs { profile, attribution })
    }
}

/// How a place is known, in the words of the JSON output.
pub(crate) fn precision(place: &Place) -> Precision {
    match place {
        Place::Line { precision, .. } => *precision,
        Place::Ambiguous { .. } => Precision::Ambiguous,
        Place::Function { .. } => Precision::Function,
        Place::None => Precision::None,
    }
}

pub(crate) fn word(precision: Precision) -> &'static str {
    match precision {
        Precision::Exact => "exact",
        Precision::Aligned => "aligned",
        Precision::Ambiguous => "ambiguous",
        Precision::Function => "function",
        Precision::None => "none",
    }
}
