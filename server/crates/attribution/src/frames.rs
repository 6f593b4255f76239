//! Where the frames of a trace are in the workspace.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use profile::{Callee, EventId, Kind, Profile, TrackId};
use source::{Module, Scope, ScopeId, ScopeKind};

use crate::FileId;
use crate::files::{Files, Fit, Text};

/// A frame whose file lies in the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    pub file: FileId,
    /// The scope it ran; `None` when the text has none that fits.
    pub fit: Option<Fit>,
    /// The line its name gives, 1-based.
    pub line: u32,
    /// What costs are filed under: the function around for lambdas and comprehensions.
    pub function: FunctionKey,
}

/// A function by what tells it from others of its file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FunctionKey {
    pub def_line: u32,
    pub end_line: u32,
    pub name: String,
}

/// A frame's name, and whether it may have been running when the recording began.
type Named<'a> = (&'a str, bool);

/// Frames by their names; a trace of a million frames has a few thousand distinct ones.
pub(crate) struct Frames<'a> {
    pub profile: &'a Profile,
    pub files: &'a Files<'a>,
    located: RefCell<HashMap<Named<'a>, Option<Rc<Located>>>>,
    /// Frames that may have been on the stack when the recording began.
    running: HashSet<EventId>,
    unedited: OnceCell<HashMap<FileId, u32>>,
}

impl<'a> Frames<'a> {
    pub fn new(profile: &'a Profile, files: &'a Files<'a>) -> Self {
        Self {
            profile,
            files,
            located: RefCell::default(),
            running: running(profile),
            unedited: OnceCell::new(),
        }
    }

    /// Where a frame is; `None` for frames of C functions and modules, and for files that are not in the sources.
    pub fn locate(&self, frame: EventId) -> Option<Rc<Located>> {
        let Callee::Python { file, line, function } = self.profile.frame(frame)?.callee else { return None };
        let running = self.was_running(frame);
        let key = (self.profile.name(frame), running);
        if let Some(known) = self.located.borrow().get(&key) {
            return known.clone();
        }
        let (path, function) = (self.profile.text(file), self.profile.text(function));
        let found = self.files.resolve(path, Some((function, line))).map(|file| {
            let fit = self.files.fit(file, function, line, running);
            let fit = fit.filter(|fit| {
                self.files.file(file).text() == Text::Profiled
                    || line < self.unedited_until(file)
                    || self.is_unmistakable(file, fit.scope)
            });
            Rc::new(Located { file, fit, line, function: self.function(file, fit, function, line) })
        });
        self.located.borrow_mut().insert(key, found.clone());
        found
    }

    /// The line from which on a file may have been edited: of the functions that the trace names, the last that fits
    /// before the first that does not. Everything fits: never.
    fn unedited_until(&self, file: FileId) -> u32 {
        let bounds = self.unedited.get_or_init(|| {
            let mut seen: HashMap<FileId, BTreeMap<u32, bool>> = HashMap::new();
            let mut names = HashSet::new();
            for id in self.profile.ids() {
                let Some(Callee::Python { file, line, function }) =
                    self.profile.frame(id).map(|info| info.callee)
                else {
                    continue;
                };
                let (path, function) = (self.profile.text(file), self.profile.text(function));
                if !names.insert(self.profile.name(id)) || is_anonymous(function) || is_resumed(function) {
                    continue;
                }
                if let Some(file) = self.files.resolve(path, Some((function, line))) {
                    let fit = self.files.fit(file, function, line, self.was_running(id));
                    seen.entry(file).or_default().insert(line, fit.is_some_and(|fit| fit.as_profiled));
                }
            }
            seen.into_iter().filter_map(|(file, lines)| Some((file, bound(&lines)?))).collect()
        });
        bounds.get(&file).copied().unwrap_or(u32::MAX)
    }

    /// Whether no other scope of the file can be taken for this one.
    fn is_unmistakable(&self, file: FileId, scope: ScopeId) -> bool {
        let file = self.files.file(file);
        let name = &file.module.scope(scope).name;
        file.module.scopes().iter().filter(|other| other.name == *name).count() == 1
    }

    /// Whether a frame may have been on the stack when the recording began. Only such a frame names a line in the middle of
    /// its function.
    fn was_running(&self, frame: EventId) -> bool {
        self.running.contains(&frame)
    }

    /// The function that costs of a scope are filed under.
    pub fn function(&self, file: FileId, fit: Option<Fit>, name: &str, line: u32) -> FunctionKey {
        let file = self.files.file(file);
        let module = &file.module;
        let scope = match fit {
            Some(fit) => module.function_of(fit.scope),
            None if is_anonymous(name) || is_resumed(name) => module.enclosing_function(line),
            None => return displaced(module, name, line),
        };
        key(module.scope(scope))
    }

    /// The frames around an event, innermost first.
    pub fn around(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let tree = self.profile.tree();
        std::iter::successors(tree.parent(event), move |&at| tree.parent(at))
            .filter(|&at| self.profile.event(at).kind == Kind::Frame)
    }

    /// The innermost frame around an event whose file is in the sources, and the frame just inside it on the way.
    pub fn innermost(&self, event: EventId) -> Option<(EventId, Rc<Located>, Option<EventId>)> {
        let mut inner = None;
        for frame in self.around(event) {
            if let Some(located) = self.locate(frame) {
                return Some((frame, located, inner));
            }
            inner = Some(frame);
        }
        None
    }

    /// Whether a frame is a lambda's, a comprehension's, the module's, …
    pub fn is_anonymous_frame(&self, frame: EventId) -> bool {
        match self.profile.frame(frame).map(|info| info.callee) {
            Some(Callee::Python { function, .. }) => is_anonymous(self.profile.text(function)),
            _ => false,
        }
    }

    pub fn scope(&self, file: FileId, scope: ScopeId) -> Scope {
        self.files.file(file).module.scope(scope).clone()
    }
}

/// Frames that may have been on the stack when the recording began: all that is earlier on their thread is around them.
/// torch has them begin one after the other.
fn running(profile: &Profile) -> HashSet<EventId> {
    let mut first: HashMap<TrackId, EventId> = HashMap::new();
    for id in profile.ids() {
        let event = profile.event(id);
        let earliest = first.entry(event.track).or_insert(id);
        if profile.tree().parent(id).is_none() && event.start_ns < profile.event(*earliest).start_ns {
            *earliest = id;
        }
    }
    let mut running = HashSet::new();
    for mut at in first.into_values() {
        while let Some(parent) = profile.tree().parent(at) {
            at = parent;
        }
        loop {
            running.insert(at);
            match profile.tree().children(at) {
                [first, ..] => at = *first,
                [] => break,
            }
        }
    }
    running
}

/// See [`Frames::unedited_until`]; `None` where every line fits.
fn bound(lines: &BTreeMap<u32, bool>) -> Option<u32> {
    let misfit = lines.iter().find(|&(_, &fits)| !fits).map(|(&line, _)| line)?;
    Some(lines.range(..misfit).next_back().map_or(0, |(&line, _)| line))
}

/// A function of an edited text that several definitions could be by now: of those with its name the nearest to where it
/// was, for want of a better `def` to show its cost on; no line is claimed in it.
pub(crate) fn displaced(module: &Module, name: &str, line: u32) -> FunctionKey {
    let named = module.functions().map(|(_, scope)| scope).filter(|scope| &*scope.name == name);
    match named.min_by_key(|scope| scope.def_line.abs_diff(line)) {
        Some(nearest) => key(nearest),
        None => {
            let line = line.min(module.lines().count());
            FunctionKey { def_line: line, end_line: line, name: name.to_owned() }
        }
    }
}

pub(crate) fn key(scope: &Scope) -> FunctionKey {
    FunctionKey { def_line: scope.def_line, end_line: scope.end_line, name: scope.name.to_string() }
}

/// `<lambda>`, `<listcomp>`, …: they belong to the function around them.
pub(crate) fn is_anonymous(name: &str) -> bool {
    name.starts_with('<')
}

/// The same of a scope; the module's own is told by its name from all others.
pub(crate) fn is_anonymous_scope(scope: &Scope) -> bool {
    is_anonymous(&scope.name) && scope.kind != ScopeKind::Module
}

/// Functions that `torch.compile` makes of the rest of a function after a graph break.
pub(crate) fn is_resumed(name: &str) -> bool {
    name.starts_with("torch_dynamo_resume_in_")
}
