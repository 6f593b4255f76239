//! `record_function` ranges, whose events cross the calls that open and close them.

mod common;

use std::sync::atomic::AtomicBool;

use attribution::{Cost, Precision, View, ViewKind, attribute};
use profile::Profile;

const TRAIN: &str = "import torch


def step(x, loader):
    with torch.profiler.record_function('mix'):
        y = x * x
    for batch in loader:
        y = y + batch
    return y
";

/// As torch 2.15 writes it: the range starts within `__enter__` and ends within `__exit__`.
const EVENTS: &str = r#"
    {"ph":"X","cat":"python_function","name":"train.py(4): step","pid":1,"tid":1,"ts":0,"dur":100,"args":{}},
    {"ph":"X","cat":"python_function","name":"torch/autograd/profiler.py(800): __enter__","pid":1,"tid":1,"ts":1,"dur":9,"args":{"CallFrom":"train.py:5"}},
    {"ph":"X","cat":"user_annotation","name":"mix","pid":1,"tid":1,"ts":5,"dur":30,"args":{}},
    {"ph":"X","cat":"cpu_op","name":"aten::mul","pid":1,"tid":1,"ts":12,"dur":8,"args":{}},
    {"ph":"X","cat":"python_function","name":"torch/autograd/profiler.py(810): __exit__","pid":1,"tid":1,"ts":30,"dur":10,"args":{"CallFrom":"train.py:5"}},
    {"ph":"X","cat":"python_function","name":"torch/utils/data/dataloader.py(700): __next__","pid":1,"tid":1,"ts":50,"dur":20,"args":{"CallFrom":"train.py:7"}},
    {"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__","pid":1,"tid":1,"ts":52,"dur":15,"args":{}},
    {"ph":"X","cat":"cpu_op","name":"aten::stack","pid":1,"tid":1,"ts":55,"dur":6,"args":{}},
    {"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":80,"dur":5,"args":{}}
"#;

#[test]
fn a_range_is_on_the_line_that_opens_it_and_holds_what_ran_in_it() {
    let text = format!(r#"{{"traceEvents":[{EVENTS}]}}"#);
    let trace = trace::read(text.as_bytes(), &AtomicBool::new(false)).expect("it is a trace");
    let attribution = attribute(&Profile::build(trace), &common::OneFile(TRAIN));
    let view = |line, kind, name: &str, cpu_ns| View {
        line,
        kind,
        name: name.to_owned(),
        precision: Precision::Exact,
        calls: 1,
        cost: Cost { cpu_ns, device_ns: 0 },
    };
    let loading = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    assert_eq!(
        attribution.files[0].views,
        [view(5, ViewKind::Range, "mix", 8_000), view(7, ViewKind::DataLoading, loading, 6_000)]
    );
}
