//! Nesting and sums, whatever the events: against torch's rule written down as plainly as possible.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use profile::key_averages::{TorchVersion, as_torch, canonical};
use profile::{EventId, Kind, Profile};
use proptest::prelude::*;

/// An event of a made-up trace, in nanoseconds.
#[derive(Debug, Clone)]
struct Made {
    category: &'static str,
    name: u8,
    thread: u8,
    start: i64,
    dur: i64,
    /// `External id` and `correlation`; 0 is none.
    ids: (u64, u64),
}

fn made() -> impl Strategy<Value = Made> {
    let category = proptest::sample::select(
        &["cpu_op", "cpu_op", "user_annotation", "cuda_runtime", "overhead", "python_function", "kernel"][..],
    );
    (category, 0_u8..3, 0_u8..2, 0_i64..60, 0_i64..30, (0_u64..8, 0_u64..8)).prop_map(
        |(category, name, thread, start, dur, ids)| Made { category, name, thread, start, dur, ids },
    )
}

fn build(events: &[Made]) -> Profile {
    let mut text = String::from("[");
    for event in events {
        let Made { category, name, thread, start, dur, ids: (external, correlation) } = event;
        let _ = write!(
            text,
            r#"{}{{"ph":"X","cat":"{category}","name":"n{name}","pid":1,"tid":{thread},"ts":{start}e-3,"dur":{dur}e-3,"args":{{"External id":{external},"correlation":{correlation}}}}}"#,
            if text.len() > 1 { "," } else { "" }
        );
    }
    text.push(']');
    let trace = trace::read(text.as_bytes(), &AtomicBool::new(false));
    Profile::build(trace.unwrap_or_else(|error| panic!("{error}: {text}")))
}

/// torch's `_build_tree` for one thread: the parent of each event.
fn torch_parents(profile: &Profile, members: &[EventId]) -> Vec<(EventId, Option<EventId>)> {
    let mut sorted = members.to_vec();
    sorted.sort_by_key(|&id| (profile.event(id).start_ns, -profile.event(id).end_ns()));
    let mut stack: Vec<EventId> = Vec::new();
    let mut parents = Vec::new();
    for id in sorted {
        let event = profile.event(id);
        while let Some(&top) = stack.last() {
            let parent = profile.event(top);
            if event.start_ns >= parent.end_ns() || event.end_ns() > parent.end_ns() {
                stack.pop();
            } else {
                break;
            }
        }
        parents.push((id, stack.last().copied()));
        stack.push(id);
    }
    parents
}

fn is_host(kind: Kind) -> bool {
    matches!(kind, Kind::Op | Kind::Annotation | Kind::Runtime | Kind::Overhead)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_host_tree_is_torchs(events in proptest::collection::vec(made(), 1..40)) {
        let profile = build(&events);
        for track in 0..profile.tracks().len() as u32 {
            let members: Vec<EventId> = profile
                .ids()
                .filter(|&id| is_host(profile.event(id).kind) && profile.event(id).track.0 == track)
                .collect();
            for (id, parent) in torch_parents(&profile, &members) {
                if profile.merged_into(id).is_some() {
                    continue;
                }
                let parent = parent.map(|parent| profile.merged_into(parent).unwrap_or(parent));
                prop_assert_eq!(profile.host().parent(id), parent);
            }
        }
    }

    #[test]
    fn children_lie_within_parents_and_come_after_them(events in proptest::collection::vec(made(), 1..40)) {
        let profile = build(&events);
        for tree in [profile.host(), profile.tree()] {
            let mut seen = std::collections::HashSet::new();
            for &id in tree.order() {
                if let Some(parent) = tree.parent(id) {
                    let (inner, outer) = (profile.event(id), profile.event(parent));
                    prop_assert!(seen.contains(&parent));
                    prop_assert_eq!(inner.track, outer.track);
                    prop_assert!(outer.start_ns <= inner.start_ns);
                    // A frame may be cut at its own parent's end, never beyond its own.
                    prop_assert!(inner.kind == Kind::Frame || inner.end_ns() <= outer.end_ns());
                    prop_assert!(tree.children(parent).contains(&id));
                }
                seen.insert(id);
            }
        }
    }

    #[test]
    fn nothing_is_lost_or_counted_twice(events in proptest::collection::vec(made(), 1..40)) {
        let profile = build(&events);
        let table = canonical(&profile);
        let roots = profile.host().order().iter().filter(|&&id| profile.host().parent(id).is_none());
        prop_assert_eq!(table.self_cpu_total_ns, roots.map(|&id| profile.event(id).dur_ns).sum::<i64>());
        prop_assert_eq!(table.self_device_total_ns, profile.device_total_ns());
        let at_host: i64 = profile.ids().map(|id| profile.self_device_ns(id)).sum();
        prop_assert_eq!(at_host + profile.unattributed_device_ns(), profile.device_total_ns());
        prop_assert!(profile.device_busy_ns <= profile.device_total_ns());
        let clipped: i64 = profile.device_events().iter().map(|d| d.busy_ns).sum();
        prop_assert!(profile.device_busy_ns <= clipped && clipped <= profile.device_total_ns());
        for row in &table.rows {
            prop_assert!(row.self_cpu_ns <= row.cpu_total_ns && row.self_device_ns <= row.device_total_ns);
        }
        for version in [TorchVersion::UpTo2_11, TorchVersion::From2_12To2_13, TorchVersion::From2_14] {
            let printed = as_torch(&profile, version);
            prop_assert_eq!(printed.self_device_total_ns, profile.device_total_ns());
        }
    }
}

/// A hundred thousand calls deep: no recursion, no quadratic walk.
#[test]
fn depth_costs_nothing() {
    let depth = 100_000;
    let events: Vec<Made> = (0..depth)
        .map(|at| Made {
            category: if at % 2 == 0 { "python_function" } else { "cpu_op" },
            name: (at % 3) as u8,
            thread: 0,
            start: at,
            dur: 2 * (depth - at),
            ids: (0, 0),
        })
        .collect();
    let profile = build(&events);
    // The outermost op and the outermost frame hold all the rest.
    assert_eq!(canonical(&profile).self_cpu_total_ns, 2 * (depth - 1));
    assert_eq!(as_torch(&profile, TorchVersion::From2_12To2_13).self_cpu_total_ns, 2 * depth);
    assert_eq!(profile.tree().parent(EventId(depth as u32 - 1)), Some(EventId(depth as u32 - 2)));
}
