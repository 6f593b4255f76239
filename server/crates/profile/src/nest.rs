//! Nesting by time. No recursion: depth is what the file says it is.

use crate::model::{Event, EventId, FrameInfo, Kind, Profile, Tree};

/// The order in which parents come before their children: by track, start, and the longer one first; events that are
/// equal in all three keep the order of `tie`, then of the file.
fn sort(events: &[Event], ids: &mut [EventId], tie: impl Fn(Kind) -> u8) {
    ids.sort_by_key(|id| {
        let event = &events[id.0 as usize];
        (event.track, event.start_ns, std::cmp::Reverse(event.end_ns()), tie(event.kind), *id)
    });
}

/// Open ranges of one track, innermost last.
#[derive(Default)]
pub(crate) struct Open(Vec<(EventId, i64)>);

impl Open {
    /// The parent of a range, which is then open itself. A range that ends before the new one does never encloses
    /// anything again that the new one does not enclose too: torch drops it, and so do we.
    pub(crate) fn enter(&mut self, id: EventId, start: i64, end: i64) -> Option<EventId> {
        while self.0.last().is_some_and(|&(_, open_end)| start >= open_end || end > open_end) {
            self.0.pop();
        }
        let parent = self.0.last().map(|&(parent, _)| parent);
        self.0.push((id, end));
        parent
    }

    fn leave_before(&mut self, start: i64) {
        while self.0.last().is_some_and(|&(_, end)| end <= start) {
            self.0.pop();
        }
    }
}

/// The host tree: ops, annotations, runtime calls and overhead, by torch's rule (a child lies within its parent).
pub(crate) fn host(events: &[Event]) -> Tree {
    let is_host = |kind| matches!(kind, Kind::Op | Kind::Annotation | Kind::Runtime | Kind::Overhead);
    let mut order: Vec<EventId> = ids(events).filter(|id| is_host(events[id.0 as usize].kind)).collect();
    sort(events, &mut order, |_| 0);
    let mut parent = vec![None; events.len()];
    let (mut open, mut track) = (Open::default(), None);
    for &id in &order {
        let event = &events[id.0 as usize];
        if track != Some(event.track) {
            (open, track) = (Open::default(), Some(event.track));
        }
        parent[id.0 as usize] = open.enter(id, event.start_ns, event.end_ns());
    }
    Tree::new(parent, order)
}

/// The combined tree: frames too, without overhead. A frame ends at the latest with its Python parent, for torch closes
/// the frames that are still open when the profile ends late.
pub(crate) fn combined(profile: &Profile) -> Tree {
    let events = &profile.events;
    let rank = |kind| match kind {
        Kind::Frame => 0,
        Kind::Annotation => 1,
        Kind::Op => 2,
        _ => 3,
    };
    let within = |kind| matches!(kind, Kind::Frame | Kind::Annotation | Kind::Op | Kind::Runtime);
    let mut order: Vec<EventId> = ids(events).filter(|id| within(events[id.0 as usize].kind)).collect();
    sort(events, &mut order, rank);

    let python = python_ids(profile);
    let mut ends: Vec<i64> = events.iter().map(Event::end_ns).collect();
    let mut parent = vec![None; events.len()];
    let (mut open, mut frames, mut track) = (Open::default(), Open::default(), None);
    for &id in &order {
        let event = &events[id.0 as usize];
        if track != Some(event.track) {
            (open, frames, track) = (Open::default(), Open::default(), Some(event.track));
        }
        if let Some(frame) = profile.frame(id) {
            frames.leave_before(event.start_ns);
            let named = frame.parent_id.and_then(|parent| python.get(&parent).copied());
            let around =
                named.or_else(|| frames.0.last().map(|&(around, _)| around)).filter(|&around| around != id);
            if let Some(around) = around {
                let outer = &events[around.0 as usize];
                let outer_end = ends[around.0 as usize];
                if outer.track == event.track
                    && outer.start_ns <= event.start_ns
                    && event.start_ns < outer_end
                {
                    ends[id.0 as usize] = event.end_ns().min(outer_end);
                }
            }
            frames.0.push((id, ends[id.0 as usize]));
        }
        parent[id.0 as usize] = open.enter(id, event.start_ns, ends[id.0 as usize]);
    }
    Tree::new(parent, order)
}

fn python_ids(profile: &Profile) -> crate::hash::Map<u64, EventId> {
    let id_of =
        |id: EventId| profile.frame(id).and_then(|f: &FrameInfo| f.python_id).map(|python| (python, id));
    profile.ids().filter_map(id_of).collect()
}

fn ids(events: &[Event]) -> impl Iterator<Item = EventId> + use<> {
    (0..events.len() as u32).map(EventId)
}

/// Merges only children that bear their parent's name into the parent, as torch's `_remove_dup_nodes` does: nested
/// `aten::div_` counts once. Gives, per event, what it was merged into.
pub(crate) fn merge_wrappers(events: &[Event], tree: &mut Tree) -> Vec<Option<EventId>> {
    let mut merged = vec![None; events.len()];
    let mut parent = std::mem::take(&mut tree.parent);
    let order = std::mem::take(&mut tree.order);
    for &id in &order {
        if merged[id.0 as usize].is_some() {
            continue;
        }
        let mut inner = id;
        while let &[only] = tree.children(inner) {
            if events[only.0 as usize].name != events[id.0 as usize].name {
                break;
            }
            merged[only.0 as usize] = Some(id);
            parent[only.0 as usize] = None;
            inner = only;
        }
        if inner != id {
            for &child in tree.children(inner) {
                parent[child.0 as usize] = Some(id);
            }
        }
    }
    let kept = order.into_iter().filter(|id| merged[id.0 as usize].is_none()).collect();
    *tree = Tree::new(parent, kept);
    merged
}
