use super::PartKind::{AddEpsilon, Mean, Normalize, Rsqrt, Scale, Square};
use crate::{Edit, Module, RmsNorm};

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
    let changed = apply(&text, found[0].rewrite.as_ref()?);
    let again = Module::parse(&*changed);
    assert!(again.is_valid(), "{changed}");
    assert!(again.rms_norms().is_empty(), "{changed}");
    Some(changed[HEAD.len()..].to_owned())
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
    assert_eq!(
        norm.rewrite.map(|edits| apply(&text, &edits)[HEAD.len()..].to_owned()).as_deref(),
        Some(expected)
    );
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
    assert_eq!(norm.replacement, "th.rms_norm(x, (x.shape[-1],), w, e)");
    assert!(norm.rewrite.is_some());
}
