//! `annotate`: the source with the cost of each line, for people or as JSON.

mod json;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attribution::FileCosts;
use clap::{Args, ValueEnum};

use crate::lines::Input;
use crate::{UNUSABLE, output};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Print these files only; by default every file with a cost, the most expensive first.
    #[arg(value_name = "FILE.py")]
    files: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let costs = match arguments.input.read() {
        Ok(costs) => costs,
        Err(error) => {
            output::complain(&error);
            return ExitCode::from(UNUSABLE);
        }
    };
    let wanted = |file: &FileCosts| {
        arguments.files.is_empty() || arguments.files.iter().any(|path| is_file(path, file))
    };
    let known = |path: &&PathBuf| costs.attribution.files.iter().any(|file| is_file(path, file));
    for path in arguments.files.iter().filter(|path| !known(path)) {
        output::complain(&format!("{}: nothing in the trace runs in this file", path.display()));
    }
    if !arguments.files.is_empty() && !arguments.files.iter().any(|path| known(&path)) {
        return ExitCode::from(UNUSABLE);
    }
    match arguments.format {
        Format::Json => output::write(&json::text(&costs, &wanted)),
        Format::Text => output::write(&text::text(&costs, &wanted)),
    }
}

/// Whether a path on the command line means this file: the same file on disk, or the end of its path, whole parts only.
fn is_file(path: &Path, file: &FileCosts) -> bool {
    if path.exists() && capture::canonical(path) == capture::canonical(Path::new(&*file.key.path)) {
        return true;
    }
    let path = path.to_string_lossy().replace('\\', "/");
    let path = path.trim_start_matches("./");
    file.key.path.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}
