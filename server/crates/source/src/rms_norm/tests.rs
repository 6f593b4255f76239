use super::PartKind::{AddEpsilon, Mean, Normalize, Rsqrt, Scale, Square};
use crate::{Edit, Module, Rewrite, RmsNorm};

const HEAD: &str = "import torch\n\n";

fn norms(code: &str) -> Vec<RmsNorm> {
    Module::parse(format!("{HEAD}{code}")).rms_norms()
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut changed = text.to_owned();
    for edit in edits.iter().rev() {
        changed.replace_range(edit.range.start as usize..edit.range.end as usize, &edit.text);
    }
    changed
}

/// The code after the rewrite, which must be valid and hold no hand-written norm any more.
fn rewritten(code: &str) -> Option<String> {
    let text = format!("{HEAD}{code}");
    let found = Module::parse(&*text).rms_norms();
    assert_eq!(found.len(), 1, "{code}");
    let plain = after(&text, found[0].rewrite.as_ref()?);
    Some(found[0].rewrite_with_weight.as_ref().map_or(plain, |rewrite| after(&text, rewrite)))
}

fn after(text: &str, rewrite: &Rewrite) -> String {
    let changed = apply(text, &rewrite.edits);
    let again = Module::parse(&*changed);
    assert!(again.is_valid(), "{changed}");
    assert!(again.rms_norms().is_empty(), "{changed}");
    changed.strip_prefix(HEAD).unwrap_or(&changed).to_owned()
}

/// The code after the rewrite that leaves the weight outside the call.
fn plainly(code: &str) -> Option<String> {
    let text = format!("{HEAD}{code}");
    Module::parse(&*text).rms_norms().first()?.rewrite.as_ref().map(|rewrite| after(&text, rewrite))
}

const STEPS: &str = "def rmsnorm(x, weight, eps=1e-6):
    \"\"\"Naive RMSNorm, one op per line.\"\"\"
    x2 = x * x
    ms = x2.mean(-1, keepdim=True)
    ms = ms + eps
    r = torch.rsqrt(ms)
    y = x * r
    return y * weight
";

#[test]
fn statement_by_statement() {
    let norm = norms(STEPS).remove(0);
    assert_eq!(
        (norm.def_line, &*norm.x, norm.weight.as_deref(), &*norm.eps),
        (3, "x", Some("weight"), "eps")
    );
    let parts: Vec<_> = norm.parts.iter().map(|part| (part.kind, part.lines.0)).collect();
    assert_eq!(parts, [(Square, 5), (Mean, 6), (AddEpsilon, 7), (Rsqrt, 8), (Normalize, 9), (Scale, 10)]);
    assert_eq!(
        rewritten(STEPS).as_deref(),
        Some(
            "def rmsnorm(x, weight, eps=1e-6):
    \"\"\"Naive RMSNorm, one op per line.\"\"\"
    return torch.rms_norm(x, (x.shape[-1],), weight, eps)
"
        )
    );
}

#[test]
fn in_one_expression() {
    let forms = [
        "x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight",
        "weight * (x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps))",
        "torch.rsqrt(torch.mean(x ** 2, -1, True) + eps) * x * weight",
        "x * (eps + torch.square(x).mean((-1,), keepdim=True)) ** -0.5 * weight",
        "x / torch.sqrt(torch.mean(torch.square(x), dim=[-1], keepdim=True) + eps) * weight",
        "x * (1 / (x.square().mean(-1, keepdim=True) + eps).sqrt()) * weight",
        "torch.mul(x.mul(torch.rsqrt(x.pow(2).mean(-1, keepdim=True).add(eps))), weight)",
    ];
    for form in forms {
        let code = format!("def f(x, weight, eps):\n    return {form}\n");
        assert_eq!(
            rewritten(&code).as_deref(),
            Some("def f(x, weight, eps):\n    return torch.rms_norm(x, (x.shape[-1],), weight, eps)\n"),
            "{form}"
        );
    }
}

#[test]
fn without_weight_in_a_class() {
    let code = "class Norm:
    def norm(self, x):
        v = x.pow(2).mean(-1, keepdim=True)  # the variance
        # kept
        x = x * torch.rsqrt(v + self.eps)
        return self.weight * x.to(self.dtype)
";
    let expected = "class Norm:
    def norm(self, x):
        # kept
        x = torch.rms_norm(x, (x.shape[-1],), eps=self.eps)
        return self.weight * x.to(self.dtype)
";
    assert_eq!(rewritten(code).as_deref(), Some(expected));
}

#[test]
fn statements_on_one_line() {
    let code = "def f(x, w, e):\n    a = 1; s = x * x; m = s.mean(-1, keepdim=True)\n    return x * (m + e).rsqrt() * w, a\n";
    let expected = "def f(x, w, e):\n    a = 1\n    return torch.rms_norm(x, (x.shape[-1],), w, e), a\n";
    let text = format!("{HEAD}{code}");
    let norm = Module::parse(&*text).rms_norms().remove(0);
    assert_eq!(norm.rewrite_with_weight.map(|rewrite| after(&text, &rewrite)).as_deref(), Some(expected));
}

#[test]
fn a_temporary_in_use_elsewhere_keeps_the_code() {
    assert_eq!(rewritten(&STEPS.replace("return y * weight", "return y * weight, r")), None);
    assert_eq!(rewritten(&STEPS.replace("    y = x * r", "    print(ms)\n    y = x * r")), None);
}

#[test]
fn a_changed_input_keeps_the_code() {
    assert_eq!(rewritten(&STEPS.replace("    r = torch", "    x.add_(1)\n    r = torch")), None);
    assert!(
        norms(&STEPS.replace("    y = x * r", "    x = x + 1\n    y = x * r"))
            .iter()
            .all(|n| n.rewrite.is_none())
    );
}

#[test]
fn another_precision_is_reported_but_not_rewritten() {
    let norm = norms(
        "def f(x, w, e):\n    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + e) * w\n",
    );
    assert!(matches!(&norm[..], [norm] if norm.rewrite.is_none()));
}

#[test]
fn what_looks_alike_stays_silent() {
    for body in [
        "(x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True) + e) * w",
        "x * torch.rsqrt((x * x).mean(-1) + e) * w",
        "x * torch.rsqrt((x * x).mean(0, keepdim=True) + e) * w",
        "x * torch.rsqrt((x * x).mean(1, keepdim=True) + e) * w",
        "x * torch.rsqrt((x * y).mean(-1, keepdim=True) + e) * w",
        "x * torch.rsqrt((x * x).sum(-1, keepdim=True) + e) * w",
        "x * torch.rsqrt((x * x).mean(-1, keepdim=True)) * w",
        "x * torch.sqrt((x * x).mean(-1, keepdim=True) + e) * w",
        "x / (x.std(-1, keepdim=True) + e) * w",
        "y * torch.rsqrt((x * x).mean(-1, keepdim=True) + e) * w",
        "x * torch.rsqrt(x.pow(3).mean(-1, keepdim=True) + e) * w",
        "torch.rms_norm(x, (x.shape[-1],), w, e)",
    ] {
        let code = format!("def f(x, y, w, e):\n    return {body}\n");
        assert!(norms(&code).is_empty(), "{body}");
    }
}

#[test]
fn torch_by_another_name() {
    let text = "import torch as th\ndef f(x, w, e):\n    return x * th.rsqrt((x * x).mean(-1, keepdim=True) + e) * w\n";
    let norm = Module::parse(text).rms_norms().remove(0);
    let call = norm.rewrite_with_weight.map(|rewrite| rewrite.call);
    assert_eq!(call.as_deref(), Some("th.rms_norm(x, (x.shape[-1],), w, e)"));
}

#[test]
fn a_weight_of_unknown_shape_stays_outside_the_call() {
    let code = |body: &str| format!("def f(x, w, e):\n    return {body}\n");
    let call = "torch.rms_norm(x, (x.shape[-1],), eps=e)";
    for (form, expected) in [
        ("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + e) * w", format!("{call} * w")),
        ("w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + e))", format!("w * {call}")),
        ("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + e) * (1 + w)", format!("{call} * (1 + w)")),
    ] {
        assert_eq!(plainly(&code(form)), Some(code(&expected)), "{form}");
    }
}

#[test]
fn what_is_computed_later_or_again_keeps_the_code() {
    let code = |last: &str| {
        format!("def f(x, xs, w, e):\n    r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + e)\n    {last}\n")
    };
    for last in ["return [x * r * w for x in xs]", "g = lambda x: x * r * w", "return g(lambda: x * r * w)"] {
        assert_eq!(plainly(&code(last)), None, "{last}");
    }
    for last in
        ["return x.add_(1), x * r * w", "return (x := x + 1), x * r * w", "return (yield 1), x * r * w"]
    {
        assert_eq!(plainly(&code(last)), None, "{last}");
    }
    assert!(plainly(&code("return g(x * r * w, x.add_(1))")).is_some());
}

#[test]
fn whatever_may_happen_in_between_keeps_the_code() {
    for between in ["y.add_(1)", "update()", "y += 1", "y[0] = 1", "del y", "y.a = 1"] {
        let code = STEPS.replace("    r = torch", &format!("    {between}\n    r = torch"));
        assert_eq!(plainly(&code), None, "{between}");
    }
    assert!(plainly(&STEPS.replace("    r = torch", "    other = 1\n    r = torch")).is_some());
}

#[test]
fn names_that_others_can_see_keep_the_code() {
    let module = "s = x * x\nm = s.mean(-1, keepdim=True)\ny = x * torch.rsqrt(m + 1e-6)\n";
    assert_eq!(plainly(module), None);
    let class =
        "class C:\n    s = x * x\n    m = s.mean(-1, keepdim=True)\n    y = x * torch.rsqrt(m + 1e-6)\n";
    assert_eq!(plainly(class), None);
    assert_eq!(plainly(&STEPS.replace("    y = x * r", "    y = x * r  # noqa\n    log(locals())")), None);
    assert_eq!(plainly(&STEPS.replace("    x2 = x", "    global ms\n    x2 = x")), None);
}

#[test]
fn without_torch_everywhere_nothing_is_offered() {
    for text in [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n",
        "def g():\n    import torch\n",
        "from torch import rsqrt\n",
        "import torch\ntorch = None\n",
        "import torch\ndef g(torch): ...\n",
    ] {
        let code = format!(
            "{text}def f(x, w, e):\n    return x * (x.pow(2).mean(-1, keepdim=True) + e).rsqrt() * w\n"
        );
        let norm = Module::parse(&*code).rms_norms().remove(0);
        assert!(
            norm.torch.is_none() && norm.rewrite.is_none() && norm.rewrite_with_weight.is_none(),
            "{text}"
        );
    }
}
