//! The facade as tables and JSON on the command line.

mod annotate;
mod attribute;
mod lines;
mod output;
mod recorder;
mod report;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "aten-lens",
    version,
    about = "Shows PyTorch developers what each line of their code costs on the accelerator",
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Speak the language server protocol over stdio.
    Lsp {
        /// The only transport; accepted because editors pass it.
        #[arg(long)]
        stdio: bool,
    },
    /// Print what `key_averages()` says of a trace.
    Report(report::Arguments),
    /// Print the source with what each line costs.
    Annotate(annotate::Arguments),
    /// Print the place of every charged op, one JSON row each.
    Attribute(attribute::Arguments),
    /// Write the Python module that records exact lines with torch up to 2.13.
    Recorder(recorder::Arguments),
}

/// Wrong usage or unreadable input.
pub(crate) const UNUSABLE: u8 = 2;

/// Reads the command line. `Err` is the status to end with: help was asked for, or the usage is wrong.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, ExitCode> {
    Cli::try_parse_from(arguments).map_err(|error| {
        use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
        let asked_for = matches!(error.kind(), DisplayHelp | DisplayVersion);
        if asked_for || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
            // Where not even this can be written there is nobody left to tell.
            let _ = error.print();
        } else {
            let text = error.to_string();
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let what = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            // Which arguments are missing stands on lines of its own.
            let which: Vec<_> = lines.take_while(|line| !line.starts_with(['U', 'F', 't'])).collect();
            output::complain(&format!("{what} {}; see aten-lens --help", which.join(" ")).replace(" ;", ";"));
        }
        ExitCode::from(if asked_for { 0 } else { UNUSABLE })
    })
}

/// Runs a subcommand other than `lsp`, which is the language server's.
pub fn run(command: Command) -> ExitCode {
    match command {
        Command::Lsp { .. } => ExitCode::from(UNUSABLE),
        Command::Report(arguments) => report::run(&arguments),
        Command::Annotate(arguments) => annotate::run(&arguments),
        Command::Attribute(arguments) => attribute::run(&arguments),
        Command::Recorder(arguments) => recorder::run(&arguments),
    }
}
