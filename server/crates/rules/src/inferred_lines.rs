//! `inferred-lines`: the trace names functions and not lines, which the recorder would have recorded.
//!
//! Shown on the user's own handler, once a file. Evidence: Python frames of which none says where it was called from, as
//! torch up to 2.13 writes them, and no call lines beside the trace, not even unusable ones; a call of the profiler in a file
//! that has nothing to do with the recorder yet. Silent where the call passes `**options`, which may hold a handler.

use std::sync::Arc;

use profile::{Callee, Profile};
use source::{Constant, FileKey, Module, ProfilerCall};
use trace::WarningKind;

use crate::finding::{Edit, Finding, Fix};
use crate::registry::{Context, Rule};

pub const RULE: Rule = Rule {
    code: "inferred-lines",
    summary: "Lines are inferred where they could have been recorded",
    link: "https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.profile",
    at_most_hint: true,
    check,
};

/// The recorder's module, what it is imported for, and how.
const MODULE: &str = "aten_lens_recorder";
const WRAPPER: &str = "exact_lines";
const IMPORT: &str = "from aten_lens_recorder import exact_lines";

/// The profilers that take a handler.
const WITH_HANDLER: [&str; 2] = ["torch.profiler.profile", "torch.profiler.profiler.profile"];

/// How many files are looked through where none that ran sets up a profiler.
const FILES: usize = 200;

/// Whether lines are known by alignment alone, and the recorder could name them.
pub fn infers_lines(profile: &Profile) -> bool {
    let frames = || profile.ids().filter_map(|id| profile.frame(id));
    frames().any(|frame| matches!(frame.callee, Callee::Python { .. }))
        && frames().all(|frame| frame.call_from.is_none())
        && !profile.log.warnings.iter().any(|warning| warning.kind == WarningKind::CallLines)
}

fn check(context: &Context) -> Vec<Finding> {
    if !infers_lines(context.profile) {
        return Vec::new();
    }
    let ran = context.attribution.files.iter();
    let found: Vec<_> = ran.filter_map(|file| in_file(context, &file.key, file.text.clone())).collect();
    if !found.is_empty() {
        return found;
    }
    let all = context.sources.all(FILES);
    all.iter().filter_map(|file| in_file(context, file, context.sources.text(file)?)).collect()
}

fn in_file(context: &Context, file: &FileKey, text: Arc<str>) -> Option<Finding> {
    if !text.contains("profile(") || text.contains(MODULE) {
        return None;
    }
    let module = Module::parse(text.clone());
    let calls = module.profiler_calls();
    let call = calls.iter().find(|call| {
        WITH_HANDLER.contains(&&*call.path) && (handler(call).is_some() || !call.has_unpacked_keywords)
    })?;
    let handler = handler(call);
    let records = match handler {
        Some(_) => "exact_lines(…) around this handler records them",
        None => "exact_lines.export(prof, path) records them",
    };
    // Another thing of the wrapper's name would be hidden by the import.
    let edits = if text.contains(WRAPPER) { None } else { edits(&module, call) };
    Some(Finding {
        code: RULE.code,
        file: file.clone(),
        range: handler.map_or(&call.callee_range, |handler| &handler.range).clone(),
        scope: call.range.clone(),
        basis: Vec::new(),
        message: format!(
            "The trace \"{}\" names functions but no lines, so lines are inferred: {records}",
            context.capture
        ),
        related: Vec::new(),
        fixes: edits.map(|edits| fix(context, file, edits)).into_iter().collect(),
        text,
    })
}

/// The handler that is called when a trace is ready.
fn handler(call: &ProfilerCall) -> Option<&source::KeywordArgument> {
    call.keyword("on_trace_ready").filter(|handler| handler.value != Some(Constant::None))
}

/// Wraps the handler, or else the exports by hand; `None` where there is neither.
fn edits(module: &Module, call: &ProfilerCall) -> Option<Vec<Edit>> {
    let insert = |at: u32, new_text: String| Edit { range: at..at, new_text };
    let (at, import) = module.import_insertion(IMPORT);
    let mut edits = vec![insert(at, import)];
    match handler(call) {
        Some(handler) => edits.extend([
            insert(handler.value_range.start, format!("{WRAPPER}(")),
            insert(handler.value_range.end, ")".to_owned()),
        ]),
        None => edits.extend(module.chrome_exports().into_iter().map(|export| {
            let profiler = &module.text()[export.profiler.start as usize..export.profiler.end as usize];
            Edit { range: export.callee, new_text: format!("{WRAPPER}.export({profiler}, ") }
        })),
    }
    (edits.len() > 1).then_some(edits)
}

fn fix(context: &Context, file: &FileKey, edits: Vec<Edit>) -> Fix {
    let title = format!("Record exact lines with {WRAPPER}");
    Fix { title, edits, preferred: true, recorder: recorder(context, file) }
}

/// The folder that the recorder has to be put into; `None` if it is in one already that the script may import from.
fn recorder(context: &Context, file: &FileKey) -> Option<String> {
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let own = folder(&file.path);
    let recorders = context.sources.candidates(&format!("{MODULE}.py"));
    let is_there = recorders
        .iter()
        .map(|key| folder(&key.path))
        .any(|found| own.strip_prefix(&found).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    (!is_there).then(|| import_folder(context.profile, file).unwrap_or(own))
}

/// The folder of `sys.path` that a file was imported from, which the profiler has cut off from the path in the trace; `None`
/// if it is not in the sources.
fn import_folder(profile: &Profile, file: &FileKey) -> Option<String> {
    let mut names = profile.ids().filter_map(|id| match profile.frame(id)?.callee {
        Callee::Python { file, .. } => Some(profile.text(file)),
        _ => None,
    });
    names.find_map(|name| {
        let name = name.replace('\\', "/");
        let within = file.relative.strip_suffix(&*name)?;
        let folder = file.path.strip_suffix(&*name)?.strip_suffix('/')?;
        (within.is_empty() || within.ends_with('/')).then(|| folder.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Limits;
    use crate::testing::{findings, fixed, frame, op};

    const LIMITS: Limits = Limits { top: 5, min_share: 0.0 };

    /// A trace of torch up to 2.13 of a script in a folder, and what is found in its files.
    fn found(files: &[(&str, &str)]) -> Vec<Finding> {
        let events = [frame("pkg/train.py(1): <module>", 0, 20), op("aten::mm", 1, 9)].join(",");
        findings(RULE.code, &events, files, LIMITS)
    }

    fn after(source: &str) -> Option<String> {
        let found = found(&[("src/pkg/train.py", source)]);
        let fix = found.first()?.fixes.first()?;
        Some(fixed(source, &fix.edits))
    }

    #[test]
    fn the_handler_is_wrapped_and_the_recorder_imported_and_added() {
        let source = "from torch.profiler import profile\n\nwith profile(on_trace_ready=save, with_stack=True) as p:\n    pass\n";
        let fixed = "from torch.profiler import profile\nfrom aten_lens_recorder import exact_lines\n\n\
             with profile(on_trace_ready=exact_lines(save), with_stack=True) as p:\n    pass\n";
        assert_eq!(after(source).as_deref(), Some(fixed));
        let finding = &found(&[("src/pkg/train.py", source)])[0];
        assert_eq!(&source[finding.range.start as usize..finding.range.end as usize], "on_trace_ready=save");
        // Where the run found `pkg`, and not beside the script.
        assert_eq!(finding.fixes[0].recorder.as_deref(), Some("/w/src"));
        assert!(found(&[("src/pkg/train.py", fixed)]).is_empty());
    }

    #[test]
    fn exports_by_hand_are_made_with_the_recorder() {
        let source =
            "import torch\nwith torch.profiler.profile() as p:\n    pass\np.export_chrome_trace('a.json')\n";
        let fixed = "import torch\nfrom aten_lens_recorder import exact_lines\nwith torch.profiler.profile() as p:\n    \
             pass\nexact_lines.export(p, 'a.json')\n";
        assert_eq!(after(source).as_deref(), Some(fixed));
        let none = source.replace("profile()", "profile(on_trace_ready=None)");
        assert_eq!(after(&none).map(|text| text.matches("exact_lines.export(p, ").count()), Some(1));
        let elsewhere = "import torch\nwith torch.profiler.profile() as p:\n    run(p)\n";
        assert!(found(&[("src/pkg/train.py", elsewhere)])[0].fixes.is_empty());
    }

    #[test]
    fn a_recorder_that_is_there_is_not_added() {
        let source = "import torch\nwith torch.profiler.profile(on_trace_ready=save): pass\n";
        let recorder = |at| found(&[("src/pkg/train.py", source), (at, "")])[0].fixes[0].recorder.clone();
        assert_eq!(recorder("src/pkg/aten_lens_recorder.py"), None);
        assert_eq!(recorder("src/aten_lens_recorder.py"), None);
        assert_eq!(recorder("other/aten_lens_recorder.py").as_deref(), Some("/w/src"));
    }

    #[test]
    fn the_recorder_stays_in_the_workspace() {
        let source = "import torch\nwith torch.profiler.profile(on_trace_ready=save): pass\n";
        let fixes = &found(&[("train.py", source)])[0].fixes;
        assert_eq!(fixes[0].recorder.as_deref(), Some("/w"));
    }

    #[test]
    fn files_that_ran_come_before_all_others_and_each_says_it_once() {
        let source = "import torch\nwith torch.profiler.profile(on_trace_ready=save): pass\n";
        let twice = format!("{source}with torch.profiler.profile(on_trace_ready=save): pass\n");
        let ran = found(&[("a.py", source), ("src/pkg/train.py", &twice)]);
        assert_eq!(
            ran.iter().map(|finding| &*finding.file.relative).collect::<Vec<_>>(),
            ["src/pkg/train.py"]
        );
        assert_eq!(
            found(&[("a.py", source), ("b.py", source), ("src/pkg/train.py", "import torch\n")]).len(),
            2
        );
    }

    #[test]
    fn what_may_be_wrapped_already_or_takes_no_handler_is_left_alone() {
        for call in [
            "torch.profiler.profile(**options)",
            "torch.autograd.profiler.profile()",
            "torch.profiler.profile(on_trace_ready=exact_lines(save))  # of aten_lens_recorder",
        ] {
            assert!(
                found(&[("src/pkg/train.py", &format!("import torch\nx = {call}\n"))]).is_empty(),
                "{call}"
            );
        }
        let own = "import torch\nexact_lines = 1\nx = torch.profiler.profile(on_trace_ready=save)\n";
        assert!(found(&[("src/pkg/train.py", own)])[0].fixes.is_empty());
    }

    #[test]
    fn a_trace_with_lines_or_without_frames_says_nothing() {
        let source = "import torch\nx = torch.profiler.profile(on_trace_ready=save)\n";
        let with_lines = r#"{"ph":"X","cat":"python_function","name":"pkg/train.py(1): f","pid":1,"tid":1,"ts":0,"dur":9,"args":{"CallFrom":"pkg/train.py:2"}}"#;
        let of_module = frame("nn.Module: Linear_0", 0, 9);
        for events in [with_lines, &op("aten::mm", 1, 9), &of_module] {
            assert!(findings(RULE.code, events, &[("src/pkg/train.py", source)], LIMITS).is_empty());
        }
    }
}
