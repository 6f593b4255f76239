//! See `Cargo.toml` for what this crate is.
