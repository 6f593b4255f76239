//! Events to a [`Profile`]: nesting, self time, device correlation, `key_averages`, steps, lanes, units.
//!
//! Pure. Every duration is integer nanoseconds; the only place that turns them into text is [`units`].

mod backend;
mod backward;
mod build;
mod classify;
mod device;
mod frames;
mod hash;
mod intake;
pub mod key_averages;
pub mod model;
pub mod modules;
mod nest;
mod pairs;
mod steps;
mod times;
pub mod units;

pub use model::{
    Callee, Device, DeviceEvent, DeviceKind, DeviceSource, DeviceWork, Event, EventId, FrameInfo, Join, Kind,
    OpInfo, Profile, Step, Track, TrackId,
};
