//! `unfused-rms-norm`: RMSNorm dispatched op by op.
//!
//! Why it costs: square, mean, add, rsqrt and the multiplications are a launch each, with a round trip through device memory
//! in between; `torch.rms_norm` is one op. Evidence: the data flow in the text *and* the ops charged to its lines. A compiled
//! function has the text but not the ops, and stays silent.

use std::collections::BTreeSet;
use std::ops::Range;

use attribution::lines::short_name;
use attribution::{Charge, Cost, Direction, FileCosts, FileId, Place};
use profile::{EventId, Profile, units};
use source::{Module, RmsNorm, ScopeKind};

use crate::finding::{Edit, Finding, Fix, Related};
use crate::registry::{Context, Rule};

pub const RULE: Rule = Rule {
    code: "unfused-rms-norm",
    summary: "RMSNorm dispatched op by op where one fused op would do",
    link: "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html",
    at_most_hint: false,
    check,
};

/// The ops that the pattern dispatches, in whatever form it is written.
const OPS: [&str; 10] = ["mul", "pow", "square", "mean", "add", "rsqrt", "sqrt", "reciprocal", "div", "mul_"];
/// Fewer dispatches than these are not the pattern, whatever the text says.
const FEWEST: usize = 4;

fn check(context: &Context) -> Vec<Finding> {
    let files = context.attribution.files.iter().enumerate();
    files.flat_map(|(at, file)| in_file(context, FileId(at as u32), file)).collect()
}

fn in_file(context: &Context, id: FileId, file: &FileCosts) -> Vec<Finding> {
    if !file.text.contains("mean(") {
        return Vec::new();
    }
    let module = Module::parse(file.text.clone());
    module.rms_norms().iter().filter_map(|norm| finding(context, id, file, &module, norm)).collect()
}

fn finding(
    context: &Context,
    id: FileId,
    file: &FileCosts,
    module: &Module,
    norm: &RmsNorm,
) -> Option<Finding> {
    let lines: BTreeSet<u32> = norm.parts.iter().flat_map(|part| part.lines.0..=part.lines.1).collect();
    let evidence: Vec<&Charge> = context
        .attribution
        .charges
        .iter()
        .filter(|charge| charge.direction == Direction::Forward && is_on(&charge.place, id, &lines))
        .filter(|charge| OPS.contains(&short_name(context.profile.name(charge.event))))
        .collect();
    let named = |wanted: &[&str]| {
        evidence.iter().any(|charge| wanted.contains(&short_name(context.profile.name(charge.event))))
    };
    if evidence.len() < FEWEST || !named(&["mean"]) || !named(&["rsqrt", "sqrt", "pow"]) {
        return None;
    }
    let mut cost = Cost::default();
    for charge in &evidence {
        cost += charge.cost;
    }
    let function = module.scope(norm.function);
    let message = format!(
        "RMSNorm op by op: {} dispatches, {} {} ({}), where one torch.rms_norm would do",
        evidence.len(),
        units::short(context.unit.ns(cost)),
        context.unit.name,
        context.unit.percent(cost)
    );
    let name = name_range(&file.text, function.range.clone(), &function.name);
    let scope = name.start.min(norm.range.start)..norm.range.end;
    let fixes =
        rewrite(context, &evidence, norm).into_iter().chain(compile(context, file, module, norm)).collect();
    let related =
        vec![Related { range: norm.result.clone(), message: "gives the normalized result".to_owned() }];
    Some(Finding {
        code: RULE.code,
        file: file.key.clone(),
        text: file.text.clone(),
        range: name,
        scope,
        basis: basis(file, module, norm),
        message,
        related,
        fixes,
    })
}

/// What the fixes rest on: the whole function with the line above it, where a decorator may come, and torch's import.
fn basis(file: &FileCosts, module: &Module, norm: &RmsNorm) -> Vec<Range<u32>> {
    let function = module.scope(norm.function);
    let above = function.first_line.saturating_sub(2);
    let start = module.lines().range(&file.text, above).map_or(function.range.start, |line| line.start);
    let around = start.min(function.range.start)..function.range.end;
    norm.torch.iter().map(|torch| torch.import.clone()).chain([around]).collect()
}

/// Whether all that a place may be is on these lines of the file.
fn is_on(place: &Place, id: FileId, lines: &BTreeSet<u32>) -> bool {
    match place {
        Place::Line { file, line, .. } => *file == id && lines.contains(line),
        Place::Ambiguous { file, lines: any, .. } => {
            *file == id && any.iter().all(|line| lines.contains(line))
        }
        Place::Function { .. } | Place::None => false,
    }
}

/// The fused call; with the weight in it only where the trace shows that it is what `torch.rms_norm` takes.
fn rewrite(context: &Context, evidence: &[&Charge], norm: &RmsNorm) -> Option<Fix> {
    let named =
        |name: &'static str| move |charge: &&&Charge| short_name(context.profile.name(charge.event)) == name;
    let adds_tensor = |charge: &&Charge| {
        dims(context.profile, charge.event)
            .is_some_and(|dims| dims.iter().take(2).all(|operand| !operand.is_empty()))
    };
    if evidence.iter().filter(named("add")).any(adds_tensor) {
        // An eps that is a tensor is no argument of the fused call.
        return None;
    }
    let scale = evidence.iter().rev().find(named("mul"));
    let vector = scale.is_some_and(|charge| scales_by_vector(context.profile, charge.event));
    let rewrite = norm.rewrite_with_weight.as_ref().filter(|_| vector).or(norm.rewrite.as_ref())?;
    let edits = rewrite.edits.iter();
    let edits = edits.map(|edit| Edit { range: edit.range.clone(), new_text: edit.text.clone() }).collect();
    Some(Fix { title: format!("Use {}", rewrite.call), edits, preferred: true, recorder: None })
}

/// The recorded `Input Dims` of an op whose operands are all tensors or numbers.
fn dims(profile: &Profile, event: EventId) -> Option<Vec<Vec<u64>>> {
    profile.info(event).input_dims.and_then(|raw| serde_json::from_str(profile.text(raw)).ok())
}

/// Whether a recorded multiplication is of a tensor and a vector as long as its last dim, both of one dtype.
fn scales_by_vector(profile: &Profile, event: EventId) -> bool {
    let dims = dims(profile, event);
    let types = profile
        .info(event)
        .input_types
        .and_then(|raw| serde_json::from_str::<Vec<String>>(profile.text(raw)).ok());
    let (Some(dims), Some(types)) = (dims, types) else { return false };
    let ([a, b, ..], [a_type, b_type, ..]) = (&dims[..], &types[..]) else { return false };
    let (tensor, vector) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    a_type == b_type && vector.len() == 1 && vector.first() == tensor.last()
}

/// A decorator that has the function compiled instead; only where nothing else wraps the function.
fn compile(context: &Context, file: &FileCosts, module: &Module, norm: &RmsNorm) -> Option<Fix> {
    let (function, torch) = (module.scope(norm.function), &norm.torch.as_ref()?.name);
    let decorated = function.first_line != function.def_line;
    if function.kind != ScopeKind::Function || decorated || function.is_async || function.is_generator {
        return None;
    }
    let at = function.range.start;
    let start = module.lines().range(&file.text, function.first_line - 1)?.start;
    let indent = file.text.get(start as usize..at as usize).filter(|indent| indent.trim().is_empty())?;
    let newline = if file.text.contains("\r\n") { "\r\n" } else { "\n" };
    let neuron = context.profile.device.as_ref().is_some_and(|device| device.name == "NEURON");
    let arguments = if neuron { "backend=\"neuron\", fullgraph=True" } else { "fullgraph=True" };
    let decorator = format!("@{torch}.compile({arguments})");
    let edit = Edit { range: at..at, new_text: format!("{decorator}{newline}{indent}") };
    Some(Fix {
        title: format!("Compile it: {decorator}"),
        edits: vec![edit],
        preferred: false,
        recorder: None,
    })
}

/// The bytes of the function's name in its `def` line; the result's line for module code.
fn name_range(text: &str, function: Range<u32>, name: &str) -> Range<u32> {
    let body = text.get(function.start as usize..function.end as usize).unwrap_or("");
    let found = body.find(&format!("def {name}")).map(|at| function.start + at as u32 + 4);
    found.map_or(function.start..function.start, |at| at..at + name.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Limits;
    use crate::testing::{findings, fixed, frame, op};

    const LIMITS: Limits = Limits { top: 5, min_share: 0.0 };
    const SOURCE: &str = "import torch


def norm(x, weight, eps=1e-6):
    x2 = x * x
    ms = x2.mean(-1, keepdim=True)
    ms = ms + eps
    r = torch.rsqrt(ms)
    y = x * r
    return y * weight
";

    fn events(ops: &[&str]) -> String {
        let mut events = vec![frame("model.py(4): norm", 0, 1000)];
        events.extend((1..).zip(ops).map(|(at, name)| op(name, at * 100, 50)));
        events.join(",")
    }

    const NAIVE: [&str; 6] =
        ["aten::mul", "aten::mean", "aten::add", "aten::rsqrt", "aten::mul", "aten::mul"];

    #[test]
    fn the_pattern_with_its_ops_is_found_and_rewritten() {
        let found = findings(RULE.code, &events(&NAIVE), &[("model.py", SOURCE)], LIMITS);
        assert_eq!(found.len(), 1);
        let finding = &found[0];
        assert_eq!(&SOURCE[finding.range.start as usize..finding.range.end as usize], "norm");
        assert!(finding.message.contains("6 dispatches, 300 µs CPU (100.0%)"), "{}", finding.message);
        assert_eq!(
            fixed(SOURCE, &finding.fixes[0].edits),
            "import torch\n\n\ndef norm(x, weight, eps=1e-6):\n    \
             return torch.rms_norm(x, (x.shape[-1],), eps=eps) * weight\n"
        );
        let compiled = fixed(SOURCE, &finding.fixes[1].edits);
        assert!(compiled.contains("\n@torch.compile(fullgraph=True)\ndef norm("), "{compiled}");
    }

    #[test]
    fn a_weight_goes_into_the_call_where_the_trace_shows_a_vector_of_one_dtype() {
        let scaled = |dims: &str, types: &str| {
            let args = format!(r#""args":{{"Input Dims":{dims},"Input type":{types}}}"#);
            let last = op("aten::mul", 600, 50).replace(r#""args":{}"#, &args);
            let events = [events(&NAIVE[..5]), last].join(",");
            let found = findings(RULE.code, &events, &[("model.py", SOURCE)], LIMITS);
            fixed(SOURCE, &found[0].fixes[0].edits)
        };
        let types = r#"["c10::BFloat16","c10::BFloat16"]"#;
        let inside = "torch.rms_norm(x, (x.shape[-1],), weight, eps)";
        assert!(scaled("[[4,512],[512]]", types).contains(inside));
        for (dims, types) in [
            ("[[4,512],[]]", types),
            ("[[4,512],[4,512]]", types),
            ("[[4,512],[1]]", types),
            ("[[4,512],[512]]", r#"["c10::BFloat16","float"]"#),
        ] {
            let text = scaled(dims, types);
            assert!(text.contains("torch.rms_norm(x, (x.shape[-1],), eps=eps) * weight"), "{text}");
        }
    }

    #[test]
    fn an_eps_that_is_a_tensor_is_not_rewritten() {
        let add = |dims: &str| {
            let args = format!(r#""args":{{"Input Dims":{dims}}}"#);
            let add = op("aten::add", 300, 50).replace(r#""args":{}"#, &args);
            let mut ops = vec![events(&NAIVE[..2]), add];
            ops.extend((4..).zip(&NAIVE[3..]).map(|(at, name)| op(name, at * 100, 50)));
            let found = findings(RULE.code, &ops.join(","), &[("model.py", SOURCE)], LIMITS);
            found[0].fixes[0].title.clone()
        };
        assert!(add("[[4,1],[],[]]").starts_with("Use torch.rms_norm"));
        assert!(add("[[4,1],[1],[]]").starts_with("Compile it"));
    }

    #[test]
    fn what_is_wrapped_already_is_not_compiled_on_top() {
        for (before, def) in [("@staticmethod\n", "def norm"), ("@torch.jit.script\n", "def norm")] {
            let source = SOURCE.replace("def norm", &format!("{before}{def}"));
            let found = findings(RULE.code, &events(&NAIVE), &[("model.py", &source)], LIMITS);
            assert_eq!(found[0].fixes.len(), 1, "{before}");
        }
        let found = findings(
            RULE.code,
            &events(&NAIVE),
            &[("model.py", &SOURCE.replace("def norm", "async def norm"))],
            LIMITS,
        );
        assert_eq!(found[0].fixes.len(), 1);
    }

    #[test]
    fn the_text_without_the_ops_says_nothing() {
        // As a compiled function looks: the text is there, the ops are not.
        for ops in [&[][..], &["Torch-Compiled Region: 0/0"], &["aten::_fused_rms_norm"]] {
            assert!(findings(RULE.code, &events(ops), &[("model.py", SOURCE)], LIMITS).is_empty(), "{ops:?}");
        }
    }

    #[test]
    fn a_layer_norm_that_looks_alike_says_nothing() {
        let source = SOURCE.replace("x2 = x * x", "x2 = x * (x - x.mean())");
        let ops = [
            "aten::mean",
            "aten::sub",
            "aten::mul",
            "aten::mean",
            "aten::add",
            "aten::rsqrt",
            "aten::mul",
            "aten::mul",
        ];
        assert!(findings(RULE.code, &events(&ops), &[("model.py", &source)], LIMITS).is_empty());
    }
}
