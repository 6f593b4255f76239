//! The server over stdio, as an editor drives it: a real process, real files, nothing mocked.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should fail where it stands")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "`json!({ … })` reads better than a reference to it in every call"
)]

mod client;
mod edits;
mod inputs;
mod lifecycle;
#[cfg(target_os = "linux")]
mod limits;
mod marks;
mod project;
mod recorder;
mod watching;
