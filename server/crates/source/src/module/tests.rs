use proptest::prelude::*;

use super::*;
use crate::{Comprehensions, EmitterKind};

fn scopes(text: &str) -> Vec<(String, u32, u32, u32)> {
    let module = Module::parse(text);
    module.scopes().iter().map(|s| (s.name.to_string(), s.first_line, s.def_line, s.end_line)).collect()
}

/// Emitters by line and name, in order of the states they start from; those of what a call might open besides left out.
fn emitters(text: &str, name: &str, comprehensions: Comprehensions) -> Vec<(EmitterKind, u32, String)> {
    let module = Module::parse(text);
    let id = (0..module.scopes().len() as u32).map(ScopeId).find(|&id| &*module.scope(id).name == name);
    let automaton = module.automaton(id.unwrap_or(ScopeId(0)), comprehensions);
    automaton
        .steps()
        .iter()
        .filter(|step| step.emitter.frames != ["__new__"])
        .map(|step| {
            let e = &step.emitter;
            (e.kind, e.line, e.name.as_deref().or(e.ops.first().copied()).unwrap_or("").to_owned())
        })
        .collect()
}

#[test]
fn scopes_of_every_kind() {
    let text = "@deco
@other(1)
def f(x):
    class C:
        async def g(self):
            return [a for a in x], {a for a in x}, {a: a for a in x}
    return sum(
        lambda t: t
    )
";
    assert_eq!(
        scopes(text),
        [
            ("<module>".into(), 1, 1, 10),
            ("f".into(), 1, 3, 9),
            ("C".into(), 4, 4, 6),
            ("g".into(), 5, 5, 6),
            ("<listcomp>".into(), 6, 6, 6),
            ("<setcomp>".into(), 6, 6, 6),
            ("<dictcomp>".into(), 6, 6, 6),
            ("<lambda>".into(), 8, 8, 8),
        ]
    );
    let module = Module::parse(text);
    let g = module.scope_at("g", 5).map(|id| module.scope(id).clone());
    assert!(g.is_some_and(|g| g.class.as_deref() == Some("C") && g.is_async));
    assert_eq!(module.enclosing_function(1), ScopeId(1));
    assert_eq!(module.enclosing_function(6), ScopeId(3));
    assert_eq!(module.enclosing_function(10), ScopeId(0));
    let lambda = module.scope_at("<lambda>", 8).map(|id| module.function_of(id));
    assert_eq!(lambda, Some(ScopeId(1)));
}

#[test]
fn marks_and_line_endings_do_not_shift_lines() {
    for text in ["\u{feff}x = 1\r\ndef f():\r\n    return y * 2\r\n", "x = 1\ndef f():\n    return y * 2\n"] {
        let module = Module::parse(text);
        let f = module.scope_at("f", 2).expect("f begins on line 2");
        let automaton = module.automaton(f, Comprehensions::Nested);
        let emitter = &automaton.steps()[0].emitter;
        assert_eq!(emitter.line, 3);
        assert_eq!(&text[emitter.range.start as usize..emitter.range.end as usize], "y * 2");
    }
}

#[test]
fn a_frame_already_running_names_a_line_inside() {
    let text = "def main():\n    a()\n\n    b()\n\ndef other():\n    def main():\n        c()\n";
    let module = Module::parse(text);
    assert_eq!(module.scope_at("main", 4).map(|id| module.scope(id).def_line), Some(1));
    assert_eq!(module.scope_at("main", 8).map(|id| module.scope(id).def_line), Some(7));
    assert_eq!(module.scope_at("main", 6), None);
}

#[test]
fn a_generator_argument_begins_at_the_parenthesis() {
    let module = Module::parse("def f(xs):\n    return sum(\n        x * 2 for x in xs\n    )\n");
    let id = module.scope_at("<genexpr>", 2).expect("the call's parenthesis is on line 2");
    let automaton = module.automaton(id, Comprehensions::Inlined);
    assert!(automaton.steps().iter().any(|s| s.emitter.kind == EmitterKind::Binary && s.emitter.line == 3));
    assert_eq!(automaton.pauses.len(), 1);
}

#[test]
fn evaluation_order_of_nested_calls() {
    let order = emitters(
        "def f(x):\n    return g(x * 2)(\n        h(x),\n        k=-x,\n    )[0]\n",
        "f",
        Comprehensions::Nested,
    );
    let found: Vec<_> = order
        .iter()
        .filter(|(kind, ..)| matches!(kind, EmitterKind::Call | EmitterKind::Binary | EmitterKind::Unary))
        .map(|(_, line, name)| (*line, &**name))
        .collect();
    assert_eq!(
        found,
        [(2, "add"), (2, "g"), (3, "h"), (4, "neg"), (2, "")]
            .map(|(l, n)| (l, if n == "add" { "mul" } else { n }))
    );
}

#[test]
fn a_chain_over_lines_is_reported_on_each_name() {
    let order = emitters(
        "def f(x):\n    return (\n        x.view(-1)\n        .abs()\n    )\n",
        "f",
        Comprehensions::Nested,
    );
    let calls: Vec<_> =
        order.iter().filter(|(kind, ..)| *kind == EmitterKind::Call).map(|e| (e.1, &*e.2)).collect();
    assert_eq!(calls, [(3, "view"), (4, "abs")]);
}

#[test]
fn comprehensions_are_inlined_or_not() {
    let text = "def f(xs):\n    return [x * 2 for x in xs]\n";
    let binary = |how| emitters(text, "f", how).iter().filter(|e| e.0 == EmitterKind::Binary).count();
    assert_eq!((binary(Comprehensions::Nested), binary(Comprehensions::Inlined)), (0, 1));
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    for text in [
        format!("x = {}1", "1 + ".repeat(30_000)),
        format!("x = {}1{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("x = {}1", "not ".repeat(20_000)),
        format!("x = a{}", ".b()".repeat(20_000)),
        format!("x = {}1", "- ".repeat(20_000)),
        format!("{}a{} = x", "(".repeat(5_000), ",)".repeat(5_000)),
        format!("x = a{}", "[0]".repeat(20_000)),
        format!("x = {}a{}", "lambda: (".repeat(5_000), ")".repeat(5_000)),
    ] {
        let module = Module::parse(text);
        let _ = module.automaton(ScopeId(0), Comprehensions::Inlined);
        let _ = (module.rms_norms(), module.profiler_calls());
    }
}

#[test]
fn nested_finally_with_returns_stays_bounded() {
    let mut text = "def f():\n".to_owned();
    for depth in 1..40 {
        let indent = " ".repeat(depth);
        text.extend([&indent, "try:\n", &indent, " return a()\n", &indent, "finally:\n"]);
    }
    text.extend([&*" ".repeat(40), "return b()\n"]);
    let module = Module::parse(text);
    let f = module.scope_at("f", 1).expect("f");
    assert!(module.automaton(f, Comprehensions::Nested).states() < 1_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_is_taken(text in "(?s).{0,200}|[a-z0-9(){}\\[\\]:;.,=+*@#'\" \\n\\t\\\\\r-]{0,200}") {
        all_of(&text);
    }

    #[test]
    fn any_line_may_be_missing(skip in proptest::collection::vec(any::<bool>(), 40)) {
        let whole = include_str!("../../tests/constructs.py");
        let kept: String =
            whole.split_inclusive('\n').zip(skip.iter().cycle()).filter(|(_, skip)| !**skip).map(|(line, _)| line).collect();
        all_of(&kept);
    }
}

fn all_of(text: &str) {
    let module = Module::parse(text);
    for at in 0..module.scopes().len() as u32 {
        for how in [Comprehensions::Nested, Comprehensions::Inlined] {
            let automaton = module.automaton(ScopeId(at), how);
            for step in automaton.steps() {
                assert!(step.from < automaton.states() && step.to < automaton.states());
                let range = &step.emitter.range;
                assert!(text.get(range.start as usize..range.end as usize).is_some());
            }
        }
    }
    let _ = (module.rms_norms(), module.profiler_calls());
}

#[test]
fn every_construct_of_the_language() {
    let text = include_str!("../../tests/constructs.py");
    assert!(Module::parse(text).is_valid());
    all_of(text);
}
