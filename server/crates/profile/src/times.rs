//! Self and total times of single events.

use crate::model::{EventId, Kind, Profile};

/// By event, in nanoseconds; 0 for events that are not in the host tree.
#[derive(Debug, Default)]
pub(crate) struct Times {
    self_cpu: Vec<i64>,
    self_device: Vec<i64>,
    device_total: Vec<i64>,
}

impl Times {
    /// Children come after their parents in the tree's order, so one walk from the back sums everything up.
    pub(crate) fn of(profile: &Profile) -> Self {
        let count = profile.events().len();
        let mut times =
            Self { self_cpu: vec![0; count], self_device: vec![0; count], device_total: vec![0; count] };
        for device in profile.device_events() {
            if let Some(target) = device.target {
                times.self_device[target.0 as usize] += profile.event(device.event).dur_ns;
            }
        }
        for &id in profile.host().order().iter().rev() {
            let at = id.0 as usize;
            times.self_cpu[at] += profile.event(id).dur_ns;
            times.device_total[at] += times.self_device[at];
            if let Some(parent) = profile.host().parent(id) {
                times.self_cpu[parent.0 as usize] -= profile.event(id).dur_ns;
                times.device_total[parent.0 as usize] += times.device_total[at];
            }
        }
        times
    }
}

impl Profile {
    /// `self_cpu_time_total` of one host event: its duration less that of its direct children, in nanoseconds.
    pub fn self_cpu_ns(&self, id: EventId) -> i64 {
        self.times.self_cpu[id.0 as usize]
    }

    /// `self_device_time_total` of one host event: the device work joined to it, in nanoseconds.
    pub fn self_device_ns(&self, id: EventId) -> i64 {
        self.times.self_device[id.0 as usize]
    }

    /// `device_time_total` of one host event: the device work joined to it or to anything below it, in nanoseconds.
    pub fn device_total_of(&self, id: EventId) -> i64 {
        self.times.device_total[id.0 as usize]
    }

    /// Σ of the device events that belong to no host event, in nanoseconds.
    pub fn unattributed_device_ns(&self) -> i64 {
        let lost = self.device_events().iter().filter(|d| d.target.is_none());
        lost.map(|d| self.event(d.event).dur_ns).sum()
    }

    /// Whether an event is an op or a runtime call: what the inclusive time of functions and modules is made of.
    pub(crate) fn is_work(&self, id: EventId) -> bool {
        matches!(self.event(id).kind, Kind::Op | Kind::Runtime)
    }
}
