//! What lines set off as a whole.

use attribution::{Attribution, Cost, ViewKind};

use crate::{LM, attributed};

/// `(kind, name, calls, cost)` of the views on a line, the costlier first.
fn on_line(attribution: &Attribution, file: &str, line: u32) -> Vec<(ViewKind, String, u32, Cost)> {
    let file = attribution.files.iter().find(|costs| *costs.key.relative == *file).expect("it has costs");
    let here = file.views.iter().filter(|view| view.line == line);
    here.map(|view| (view.kind, view.name.clone(), view.calls, view.cost)).collect()
}

#[test]
fn modules_and_optimizer_steps_are_on_the_line_that_calls_them() {
    let (_, attribution) = attributed(LM, true);
    let names = |file: &str, line: u32| -> Vec<(ViewKind, String)> {
        on_line(&attribution, file, line).into_iter().map(|(kind, name, ..)| (kind, name)).collect()
    };
    assert_eq!(names("train_lm.py", 35), [(ViewKind::Module, "TinyLM_0".to_owned())]);
    // The checkpointed block: called in the forward pass, and again by `loss.backward()`.
    assert_eq!(names("lm/model.py", 50), [(ViewKind::Module, "Block_0".to_owned())]);
    assert_eq!(names("train_lm.py", 37), [(ViewKind::Module, "Block_0".to_owned())]);
    assert_eq!(names("train_lm.py", 39), [(ViewKind::Optimizer, "Optimizer.step#AdamW.step".to_owned())]);
    let zero_grad = [(ViewKind::Optimizer, "Optimizer.zero_grad#AdamW.zero_grad".to_owned())];
    assert_eq!(names("train_lm.py", 40), zero_grad);
}

#[test]
fn a_module_has_what_runs_below_it_and_adds_nothing_to_the_total() {
    let (profile, attribution) = attributed(LM, true);
    let model = on_line(&attribution, "train_lm.py", 35);
    let listed = profile::modules::modules(&profile);
    let listed = listed.iter().find(|module| module.name == "TinyLM_0").expect("it ran");
    assert_eq!(model[0].2, 1);
    assert_eq!(model[0].3, Cost { cpu_ns: listed.cpu_total_ns, device_ns: listed.device_total_ns });
    let charged: i64 = attribution.charges.iter().map(|charge| charge.cost.cpu_ns).sum();
    assert_eq!(attribution.totals.cpu_ns, charged);
}
