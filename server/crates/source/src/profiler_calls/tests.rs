use super::Constant;
use crate::{Module, ProfilerCall};

fn calls(text: &str) -> Vec<ProfilerCall> {
    Module::parse(text).profiler_calls()
}

fn with(text: &str, argument: &str) -> String {
    let call = calls(text).remove(0);
    let (at, new) = call.insertion(argument);
    let mut changed = text.to_owned();
    changed.insert_str(at as usize, &new);
    let again = Module::parse(&*changed);
    assert!(again.is_valid(), "{changed}");
    let name = argument.split('=').next().unwrap_or_default();
    assert!(again.profiler_calls()[0].keyword(name).is_some(), "{changed}");
    changed
}

#[test]
fn every_way_to_import_it() {
    for (head, callee) in [
        ("from torch.profiler import profile", "profile"),
        ("from torch.profiler import profile as p", "p"),
        ("import torch.profiler", "torch.profiler.profile"),
        ("import torch", "torch.profiler.profile"),
        ("import torch.profiler as tp", "tp.profile"),
        ("from torch import profiler", "profiler.profile"),
        ("import torch", "torch.autograd.profiler.profile"),
        ("from torch.autograd import profiler as ap", "ap.profile"),
    ] {
        let text =
            format!("{head}\n\ndef main():\n    with {callee}(with_stack=True) as prof:\n        pass\n");
        let found = calls(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].line, 4);
        assert_eq!(&text[found[0].callee_range.start as usize..found[0].callee_range.end as usize], callee);
        assert_eq!(found[0].keyword("with_stack").and_then(|k| k.value.clone()), Some(Constant::Bool(true)));
    }
}

#[test]
fn other_things_called_profile_are_not_it() {
    assert!(calls("import cProfile\ncProfile.profile()\n").is_empty());
    assert!(calls("def profile(): ...\nprofile(with_stack=True)\n").is_empty());
    assert!(calls("from .profiler import profile\nprofile()\n").is_empty());
    assert!(calls("import line_profiler\nx = line_profiler.profile(f)\n").is_empty());
}

#[test]
fn a_new_keyword_goes_before_the_parenthesis() {
    let head = "from torch.profiler import profile\n";
    let put = |call: &str| with(&format!("{head}{call}"), "with_stack=True")[head.len()..].to_owned();
    assert_eq!(put("profile()"), "profile(with_stack=True)");
    assert_eq!(put("profile(a)"), "profile(a, with_stack=True)");
    assert_eq!(put("profile((a))"), "profile((a), with_stack=True)");
    assert_eq!(put("profile(a=(1))"), "profile(a=(1), with_stack=True)");
    assert_eq!(put("profile(a=1, )"), "profile(a=1, with_stack=True, )");
    assert_eq!(
        put("profile(\n    a=1,  # why, so\n)"),
        "profile(\n    a=1,\n    with_stack=True,  # why, so\n)"
    );
    assert_eq!(put("profile(\n    a=1  # a, b\n)"), "profile(\n    a=1,\n    with_stack=True  # a, b\n)");
    assert_eq!(put("profile(a=f(b, c))"), "profile(a=f(b, c), with_stack=True)");
}

#[test]
fn line_endings_are_kept() {
    let text = "\u{feff}from torch.profiler import profile\r\nprofile(\r\n\ta=1,\r\n)\r\n";
    assert!(with(text, "b=2").contains("\ta=1,\r\n\tb=2,\r\n)"));
}

#[test]
fn arguments_are_read() {
    let text =
        "import torch\ntorch.profiler.profile(None, acc_events=False, record_shapes=flag, n=3, **more)\n";
    let call = calls(text).remove(0);
    assert_eq!(call.positional, 1);
    assert!(call.has_unpacked_keywords);
    assert_eq!(call.keyword("n").and_then(|k| k.value.clone()), Some(Constant::Int(3)));
    assert_eq!(call.keyword("record_shapes").map(|k| k.value.clone()), Some(None));
}
