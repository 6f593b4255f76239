//! The workspace's files as this attribution saw them: each parsed once, each function's automaton built once.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use source::{
    Automaton, Comprehensions, FileKey, Given, Module, Scope, ScopeId, ScopeKind, SourceFiles, text_sha256,
};

use crate::FileId;
use crate::paths::{Recorded, recorded};

/// A scope and what is known of its parameters.
type Asking = (ScopeId, Rc<Given>);

/// A file that a frame was found in.
pub(crate) struct File {
    pub key: FileKey,
    pub module: Module,
    /// The hash of the text that was profiled, where it was recorded.
    recorded: Cell<Option<[u8; 32]>>,
    sha256: OnceCell<Option<[u8; 32]>>,
    automata: RefCell<HashMap<Asking, Rc<Automaton>>>,
}

/// What is known of a file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// It is the very text that was profiled.
    Profiled,
    /// It is another one.
    Edited,
    /// Nothing was recorded of it: it has to be judged by how it fits.
    Unknown,
}

/// How a frame's name and line fit the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fit {
    pub scope: ScopeId,
    /// The line is where the text has the definition, or lies in it.
    pub as_profiled: bool,
}

/// A recorded path, and the name and line of a frame in it.
type Asked = (String, Option<(String, u32)>);

/// Looks up files by recorded path, with what was found kept.
pub(crate) struct Files<'s> {
    sources: &'s dyn SourceFiles,
    /// Hashes of the texts that were profiled, by recorded path.
    hashes: &'s HashMap<String, [u8; 32]>,
    comprehensions: Comprehensions,
    loaded: RefCell<Vec<Rc<File>>>,
    by_key: RefCell<HashMap<FileKey, Option<FileId>>>,
    resolved: RefCell<HashMap<Asked, Option<FileId>>>,
}

impl<'s> Files<'s> {
    pub fn new(
        sources: &'s dyn SourceFiles,
        comprehensions: Comprehensions,
        hashes: &'s HashMap<String, [u8; 32]>,
    ) -> Self {
        let files = Self {
            sources,
            hashes,
            comprehensions,
            loaded: RefCell::default(),
            by_key: RefCell::default(),
            resolved: RefCell::default(),
        };
        // Before anything is read: a file may have other names in the trace, of which no hash was recorded.
        for path in hashes.keys() {
            files.resolve(path, None);
        }
        files
    }

    pub fn file(&self, id: FileId) -> Rc<File> {
        Rc::clone(&self.loaded.borrow()[id.0 as usize])
    }

    /// The file of a recorded path. `function`, the name and line of a frame in it, decides between files that agree
    /// equally well; without it, or when it does not decide, there is none.
    pub fn resolve(&self, path: &str, function: Option<(&str, u32)>) -> Option<FileId> {
        let key = (path.to_owned(), function.map(|(name, line)| (name.to_owned(), line)));
        if let Some(&known) = self.resolved.borrow().get(&key) {
            return known;
        }
        let found = self.find(path, function);
        if let (Some(found), Some(&hash)) = (found, self.hashes.get(path)) {
            self.file(found).recorded.set(Some(hash));
        }
        self.resolved.borrow_mut().insert(key, found);
        found
    }

    fn find(&self, path: &str, function: Option<(&str, u32)>) -> Option<FileId> {
        // What the user maps is mapped before anything else, code that would have no file included.
        let mapped = self.sources.map_path(path);
        let recorded = recorded(mapped.as_deref().unwrap_or(path))?;
        let best = recorded.best(self.candidates(path, &recorded));
        if let [only] = &best[..] {
            return self.load(only);
        }
        let (name, line) = function?;
        let loaded: Vec<_> = best.iter().filter_map(|key| self.load(key)).collect();
        let only = |fits: &dyn Fn(&Module) -> bool| {
            let mut fitting: Vec<FileId> =
                loaded.iter().copied().filter(|id| fits(&self.file(*id).module)).collect();
            let near: Vec<FileId> =
                fitting.iter().copied().filter(|id| self.sources.is_near(&self.file(*id).key)).collect();
            if fitting.len() > 1 && near.len() == 1 {
                fitting = near;
            }
            (fitting.first().copied(), fitting.len() > 1)
        };
        let defines = |scope: &Scope| scope.kind == ScopeKind::Function && &*scope.name == name;
        let begins = |module: &Module| {
            module.scopes().iter().any(|s| defines(s) && s.first_line <= line && line <= s.def_line)
        };
        let (begun, several) = only(&begins);
        if begun.is_some() {
            return if several { None } else { begun };
        }
        let (named, several) = only(&|module| module.scopes().iter().any(defines));
        if several { None } else { named }
    }

    /// The files that a recorded path may mean: those with the text that was profiled, if there are any.
    fn candidates(&self, path: &str, recorded: &Recorded<'_>) -> Vec<FileKey> {
        let agreeing = recorded.agreeing(self.sources.candidates(recorded.base()));
        let Some(&hash) = self.hashes.get(path).filter(|_| agreeing.len() > 1) else { return agreeing };
        let is_it = |key: &&FileKey| self.sources.text(key).and_then(|text| text_sha256(&text)) == Some(hash);
        let same: Vec<_> = agreeing.iter().filter(is_it).cloned().collect();
        if same.is_empty() { agreeing } else { same }
    }

    fn load(&self, key: &FileKey) -> Option<FileId> {
        if let Some(&known) = self.by_key.borrow().get(key) {
            return known;
        }
        let id = self.sources.text(key).map(|text| self.parse(key, text));
        self.by_key.borrow_mut().insert(key.clone(), id);
        id
    }

    fn parse(&self, key: &FileKey, text: Arc<str>) -> FileId {
        let module = Module::parse(text);
        let mut files = self.loaded.borrow_mut();
        files.push(Rc::new(File {
            key: key.clone(),
            module,
            recorded: Cell::default(),
            sha256: OnceCell::new(),
            automata: RefCell::default(),
        }));
        FileId(files.len() as u32 - 1)
    }

    /// The files whose text has a word, of the `most` nearest.
    pub fn mentioning(&self, word: &str, most: usize) -> Vec<FileId> {
        let found = self.sources.all(most).into_iter().filter_map(|key| {
            let known = self.by_key.borrow().get(&key).copied();
            if let Some(known) = known {
                return known.filter(|&id| self.file(id).module.text().contains(word));
            }
            let text = self.sources.text(&key).filter(|text| text.contains(word))?;
            let id = self.parse(&key, text);
            self.by_key.borrow_mut().insert(key, Some(id));
            Some(id)
        });
        found.collect()
    }

    /// The scopes that cannot be told apart by a frame's name and line: lambdas on one line.
    pub fn alike(&self, file: FileId, scope: ScopeId) -> Vec<ScopeId> {
        let loaded = self.file(file);
        let scopes = loaded.module.scopes();
        let this = loaded.module.scope(scope);
        let alike = |other: &Scope| other.name == this.name && other.first_line == this.first_line;
        (0..scopes.len() as u32).map(ScopeId).filter(|&id| alike(loaded.module.scope(id))).collect()
    }

    /// The scope that a frame named `name` at `line` ran. A line within the function fits only a frame that was already
    /// `running` when the recording began, or a generator at one of its pauses. A function that moved is found by its
    /// name where only one has it; then the text is not as profiled.
    pub fn fit(&self, file: FileId, name: &str, line: u32, running: bool) -> Option<Fit> {
        let loaded = self.file(file);
        let module = &loaded.module;
        if let Some(scope) = module.scope_at(name, line) {
            let found = module.scope(scope);
            let begins = found.first_line <= line && line <= found.def_line;
            let resumes =
                || self.automaton(file, scope, &Rc::default()).pauses.iter().any(|pause| pause.line == line);
            if begins || running || found.kind != ScopeKind::Function || resumes() {
                return Some(Fit { scope, as_profiled: true });
            }
        }
        if name.starts_with('<') {
            return None;
        }
        let mut named = module.scopes().iter().enumerate().filter(|(_, s)| &*s.name == name);
        let (at, _) = named.next()?;
        named.next().is_none().then_some(Fit { scope: ScopeId(at as u32), as_profiled: false })
    }
}

impl File {
    /// The hash of the text that was profiled, where it was recorded.
    pub fn recorded(&self) -> Option<[u8; 32]> {
        self.recorded.get()
    }

    pub fn text(&self) -> Text {
        match (self.recorded.get(), self.sha256()) {
            (Some(recorded), Some(now)) if recorded == now => Text::Profiled,
            (Some(_), Some(_)) => Text::Edited,
            _ => Text::Unknown,
        }
    }

    fn sha256(&self) -> Option<[u8; 32]> {
        *self.sha256.get_or_init(|| text_sha256(self.module.text()))
    }
}

impl Files<'_> {
    /// The automaton of a scope with what is known of its parameters.
    pub fn automaton(&self, file: FileId, scope: ScopeId, given: &Rc<Given>) -> Rc<Automaton> {
        let file = self.file(file);
        if let Some(known) = file.automata.borrow().get(&(scope, Rc::clone(given))) {
            return Rc::clone(known);
        }
        let built = Rc::new(file.module.automaton_given(scope, self.comprehensions, given));
        file.automata.borrow_mut().insert((scope, Rc::clone(given)), Rc::clone(&built));
        built
    }
}
