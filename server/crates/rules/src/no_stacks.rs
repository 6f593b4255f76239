//! `no-stacks`: the trace was recorded without Python stacks, so nothing can be placed on a line.
//!
//! Shown on the user's own call of the profiler. Evidence: a trace with operators and not one Python frame or recorded call
//! stack; a call that does not say `with_stack=True`. Silent where the call passes `**options`, which may hold it.

use profile::Kind;
use source::{Constant, FileKey, Module, ProfilerCall};

use crate::finding::{Edit, Finding, Fix};
use crate::registry::{Context, Rule};

pub const RULE: Rule = Rule {
    code: "no-stacks",
    summary: "The profiler was set up without with_stack=True",
    link: "https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.profile",
    at_most_hint: false,
    check,
};

/// How many files are looked through for the call.
const FILES: usize = 2000;

fn check(context: &Context) -> Vec<Finding> {
    if context.profile.has_stacks() || !context.profile.events().iter().any(|event| event.kind == Kind::Op) {
        return Vec::new();
    }
    context.sources.all(FILES).iter().flat_map(|file| in_file(context, file)).collect()
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
            basis: Vec::new(),
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
    Some(Fix {
        title: format!("Record stacks: add {ARGUMENT}"),
        edits: vec![edit],
        preferred: true,
        recorder: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Limits;
    use crate::testing::{findings, fixed, frame, op};

    const LIMITS: Limits = Limits { top: 5, min_share: 0.0 };

    fn after(source: &str) -> Option<String> {
        let found = findings(RULE.code, &op("aten::mm", 1, 9), &[("train.py", source)], LIMITS);
        found.first().map(|finding| fixed(source, &finding.fixes[0].edits))
    }

    #[test]
    fn the_argument_is_added_or_turned_on() {
        let with = |call: &str| format!("from torch.profiler import profile\nwith {call} as p:\n    pass\n");
        assert_eq!(after(&with("profile()")), Some(with("profile(with_stack=True)")));
        assert_eq!(
            after(&with("profile(record_shapes=True)")),
            Some(with("profile(record_shapes=True, with_stack=True)"))
        );
        assert_eq!(after(&with("profile(with_stack=False)")), Some(with("profile(with_stack=True)")));
    }

    #[test]
    fn what_may_have_stacks_already_or_is_no_profiler_of_torch_is_left_alone() {
        let with = |import: &str, call: &str| format!("{import}\nwith {call} as p:\n    pass\n");
        let torch = "from torch.profiler import profile";
        assert_eq!(after(&with(torch, "profile(with_stack=True)")), None);
        assert_eq!(after(&with(torch, "profile(with_stack=stacks)")), None);
        assert_eq!(after(&with(torch, "profile(**options)")), None);
        assert_eq!(after(&with("from cProfile import Profile as profile", "profile()")), None);
    }

    #[test]
    fn a_trace_with_stacks_or_without_ops_says_nothing() {
        let source = "import torch\nwith torch.profiler.profile() as p:\n    pass\n";
        let framed = [frame("train.py(1): main", 0, 20), op("aten::mm", 1, 9)].join(",");
        let annotated =
            r#"{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":1,"dur":2}"#;
        for events in [framed.as_str(), annotated] {
            assert!(findings(RULE.code, events, &[("train.py", source)], LIMITS).is_empty());
        }
        let op = op("aten::mm", 1, 9);
        assert_eq!(findings(RULE.code, &op, &[("train.py", source)], LIMITS).len(), 1);
    }
}
