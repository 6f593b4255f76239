//! Constructs of Python, each with the events that it leaves and the lines they belong to.

use source::{Comprehensions, Module, ScopeId};

use super::tests::{WHOLE, builtin, lines, op, python};
use super::{Inputs, Observation, align};

/// One line for each event, or all that are possible.
fn check(text: &str, seen: &[Observation<'_>], expected: &[&[u32]]) {
    let found = lines(text, seen, &WHOLE);
    let expected: Vec<Vec<u32>> = expected.iter().map(|lines| lines.to_vec()).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn arithmetic_on_numbers_leaves_nothing() {
    let text = "def f(x):\n    n = len(x)\n    n = n * 2\n    y = x * n\n    n = n * 3\n    return y * n\n";
    check(text, &[builtin("len"), op("aten::mul"), op("aten::mul")], &[&[2], &[4], &[6]]);
}

#[test]
fn an_operator_on_a_tensor_leaves_an_event() {
    let text = "def f(x, y):\n    a = x / y\n    b = torch.exp(y) / 2\n    return a\n";
    check(text, &[builtin("exp"), op("aten::div")], &[&[3], &[3]]);
    check(text, &[op("aten::div"), builtin("exp"), op("aten::div")], &[&[2], &[3], &[3]]);
}

#[test]
fn in_place_operators_are_no_others() {
    let text = "def f(x, y, c):\n    if c:\n        x = x + y\n    else:\n        x += y\n    return x\n";
    check(text, &[op("aten::add_")], &[&[5]]);
    let text = "def f(x, y):\n    if y[0]:\n        x ^= y\n    x = x ^ y\n";
    check(text, &[op("aten::__ixor__"), op("aten::__xor__")], &[&[3], &[4]]);
    // A number to which a tensor is added is replaced.
    let text = "def f(ys):\n    t = 0\n    for y in ys:\n        t += y\n    return t + 1, t.dtype\n";
    check(text, &[op("aten::add"), op("aten::add_"), op("aten::add")], &[&[4], &[4], &[5]]);
}

#[test]
fn subscripts_by_whatever_an_index_may_be() {
    let text = "def f(x, m, d):\n    a = x[m]\n    b = x[[0, 2]]\n    c = x[True]\n    d['k'] = x\n    e = d['k'][0]\n    return x[..., None]\n";
    let seen = [
        "aten::index",
        "aten::empty",
        "aten::to",
        "aten::lift_fresh",
        "aten::index",
        "aten::unsqueeze",
        "aten::empty",
        "aten::fill_",
        "aten::index",
        "aten::select",
        "aten::unsqueeze",
    ]
    .map(op);
    check(text, &seen, &[&[2], &[3], &[3], &[3], &[3], &[4], &[4], &[4], &[4], &[6], &[7]]);
    let text = "def f(y, i):\n    y[i] = 5\n    y[0] = 1\n    y[:, i] = y\n    return y.exp()\n";
    let seen = [
        op("aten::index_fill_"),
        op("aten::select"),
        op("aten::fill_"),
        op("aten::index_put_"),
        builtin("exp"),
    ];
    check(text, &seen, &[&[2], &[3], &[3], &[4], &[5]]);
}

#[test]
fn bounds_may_be_tensors() {
    let text = "def f(data, ix, n):\n    return torch.stack([data[i : i + n] for i in ix])\n";
    let seen = [
        python("__iter__"),
        op("aten::add"),
        op("aten::item"),
        op("aten::item"),
        op("aten::slice"),
        builtin("stack"),
    ];
    check(text, &seen, &[&[2][..]; 6]);
}

#[test]
fn a_list_of_a_tensor_iterates_it() {
    let text = "def f(x, y):\n    a = x * y\n    b = list(x)\n    c = a - y\n    for r in y:\n        c = c + r\n    return c\n";
    let seen = [op("aten::mul"), python("__iter__"), op("aten::sub"), python("__iter__"), op("aten::add")];
    check(text, &seen, &[&[2], &[3], &[4], &[5], &[6]]);
}

#[test]
fn map_and_its_like_call_without_a_frame() {
    let text = "def f(xs):\n    a = list(map(torch.exp, xs))\n    b = list(itertools.accumulate(a))\n    c = list(filter(lambda t: t, b))\n    return xs + 1\n";
    let seen = [
        op("aten::exp"),
        op("aten::exp"),
        op("aten::add"),
        python("<lambda>"),
        op("aten::is_nonzero"),
        python("<lambda>"),
        op("aten::is_nonzero"),
        op("aten::add"),
    ];
    check(text, &seen, &[&[2], &[2], &[3], &[4], &[4], &[4], &[4], &[5]]);
}

#[test]
fn functions_in_a_list_are_called_where_their_variable_is() {
    let text = "import torch\ndef f(x):\n    for fn in [torch.sin, torch.cos]:\n        y = fn(x)\n    acts = {'a': torch.tanh}\n    return acts['a'](x)\n";
    let module = Module::parse(text);
    let automaton = module.automaton(ScopeId(1), Comprehensions::Inlined);
    let seen = [builtin("sin"), builtin("cos"), builtin("tanh")];
    let found = align(&automaton, &seen, &WHOLE, &mut usize::MAX.clone()).expect("small enough");
    let found: Vec<_> = found.into_iter().map(|found| (found.lines, found.unnamed)).collect();
    assert_eq!(found, [(vec![4], false), (vec![4], false), (vec![6], false)]);
}

#[test]
fn formatting_reads_numbers() {
    let text = "def f(x, y):\n    s = f'{x} {y:.3f}'\n    s = '%.3f %d' % (x, y)\n    return s\n";
    let seen = [python("__format__"), python("__format__"), op("aten::item"), op("aten::item")];
    check(text, &seen, &[&[2], &[2], &[3], &[3]]);
}

#[test]
fn a_context_may_end_an_error() {
    let text = "def f(x):\n    with suppress(E):\n        x = x * 2\n        raise E\n        x = x - 1\n    return x / 2\n";
    let seen =
        [python("__init__"), python("__enter__"), op("aten::mul"), python("__exit__"), op("aten::div")];
    let found = lines(text, &seen, &WHOLE);
    assert_eq!(found[2..], [vec![3], vec![2], vec![6]]);
}

#[test]
fn comparison_with_the_elements_of_a_list() {
    let text = "def f(x, r):\n    if x[0] in (1.0, 2.0):\n        r = r * 3\n    return r - 1\n";
    let seen = [
        "aten::select",
        "aten::eq",
        "aten::is_nonzero",
        "aten::eq",
        "aten::is_nonzero",
        "aten::mul",
        "aten::sub",
    ]
    .map(op);
    check(text, &seen, &[&[2], &[2], &[2], &[2], &[2], &[3], &[4]]);
}

#[test]
fn what_is_not_explained_makes_the_rest_less_sure() {
    // The `unbind` could be of either statement, were the `relu` known.
    let text = "def f(x, y):\n    a, b = x\n    c, d = y\n    return a\n";
    let found = lines(text, &[op("aten::relu"), op("aten::unbind")], &WHOLE);
    assert_eq!(found, [vec![], vec![2, 3]]);
}

#[test]
fn a_tensor_takes_no_more_indices_than_it_has_dimensions() {
    let text = "def f(a, b, n, c):\n    if c:\n        d = a[:, -n:, :]\n    else:\n        d = b[:, -n:]\n    return d\n";
    let of =
        |dims| Observation { inputs: Inputs::read(r#"["float"]"#, dims, r#"[""]"#), ..op("aten::slice") };
    check(text, &[of("[[8, 4]]")], &[&[5]]);
    check(text, &[of("[[8, 4, 2]]")], &[&[3, 5]]);
    check(text, &[op("aten::slice")], &[&[3, 5]]);
}

#[test]
fn a_call_with_unpacked_arguments_is_on_the_line_where_it_begins() {
    let text = "def f(x, shape):\n    return (\n        x\n        .t()\n        .view(*shape)\n    )\n";
    check(text, &[builtin("t"), builtin("view")], &[&[4], &[3]]);
}

#[test]
fn what_is_written_in_c_may_have_been_called_without_a_frame() {
    let text = "from collections import deque\ndef f(x, c):\n    if c:\n        d = deque(maxlen=3)\n        y = x * 2\n    else:\n        y = x * 3\n    return y\n";
    check(text, &[op("aten::mul")], &[&[5, 7]]);
    let text = "def f(x, a, b, c):\n    if c:\n        n = a * b, a / b, a + b\n        y = x * 2\n    else:\n        y = x * 3\n    return y\n";
    check(text, &[op("aten::mul")], &[&[3, 4, 6]]);
}
