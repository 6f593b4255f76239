//! Strings of a trace, each kept once. A trace of a million events has a few thousand distinct strings.

use std::sync::Arc;

use hashbrown::HashTable;

/// A string of one [`Interner`]. Symbols of different interners must not be mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

/// An append-only table of distinct strings.
#[derive(Debug, Default, Clone)]
pub struct Interner {
    strings: Vec<Arc<str>>,
    table: HashTable<u32>,
    hasher: foldhash::fast::FixedState,
}

impl Interner {
    /// The symbol of `text`, new or known.
    pub fn intern(&mut self, text: &str) -> Symbol {
        use std::hash::BuildHasher;
        let hash = self.hasher.hash_one(text);
        let strings = &self.strings;
        if let Some(&index) = self.table.find(hash, |&i| &*strings[i as usize] == text) {
            return Symbol(index);
        }
        let index = u32::try_from(self.strings.len()).unwrap_or(u32::MAX);
        self.strings.push(Arc::from(text));
        let (strings, hasher) = (&self.strings, &self.hasher);
        self.table.insert_unique(hash, index, |&i| hasher.hash_one(&*strings[i as usize]));
        Symbol(index)
    }

    /// The symbol of `text` if it was interned.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        use std::hash::BuildHasher;
        let hash = self.hasher.hash_one(text);
        self.table.find(hash, |&i| &*self.strings[i as usize] == text).map(|&i| Symbol(i))
    }

    /// The text of `symbol`, which must come from this interner.
    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.get(symbol.0 as usize).map_or("", |text| text)
    }

    /// How many distinct strings there are.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Whether nothing was interned yet.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }
}
