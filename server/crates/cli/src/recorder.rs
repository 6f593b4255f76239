//! `recorder`: writes the Python module that records exact lines with torch up to 2.13.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::{UNUSABLE, output};

#[derive(Debug, Args)]
pub struct Arguments {
    /// Where the module is written: the folder of the script that is profiled.
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Replace a file of that name that holds something else.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match capture::add_recorder(&arguments.directory, arguments.force) {
        Ok(path) => output::write(&format!("{}\n{}\n", path.display(), capture::RECORDER_USAGE)),
        Err(error) => {
            output::complain(&error.to_string());
            ExitCode::from(UNUSABLE)
        }
    }
}
