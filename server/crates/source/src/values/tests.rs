use ruff_python_ast::{Expr, Stmt};

use super::{Constant, Evaluator, Value};
use crate::{Given, Module, ScopeId};

/// The value of the last expression statement of the first function.
fn value(text: &str) -> Value {
    value_given(text, &Given::default())
}

fn value_given(text: &str, given: &Given) -> Value {
    let module = Module::parse(text);
    module.evaluate_last(ScopeId(1), given)
}

fn int(value: i64) -> Value {
    Value::Known(Constant::Int(value))
}

impl Module {
    fn evaluate_last(&self, id: ScopeId, given: &Given) -> Value {
        let last = |body: &[Stmt], values: &Evaluator<'_>| match body.last() {
            Some(Stmt::Expr(last)) => values.of(&last.value),
            other => panic!("no expression: {other:?}"),
        };
        self.with_body(id, given, last).expect("a function")
    }
}

#[test]
fn a_name_is_plain_where_all_that_is_assigned_to_it_is() {
    assert_eq!(value("def f(x):\n    n = 3\n    n\n"), int(3));
    assert_eq!(value("def f(x):\n    n = 3\n    n = len(x)\n    n\n"), Value::Plain);
    assert_eq!(value("def f(x):\n    n = 3\n    n = x\n    n\n"), Value::Unknown);
    assert_eq!(value("def f(x):\n    n = 0\n    while n < 9:\n        n = n + 1\n    n\n"), Value::Plain);
    assert_eq!(value("def f(x):\n    n = 0\n    for y in x:\n        n += y\n    n\n"), Value::Unknown);
    assert_eq!(value("def f(x):\n    b, *_, d = x.shape\n    b * d\n"), Value::Plain);
    assert_eq!(value("def f(x):\n    for i, y in enumerate(x):\n        pass\n    i\n"), Value::Plain);
    assert_eq!(value("def f(x):\n    for i, y in enumerate(x):\n        pass\n    y\n"), Value::Unknown);
    assert_eq!(
        value("def f(x):\n    for a, (b, c) in zip(range(3), [(1, x), (2, x)]):\n        pass\n    a + b\n"),
        Value::Plain
    );
    assert_eq!(value("def f(x):\n    with x as n:\n        n = 1\n    n\n"), Value::Unknown);
    assert_eq!(
        value("def f(x):\n    [i for i in x]\n    i = 0\n    i\n"),
        Value::Unknown,
        "names run together"
    );
}

#[test]
fn what_other_scopes_may_assign_is_unknown() {
    assert_eq!(
        value("def f(x):\n    n = 1\n    def g():\n        nonlocal n\n        n = x\n    g()\n    n\n"),
        Value::Unknown
    );
    assert_eq!(value("def f():\n    N\nN = 1\ndef g(x):\n    global N\n    N = x\n"), Value::Unknown);
    assert_eq!(value("def f():\n    N\nN = 1\n"), Value::Plain, "another module may set it");
    assert_eq!(value("def f():\n    len(N)\ndef len(x):\n    return x\n"), Value::Unknown, "its own `len`");
    assert_eq!(value("def f(x):\n    x.size(0)\nclass C:\n    def size(self, d): ...\n"), Value::Unknown);
}

#[test]
fn constants_are_compared() {
    for (condition, truth) in [
        ("3 > 2", Some(true)),
        ("'a' == 'b'", Some(false)),
        ("1 == 1.0", Some(true)),
        ("None is None", Some(true)),
        ("0 is None", Some(false)),
        ("'a' in ('a', 'b')", Some(true)),
        ("'c' not in ['a', 'b']", Some(true)),
        ("not 0", Some(true)),
        ("x or 1", None),
        ("0 and x", Some(false)),
        ("1 if True else x", Some(true)),
        ("x is None", None),
        ("torch.zeros(3) is None", Some(false)),
        ("[] is not None", Some(true)),
        ("x == 1", None),
    ] {
        assert_eq!(
            value(&format!("def f(x):\n    {condition}\nimport torch\n")).truth(),
            truth,
            "{condition}"
        );
    }
}

#[test]
fn tensors_and_containers() {
    for (expression, expected) in [
        ("torch.randn(3) * x", Value::Unknown),
        ("torch.randn(3) * 2", Value::Tensor),
        ("torch.randn(3)[0].sum()", Value::Tensor),
        ("torch.randn(3).max(0)", Value::Unknown),
        ("torch.randn(3).shape[0] * 2", Value::Plain),
        ("x.unsqueeze(0)", Value::Unknown),
        ("torch.ones(2).unsqueeze(0)", Value::Tensor),
        ("F.relu(x)", Value::Tensor),
        ("math.sqrt(x)", Value::Plain),
        ("'%d' % x", Value::Plain),
        ("[x] + [x]", Value::Container),
        ("[x] * 2", Value::Container),
        ("float(x)", Value::Plain),
        ("min(1, 2)", Value::Plain),
        ("min(1, x)", Value::Unknown),
        ("np.newaxis", Value::NONE),
    ] {
        let text = format!(
            "def f(x):\n    {expression}\nimport math\nimport torch\nimport torch.nn.functional as F\nimport numpy as np\n"
        );
        assert_eq!(value(&text), expected, "{expression}");
    }
}

/// What is known of `f`'s parameters after the call that ends the text of `caller`.
fn passed(text: &str, callee: &str, of_module: bool) -> Given {
    let module = Module::parse(text);
    let id = |name: &str| {
        let found = module.scopes().iter().position(|scope| &*scope.name == name);
        ScopeId(found.expect("a scope of that name") as u32)
    };
    let start = text.rfind("CALL").map(|at| at + 5).expect("a marked call") as u32;
    let end = start + text[start as usize..].lines().next().map_or(0, str::len) as u32;
    let arguments = module.arguments(id("caller"), &Given::default(), &(start..end)).expect("a call");
    module.given(id(callee), &arguments, of_module)
}

fn known(given: &Given, name: &str) -> Value {
    given.of(name).clone()
}

#[test]
fn arguments_reach_their_parameters() {
    let given = passed(
        "def f(a, b=2, *c, d=None):\n    pass\ndef caller():\n    f(1); CALL;f(1, d='x')\n",
        "f",
        false,
    );
    assert_eq!(known(&given, "a"), int(1));
    assert_eq!(known(&given, "b"), int(2));
    assert_eq!(known(&given, "d"), Value::Known(Constant::Text("x".into())));
    let given = passed("def f(a, b=2):\n    pass\ndef caller(k):\n    CALL;f(1, **k)\n", "f", false);
    assert_eq!((known(&given, "a"), known(&given, "b")), (int(1), Value::Unknown));
    let given = passed("def f(a, b=2):\n    pass\ndef caller(k):\n    CALL;f(*k, b=3)\n", "f", false);
    assert_eq!((known(&given, "a"), known(&given, "b")), (Value::Unknown, int(3)));
}

#[test]
fn an_object_is_passed_first_and_a_call_that_may_pass_more_tells_nothing() {
    let class =
        "class C:\n    def m(self, a):\n        pass\n    @staticmethod\n    def s(a):\n        pass\n";
    let given = passed(&format!("{class}def caller(c):\n    CALL;c.m(1)\n"), "m", false);
    assert_eq!(known(&given, "a"), int(1));
    assert!(passed(&format!("{class}def caller(c):\n    CALL;C.m(c, 1)\n"), "m", false).is_empty());
    for call in ["type(c).m(c, 1)", "c.__class__.m(c, 1)", "self.parent.m(self, 1)"] {
        let text = format!("{class}def caller(self, c):\n    CALL;{call}\n");
        assert!(passed(&text, "m", false).is_empty(), "{call}");
    }
    assert_eq!(known(&passed(&format!("{class}def caller(c):\n    CALL;C.s(1)\n"), "s", false), "a"), int(1));
    // A variable may hold a `partial`; so may an attribute that has a plain function's name.
    assert!(passed("def f(a):\n    pass\ndef caller(g):\n    f = g\n    CALL;f(1)\n", "f", false).is_empty());
    assert!(passed("def f(a):\n    pass\ndef caller(g):\n    CALL;g.f(1)\n", "f", false).is_empty());
    let decorated = "@wrap\ndef f(a):\n    pass\ndef caller():\n    CALL;f(1)\n";
    assert!(passed(decorated, "f", false).is_empty());
    let decorated = "import torch\n@torch.no_grad()\ndef f(a):\n    pass\ndef caller():\n    CALL;f(1)\n";
    assert_eq!(known(&passed(decorated, "f", false), "a"), int(1));
    let module =
        "class M:\n    def forward(self, x, mask=None):\n        pass\ndef caller(m):\n    CALL;m(1)\n";
    assert_eq!(known(&passed(module, "forward", true), "mask"), Value::NONE);
}

#[test]
fn what_is_given_reaches_conditions() {
    let text = "def f(mode, y):\n    mode == 'a'\ndef caller(y):\n    CALL;f('a', y)\n";
    let given = passed(text, "f", false);
    assert_eq!(value_given(text, &given).truth(), Some(true));
}

#[test]
fn a_variable_tells_the_functions_that_it_may_hold() {
    let text = "import torch\ndef f(x, g):\n    for fn in [torch.sin, torch.cos]:\n        fn(x)\n    acts = {'a': torch.tanh}\n    acts['a'](x)\n    h = g if x else torch.exp\n    h(x)\n";
    let module = Module::parse(text);
    let names = |callee: &dyn Fn(&Stmt) -> Option<Expr>| {
        let found = module.with_body(ScopeId(1), &Given::default(), |body, values| {
            body.iter().find_map(callee).map(|callee| values.called(&callee).to_vec())
        });
        found.flatten().unwrap_or_default()
    };
    let called = |stmt: &Stmt| match stmt {
        Stmt::Expr(stmt) => stmt.value.as_call_expr().map(|call| (*call.func).clone()),
        _ => None,
    };
    assert_eq!(names(&called), [Box::from("tanh")]);
    let in_loop = |stmt: &Stmt| stmt.as_for_stmt().and_then(|stmt| called(&stmt.body[0]));
    assert_eq!(names(&in_loop), [Box::from("cos"), Box::from("sin")]);
}

#[test]
fn lists_of_lists_do_not_grow_without_bound() {
    let doubled: Vec<String> = (0..60).map(|at| format!("    a{} = [a{at}, a{at}]\n", at + 1)).collect();
    let text = format!("def f(x, g):\n    a0 = [g, x]\n{}    a60[0](x)\n", doubled.concat());
    assert_eq!(value(&text), Value::Unknown);
}

#[test]
fn an_import_of_everything_may_bind_any_name() {
    assert_eq!(value("n = 2\ndef f():\n    n\n"), Value::Plain);
    assert_eq!(value("n = 2\nfrom settings import *\ndef f():\n    n\n"), Value::Unknown);
    assert_eq!(value("def f(x):\n    len(x)\n"), Value::Plain);
    assert_eq!(value("from settings import *\ndef f(x):\n    len(x)\n"), Value::Unknown);
}
