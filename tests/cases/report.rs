//! The tables, sums, steps and modules of every case.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::{Case, cases, file_name, nothing_wrong, ns, report_of};

/// A field of an expected row and of a printed one.
const FIELDS: [(&str, &str); 5] = [
    ("count", "calls"),
    ("self_cpu", "self_cpu_ns"),
    ("cpu_total", "cpu_total_ns"),
    ("self_dev", "self_device_ns"),
    ("dev_total", "device_total_ns"),
];

/// A sum of the expectation and of the output.
const SUMS: [(&str, &str); 4] = [
    ("sum_self_dev", "self_device_total_ns"),
    ("sum_self_cpu", "self_cpu_total_ns"),
    ("unattributed_dev", "unattributed_device_ns"),
    ("device_busy_union", "device_busy_ns"),
];

#[test]
fn the_report_of_every_case_is_right() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 57, "only {} cases", cases.len());
    for case in &cases {
        let inputs = case.inputs();
        assert!(!inputs.is_empty(), "{} has no input", case.name);
        for input in &inputs {
            let mut check = Check { case, input, wrong: &mut wrong };
            if case.may_be_refused() { check.refusal() } else { check.report() }
        }
    }
    nothing_wrong(&wrong);
}

struct Check<'a> {
    case: &'a Case,
    input: &'a Path,
    wrong: &'a mut Vec<String>,
}

impl Check<'_> {
    fn wrong(&mut self, what: &str) {
        self.wrong.push(format!("{}/{}: {what}", self.case.name, file_name(self.input)));
    }

    fn expect(&mut self, holds: bool, what: &str) {
        if !holds {
            self.wrong(what);
        }
    }

    /// No trace: one clear line, or a result that says so. Never a table that pretends.
    fn refusal(&mut self) {
        let report = match report_of(self.input) {
            Err(line) => {
                let told = line.trim().lines().count() == 1 && line.contains(&file_name(self.input));
                return self.expect(told, &format!("not one line that names the file: {line:?}"));
            }
            Ok(report) => report,
        };
        if self.case.load().starts_with("error") {
            self.expect(has_warnings(&report), "no warning");
            let most = self.case.expected["calls_at_most"].as_object().cloned().unwrap_or_default();
            for (name, most) in &most {
                let calls: i64 = rows(&report)
                    .filter(|row| row["name"] == **name)
                    .filter_map(|r| r["calls"].as_i64())
                    .sum();
                self.expect(calls <= most.as_i64().unwrap_or(0), &format!("{name} is counted {calls} times"));
            }
        } else {
            self.expect(rows(&report).next().is_none(), "rows from a file that is no trace");
        }
    }

    fn report(&mut self) {
        let report = match report_of(self.input) {
            Ok(report) => report,
            Err(line) => return self.wrong(&format!("refused: {line}")),
        };
        let case = self.case;
        let expected = &case.expected;
        let name = file_name(self.input);
        for table in [&expected["table"], &expected["table_min"], &expected["table_for"][&name]] {
            self.table(&report, table);
        }
        for (wanted, given) in SUMS {
            if let Some(us) = expected.get(wanted) {
                self.expect(
                    report[given] == ns(us),
                    &format!("{wanted} is {}, expected {us} us", report[given]),
                );
            }
        }
        if expected["device_column"] == false {
            self.expect(report["device"].is_null(), "a device where there is none");
        }
        if name != "twin.json" {
            self.damage(&report);
        }
        if let Some(rank) = expected.get("rank") {
            self.expect(report["rank"] == *rank, &format!("rank {}", report["rank"]));
        }
        if let Some(file) = expected["per_file"].get(&name) {
            let rank = file.get("rank").cloned().unwrap_or(Value::Null);
            let fits = report["rank"] == rank && report["self_device_total_ns"] == ns(&file["dev"]);
            self.expect(fits, &format!("rank {}, device {}", report["rank"], report["self_device_total_ns"]));
        }
        self.views(&report);
    }

    fn table(&mut self, report: &Value, table: &Value) {
        let mut given: BTreeMap<&str, &Value> = BTreeMap::new();
        for row in rows(report).filter(|row| row["kind"] != "device" && row["kind"] != "frame") {
            let name = row["name"].as_str().expect("a row has a name");
            if given.insert(name, row).is_some() {
                self.wrong(&format!("two rows {name}"));
            }
        }
        for (name, wanted) in table.as_object().into_iter().flatten() {
            let Some(row) = given.get(name.as_str()) else {
                self.wrong(&format!("no row {name}"));
                continue;
            };
            for (key, field) in FIELDS {
                let Some(value) = wanted.get(key) else { continue };
                let number = if key == "count" { value.as_i64().expect("a count") } else { ns(value) };
                self.expect(
                    row[field] == number,
                    &format!("{name}.{key} is {}, expected {value}", row[field]),
                );
            }
        }
    }

    /// What must be said of a damaged input (but not of its undamaged twin).
    fn damage(&mut self, report: &Value) {
        let case = self.case;
        if case.is("partial") {
            self.expect(report["partial"] == true, "not marked partial");
        }
        if case.load().starts_with("ok-with") {
            self.expect(has_warnings(report), "no warning");
        }
        if let Some(about) = case.expected["warning_about"].as_str() {
            let mut messages = report["import"]["warnings"].as_array().into_iter().flatten();
            let said =
                messages.any(|warning| warning["message"].as_str().is_some_and(|text| text.contains(about)));
            self.expect(said, &format!("no warning about {about}"));
        }
    }

    fn views(&mut self, report: &Value) {
        let case = self.case;
        let of = |view: &str, name: &str| {
            let mut entries = report[view].as_array().into_iter().flatten();
            entries.find(|entry| entry["name"] == *name).cloned().unwrap_or(Value::Null)
        };
        for (name, wanted) in case.expected["modules"].as_object().into_iter().flatten() {
            let module = of("modules", name);
            let fits = module["calls"] == wanted["calls"] && module["cpu_total_ns"] == ns(&wanted["cpu"]);
            self.expect(fits, &format!("module {name} is {module}"));
        }
        for (number, us) in case.expected["steps"].as_object().into_iter().flatten() {
            if number.bytes().all(|b| b.is_ascii_digit()) {
                let step = of("steps", &format!("ProfilerStep#{number}"));
                self.expect(step["device_ns"] == ns(us), &format!("step {number} is {step}"));
            }
        }
    }
}

fn rows(report: &Value) -> impl Iterator<Item = &Value> {
    report["rows"].as_array().into_iter().flatten()
}

fn has_warnings(report: &Value) -> bool {
    report["import"]["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty())
}
