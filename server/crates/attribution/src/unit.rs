//! Which number leads: device time where the trace has any, else CPU time.

use profile::Profile;

use crate::model::Cost;

/// The number that marks are about, with the backend's own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// `NEURON`, `CUDA`, …, or `CPU` when nothing ran on a device.
    pub name: String,
    pub device: bool,
    /// What shares are of, in nanoseconds.
    pub total_ns: i64,
}

impl Unit {
    /// Device time if there is any of it to share out, else CPU time.
    pub fn of(profile: &Profile, totals: Cost) -> Self {
        match &profile.device {
            Some(device) if totals.device_ns > 0 => {
                Self { name: device.name.clone(), device: true, total_ns: totals.device_ns }
            }
            _ => Self { name: "CPU".to_owned(), device: false, total_ns: totals.cpu_ns },
        }
    }

    /// The leading number of a cost, in nanoseconds.
    pub fn ns(&self, cost: Cost) -> i64 {
        if self.device { cost.device_ns } else { cost.cpu_ns }
    }

    /// The share of the total, 0–1; 0 where there is no total.
    pub fn share(&self, cost: Cost) -> f64 {
        if self.total_ns > 0 { self.ns(cost) as f64 / self.total_ns as f64 } else { 0.0 }
    }

    /// The share of the total as text: `49.5%`, or `-`.
    pub fn percent(&self, cost: Cost) -> String {
        profile::units::share(self.ns(cost), self.total_ns)
    }
}
