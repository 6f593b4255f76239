//! `no-stacks`: the trace was recorded without Python stacks, so nothing can be placed on a line.
//!
//! Shown on the user's own call of the profiler. Evidence: a trace with operators and not one Python frame or recorded call
//! stack; a call that does not say `with_stack=True`. Silent where the call passes `**options`, which may hold it.

use profile::{Kind, Profile};
use source::{Constant, FileKey, Module, ProfilerCall};

use crate::finding::{Edit, Finding, Fix};
use crate::registry::{Context, Rule};

pub const RULE: Rule = Rule {
    code: "no-stacks",
    summary: "The profiler was set up without with_stack=True",
    link: "https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.profile",
    check,
};

/// How many files are looked through for the call.
const FILES: usize = 2000;

fn check(context: &Context) -> Vec<Finding> {
    if has_stacks(context.profile) || !context.profile.events().iter().any(|event| event.kind == Kind::Op) {
        return Vec::new();
    }
    context.sources.all(FILES).iter().flat_map(|file| in_file(context, file)).collect()
}

/// Whether anything in the trace names a line of Python.
pub fn has_stacks(profile: &Profile) -> bool {
    profile.ids().any(|id| profile.event(id).kind == Kind::Frame || profile.info(id).call_stack.is_some())
}

fn in_file(context: &Context, file: &FileKey) -> Vec<Finding> {
    let Some(text) = context.sources.text(file).filter(|text| text.contains("profile(")) else {
        return Vec::new();
    };
    let module = Module::parse(text.clone());
    let finding = |call: &ProfilerCall| {
        let fix = fix(call)?;
        Some(Finding {
            code: RULE.code,
            file: file.clone(),
            text: text.clone(),
            range: call.callee_range.clone(),
            scope: call.range.clone(),
            message: format!(
                "The trace \"{}\" has no Python stacks, so no line can be shown: record with with_stack=True",
                context.capture
            ),
            related: Vec::new(),
            fixes: vec![fix],
        })
    };
    module.profiler_calls().iter().filter_map(finding).collect()
}

/// What turns stacks on in a call; `None` if it may have them on already.
fn fix(call: &ProfilerCall) -> Option<Fix> {
    const ARGUMENT: &str = "with_stack=True";
    let edit = match call.keyword("with_stack") {
        Some(keyword) if matches!(keyword.value, Some(Constant::Bool(false) | Constant::None)) => {
            Edit { range: keyword.range.clone(), new_text: ARGUMENT.to_owned() }
        }
        Some(_) => return None,
        None if call.has_unpacked_keywords => return None,
        None => {
            let (at, new_text) = call.insertion(ARGUMENT);
            Edit { range: at..at, new_text }
        }
    };
    Some(Fix { title: format!("Record stacks: add {ARGUMENT}"), edits: vec![edit], preferred: true })
}
