//! The alignment of each frame's children with its function, made when first asked for and shared by frames that look
//! alike.

mod given;
mod lines;
mod passed;
mod seen;
mod supposed;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use profile::{Callee, EventId};
use source::{Automaton, Given, Pause, Scope, ScopeId, ScopeKind};

use crate::FileId;
use crate::align::{self, AnchorFit, Entry, Observation, Span};
use crate::charges::is_region;
use crate::files::{Fit, Text};
use crate::frames::{Frames, Located};
use lines::{merged, readings};
use passed::Passed;

/// Silent edges that alignment may look at for one trace: some seconds.
const MOST_WORK: usize = 1_000_000_000;

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
    given: Rc<Given>,
}

/// What frames that look alike share: their readings, and what is known of the parameters.
type Alike = (Rc<Vec<Reading>>, Rc<Given>);

/// All readings of one attribution.
pub(crate) struct Readings<'a> {
    frames: &'a Frames<'a>,
    launches: &'a HashSet<EventId>,
    by_frame: RefCell<HashMap<EventId, Rc<FrameReading>>>,
    alike: RefCell<HashMap<u64, Alike>>,
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
        let given = match &read[..] {
            [only] => Rc::clone(&only.given),
            _ => given,
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
            return ScopeReading { readings, stale: !fit.as_profiled, fits: false, given: Rc::clone(given) };
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
        let profiled = self.frames.files.file(located.file).text() == Text::Profiled;
        let stale = !fit.as_profiled
            || !profiled
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
        let (readings, given) = known.unwrap_or_else(|| {
            let read = |automaton: &Automaton| {
                let mut work = self.work.get();
                let readings = readings(automaton, &observations, &span, stale, profiled, &mut work);
                self.work.set(work);
                Rc::new(readings)
            };
            let mut found = (read(&automaton), Rc::clone(given));
            if !stale && found.0.iter().any(|reading| matches!(reading, Reading::Ambiguous(_))) {
                let supposed = self.supposed(located.file, fit.scope, given, &observations, &span);
                if supposed != *given {
                    found =
                        (read(&self.frames.files.automaton(located.file, fit.scope, &supposed)), supposed);
                }
            }
            self.alike.borrow_mut().insert(key, found.clone());
            found
        });
        let fits = !stale && readings.iter().all(|reading| !matches!(reading, Reading::Unknown(_)));
        ScopeReading { readings, stale, fits, given }
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
