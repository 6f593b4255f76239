//! The one binary. `aten-lens lsp` speaks to editors over stdio; every other subcommand is a table or JSON for people and scripts.

fn main() {}
