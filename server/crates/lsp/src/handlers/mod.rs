//! One file a request, named for the method. A handler clones what it needs, asks the facade, converts.

pub mod captures;
pub mod code_action;
pub mod code_lens;
pub mod execute_command;
pub mod hover;
pub mod inlay_hint;
pub mod operators;
