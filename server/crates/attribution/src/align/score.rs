//! How well a place in the text explains an event.

use source::{Callee, Cost, Emitter, EmitterKind};

use super::inputs::is_number;
use super::{Kind, Observation};

/// What it costs that the trace does not name the line.
pub(super) const UNNAMED_LINE: Cost = 6;

/// Names of functions that stand for what they wrap.
const WRAPPERS: [&str; 8] =
    ["__init__", "__new__", "__call__", "inner", "fn", "_fn", "_use_grad", "<lambda>"];

/// The cost of explaining `observation` by `emitter`; `None` when it cannot be.
pub(super) fn score(emitter: &Emitter, observation: &Observation<'_>) -> Option<Cost> {
    let cost = match &observation.kind {
        Kind::Op(name) => op(emitter, name, observation)?,
        Kind::Builtin(function) => builtin(emitter, function, observation)?,
        Kind::Python { function, of_tensor, wraps, op: below } => {
            let cost = python(emitter, function, *of_tensor, wraps)?;
            // An operator that torch writes in Python launches what the operator launches.
            match below {
                Some(below) if emitter.kind != EmitterKind::Call && wraps_tensor(function, *of_tensor) => {
                    cost + op(emitter, below, observation)?
                }
                _ => cost,
            }
        }
        // A call of an instance; a class's own call makes one.
        Kind::Module(_) if emitter.kind == EmitterKind::Call => {
            if emitter.callee == Callee::Fixed {
                return None;
            }
            if is_class(emitter) { 40 } else { 10 }
        }
        Kind::Module(_) => return None,
    };
    let cost = cost + emitter.dear;
    // The trace's own line is a hard constraint: a reading that contradicts it is none.
    match observation.line {
        None => Some(cost + UNNAMED_LINE),
        Some(line) if line == emitter.line => Some(cost),
        Some(line) if emitter.lines.0 <= line && line <= emitter.lines.1 => Some(cost + 8),
        Some(_) => None,
    }
}

/// Whether a place in the text explains what is seen, and names it.
pub(super) fn names(emitter: &Emitter, observation: &Observation<'_>) -> bool {
    is_named(emitter, observation) && score(emitter, observation).is_some()
}

/// Whether the text itself names what is seen, rather than merely allows for it: a variable that is called may hold
/// any function.
pub(super) fn is_named(emitter: &Emitter, observation: &Observation<'_>) -> bool {
    match &observation.kind {
        Kind::Op(name) => {
            let base = name.strip_prefix("aten::").or_else(|| name.rsplit("::").next()).unwrap_or(name);
            emitter.kind != EmitterKind::Call || !emitter.ops.is_empty() || emitter.opens(base)
        }
        Kind::Builtin(function) => {
            emitter.opens(function)
                && !matches!(emitter.kind, EmitterKind::Attribute | EmitterKind::SetAttribute)
        }
        Kind::Python { function, of_tensor, wraps, .. } => {
            emitter.opens(function)
                || wraps.iter().any(|wrapped| emitter.opens(wrapped))
                || makes(emitter, function)
                || (emitter.kind != EmitterKind::Call && wraps_tensor(function, *of_tensor))
        }
        Kind::Module(_) => false,
    }
}

fn op(emitter: &Emitter, name: &str, observation: &Observation<'_>) -> Option<Cost> {
    let is_call = emitter.kind == EmitterKind::Call;
    let Some(base) = name.strip_prefix("aten::") else {
        // An operator of a library, called through a binding.
        let differs = emitter.callee == Callee::Fixed
            && !name.rsplit("::").next().is_some_and(|base| emitter.opens(base));
        return (is_call && !differs).then_some(30);
    };
    let plain = |name: &str| name.trim_end_matches('_').len();
    let contradiction = match emitter.kind {
        EmitterKind::Binary | EmitterKind::Compare => observation.inputs.against_operator(&emitter.operands),
        EmitterKind::Subscript => observation.inputs.against_arguments(&emitter.operands),
        _ => 0,
    };
    if emitter.kind == EmitterKind::Binary && contradicts_sides(base, emitter) {
        return None;
    }
    // A tensor takes no more indices than it has dimensions.
    if observation.inputs.rank().is_some_and(|rank| rank < emitter.rank) {
        return None;
    }
    if emitter.ops.contains(&base) {
        return Some(contradiction);
    }
    let stem = &base[..plain(base)];
    // An operator's ops are all in its list, those that change a tensor in place apart.
    if emitter.kind != EmitterKind::Binary && emitter.ops.iter().any(|op| op[..plain(op)] == *stem) {
        return Some(4 + contradiction);
    }
    if !is_call || !emitter.ops.is_empty() {
        return None;
    }
    match emitter.name.as_deref() {
        _ if emitter.opens(base) => Some(10),
        _ if !emitter.aliases.is_empty() => None,
        // It opens frames of these names and of no others.
        None if !emitter.frames.is_empty() => None,
        // A type's constructor leaves no frame.
        None => Some(50),
        Some(_) => is_class(emitter).then_some(50),
    }
}

/// `1 - x` asks the tensor on the right and gives `rsub`, `x - 1` gives `sub`; `1 / x` is
/// `reciprocal` and `mul`.
fn contradicts_sides(base: &str, emitter: &Emitter) -> bool {
    let [left, right] = &emitter.operands[..] else { return false };
    let divides = emitter.ops.contains(&"reciprocal");
    match base {
        "rsub" | "reciprocal" => is_number(right),
        "sub" => is_number(left),
        "mul" if divides => is_number(right),
        _ => false,
    }
}

/// By convention, what is called is a class.
fn is_class(emitter: &Emitter) -> bool {
    emitter.name.as_deref().is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// Whether a function of this name stands for what it wraps.
pub(crate) fn is_wrapper(function: &str) -> bool {
    WRAPPERS.contains(&function) || function.contains("wrap") || function.contains("decorat")
}

fn builtin(emitter: &Emitter, function: &str, observation: &Observation<'_>) -> Option<Cost> {
    match (emitter.kind, emitter.opens(function)) {
        (EmitterKind::Call, true) => Some(observation.inputs.against_arguments(&emitter.operands)),
        // A method written in C has the name it is called by.
        (EmitterKind::Call, false) => (emitter.callee == Callee::Open).then_some(60),
        // Reading an attribute calls nothing that is written in C.
        (EmitterKind::Attribute | EmitterKind::SetAttribute, _) => {
            emitter.frames.contains(&function).then_some(2)
        }
        (_, true) => Some(2),
        (_, false) => None,
    }
}

fn python(emitter: &Emitter, function: &str, of_tensor: bool, wraps: &[&str]) -> Option<Cost> {
    if emitter.opens(function) {
        return Some(0);
    }
    if wraps.iter().any(|wrapped| emitter.opens(wrapped)) {
        return Some(1);
    }
    if emitter.kind == EmitterKind::Subscript && !emitter.ops.is_empty() {
        // One of several views of an index; a frame belongs to the subscript as a whole.
        return None;
    }
    match emitter.kind {
        EmitterKind::Call if makes(emitter, function) => Some(2),
        // A wrapper that shows what it wraps is no other function's.
        EmitterKind::Call if is_wrapper(function) => {
            let other = emitter.callee != Callee::Open && !function.starts_with("__") && !wraps.is_empty();
            (!other).then_some(12)
        }
        // A variable may hold any function, but hardly a tensor's method.
        EmitterKind::Call => (emitter.callee == Callee::Open && !of_tensor).then_some(44),
        EmitterKind::Binary | EmitterKind::Unary | EmitterKind::Compare | EmitterKind::Subscript
            if wraps_tensor(function, of_tensor) && !wraps.iter().any(|wrapped| is_special(wrapped)) =>
        {
            Some(2)
        }
        // A generator has the name of its function.
        EmitterKind::Iterate if wraps_tensor(function, of_tensor) || is_special(function) => None,
        EmitterKind::Iterate => Some(50),
        EmitterKind::Attribute | EmitterKind::SetAttribute => is_implicit_call(function).then_some(70),
        EmitterKind::Binary
        | EmitterKind::Unary
        | EmitterKind::Compare
        | EmitterKind::Subscript
        | EmitterKind::Truth
            if is_implicit_call(function) =>
        {
            Some(30)
        }
        _ => None,
    }
}

/// A class is called and its constructor is seen.
fn makes(emitter: &Emitter, function: &str) -> bool {
    emitter.kind == EmitterKind::Call && is_constructor(function) && is_class(emitter)
}

/// A method that an operator, subscript or attribute may call: not one that makes, enters or leaves an object.
fn is_implicit_call(function: &str) -> bool {
    let other =
        matches!(function, "__enter__" | "__exit__" | "__aenter__" | "__aexit__" | "__call__" | "__del__");
    is_special(function) && !is_constructor(function) && !other
}

fn is_constructor(function: &str) -> bool {
    matches!(function, "__init__" | "__new__")
}

/// An operator that torch's tensor module implements.
fn wraps_tensor(function: &str, of_tensor: bool) -> bool {
    of_tensor && matches!(function, "wrapped" | "__torch_function__")
}

pub(super) fn is_special(function: &str) -> bool {
    function.starts_with("__") && function.ends_with("__")
}
