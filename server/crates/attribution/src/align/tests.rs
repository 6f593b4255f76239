use proptest::prelude::*;
use source::{Comprehensions, Module, ScopeId};

use super::*;

pub(super) fn op(name: &str) -> Observation<'_> {
    Observation { kind: Kind::Op(name), line: None, inputs: Inputs::default() }
}

pub(super) fn builtin(name: &str) -> Observation<'_> {
    Observation { kind: Kind::Builtin(name), line: None, inputs: Inputs::default() }
}

pub(super) fn python(name: &str) -> Observation<'_> {
    let kind = Kind::Python { function: name, of_tensor: false, wraps: Vec::new(), op: None };
    Observation { kind, line: None, inputs: Inputs::default() }
}

fn at(observation: Observation<'_>, line: u32) -> Observation<'_> {
    Observation { line: Some(line), ..observation }
}

pub(super) const WHOLE: Span = Span { entry: Entry::Whole, cut: false };

/// The lines of each observation in the first function of a text.
pub(super) fn lines(text: &str, observations: &[Observation<'_>], span: &Span) -> Vec<Vec<u32>> {
    let module = Module::parse(text);
    let automaton = module.automaton(ScopeId(1), Comprehensions::Inlined);
    let found = align(&automaton, observations, span, &mut usize::MAX.clone()).expect("small enough");
    found.into_iter().map(|lines| if lines.unexplained { Vec::new() } else { lines.lines }).collect()
}

#[test]
fn one_op_a_line() {
    let text = "def f(x, w, e):\n    y = x * x\n    y = y.mean(-1)\n    y = y + e\n    return y * w\n";
    let seen = [op("aten::mul"), builtin("mean"), op("aten::add"), op("aten::mul")];
    assert_eq!(lines(text, &seen, &WHOLE), [[2], [3], [4], [5]]);
}

#[test]
fn an_op_that_the_text_does_not_hold_gets_no_line() {
    let text = "def f(x):\n    y = torch.mm(x, x)\n    return torch.relu(y)\n";
    let seen = [builtin("mm"), op("aten::add"), builtin("relu")];
    assert_eq!(lines(text, &seen, &WHOLE), [vec![2], vec![], vec![3]]);
}

#[test]
fn arms_that_look_alike_stay_ambiguous() {
    let text = "def f(x, c):\n    if c:\n        y = x * 2\n    else:\n        y = x * 3\n    return -y\n";
    let seen = [op("aten::mul"), op("aten::neg")];
    assert_eq!(lines(text, &seen, &WHOLE), [vec![3, 5], vec![6]]);
}

#[test]
fn a_number_tells_arms_apart() {
    let text = "def f(x, c):\n    if c:\n        y = x * 2\n    else:\n        y = x * 0.5\n    return -y\n";
    let inputs = Inputs::read(r#"["float","double"]"#, "[[4], []]", r#"["",""]"#);
    let seen = [Observation { inputs, ..op("aten::mul") }, op("aten::neg")];
    assert_eq!(lines(text, &seen, &WHOLE), [[5], [6]]);
}

#[test]
fn early_returns_stay_ambiguous() {
    let text = "def f(x, m):\n    if m == 0:\n        return x * 1.5\n    if m == 1:\n        return x * 2.5\n    return x * 3.5\n";
    assert_eq!(lines(text, &[op("aten::mul")], &WHOLE), [vec![3, 5, 6]]);
}

#[test]
fn the_traces_own_line_is_a_hard_constraint() {
    let text = "def f(x):\n    a = g(x)\n    b = x * 2\n    a = g(x)\n    b = x * 3\n    return b\n";
    assert_eq!(lines(text, &[at(python("g"), 4), op("aten::mul")], &WHOLE), [[4], [5]]);
}

#[test]
fn loops_break_and_continue() {
    let text = "def f(x):
    for i in r(x):
        x = x * 2
        if i:
            x = x - 1
            continue
        if x:
            break
        x = x / 3
    return -x
";
    let seen = [
        python("r"),
        op("aten::mul"),
        op("aten::sub"),
        op("aten::mul"),
        op("aten::is_nonzero"),
        op("aten::div"),
        op("aten::mul"),
        op("aten::is_nonzero"),
        op("aten::neg"),
    ];
    let found = lines(text, &seen, &WHOLE);
    let sure = |at: usize, line: u32| assert_eq!(found[at], [line], "{at}");
    for (at, line) in [(0, 2), (1, 3), (2, 5), (3, 3), (5, 9), (6, 3), (8, 10)] {
        sure(at, line);
    }
}

#[test]
fn gathers_of_two_statements() {
    let text = "def f(h, s, e, k):\n    g, p = torch.sort(e)\n    a = h[p // k]\n    b = s[p]\n    return b.float()\n";
    let wrapped = Kind::Python { function: "wrapped", of_tensor: true, wraps: Vec::new(), op: None };
    let seen = [
        builtin("sort"),
        Observation { kind: wrapped, line: None, inputs: Inputs::default() },
        op("aten::index"),
        op("aten::index"),
        builtin("float"),
    ];
    assert_eq!(lines(text, &seen, &WHOLE), [[2], [3], [3], [4], [5]]);
}

#[test]
fn a_generator_is_resumed_at_its_yield() {
    let text =
        "def f(x):\n    a = x * 2\n    yield a, x.dtype\n    b = x * 3\n    yield b\n    return x + 1\n";
    let from = |line, begins| Span { entry: Entry::Resumed { line, begins }, cut: false };
    assert_eq!(lines(text, &[op("aten::mul")], &from(1, true)), [[2]]);
    assert_eq!(lines(text, &[op("aten::mul")], &from(3, false)), [[4]]);
    assert_eq!(lines(text, &[op("aten::add")], &from(5, false)), [[6]]);
}

#[test]
fn a_running_frame_goes_on_from_its_line() {
    let text = "def f(x):\n    x = x * 2\n    start()\n    x = x * 3\n    return x + 1\n";
    let span = Span { entry: Entry::Running { line: 3 }, cut: true };
    assert_eq!(lines(text, &[op("aten::mul"), op("aten::add")], &span), [[4], [5]]);
}

#[test]
fn a_long_function_takes_work_in_proportion() {
    let work_of = |statements: usize| {
        let mut text = "def f(x):\n".to_owned();
        let mut seen = Vec::new();
        for _ in 0..statements {
            text.push_str("    x = torch.relu(x) + x.attr\n    self.a = x[0]\n");
            seen.extend([builtin("relu"), op("aten::add"), op("aten::select")]);
        }
        let module = Module::parse(text);
        let automaton = module.automaton(ScopeId(1), Comprehensions::Inlined);
        let mut work = usize::MAX;
        let found = align(&automaton, &seen, &WHOLE, &mut work).expect("small enough");
        let line = |at: usize| (at / 3 * 2 + 2 + usize::from(at % 3 == 2)) as u32;
        assert!(found.iter().enumerate().all(|(at, found)| found.lines == [line(at)]));
        usize::MAX - work
    };
    let (short, long) = (work_of(500), work_of(5_000));
    assert!(long < 11 * short, "{short} {long}");
}

/// The same on any text and any sequence: no panic, one answer for each.
fn answers(text: &str, seen: &[(u8, u8)], line: Option<u32>) {
    const NAMES: [&str; 8] =
        ["aten::mul", "aten::add", "aten::index", "mm", "g", "__init__", "aten::is_nonzero", "x"];
    let observations: Vec<_> = seen
        .iter()
        .map(|&(kind, name)| {
            let name = NAMES[name as usize % NAMES.len()];
            let kind = match kind % 4 {
                0 => Kind::Op(name),
                1 => Kind::Builtin(name),
                2 => Kind::Python { function: name, of_tensor: false, wraps: Vec::new(), op: None },
                _ => Kind::Module(name),
            };
            Observation {
                kind,
                line: line.filter(|_| seen.len().is_multiple_of(2)),
                inputs: Inputs::default(),
            }
        })
        .collect();
    let module = Module::parse(text);
    for scope in 0..module.scopes().len() as u32 {
        let automaton = module.automaton(ScopeId(scope), Comprehensions::Nested);
        for entry in [Entry::Whole, Entry::Resumed { line: 2, begins: false }, Entry::Running { line: 2 }] {
            if let Some(found) =
                align(&automaton, &observations, &Span { entry, cut: false }, &mut usize::MAX.clone())
            {
                assert_eq!(found.len(), observations.len());
                // Every observation is explained somehow, if only by nothing.
                assert!(found.iter().all(|lines| lines.unexplained || !lines.lines.is_empty()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_and_any_events(
        text in "(def f\\(x\\):\n)?(    [a-z =*+()\\[\\].:0-9-]{0,30}\n){0,8}",
        seen in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..12),
        line in proptest::option::of(0u32..12),
    ) {
        answers(&text, &seen, line);
    }

    #[test]
    fn any_events_of_every_construct(seen in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..30)) {
        answers(include_str!("../../../source/tests/constructs.py"), &seen, Some(20));
    }
}

#[test]
fn work_is_bounded_over_all_frames() {
    let module = Module::parse("def f(x):\n    return x * 2\n");
    let automaton = module.automaton(ScopeId(1), Comprehensions::Inlined);
    let mut work = 1_000;
    assert!(align(&automaton, &[op("aten::mul")], &WHOLE, &mut work).is_some());
    assert!(work < 1_000);
    work = 1;
    assert_eq!(align(&automaton, &[op("aten::mul")], &WHOLE, &mut work), None);
    assert_eq!(work, 0);
}

#[test]
fn a_number_on_the_left_turns_a_comparison_round() {
    let text = "def f(x, n):\n    for t in range(n):\n        m = t < x\n        k = m.float()\n";
    assert_eq!(lines(text, &[op("aten::gt"), builtin("float")], &WHOLE), [[3], [4]]);
}

#[test]
fn a_decorators_wrapper_stands_for_what_it_wraps_whatever_it_is_called() {
    let text = "def f(p):\n    clip_grad_value_(p, 1.0)\n    nn.utils.clip_grad_norm_(p, 1.0)\n";
    let wrapper = Kind::Python {
        function: "_no_grad_wrapper",
        of_tensor: false,
        wraps: vec!["clip_grad_norm_"],
        op: None,
    };
    let seen = [Observation { kind: wrapper, line: None, inputs: Inputs::default() }];
    assert_eq!(lines(text, &seen, &WHOLE), [[3]]);
}

#[test]
fn each_op_has_its_expression_on_one_line_and_over_several() {
    for text in [
        "def f(x):\n    return x * x + torch.exp(x)\n",
        "def f(x):\n    return (\n        x * x\n        + torch.exp(x)\n    )\n",
    ] {
        let module = Module::parse(text);
        let automaton = module.automaton(ScopeId(1), Comprehensions::Inlined);
        let seen = [op("aten::mul"), builtin("exp"), op("aten::add")];
        let found = align(&automaton, &seen, &WHOLE, &mut usize::MAX.clone()).expect("small enough");
        let code = |at: usize| match found[at].expressions[..] {
            [(start, end)] => &text[start as usize..end as usize],
            _ => panic!("{:?}", found[at]),
        };
        assert_eq!((code(0), code(1)), ("x * x", "torch.exp(x)"));
        assert!(code(2).starts_with("x * x") && code(2).ends_with("torch.exp(x)"));
    }
}

#[test]
fn two_stores_are_two_statements() {
    let text = "def f(o, d, x, y, n):\n    for t in range(n):\n        o[t] = x\n        d[t] = y\n        z = x.flatten()\n";
    let once =
        [op("aten::select"), op("aten::copy_"), op("aten::select"), op("aten::copy_"), builtin("flatten")];
    let seen: Vec<_> = once.iter().chain(&once).cloned().collect();
    let lines = lines(text, &seen, &WHOLE);
    assert_eq!(lines[..5], [[3], [3], [4], [4], [5]]);
    assert_eq!(lines[5..], [[3], [3], [4], [4], [5]]);
}

#[test]
fn a_context_manager_is_made_and_entered_by_its_with_and_by_no_subscript() {
    let text =
        "def f(o, d, x, y):\n    o[0] = x\n    d[0] = y\n    with torch.no_grad():\n        z = g(x)\n";
    let store = [op("aten::select"), op("aten::copy_")];
    let with = ["__new__", "__init__", "__enter__", "g", "__exit__"].map(python);
    let seen: Vec<_> = store.iter().chain(&store).chain(&with).cloned().collect();
    assert_eq!(lines(text, &seen, &WHOLE), [[2], [2], [3], [3], [4], [4], [4], [5], [4]]);
}

#[test]
fn a_legacy_constructor_leaves_two_ops_and_a_slice_none_of_its() {
    let text = "def f(x, i):\n    j = i[0:5]\n    y = x[j]\n    return torch.Tensor(i)\n";
    let seen = [op("aten::lift_fresh"), op("aten::index"), op("aten::lift_fresh"), op("aten::to")];
    assert_eq!(lines(text, &seen, &WHOLE), [[3], [3], [4], [4]]);
}

#[test]
fn functions_of_a_namespace_have_its_name_in_front() {
    let text = "def f(x):\n    y = torch.fft.rfft(x)\n    return torch.linalg.solve(y, y)\n";
    assert_eq!(lines(text, &[builtin("fft_rfft"), builtin("linalg_solve")], &WHOLE), [[2], [3]]);
}

#[test]
fn a_reflected_operator_has_its_number_on_the_left() {
    let text =
        "def f(x, n):\n    if n == 3 - 1:\n        y = x - 1\n    else:\n        y = 1 - x\n    return -y\n";
    assert_eq!(lines(text, &[op("aten::rsub"), op("aten::neg")], &WHOLE), [[5], [6]]);
    assert_eq!(lines(text, &[op("aten::sub"), op("aten::neg")], &WHOLE), [[3], [6]]);
}
