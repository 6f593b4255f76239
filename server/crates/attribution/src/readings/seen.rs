//! What the trace shows below a frame.

use profile::{Callee, EventId, Kind as EventKind, OpInfo, Profile};
use source::{Scope, ScopeKind};

use super::Readings;
use crate::FileId;
use crate::align::{self, Inputs, Kind};

/// How many wrappers around one another are looked through.
const WRAPPERS_DEEP: usize = 8;

impl<'a> Readings<'a> {
    /// What is seen below a frame: ops, frames and launches, with annotations and other calls looked through.
    pub(super) fn children(&self, of: EventId, into: &mut Vec<EventId>) {
        for &child in self.frames.profile.tree().children(of) {
            match self.frames.profile.event(child).kind {
                EventKind::Op | EventKind::Frame => into.push(child),
                EventKind::Runtime if self.launches.contains(&child) => into.push(child),
                _ => self.children(child, into),
            }
        }
    }

    /// The line of the call, where the trace names one that can be a call's.
    pub(super) fn anchor(&self, frame: EventId, file: FileId, scope: &Scope, child: EventId) -> Option<u32> {
        let (path, line) = self.frames.profile.frame(child)?.call_from?;
        let info = self.frames.profile.frame(frame)?;
        let Callee::Python { file: own, line: own_line, function } = info.callee else { return None };
        let profile = self.frames.profile;
        let same = path == own
            || self.frames.files.resolve(profile.text(path), Some((profile.text(function), own_line)))
                == Some(file);
        // Every call of a frame that dynamo made comes "from" the def line.
        let from_def = scope.first_line <= line && line <= scope.def_line;
        let one_line = scope.kind != ScopeKind::Function || scope.is_one_line();
        (same && (one_line || !from_def)).then_some(line)
    }

    pub(super) fn kind(&self, child: EventId) -> Kind<'a> {
        let profile = self.frames.profile;
        match profile.frame(child).map(|info| info.callee) {
            Some(Callee::Python { file, function, .. }) => {
                let file = profile.text(file).replace('\\', "/");
                let function = called(&file, profile.text(function));
                let of_tensor = file.ends_with("torch/_tensor.py");
                // `boolean_dispatch` picks one of two functions, and neither has the name that is called.
                let wraps = if align::is_wrapper(function) && !file.ends_with("torch/_jit_internal.py") {
                    self.wrapped(child)
                } else {
                    Vec::new()
                };
                let op = if of_tensor { self.operator_op(child) } else { None };
                Kind::Python { function, of_tensor, wraps, op }
            }
            Some(Callee::Builtin { name, .. }) => Kind::Builtin(profile.text(name)),
            Some(Callee::Module { class, .. }) => Kind::Module(profile.text(class)),
            Some(Callee::Other) => Kind::Builtin(profile.name(child)),
            None => Kind::Op(profile.name(child)),
        }
    }

    /// The op that an operator written in Python launches, however deep: its last call, after it looked at its arguments.
    fn operator_op(&self, frame: EventId) -> Option<&'a str> {
        let profile = self.frames.profile;
        let mut at = frame;
        loop {
            let below = profile.tree().children(at).iter().copied();
            let mut next =
                below.filter(|&child| matches!(profile.event(child).kind, EventKind::Op | EventKind::Frame));
            at = next.next_back()?;
            if profile.event(at).kind == EventKind::Op {
                return Some(profile.name(at));
            }
        }
    }

    /// The functions below a wrapper, through wrappers that it calls itself.
    fn wrapped(&self, wrapper: EventId) -> Vec<&'a str> {
        let profile = self.frames.profile;
        let mut found = Vec::new();
        let mut at = Some(wrapper);
        for _ in 0..WRAPPERS_DEEP {
            let Some(frame) = at.take() else { break };
            let mut below = Vec::new();
            self.children(frame, &mut below);
            for child in below {
                let Some(Callee::Python { file, function, .. }) =
                    profile.frame(child).map(|info| info.callee)
                else {
                    continue;
                };
                let function = called(profile.text(file), profile.text(function));
                if align::is_wrapper(function) {
                    // A wrapper makes the context it runs in before it calls what it wraps.
                    if !matches!(function, "__init__" | "__new__") {
                        at = at.or(Some(child));
                    }
                } else {
                    found.push(function);
                }
            }
        }
        found
    }

    /// The arguments of an op; of a builtin those of the op of its name below it.
    pub(super) fn inputs(&self, child: EventId) -> Inputs<'a> {
        let profile: &'a Profile = self.frames.profile;
        self.input_info(child).map_or_else(Inputs::default, |info| {
            let text = |symbol: Option<_>| symbol.map_or("", |symbol| profile.text(symbol));
            Inputs::read(text(info.input_types), text(info.input_dims), text(info.concrete_inputs))
        })
    }

    pub(super) fn input_info(&self, child: EventId) -> Option<OpInfo> {
        let profile = self.frames.profile;
        match profile.frame(child).map(|info| info.callee) {
            None => Some(profile.info(child)),
            Some(Callee::Builtin { name, .. }) => {
                let name = profile.text(name);
                let op = *profile.tree().children(child).first()?;
                let base = profile.name(op).strip_prefix("aten::")?;
                (base == name).then(|| profile.info(op))
            }
            Some(_) => None,
        }
    }
}

/// What a library's function stands for, where its own name is not the one that is called: torch 2.15 names the wrapper of
/// `@torch.no_grad()` after the context, and numpy's `_mean_dispatcher` is `mean`.
fn called<'n>(file: &str, function: &'n str) -> &'n str {
    let file = file.replace('\\', "/");
    if file.ends_with("torch/utils/_contextlib.py") && !function.starts_with("__") {
        return "decorate_context";
    }
    if !file.starts_with("numpy/") && !file.contains("/numpy/") {
        return function;
    }
    function.strip_prefix('_').and_then(|name| name.strip_suffix("_dispatcher")).unwrap_or(function)
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn wrappers_that_are_named_otherwise_are_known_by_their_file() {
        let contexts = "torch/utils/_contextlib.py";
        assert_eq!(called(contexts, "no_grad"), "decorate_context");
        assert_eq!(called(contexts, "__new__"), "__new__");
        assert_eq!(called("train.py", "no_grad"), "no_grad");
        assert_eq!(called("train.py", "_mean_dispatcher"), "_mean_dispatcher");
        assert_eq!(called("numpy/_core/fromnumeric.py", "_mean_dispatcher"), "mean");
    }
}
