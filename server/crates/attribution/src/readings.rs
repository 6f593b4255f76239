//! The alignment of each frame's children with its function, made when first asked for and shared by frames that look
//! alike.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use profile::{Callee, EventId, Kind as EventKind, OpInfo, Profile};
use source::{Automaton, Given, Pause, Scope, ScopeId, ScopeKind};

use crate::FileId;
use crate::align::{self, AnchorFit, Entry, Explained, Inputs, Kind, Observation, Span};
use crate::charges::is_region;
use crate::files::{Fit, Text};
use crate::frames::{Frames, Located};
use crate::passed::{Call, Passed};

/// Silent edges that alignment may look at for one trace: some seconds.
const MOST_WORK: usize = 1_000_000_000;

/// How many wrappers around one another are looked through.
const WRAPPERS_DEEP: usize = 8;

/// What the text says about one child of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The trace names the line and the text fits.
    Exact(Spot),
    Aligned(Spot),
    Ambiguous(Vec<u32>),
    /// No line; why not.
    Unknown(&'static str),
}

/// A line, 1-based, and the byte range of the expression on it where only one can be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    pub line: u32,
    pub expression: Option<Range<u32>>,
}

impl Spot {
    /// A line of which no expression is known.
    pub fn line(line: u32) -> Self {
        Self { line, expression: None }
    }
}

/// The children of one frame, read.
#[derive(Debug)]
pub(crate) struct FrameReading {
    by_child: HashMap<EventId, usize>,
    readings: Rc<Vec<Reading>>,
    /// The text is not the text that was profiled.
    pub stale: bool,
    /// What is known of the function's parameters.
    pub given: Rc<Given>,
}

impl FrameReading {
    pub fn of(&self, child: EventId) -> Option<&Reading> {
        self.readings.get(*self.by_child.get(&child)?)
    }
}

/// The children of a frame against one scope.
struct ScopeReading {
    readings: Rc<Vec<Reading>>,
    stale: bool,
    /// The scope explains every child.
    fits: bool,
}

/// All readings of one attribution.
pub(crate) struct Readings<'a> {
    frames: &'a Frames<'a>,
    launches: &'a HashSet<EventId>,
    by_frame: RefCell<HashMap<EventId, Rc<FrameReading>>>,
    alike: RefCell<HashMap<u64, Rc<Vec<Reading>>>>,
    passed: Passed,
    last_end: HashMap<profile::TrackId, i64>,
    /// Silent edges that alignment may still look at: a trace of any size ends in time.
    work: Cell<usize>,
}

impl<'a> Readings<'a> {
    pub fn new(frames: &'a Frames<'a>, launches: &'a HashSet<EventId>) -> Self {
        let mut last_end = HashMap::new();
        for event in frames.profile.events() {
            let end = last_end.entry(event.track).or_insert(i64::MIN);
            *end = event.end_ns().max(*end);
        }
        Self {
            frames,
            launches,
            by_frame: RefCell::default(),
            alike: RefCell::default(),
            passed: Passed::default(),
            last_end,
            work: Cell::new(MOST_WORK),
        }
    }

    /// The reading of a frame that [`Frames::locate`] found.
    pub fn of(&self, frame: EventId, located: &Located) -> Rc<FrameReading> {
        if let Some(known) = self.by_frame.borrow().get(&frame) {
            return Rc::clone(known);
        }
        // What a function is called with is read where it is called: the frames around it come first, the outermost before
        // all others. One after the other: calls nest deeper than a thread's stack.
        let mut unread = vec![(frame, Rc::new(located.clone()))];
        while let Some((_, located)) = unread.last()
            && located.fit.is_some_and(|fit| fit.as_profiled)
            && let Some((frame, located, _)) = self.frames.innermost(unread[unread.len() - 1].0)
            && !self.by_frame.borrow().contains_key(&frame)
        {
            unread.push((frame, located));
        }
        for (frame, located) in unread.into_iter().rev() {
            let reading = Rc::new(self.read(frame, &located));
            self.by_frame.borrow_mut().insert(frame, reading);
        }
        Rc::clone(&self.by_frame.borrow()[&frame])
    }

    /// What is known of the parameters of a frame's function: what the call that opened it passes.
    fn given(&self, frame: EventId, located: &Located) -> Rc<Given> {
        let none = Rc::default();
        let Some(fit) = located.fit.filter(|fit| fit.as_profiled) else { return none };
        let Some((caller, caller_located, inner)) = self.frames.innermost(frame) else { return none };
        let Some(caller_fit) = caller_located.fit else { return none };
        let Some(caller_reading) = self.by_frame.borrow().get(&caller).map(Rc::clone) else { return none };
        let edited = |file| self.frames.files.file(file).text() == Text::Edited;
        if caller_reading.stale
            || edited(caller_located.file)
            || edited(located.file)
            || !self.passes_on(frame, caller)
        {
            return none;
        }
        let child = inner.unwrap_or(frame);
        let Some(Reading::Exact(spot) | Reading::Aligned(spot)) = caller_reading.of(child) else {
            return none;
        };
        let Some(expression) = spot.expression.clone() else { return none };
        let call = Call {
            caller: (caller_located.file, caller_fit.scope),
            caller_given: Rc::clone(&caller_reading.given),
            expression,
            callee: (located.file, fit.scope),
            of_module: inner.is_some_and(|inner| self.is_module_call(inner)),
        };
        self.passed.of(self.frames.files, call)
    }

    /// Whether all frames between a function's and its caller's are torch's, which pass their arguments on.
    fn passes_on(&self, frame: EventId, caller: EventId) -> bool {
        self.frames
            .around(frame)
            .take_while(|&at| at != caller)
            .all(|at| self.is_module_call(at) || self.is_context(at))
    }

    fn is_module_call(&self, frame: EventId) -> bool {
        let callee = self.frames.profile.frame(frame).map(|info| info.callee);
        matches!(callee, Some(Callee::Module { .. })) || self.is_of_file(frame, "torch/nn/modules/module.py")
    }

    /// A wrapper of `@torch.no_grad()` and its like.
    fn is_context(&self, frame: EventId) -> bool {
        self.is_of_file(frame, "torch/utils/_contextlib.py")
    }

    fn is_of_file(&self, frame: EventId, path: &str) -> bool {
        match self.frames.profile.frame(frame).map(|info| info.callee) {
            Some(Callee::Python { file, .. }) => {
                self.frames.profile.text(file).replace('\\', "/").ends_with(path)
            }
            _ => false,
        }
    }

    fn read(&self, frame: EventId, located: &Located) -> FrameReading {
        let profile = self.frames.profile;
        let mut children = Vec::new();
        self.children(frame, &mut children);
        let by_child = children.iter().enumerate().map(|(at, &child)| (child, at)).collect();
        let Some(fit) = located.fit else {
            let unknown = Reading::Unknown("the text has no function that fits");
            return FrameReading {
                by_child,
                readings: Rc::new(vec![unknown; children.len()]),
                stale: self.is_stale(frame),
                given: Rc::default(),
            };
        };
        let given = self.given(frame, located);
        let alike = if crate::frames::is_anonymous_scope(&self.frames.scope(located.file, fit.scope)) {
            self.frames.files.alike(located.file, fit.scope)
        } else {
            vec![fit.scope]
        };
        let mut read: Vec<ScopeReading> = alike
            .into_iter()
            .map(|scope| self.read_scope(frame, located, Fit { scope, ..fit }, &given, &children))
            .collect();
        // Those that explain everything, if any does.
        if read.iter().any(|read| read.fits) {
            read.retain(|read| read.fits);
        }
        let stale = read.iter().all(|read| read.stale);
        let readings = match &read[..] {
            [only] => Rc::clone(&only.readings),
            several => Rc::new(merged(several)),
        };
        debug_assert_eq!(readings.len(), children.len(), "{}", profile.name(frame));
        FrameReading { by_child, readings, stale, given }
    }

    /// The children of a frame against one of the scopes that it may have run.
    fn read_scope(
        &self,
        frame: EventId,
        located: &Located,
        fit: Fit,
        given: &Rc<Given>,
        children: &[EventId],
    ) -> ScopeReading {
        let scope = self.frames.scope(located.file, fit.scope);
        if self.is_compiled(frame, &scope, fit.as_profiled, children) {
            let unknown = Reading::Unknown("it was compiled: its events are not in the order of the text");
            let readings = Rc::new(vec![unknown; children.len()]);
            return ScopeReading { readings, stale: !fit.as_profiled, fits: false };
        }
        let anchors: Vec<Option<u32>> =
            children.iter().map(|&child| self.anchor(frame, located.file, &scope, child)).collect();
        let lies_outside =
            |line: Option<u32>| line.is_some_and(|line| line < scope.first_line || line > scope.end_line);
        let automaton = self.frames.files.automaton(located.file, fit.scope, given);
        let mut observations: Vec<_> = children
            .iter()
            .zip(&anchors)
            .map(|(&child, &line)| Observation { kind: self.kind(child), line, inputs: self.inputs(child) })
            .collect();
        // Of a text that is known to be another it is not known where it was edited: a function that fits may be as it was.
        let stale = !fit.as_profiled
            || self.frames.files.file(located.file).text() != Text::Profiled
                && (anchors.iter().copied().any(lies_outside)
                    || align::anchor_fit(&automaton, &observations) == AnchorFit::Contradicted);
        // What was profiled stood elsewhere: the text is read afresh, without the trace's lines. In the text that was
        // profiled, a line outside the function is one of a caller that the trace does not show.
        for observation in observations.iter_mut().filter(|seen| stale || lies_outside(seen.line)) {
            observation.line = None;
        }
        let span = self.span(frame, located, &scope, &automaton.pauses);
        let key = self.key((located.file, fit.scope, given), &span, children, &observations);
        let known = self.alike.borrow().get(&key).cloned();
        let readings = known.unwrap_or_else(|| {
            let mut work = self.work.get();
            let readings = Rc::new(readings(&automaton, &observations, &span, stale, &mut work));
            self.work.set(work);
            self.alike.borrow_mut().insert(key, Rc::clone(&readings));
            readings
        });
        let fits = !stale && readings.iter().all(|reading| !matches!(reading, Reading::Unknown(_)));
        ScopeReading { readings, stale, fits }
    }

    /// A frame without a fitting function is one of an edited text, unless it is a kind that no text has.
    fn is_stale(&self, frame: EventId) -> bool {
        match self.frames.profile.frame(frame).map(|info| info.callee) {
            Some(Callee::Python { function, .. }) => {
                let name = self.frames.profile.text(function);
                !crate::frames::is_resumed(name)
                    && !name.starts_with("<generic parameters")
                    && !name.starts_with("<annotation")
            }
            _ => false,
        }
    }

    /// Whether a frame runs what dynamo made of its function. What is below it then follows a graph, not the text: in a
    /// compiled region, with generated code or a compiled autograd function right below, or with every call "from" the
    /// def line.
    fn is_compiled(&self, frame: EventId, scope: &Scope, as_profiled: bool, children: &[EventId]) -> bool {
        let profile = self.frames.profile;
        let tree = profile.tree();
        let region = std::iter::successors(tree.parent(frame), |&at| tree.parent(at))
            .take_while(|&at| self.frames.locate(at).is_none())
            .any(|at| is_region(profile, at));
        let generated = |child: &EventId| match profile.frame(*child).map(|info| info.callee) {
            Some(Callee::Python { file, .. }) => {
                let file = profile.text(file);
                file.starts_with("<eval_with_key>") || file.contains("torchinductor_")
            }
            Some(_) => false,
            None => profile.name(*child).starts_with("CompiledFunction"),
        };
        let calls: Vec<u32> =
            children.iter().filter_map(|&child| Some(profile.frame(child)?.call_from?.1)).collect();
        let from_def = |line: &u32| scope.first_line <= *line && *line <= scope.def_line;
        let all_from_def = as_profiled
            && scope.kind == ScopeKind::Function
            && !scope.is_one_line()
            && !calls.is_empty()
            && calls.iter().all(from_def);
        region || all_from_def || children.iter().any(generated)
    }

    /// What is seen below a frame: ops, frames and launches, with annotations and other calls looked through.
    fn children(&self, of: EventId, into: &mut Vec<EventId>) {
        for &child in self.frames.profile.tree().children(of) {
            match self.frames.profile.event(child).kind {
                EventKind::Op | EventKind::Frame => into.push(child),
                EventKind::Runtime if self.launches.contains(&child) => into.push(child),
                _ => self.children(child, into),
            }
        }
    }

    /// The line of the call, where the trace names one that can be a call's.
    fn anchor(&self, frame: EventId, file: FileId, scope: &Scope, child: EventId) -> Option<u32> {
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

    fn kind(&self, child: EventId) -> Kind<'a> {
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
                Kind::Python { function, of_tensor, wraps }
            }
            Some(Callee::Builtin { name, .. }) => Kind::Builtin(profile.text(name)),
            Some(Callee::Module { class, .. }) => Kind::Module(profile.text(class)),
            Some(Callee::Other) => Kind::Builtin(profile.name(child)),
            None => Kind::Op(profile.name(child)),
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
    fn inputs(&self, child: EventId) -> Inputs<'a> {
        let profile: &'a Profile = self.frames.profile;
        self.input_info(child).map_or_else(Inputs::default, |info| {
            let text = |symbol: Option<_>| symbol.map_or("", |symbol| profile.text(symbol));
            Inputs::read(text(info.input_types), text(info.input_dims), text(info.concrete_inputs))
        })
    }

    fn input_info(&self, child: EventId) -> Option<OpInfo> {
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

    fn span(&self, frame: EventId, located: &Located, scope: &Scope, pauses: &[Pause]) -> Span {
        let event = self.frames.profile.event(frame);
        let cut = self.last_end.get(&event.track).is_some_and(|&last| event.end_ns() >= last);
        let begins = scope.first_line <= located.line && located.line <= scope.def_line;
        let fits = located.fit.is_some_and(|fit| fit.as_profiled);
        let entry = if !pauses.is_empty() {
            Entry::Resumed { line: located.line, begins: begins || !fits }
        } else if begins || !fits || !matches!(scope.kind, ScopeKind::Function | ScopeKind::Module) {
            Entry::Whole
        } else {
            Entry::Running { line: located.line }
        };
        Span { entry, cut }
    }

    /// Frames with the same key read the same.
    fn key(
        &self,
        function: (FileId, ScopeId, &Given),
        span: &Span,
        children: &[EventId],
        observations: &[Observation<'_>],
    ) -> u64 {
        let mut hasher = DefaultHasher::new();
        (function, span).hash(&mut hasher);
        for (&child, observation) in children.iter().zip(observations) {
            (&observation.kind, observation.line).hash(&mut hasher);
            if let Some(info) = self.input_info(child) {
                (info.input_types, info.input_dims, info.concrete_inputs).hash(&mut hasher);
            }
        }
        hasher.finish()
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

fn readings(
    automaton: &Automaton,
    observations: &[Observation<'_>],
    span: &Span,
    stale: bool,
    work: &mut usize,
) -> Vec<Reading> {
    let Some(lines) = align::align(automaton, observations, span, work) else {
        let unknown = Reading::Unknown("the function is too large to align");
        let named = |line| Reading::Exact(Spot::line(line));
        return observations.iter().map(|o| o.line.map_or(unknown.clone(), named)).collect();
    };
    // What the text merely allows for is believed only where all the rest of the function fits.
    let open = !stale && !lines.iter().zip(observations).any(|(lines, seen)| align::is_foreign(lines, seen));
    let mut readings: Vec<Reading> = lines
        .iter()
        .zip(observations)
        .map(|(lines, observation)| reading(lines, observation, open))
        .collect();
    between_neighbours(&mut readings, observations, &lines);
    readings
}

/// What several scopes that a frame may have run say of its children: a line where all of them name the same.
fn merged(scopes: &[ScopeReading]) -> Vec<Reading> {
    let count = scopes.first().map_or(0, |scope| scope.readings.len());
    let all_of = |child: usize| {
        let mut lines = Vec::new();
        for scope in scopes {
            match &scope.readings[child] {
                Reading::Exact(spot) | Reading::Aligned(spot) => lines.push(spot.line),
                Reading::Ambiguous(several) => lines.extend(several),
                Reading::Unknown(why) => return Reading::Unknown(why),
            }
        }
        lines.sort_unstable();
        lines.dedup();
        match (&scopes[0].readings[child], &lines[..]) {
            (first, _) if scopes.iter().all(|scope| scope.readings[child] == *first) => first.clone(),
            (Reading::Exact(_), &[line]) => Reading::Exact(Spot::line(line)),
            (_, &[line]) => Reading::Aligned(Spot::line(line)),
            _ => Reading::Ambiguous(lines),
        }
    };
    (0..count).map(all_of).collect()
}

fn reading(lines: &Explained, observation: &Observation<'_>, open: bool) -> Reading {
    let expression = match lines.expressions[..] {
        [(start, end)] if !lines.unexplained => Some(start..end),
        _ => None,
    };
    match (observation.line, &lines.lines[..]) {
        (Some(line), _) => Reading::Exact(Spot { line, expression }),
        (None, &[line]) if !lines.unexplained && (open || !lines.unnamed) => {
            Reading::Aligned(Spot { line, expression })
        }
        (None, &[_]) if lines.unnamed && !lines.unexplained => {
            Reading::Unknown("the text does not name it, and not all of the function fits")
        }
        (None, [] | [_]) => Reading::Unknown("no line of the function explains it"),
        (None, several) => Reading::Ambiguous(several.to_vec()),
    }
}

/// An op that dispatch put in by itself belongs to the line of both its neighbours, where they agree.
fn between_neighbours(readings: &mut [Reading], observations: &[Observation<'_>], lines: &[Explained]) {
    let line = |reading: &Reading| match reading {
        Reading::Exact(spot) | Reading::Aligned(spot) => Some(spot.line),
        _ => None,
    };
    for at in 0..readings.len() {
        if !lines[at].lines.is_empty() || !align::is_implicit(&observations[at]) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| line(&readings[before]));
        let after = (at + 1..readings.len())
            .find(|&next| !(lines[next].lines.is_empty() && align::is_implicit(&observations[next])))
            .and_then(|next| line(&readings[next]));
        if let (Some(before), Some(after)) = (before, after)
            && before == after
        {
            readings[at] = Reading::Aligned(Spot::line(before));
        }
    }
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
