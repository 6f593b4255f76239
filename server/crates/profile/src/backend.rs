//! Which accelerator a trace is of, and what its own people call it.

use trace::{LabelKind, Trace};

use crate::classify::Classifier;
use crate::hash::Set;
use crate::model::{Device, DeviceKind, DeviceSource, Profile};

/// The device of a trace; `None` without device work, for a column of zeros would read as "the device does nothing".
pub(crate) fn of(
    profile: &Profile,
    trace: &Trace,
    classifier: &Classifier,
    source: DeviceSource,
) -> Option<Device> {
    if profile.device_events.is_empty() {
        return None;
    }
    let kind = kind(profile, trace, classifier);
    let name = label(profile, trace).unwrap_or_else(|| default_name(&kind).to_owned());
    Some(Device { kind, name, source })
}

fn kind(profile: &Profile, trace: &Trace, classifier: &Classifier) -> DeviceKind {
    let any = |prefix: &str| classifier.categories().any(|c| profile.text(c).starts_with(prefix));
    let device = |word: &str| trace.header.device_names.iter().any(|name| name.contains(word));
    if any("privateuse1") {
        DeviceKind::PrivateUse1
    } else if any("xpu") {
        DeviceKind::Xpu
    } else if any("mtia") {
        DeviceKind::Mtia
    } else if classifier.any_ascend() || device("Ascend") {
        DeviceKind::Npu
    } else if device("AMD") || device("Radeon") || any("hip") || calls_hip(profile) {
        DeviceKind::Hip
    } else {
        DeviceKind::Cuda
    }
}

/// Kineto files HIP's calls under `cuda_runtime`.
fn calls_hip(profile: &Profile) -> bool {
    let launches = profile.device_events.iter().filter_map(|d| d.launch);
    launches.take(64).any(|launch| profile.name(launch).starts_with("hip"))
}

/// The first word of the label of a process that holds device work: `NEURON 0` is `NEURON`. `GPU 0` names no backend.
fn label(profile: &Profile, trace: &Trace) -> Option<String> {
    let pids: Set<_> =
        profile.device_events.iter().map(|d| profile.track(profile.event(d.event).track).pid).collect();
    let labels = trace.labels.iter().filter(|l| l.kind == LabelKind::ProcessLabels && pids.contains(&l.pid));
    let mut words = labels.filter_map(|l| profile.text(l.text).split_whitespace().next());
    words.find(|word| !word.starts_with("CPU") && !word.starts_with("GPU")).map(str::to_uppercase)
}

fn default_name(kind: &DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cuda => "CUDA",
        DeviceKind::Hip => "HIP",
        DeviceKind::Xpu => "XPU",
        DeviceKind::Mtia => "MTIA",
        DeviceKind::Npu => "NPU",
        DeviceKind::PrivateUse1 => "PRIVATEUSE1",
    }
}
