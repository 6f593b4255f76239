//! The `atenLens` section, read leniently: a value of the wrong type is named in the log and its default used.

use std::collections::BTreeMap;

use ide::{DiagnosticSeverity, Options};
use serde_json::Value;

/// All settings the server knows. Their documentation is `PROTOCOL.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub watch: Vec<String>,
    pub exclude: Vec<String>,
    pub poll: bool,
    pub path_mappings: Vec<(String, String)>,
    pub marks: Options,
    pub log_file: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let owned = |globs: &[&str]| globs.iter().map(ToString::to_string).collect();
        Self {
            watch: owned(capture::DEFAULT_WATCH),
            exclude: Vec::new(),
            poll: false,
            path_mappings: Vec::new(),
            marks: Options::default(),
            log_file: None,
        }
    }
}

impl Settings {
    /// Reads the section; what is missing keeps its default. The second part names the values that were not usable.
    pub fn read(section: &Value) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut reader = Reader { section, wrong: Vec::new() };
        reader.globs("watch", &mut settings.watch);
        reader.globs("exclude", &mut settings.exclude);
        reader.flag("poll", &mut settings.poll);
        reader.mappings("pathMappings", &mut settings.path_mappings);
        let marks = &mut settings.marks;
        reader.flag("hints.enabled", &mut marks.hints);
        reader.percent("hints.minShare", &mut marks.hints_min_share);
        reader.flag("lenses.enabled", &mut marks.lenses);
        reader.severity("diagnostics.severity", &mut marks.severity);
        reader.count("diagnostics.top", &mut marks.top);
        reader.percent("diagnostics.minShare", &mut marks.diagnostics_min_share);
        let mut file = String::new();
        reader.text("logFile", &mut file);
        settings.log_file = (!file.is_empty()).then_some(file);
        (settings, reader.wrong)
    }
}

struct Reader<'a> {
    section: &'a Value,
    wrong: Vec<String>,
}

impl Reader<'_> {
    /// `a.b` is looked up nested, then as a flat key, since clients send either.
    fn find(&self, name: &str) -> Option<&Value> {
        let nested = name.split('.').try_fold(self.section, |at, part| at.get(part));
        nested.or_else(|| self.section.get(name)).filter(|value| !value.is_null())
    }

    fn take<T>(&mut self, name: &str, expected: &str, slot: &mut T, read: impl FnOnce(&Value) -> Option<T>) {
        let Some(value) = self.find(name) else { return };
        match read(value) {
            Some(value) => *slot = value,
            None => {
                self.wrong.push(format!("atenLens.{name} is not {expected}: {value}; the default is used"));
            }
        }
    }

    fn flag(&mut self, name: &str, slot: &mut bool) {
        self.take(name, "true or false", slot, Value::as_bool);
    }

    fn text(&mut self, name: &str, slot: &mut String) {
        self.take(name, "a text", slot, |value| value.as_str().map(ToOwned::to_owned));
    }

    fn count(&mut self, name: &str, slot: &mut usize) {
        self.take(name, "a whole number", slot, |value| value.as_u64().map(|count| count as usize));
    }

    fn percent(&mut self, name: &str, slot: &mut f64) {
        let read =
            |value: &Value| value.as_f64().filter(|share| (0.0..=100.0).contains(share)).map(|s| s / 100.0);
        self.take(name, "a percentage from 0 to 100", slot, read);
    }

    fn strings(&mut self, name: &str, slot: &mut Vec<String>) {
        let read =
            |value: &Value| value.as_array()?.iter().map(|one| one.as_str().map(ToOwned::to_owned)).collect();
        self.take(name, "a list of texts", slot, read);
    }

    /// Texts of which each that is no glob is named and left out.
    fn globs(&mut self, name: &str, slot: &mut Vec<String>) {
        self.strings(name, slot);
        slot.retain(|pattern| match capture::check_glob(pattern) {
            Ok(()) => true,
            Err(reason) => {
                self.wrong.push(format!("atenLens.{name}: {pattern:?} is left out: {reason}"));
                false
            }
        });
    }

    fn mappings(&mut self, name: &str, slot: &mut Vec<(String, String)>) {
        let read = |value: &Value| {
            let pairs =
                value.as_object()?.iter().map(|(from, to)| Some((from.clone(), to.as_str()?.to_owned())));
            pairs.collect::<Option<BTreeMap<_, _>>>().map(|pairs| pairs.into_iter().rev().collect())
        };
        self.take(name, "an object of texts", slot, read);
    }

    fn severity(&mut self, name: &str, slot: &mut DiagnosticSeverity) {
        let read = |value: &Value| match value.as_str()? {
            "information" => Some(DiagnosticSeverity::Information),
            "hint" => Some(DiagnosticSeverity::Hint),
            "off" => Some(DiagnosticSeverity::Off),
            _ => None,
        };
        self.take(name, "information, hint or off", slot, read);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_and_flat_keys_are_read_and_percent_becomes_a_share() {
        let section = json!({"hints": {"minShare": 5}, "diagnostics.top": 2, "poll": true,
            "pathMappings": {"/container": "/home/me", "/container/src": "/src"}});
        let (settings, wrong) = Settings::read(&section);
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!((settings.marks.hints_min_share - 0.05).abs() < 1e-12);
        assert_eq!(settings.marks.top, 2);
        assert!(settings.poll);
        // The longer of two prefixes comes first, so that it is the one that applies.
        assert_eq!(settings.path_mappings[0].0, "/container/src");
    }

    #[test]
    fn a_wrong_type_is_named_and_the_default_used() {
        let (settings, wrong) = Settings::read(&json!({"watch": "x", "diagnostics": {"severity": "error"}}));
        assert_eq!(settings, Settings::default());
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].contains("atenLens.watch"));
    }

    #[test]
    fn a_pattern_that_is_no_glob_is_named_and_the_others_count() {
        let (settings, wrong) = Settings::read(&json!({"watch": ["[", "**/*.json"]}));
        assert_eq!(settings.watch, ["**/*.json"]);
        assert!(
            matches!(&wrong[..], [line] if line.contains("atenLens.watch") && line.contains('[')),
            "{wrong:?}"
        );
    }
}
