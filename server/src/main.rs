//! The one binary. `aten-lens lsp` speaks to editors over stdio; every other subcommand is a table or JSON for people and scripts.

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        Ok(cli::Cli { command: cli::Command::Lsp { .. } }) => lsp::serve(),
        Ok(cli) => cli::run(cli.command),
        Err(status) => status,
    }
}
