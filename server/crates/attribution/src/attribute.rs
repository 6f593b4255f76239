//! Puts it together: charges, their places, and the sums over files and functions.

use std::collections::HashMap;

use profile::{Callee, EventId, Kind, Profile};
use source::{Comprehensions, SourceFiles};

use crate::candidates::candidates;
use crate::charges::{charge, is_region, launches};
use crate::files::{Files, Text};
use crate::frames::{Frames, FunctionKey};
use crate::inclusive::inclusive;
use crate::model::{
    Attribution, Charge, ChargeKind, Cost, Direction, FileCosts, FileId, FunctionCost, FunctionId, Place,
    Precision,
};
use crate::places::{Placed, Places};
use crate::readings::{Reading, Spot};
use crate::views::views;

/// Gives every charged op of a profile its place in the sources.
///
/// Never fails: what cannot be placed is unattributed. The texts are read through `sources` once each; lines count in
/// the texts as they were then ([`FileCosts::text`]).
pub fn attribute(profile: &Profile, sources: &dyn SourceFiles) -> Attribution {
    let files = Files::new(sources, comprehensions(profile), &profile.recorded_sources);
    let frames = Frames::new(profile, &files);
    let launches = launches(profile);
    let places = Places::new(&frames, &launches);
    let charges = charge(profile, &launches, &|event| places.names_line(event));

    let mut gathered = Gathered::default();
    let forward_ops = charges
        .events
        .iter()
        .map(|&(event, _)| event)
        .filter(|&event| profile.event(event).kind == Kind::Op && !profile.is_backward(event));
    for ((file, function), below) in inclusive(profile, &places, forward_ops) {
        let (file, function) = gathered.function(&files, file, function);
        let function = &mut gathered.files[file.0 as usize].functions[function.0 as usize];
        (function.inclusive, function.inclusive_ops) = (below.cost, below.ops);
    }
    let mut attribution = Attribution::default();
    attribution.unattributed.device_ns = charges.lost_device_ns;
    attribution.totals.device_ns = charges.lost_device_ns;
    for (event, cost) in charges.events {
        let (direction, placed, why) = place(profile, &places, event);
        let place = placed.map_or(Place::None, |placed| gathered.place(&files, placed));
        match &place {
            Place::None => attribution.unattributed += cost,
            Place::Function { file, function } => {
                gathered.files[file.0 as usize].functions[function.0 as usize].own += cost;
            }
            Place::Line { .. } | Place::Ambiguous { .. } => {}
        }
        attribution.totals += cost;
        let kind =
            if profile.event(event).kind == Kind::Runtime { ChargeKind::Launch } else { ChargeKind::Op };
        attribution.charges.push(Charge { event, kind, direction, cost, place, why });
    }
    for (file, view) in views(profile, &places) {
        let file = gathered.file(&files, file);
        gathered.files[file.0 as usize].views.push(view);
    }
    if !profile.has_stacks() {
        let nowhere = attribution.charges.iter().filter(|charge| charge.place == Place::None);
        let nowhere: Vec<_> = nowhere.map(|charge| (charge.event, charge.cost)).collect();
        for (file, candidates) in candidates(profile, &files, &nowhere) {
            let file = gathered.file(&files, file);
            gathered.files[file.0 as usize].candidates = candidates;
        }
    }
    attribution.files = gathered.files;
    attribution
}

/// A backward op belongs to the line of the forward op it differentiates; one without (the accumulation of a gradient)
/// to where it runs. What a backward op runs in Python outside the sources (a compiled graph) is part of it.
fn place(profile: &Profile, places: &Places<'_>, event: EventId) -> (Direction, Option<Placed>, String) {
    let node = if profile.is_backward(event) { Some(event) } else { places.enclosing_backward(event) };
    let direction = if node.is_some() { Direction::Backward } else { Direction::Forward };
    if let Some(placed) = places.of_compiled(event) {
        let why = placed.why.to_owned();
        return (direction, Some(placed), why);
    }
    if let Some(forward) = node.and_then(|node| profile.forward_of(node))
        && let Some(placed) = place_of_forward(profile, places, forward)
    {
        let why = format!("forward op {}: {}", profile.name(forward), placed.why);
        return (direction, Some(placed), why);
    }
    let placed = places.of(event);
    let why = placed.as_ref().map_or("no frame of the sources is around it", |placed| placed.why);
    (direction, placed, why.to_owned())
}

/// A forward op that a compiled region hides belongs where the region is charged: to the line that called it.
fn place_of_forward(profile: &Profile, places: &Places<'_>, forward: EventId) -> Option<Placed> {
    let placed = places.of(forward);
    if matches!(&placed, Some(Placed { reading: Reading::Exact(_), .. })) {
        return placed;
    }
    let tree = profile.tree();
    let region = std::iter::successors(tree.parent(forward), |&at| tree.parent(at))
        .filter(|&at| is_region(profile, at))
        .last();
    region.and_then(|region| places.of(region)).or(placed)
}

/// Python up to 3.11 runs comprehensions in frames of their own, which a trace then shows.
fn comprehensions(profile: &Profile) -> Comprehensions {
    let own_frame = |id: EventId| {
        profile.frame(id).is_some_and(|info| match info.callee {
            Callee::Python { function, .. } => {
                matches!(profile.text(function), "<listcomp>" | "<dictcomp>" | "<setcomp>")
            }
            _ => false,
        })
    };
    if profile.ids().any(own_frame) { Comprehensions::Nested } else { Comprehensions::Inlined }
}

/// The files with costs, in the order they were met.
#[derive(Default)]
struct Gathered {
    files: Vec<FileCosts>,
    by_id: HashMap<FileId, FileId>,
    functions: HashMap<(FileId, FunctionKey), FunctionId>,
}

impl Gathered {
    fn file(&mut self, files: &Files<'_>, found: FileId) -> FileId {
        *self.by_id.entry(found).or_insert_with(|| {
            let loaded = files.file(found);
            self.files.push(FileCosts {
                key: loaded.key.clone(),
                text: loaded.module.text().clone(),
                recorded: loaded.recorded(),
                stale: loaded.text() == Text::Edited,
                functions: Vec::new(),
                views: Vec::new(),
                candidates: Vec::new(),
            });
            FileId(self.files.len() as u32 - 1)
        })
    }

    fn function(&mut self, files: &Files<'_>, found: FileId, function: FunctionKey) -> (FileId, FunctionId) {
        let file = self.file(files, found);
        let functions = &mut self.files[file.0 as usize].functions;
        let id = *self.functions.entry((file, function)).or_insert_with_key(|(_, key)| {
            functions.push(FunctionCost {
                name: key.name.clone(),
                def_line: key.def_line,
                end_line: key.end_line,
                own: Cost::default(),
                inclusive: Cost::default(),
                inclusive_ops: 0,
                stale: false,
            });
            FunctionId(functions.len() as u32 - 1)
        });
        (file, id)
    }

    fn place(&mut self, files: &Files<'_>, placed: Placed) -> Place {
        let text = files.file(placed.file).text();
        let (file, function) = self.function(files, placed.file, placed.function);
        if placed.stale && text != Text::Profiled {
            let costs = &mut self.files[file.0 as usize];
            costs.stale = true;
            costs.functions[function.0 as usize].stale = true;
        }
        match placed.reading {
            Reading::Exact(Spot { line, expression }) => {
                Place::Line { file, function, line, precision: Precision::Exact, expression }
            }
            Reading::Aligned(Spot { line, expression }) => {
                Place::Line { file, function, line, precision: Precision::Aligned, expression }
            }
            Reading::Ambiguous(lines) => Place::Ambiguous { file, function, lines },
            Reading::Unknown(_) => Place::Function { file, function },
        }
    }
}
