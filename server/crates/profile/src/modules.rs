//! `nn.Module` instances: a view, never added to other numbers.

use crate::hash::Map;
use crate::model::{Callee, EventId, Kind, Profile};
use trace::Symbol;

/// One instance as torch numbers it (`Linear_0` is the first `Linear` seen, not an attribute path). Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub name: String,
    pub calls: u64,
    /// The ops and runtime calls below its frames, each once.
    pub cpu_total_ns: i64,
    pub device_total_ns: i64,
}

/// The modules in order of first appearance in the file.
pub fn modules(profile: &Profile) -> Vec<Module> {
    let below = work_below(profile);
    let mut modules: Vec<Module> = Vec::new();
    let mut places: Map<Symbol, usize> = Map::default();
    for id in profile.ids() {
        let Some(instance) = instance(profile, id) else { continue };
        let at = *places.entry(instance).or_insert_with(|| {
            let name = profile.text(instance).to_owned();
            modules.push(Module { name, calls: 0, cpu_total_ns: 0, device_total_ns: 0 });
            modules.len() - 1
        });
        modules[at].calls += 1;
        if !runs_within_itself(profile, id, instance) {
            modules[at].cpu_total_ns += below[id.0 as usize].0;
            modules[at].device_total_ns += below[id.0 as usize].1;
        }
    }
    modules
}

/// The instance that a frame runs, where it is an `nn.Module`'s.
pub fn instance(profile: &Profile, id: EventId) -> Option<Symbol> {
    match profile.frame(id)?.callee {
        Callee::Module { instance, .. } => Some(instance),
        _ => None,
    }
}

/// Whether a frame of a module lies within another of it: a module that calls itself would count its ops twice.
pub fn runs_within_itself(profile: &Profile, id: EventId, instance_name: Symbol) -> bool {
    std::iter::successors(profile.tree().parent(id), |&up| profile.tree().parent(up))
        .any(|up| instance(profile, up) == Some(instance_name))
}

/// Per event of [`Profile::tree`], by [`EventId`]: CPU and device nanoseconds of the outermost ops and runtime calls in it.
pub fn work_below(profile: &Profile) -> Vec<(i64, i64)> {
    let mut below = vec![(0, 0); profile.events().len()];
    for &id in profile.tree().order().iter().rev() {
        if profile.is_work(id) && profile.merged_into(id).is_none() {
            below[id.0 as usize] = (profile.event(id).dur_ns, profile.device_total_of(id));
        } else if profile.event(id).kind == Kind::Annotation {
            // Work joined to the range itself has no op below it.
            below[id.0 as usize].1 += profile.self_device_ns(id);
        }
        if let Some(parent) = profile.tree().parent(id) {
            let (cpu, device) = below[id.0 as usize];
            below[parent.0 as usize].0 += cpu;
            below[parent.0 as usize].1 += device;
        }
    }
    below
}
