//! What an event is, by its category and by where it lies. Writers name the same things differently; the rules are
//! Kineto's (`libkineto/include/ActivityType.h`), the old schema's and Ascend's.

use crate::hash::{Map, Set};

use trace::{Args, Event, LabelKind, Symbol, Trace};

use crate::model::{DeviceWork, Kind};

/// Names that `torch.autograd.profiler_util._filter_name` hides from every table.
const HIDDEN: [&str; 8] = [
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
];

/// Categories of marks and of waits that the calls around them already hold.
const NO_PART: [&str; 5] =
    ["Trace", "cpu_instant_event", "cuda_sync", "cuda_profiler_range", "collective_comm"];

/// What a category says, before its event's place is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Category {
    Known(Kind),
    /// `*_driver`: a host call, or a device's stream event where its lane says so.
    Driver,
    /// None at all, as in `EventList.export_chrome_trace` and Ascend's traces.
    Missing,
    /// Known, and neither host nor device time.
    NoPart,
    Unknown,
}

fn category(text: &str) -> Category {
    Category::Known(match text {
        "cpu_op" | "Operator" => Kind::Op,
        "user_annotation" => Kind::Annotation,
        "python_function" => Kind::Frame,
        "overhead" => Kind::Overhead,
        "kernel" | "Kernel" => Kind::Device(DeviceWork::Kernel),
        "gpu_memcpy" | "Memcpy" => Kind::Device(DeviceWork::Memcpy),
        "gpu_memset" | "Memset" => Kind::Device(DeviceWork::Memset),
        "gpu_user_annotation" => Kind::DeviceAnnotation,
        "Runtime" => Kind::Runtime,
        _ if NO_PART.contains(&text) => return Category::NoPart,
        _ if text.ends_with("_runtime") => Kind::Runtime,
        _ if text.ends_with("_driver") => return Category::Driver,
        _ => return Category::Unknown,
    })
}

/// Decides the kind of each event of one trace.
pub(crate) struct Classifier {
    categories: Map<Symbol, Category>,
    hidden: Set<Symbol>,
    ascend: Set<Symbol>,
    lanes: Lanes,
    kernels: KernelIds,
}

impl Classifier {
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut categories = Map::default();
        for event in &trace.events {
            if let Some(symbol) = event.category {
                categories.entry(symbol).or_insert_with(|| category(trace.text(symbol)));
            }
        }
        let ascend = trace
            .labels
            .iter()
            .filter(|l| l.kind == LabelKind::ProcessName && trace.text(l.text) == "Ascend Hardware");
        let kernels = KernelIds::of(trace, |event| {
            matches!(event.category.and_then(|c| categories.get(&c)), Some(Category::Known(Kind::Device(_))))
        });
        Self {
            hidden: HIDDEN.iter().filter_map(|name| trace.strings.get(name)).collect(),
            ascend: ascend.map(|l| l.pid).collect(),
            lanes: Lanes::of(trace),
            kernels,
            categories,
        }
    }

    /// The category of an event that no rule here knows, if it is one: its time is in no table, which the log must say.
    pub(crate) fn unknown(&self, event: &Event) -> Option<Symbol> {
        let category = event.category?;
        (self.categories.get(&category) == Some(&Category::Unknown)).then_some(category)
    }

    /// The kind of an event; `None` for what has no part in a profile (`Trace` spans, hidden names, unknown categories).
    pub(crate) fn kind(&self, event: &Event, args: &Args) -> Option<Kind> {
        if self.hidden.contains(&event.name) {
            return None;
        }
        let category = event.category.map_or(Category::Missing, |symbol| self.categories[&symbol]);
        match category {
            Category::Known(kind) => Some(kind),
            Category::Missing if self.ascend.contains(&event.pid) => Some(Kind::Device(DeviceWork::Kernel)),
            Category::Missing => Some(Kind::Op),
            Category::NoPart | Category::Unknown => None,
            Category::Driver if !self.is_stream_event(event, args) => Some(Kind::Runtime),
            // A kernel event of the same work already holds the time: this one is only drawn.
            Category::Driver if self.kernels.share(args) => Some(Kind::DeviceAnnotation),
            Category::Driver => Some(Kind::Device(DeviceWork::Kernel)),
        }
    }

    /// Whether a driver event is device work: its process or thread is labelled as a device, or it names a stream.
    pub(crate) fn is_stream_event(&self, event: &Event, args: &Args) -> bool {
        args.framework_stream_id.is_some() || self.lanes.is_device(event)
    }

    /// Whether the event is a driver's, as opposed to a kernel's own.
    pub(crate) fn is_driver(&self, event: &Event) -> bool {
        event.category.and_then(|symbol| self.categories.get(&symbol)) == Some(&Category::Driver)
    }

    /// The categories of the trace.
    pub(crate) fn categories(&self) -> impl Iterator<Item = Symbol> {
        self.categories.keys().copied()
    }

    /// Whether the process holds Ascend kernels.
    pub(crate) fn any_ascend(&self) -> bool {
        !self.ascend.is_empty()
    }
}

/// Which processes and threads are named as a device's.
struct Lanes {
    processes: Map<Symbol, bool>,
    threads: Map<(Symbol, Symbol), bool>,
}

impl Lanes {
    /// A pid can be a process and a device at once (pid 1 in a container, GPU 1): then it is not taken for a device.
    fn of(trace: &Trace) -> Self {
        let mut lanes = Self { processes: Map::default(), threads: Map::default() };
        for label in &trace.labels {
            let text = trace.text(label.text);
            match label.kind {
                LabelKind::ProcessLabels => {
                    let device = !text.is_empty() && !text.starts_with("CPU");
                    *lanes.processes.entry(label.pid).or_insert(true) &= device;
                }
                LabelKind::ThreadName => {
                    let stream = text.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("stream"));
                    *lanes.threads.entry((label.pid, label.tid)).or_insert(true) &= stream;
                }
                LabelKind::ProcessName => {}
            }
        }
        lanes
    }

    fn is_device(&self, event: &Event) -> bool {
        self.processes.get(&event.pid) == Some(&true)
            || self.threads.get(&(event.pid, event.tid)) == Some(&true)
    }
}

/// The ids that kernel events carry.
struct KernelIds {
    external: Set<trace::ExternalId>,
    correlation: Set<trace::CorrelationId>,
}

impl KernelIds {
    fn of(trace: &Trace, is_device: impl Fn(&Event) -> bool) -> Self {
        let mut ids = Self { external: Set::default(), correlation: Set::default() };
        for event in trace.events.iter().filter(|e| is_device(e)) {
            let args = trace.args(event);
            ids.external.extend(args.external_id);
            ids.correlation.extend(args.correlation);
        }
        ids
    }

    fn share(&self, args: &Args) -> bool {
        args.external_id.is_some_and(|id| self.external.contains(&id))
            || args.correlation.is_some_and(|id| self.correlation.contains(&id))
    }
}
