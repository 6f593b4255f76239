//! Kernels of a compiled region on which inductor's trace handler has written the stacks of what was fused into them.

mod common;

use std::sync::atomic::AtomicBool;

use attribution::{Attribution, Place, Precision, attribute};
use profile::Profile;

const TRAIN: &str = "import torch


@torch.compile
def step(x, w, b):
    y = torch.mm(x, w)
    y = y + b
    return torch.relu(y)


step(torch.ones(4, 4), torch.ones(4, 4), torch.ones(4))
";

/// A region called from line 11 that runs `mm` and one kernel of two statements. `{mm}` and `{fused}` are the `args` of
/// the kernels.
fn events(mm: &str, fused: &str) -> String {
    let host = |category: &str, name: &str, ts: u32, dur: u32, args: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{{args}}}}}"#
        )
    };
    let kernel = |name: &str, ts: u32, dur: u32, args: &str| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{ts},"dur":{dur},"args":{{"stream":7,{args}}}}}"#
        )
    };
    [
        host("python_function", "train.py(11): <module>", 0, 100, ""),
        host(
            "python_function",
            "torch/_dynamo/eval_frame.py(900): compile_wrapper",
            5,
            90,
            r#""CallFrom":"train.py:11""#,
        ),
        host("cpu_op", "Torch-Compiled Region: 0/0", 10, 80, r#""External id":1"#),
        host("python_function", "train.py(4): step", 12, 76, ""),
        host("cpu_op", "CompiledFunction", 15, 70, r#""External id":2"#),
        host("python_function", "/tmp/torchinductor_me/ab/cab.py(100): call", 16, 68, ""),
        host("cpu_op", "extern_kernels.mm", 20, 10, r#""External id":3"#),
        host("cuda_runtime", "cudaLaunchKernel", 22, 5, r#""correlation":8"#),
        host("cuda_driver", "cuLaunchKernel", 40, 6, r#""correlation":9"#),
        kernel("gemm", 30, 30, &format!(r#""External id":3,"correlation":8{mm}"#)),
        kernel("triton_poi_fused_add_relu_0", 70, 20, &format!(r#""External id":1,"correlation":9{fused}"#)),
    ]
    .join(",")
}

fn attributed(mm: &str, fused: &str) -> Attribution {
    let text = format!(r#"{{"traceEvents":[{}]}}"#, events(mm, fused));
    let trace = trace::read(text.as_bytes(), &AtomicBool::new(false)).expect("it is a trace");
    attribute(&Profile::build(trace), &common::OneFile(TRAIN))
}

/// `(lines, precision, cpu_ns, device_ns)` of each charge.
fn charges(attribution: &Attribution) -> Vec<(Vec<u32>, Precision, i64, i64)> {
    let all = attribution.charges.iter().map(|charge| {
        let (lines, precision) = match &charge.place {
            Place::Line { line, precision, .. } => (vec![*line], *precision),
            Place::Ambiguous { lines, .. } => (lines.clone(), Precision::Ambiguous),
            Place::Function { .. } => (Vec::new(), Precision::Function),
            Place::None => (Vec::new(), Precision::None),
        };
        (lines, precision, charge.cost.cpu_ns, charge.cost.device_ns)
    });
    all.collect()
}

const MM: &str = r#","stack":["  File \"/home/me/train.py\", line 11, in <module>\n    step(torch.ones(4, 4), torch.ones(4, 4), torch.ones(4))\n  File \"/home/me/train.py\", line 6, in step\n    y = torch.mm(x, w)\n"]"#;
const FUSED: &str = r#","stack":["  File \"/home/me/train.py\", line 7, in step\n    y = y + b\n","  File \"/home/me/train.py\", line 8, in step\n    return torch.relu(y)\n"]"#;

#[test]
fn a_kernels_stack_names_its_line_and_a_fused_kernel_keeps_all_of_them() {
    let attribution = attributed(MM, FUSED);
    assert_eq!(
        charges(&attribution),
        [
            (vec![11], Precision::Exact, 64_000, 0),
            (vec![6], Precision::Exact, 10_000, 30_000),
            (vec![7, 8], Precision::Ambiguous, 6_000, 20_000),
        ]
    );
    assert_eq!((attribution.totals.cpu_ns, attribution.totals.device_ns), (80_000, 50_000));
}

#[test]
fn a_kernels_stack_counts_where_the_trace_has_no_frames() {
    let text = format!(r#"{{"traceEvents":[{}]}}"#, events(MM, FUSED)).replace("python_function", "unknown");
    let trace = trace::read(text.as_bytes(), &AtomicBool::new(false)).expect("it is a trace");
    let attribution = attribute(&Profile::build(trace), &common::OneFile(TRAIN));
    let named = charges(&attribution).into_iter().filter(|(lines, ..)| !lines.is_empty());
    assert_eq!(
        named.collect::<Vec<_>>(),
        [(vec![6], Precision::Exact, 5_000, 30_000), (vec![7, 8], Precision::Ambiguous, 6_000, 20_000)]
    );
    assert_eq!(attribution.files.len(), 1, "the file that the charges are in");
    assert_eq!(&*attribution.files[0].functions[0].name, "step");
}

#[test]
fn without_stacks_the_region_keeps_it_all() {
    assert_eq!(charges(&attributed("", "")), [(vec![11], Precision::Exact, 80_000, 50_000)]);
}

#[test]
fn a_stack_of_an_edited_line_or_of_another_file_claims_nothing() {
    let edited = MM.replace("torch.mm(x, w)", "torch.mm(w, x)");
    let elsewhere = FUSED.replace("/home/me/train.py", "/home/me/other.py");
    for damaged in [r#","stack":7"#, r#","stack":[7]"#, r#","stack":[]"#, r#","stack":["?"]"#, &edited] {
        let attribution = attributed(damaged, &elsewhere);
        assert_eq!(charges(&attribution), [(vec![11], Precision::Exact, 80_000, 50_000)], "{damaged}");
    }
}
