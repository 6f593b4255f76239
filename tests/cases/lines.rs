//! The lines, functions and sums of every case that has sources: what `attribute` and `annotate` say.
//!
//! `lines` holds what the trace states; `lines_for` the same for one input. Ops of `function_only` may be placed by
//! alignment (on `line`, if the case names one) but are never `exact`. `backward` holds the lines of backward ops,
//! `functions` inclusive times, `lines_if_relocated` the only lines an edited file may show, `stale` that one is edited.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::{Case, Run, cases, file_name, nothing_wrong, ns, report_of, run};

/// A file as the case writes it, and a line.
type Place = (String, i64);

#[test]
fn the_lines_of_every_case_are_right() {
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| !case.may_be_refused()) {
        for input in case.inputs() {
            Check { case, wrong: &mut wrong, input: &input, rows: rows(&input, &case.folder) }.all();
        }
    }
    nothing_wrong(&wrong);
}

fn output(arguments: &[&str]) -> String {
    match run(arguments) {
        Run::Output(text) => text,
        Run::Refused(why) => panic!("{arguments:?} was refused: {why}"),
    }
}

fn rows(input: &Path, sources: &Path) -> Vec<Value> {
    let (input, sources) = (input.to_string_lossy(), sources.to_string_lossy());
    let text = output(&["attribute", &input, "--sources", &sources, "--format", "jsonl"]);
    text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
}

struct Check<'a> {
    case: &'a Case,
    input: &'a Path,
    rows: Vec<Value>,
    wrong: &'a mut Vec<String>,
}

impl Check<'_> {
    fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(format!("{}/{}: {}", self.case.name, file_name(self.input), what()));
        }
    }

    fn all(&mut self) {
        let (input, sources) = (self.input.to_string_lossy(), self.case.folder.to_string_lossy());
        let text = output(&["annotate", &input, "--sources", &sources, "--format", "json"]);
        let annotated: Value = serde_json::from_str(&text).expect("annotate prints JSON");
        let case = self.case;
        let expected = &case.expected;
        self.sums(&annotated);
        let free: BTreeSet<(String, String)> =
            list(&expected["function_only"]).map(|e| (text_of(&e["op"]), text_of(&e["func"]))).collect();
        if expected.get("lines").is_some() {
            self.lines(&expected["lines"], "forward", &free);
        }
        if let Some(lines) = expected["lines_for"].get(file_name(self.input)) {
            self.lines(lines, "forward", &BTreeSet::new());
        }
        if expected.get("backward").is_some() {
            self.lines(&expected["backward"], "backward", &BTreeSet::new());
        }
        self.function_only();
        self.relocated(&annotated);
        self.functions(&annotated);
    }

    /// forward + backward + ambiguous + functions + unattributed = total, for CPU and for device.
    fn sums(&mut self, annotated: &Value) {
        let report = report_of(self.input).expect("a trace that annotate reads, report reads");
        for column in ["cpu_ns", "device_ns"] {
            let total = annotated["totals"][column].clone();
            if column == "device_ns" {
                let device = report["self_device_total_ns"].clone();
                self.expect(total == device, || format!("totals.{column} is {total}, the report's {device}"));
            }
            let total = number(&total);
            let unplaced = number(&annotated["unattributed"][column]);
            let sum = |values: &mut dyn Iterator<Item = &Value>| values.map(number).sum::<i64>();
            let files = || list(&annotated["files"]);
            let backward = format!("backward_{column}");
            let own = format!("own_{column}");
            let lines =
                sum(&mut files().flat_map(|f| list(&f["lines"])).flat_map(|l| [&l[column], &l[&backward]]));
            let functions = sum(&mut files().flat_map(|f| list(&f["functions"])).map(|g| &g[&own]));
            let ambiguous = sum(&mut list(&annotated["ambiguous"]).map(|a| &a[column]));
            let buckets = lines + functions + ambiguous + unplaced;
            self.expect(buckets == total, || format!("buckets of {column} add up to {buckets} of {total}"));
            let placed = self
                .rows
                .iter()
                .filter(|r| r["precision"] != "none")
                .map(|r| number(&r[column]))
                .sum::<i64>();
            self.expect(placed + unplaced == total, || {
                format!("rows place {placed} {column}, {unplaced} of {total} are not")
            });
        }
    }

    fn lines(&mut self, wanted: &Value, direction: &str, free: &BTreeSet<(String, String)>) {
        let stated: BTreeSet<Place> = list(wanted).map(place).collect();
        let mut given: BTreeMap<Place, (i64, i64)> = BTreeMap::new();
        for row in self.rows.clone() {
            if row["direction"] != direction || row["line"].is_null() {
                continue;
            }
            let (at, precision) = (place(&row), text_of(&row["precision"]));
            self.expect(matches!(&*precision, "exact" | "aligned"), || {
                format!("{} has a line but is {precision}", row["op"])
            });
            let claimed = precision == "exact" && !stated.contains(&at);
            self.expect(!claimed, || format!("{} exact on {at:?}: the trace does not say so", row["op"]));
            if precision == "aligned" && free.contains(&(text_of(&row["op"]), text_of(&row["function"]))) {
                continue;
            }
            let sums = given.entry(at).or_default();
            sums.0 += number(&row["cpu_ns"]);
            sums.1 += number(&row["device_ns"]);
        }
        for line in list(wanted) {
            let at = place(line);
            let Some(&(cpu, device)) = given.get(&at) else {
                self.expect(false, || format!("nothing on {at:?}"));
                continue;
            };
            for (key, sum) in [("cpu", cpu), ("dev", device)] {
                let fits = line.get(key).is_none_or(|us| ns(us) == sum);
                self.expect(fits, || format!("{at:?} {key} is {sum}, expected {} us", line[key]));
            }
        }
    }

    fn function_only(&mut self) {
        let case = self.case;
        let stated: BTreeSet<Place> = list(&case.expected["lines"]).map(place).collect();
        for entry in list(&case.expected["function_only"]) {
            let same = |r: &&Value| r["op"] == entry["op"] && r["function"] == entry["func"];
            for row in self.rows.clone().iter().filter(same) {
                let claimed = row["precision"] == "exact" && !stated.contains(&place(row));
                self.expect(!claimed, || format!("{} claimed exact", row["op"]));
                let elsewhere = entry.get("line").is_some()
                    && row["precision"] == "aligned"
                    && row["line"] != entry["line"];
                self.expect(!elsewhere, || {
                    format!("{} aligned to {}, expected {}", row["op"], row["line"], entry["line"])
                });
            }
        }
    }

    fn relocated(&mut self, annotated: &Value) {
        let case = self.case;
        if case.is("lines_if_relocated") {
            let may: Vec<&Value> = list(&case.expected["lines_if_relocated"]).map(|e| &e["line"]).collect();
            for row in self.rows.clone().iter().filter(|r| !r["line"].is_null()) {
                let fits = may.contains(&&row["line"]) && row["precision"] != "exact";
                self.expect(fits, || {
                    format!("{} {} on line {} of an edited file", row["op"], row["precision"], row["line"])
                });
            }
        }
        if case.is("stale") {
            let stale = list(&annotated["files"]).any(|file| file["stale"] == true);
            self.expect(stale, || "no file marked stale".to_owned());
        }
    }

    fn functions(&mut self, annotated: &Value) {
        let case = self.case;
        let mut given: BTreeMap<(String, String), &Value> = BTreeMap::new();
        for file in list(&annotated["files"]) {
            for function in list(&file["functions"]) {
                given.insert((slashed(&file["file"]), text_of(&function["name"])), function);
            }
        }
        let Some(wanted) = case.expected.get("functions") else { return };
        for entry in list(wanted) {
            let key = (text_of(&entry["file"]), text_of(&entry["func"]));
            let Some(function) = given.get(&key) else {
                self.expect(false, || format!("no function {key:?}"));
                continue;
            };
            let time = |key: &str, field: &str| entry.get(key).is_none_or(|us| function[field] == ns(us));
            let fits = function["def_line"] == entry["def_line"]
                && time("cpu", "inclusive_cpu_ns")
                && time("dev", "inclusive_device_ns");
            self.expect(fits, || format!("function {key:?} is {function}"));
        }
        if list(wanted).next().is_none() {
            let none = given.values().all(|function| number(&function["inclusive_cpu_ns"]) == 0);
            self.expect(none, || "functions where there are none".to_owned());
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("an integer")
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn slashed(file: &Value) -> String {
    text_of(file).replace('\\', "/")
}

fn place(row: &Value) -> Place {
    (slashed(&row["file"]), row["line"].as_i64().unwrap_or_default())
}
