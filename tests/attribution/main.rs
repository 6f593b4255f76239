//! The lines of real traces against the lines that were seen while the code ran.

mod candidates;
mod edits;
mod score;
mod views;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use attribution::{Attribution, Direction, Place, Precision};
use profile::Profile;
use score::{Recorded, Score};

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}

fn recorded(with_call_from: bool) -> Recorded {
    if with_call_from { Recorded::All } else { Recorded::NoCallFrom }
}

fn attributed(trace: &str, with_call_from: bool) -> (Profile, Attribution) {
    let sources = fixture("attribution/sources");
    score::attribute(&fixture(trace), &sources, recorded(with_call_from)).expect("the fixture is a trace")
}

fn scored(trace: &str, truth: &str, with_call_from: bool) -> Score {
    let (profile, attribution) = attributed(trace, with_call_from);
    let truth = score::bytes(&fixture(truth)).expect("the fixture has its truth");
    score::score(&profile, &attribution, &truth, "user", &fixture("attribution/sources"))
        .expect("the truth is JSON")
}

const LM: &str = "traces/tables/torch-2.15/d_lm_full.json.gz";

#[test]
fn every_op_of_a_language_model_is_on_its_line() {
    for with_call_from in [true, false] {
        let score = scored(LM, "attribution/lm/groundtruth.json.gz", with_call_from);
        assert_eq!((score.known, score.ops, score.sure_and_wrong), (1210, 1210, 0), "{:#?}", score.misses);
    }
}

/// What is left are arms with the same ops (`x * 2` or `x * 3`) that a variable chooses: the trace cannot tell them apart,
/// and the truth is among the lines given.
#[test]
fn unusual_constructs_are_known_or_left_open_but_never_wrong() {
    for with_call_from in [true, false] {
        let score =
            scored("attribution/hard/trace.json.gz", "attribution/hard/groundtruth.json.gz", with_call_from);
        assert_eq!((score.ops, score.sure_and_wrong, score.nowhere), (322, 0, 0), "{:#?}", score.misses);
        assert!(score.known >= 319, "{:#?}", score.misses);
        assert_eq!(score.ambiguous, score.ambiguous_with_truth, "{:#?}", score.misses);
    }
}

/// Programs as people write them: what is known of their ops with and without the lines that the trace names. What is not
/// known is left open: arms with the same ops, lists of tensors that are subscripted like tensors, operators on what may as
/// well be a number as a tensor.
#[test]
fn programs_of_other_kinds_are_known_but_for_a_few_ops() {
    for (program, ops, with, without) in [
        ("arms", 61, 59, 59),
        ("async_gen", 316, 316, 315),
        ("audio", 444, 444, 443),
        ("containers", 414, 413, 405),
        ("custom_optim", 407, 407, 407),
        ("decoding", 457, 457, 457),
        ("detection", 1102, 1102, 1102),
        ("generated", 60, 56, 47),
        ("hooks", 120, 120, 115),
        ("indexing", 368, 359, 358),
        ("lambdas", 234, 232, 232),
        ("match_walrus", 161, 153, 149),
        ("metrics", 695, 695, 695),
        ("optim", 402, 402, 402),
        ("package", 123, 123, 123),
        ("quant_bits", 445, 442, 442),
        ("rl", 1293, 1293, 1293),
        ("structure", 104, 104, 104),
    ] {
        for (with_call_from, known) in [(true, with), (false, without)] {
            let folder = fixture("attribution").join(program);
            let (profile, attribution) = score::attribute(
                &folder.join("trace.json.gz"),
                &folder.join("src"),
                recorded(with_call_from),
            )
            .expect("the fixture is a trace");
            let truth = score::bytes(&folder.join("groundtruth.json.gz")).expect("the fixture has its truth");
            let score = score::score(&profile, &attribution, &truth, "user", &folder.join("src"))
                .expect("the truth is JSON");
            assert_eq!((score.ops, score.sure_and_wrong), (ops, 0), "{program}: {:#?}", score.misses);
            assert_eq!(score.ambiguous, score.ambiguous_with_truth, "{program}: {:#?}", score.misses);
            assert!(score.known >= known, "{program}: {:#?}", score.misses);
            assert_eq!(score.wrong_expressions, Vec::<String>::new(), "{program}");
        }
    }
}

/// `(function, runs, ops)` of the candidates of a file.
fn candidates_of(attribution: &Attribution, name: &str) -> Vec<(String, u32, u32)> {
    let file = attribution.files.iter().find(|file| &*file.key.relative == name);
    let candidates = file.map_or(&[][..], |file| &file.candidates);
    candidates.iter().map(|candidate| (candidate.name.clone(), candidate.runs, candidate.ops)).collect()
}

#[test]
fn without_stacks_functions_that_read_like_the_ops_are_candidates_and_carry_no_cost() {
    let (profile, attribution) =
        attributed("traces/tables/privateuse1/pu1_rmsnorm_stack0_shapes1.json.gz", true);
    let found = candidates_of(&attribution, "rmsnorm.py");
    let functions: Vec<&str> = found.iter().map(|(name, ..)| &**name).collect();
    assert_eq!(functions, ["rmsnorm", "rmsnorm_oneliner"], "the fused one launches another op");
    assert_eq!((found[0].1, found[0].2), (found[1].1, found[1].2));
    let file =
        attribution.files.iter().find(|file| &*file.key.relative == "rmsnorm.py").expect("it has some");
    let naive = &file.candidates[0];
    let lines: Vec<u32> = naive.lines.iter().map(|&(line, ..)| line).collect();
    assert_eq!(lines, [6, 7, 8, 9, 10, 11]);
    assert!(naive.rivals >= 1, "the one-liner reads the same");
    // Device time by line is that of the same program with stacks.
    let device: Vec<_> = naive.lines.iter().map(|&(_, _, cost)| (cost.device_ns + 5) / 10).collect();
    assert_eq!(device, [1014, 605, 401, 401, 810, 861]);
    assert!(attribution.charges.iter().all(|charge| charge.place == Place::None));
    assert_eq!(attribution.unattributed, attribution.totals);
    assert_eq!(attribution.totals.device_ns, profile.device_total_ns());
}

#[test]
fn candidates_of_a_model_are_found_through_the_functions_that_they_call() {
    let folder = fixture("attribution/sources");
    let (profile, attribution) =
        score::attribute(&fixture(LM), &folder, Recorded::NoStacks).expect("the fixture is a trace");
    let layers = candidates_of(&attribution, "lm/layers.py");
    for (function, least) in [("_norm", 9), ("rotate_half", 8), ("apply_rope", 4)] {
        let runs = layers.iter().find(|(name, ..)| name == function).map(|&(_, runs, _)| runs);
        assert!(runs.is_some_and(|runs| runs >= least), "{function}: {runs:?}");
    }
    let truth =
        score::bytes(&fixture("attribution/lm/groundtruth.json.gz")).expect("the fixture has its truth");
    let score = candidates::score(&profile, &attribution, &truth).expect("the truth is JSON");
    assert!(score.found >= 400, "{score}");
    let (_, with_stacks) = attributed(LM, true);
    assert!(with_stacks.files.iter().all(|file| file.candidates.is_empty()));
}

/// `(line, direction) → ops` of a file, whatever the precision.
fn ops_by_line(
    (profile, attribution): &(Profile, Attribution),
    name: &str,
    direction: Direction,
) -> BTreeMap<u32, Vec<String>> {
    let mut found: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for charge in attribution.charges.iter().filter(|charge| charge.direction == direction) {
        if let Place::Line { file, line, .. } = charge.place
            && &*attribution.files[file.0 as usize].key.relative == name
        {
            let op = attribution::lines::short_name(profile.name(charge.event));
            found.entry(line).or_default().push(op.to_owned());
        }
    }
    found
}

#[test]
fn a_naive_rms_norm_line_by_line() {
    for version in ["2.9", "2.15"] {
        for trace in ["a_rmsnorm_stack1_shapes1", "a_rmsnorm_stack1_shapes0"] {
            let result = attributed(&format!("traces/tables/torch-{version}/{trace}.json.gz"), true);
            let found = ops_by_line(&result, "rmsnorm.py", Direction::Forward);
            let lines: Vec<_> = found.iter().map(|(&line, ops)| (line, ops[0].as_str(), ops.len())).collect();
            let calls = lines[0].2;
            let expected = [(6, "mul"), (7, "mean"), (8, "add"), (9, "rsqrt"), (10, "mul"), (11, "mul")];
            assert_eq!(lines, expected.map(|(line, op)| (line, op, calls)), "{version} {trace}");
        }
    }
}

#[test]
fn device_time_of_another_backend_is_on_the_lines() {
    let result = attributed("traces/tables/privateuse1/pu1_rmsnorm_stack1_shapes1.json.gz", true);
    let mut device = BTreeMap::new();
    for charge in &result.1.charges {
        if let Place::Line { line, precision, .. } = charge.place {
            assert!(matches!(precision, Precision::Exact | Precision::Aligned));
            *device.entry(line).or_insert(0) += charge.cost.device_ns;
        }
    }
    let rounded: Vec<_> = device.into_iter().map(|(line, ns)| (line, (ns + 5) / 10)).collect();
    assert_eq!(rounded, [(6, 1014), (7, 605), (8, 401), (9, 401), (10, 810), (11, 861)]);
}

#[test]
fn a_training_step_forward_and_backward() {
    let result = attributed("traces/tables/privateuse1/pu1_train.json.gz", true);
    let text = |ops: BTreeMap<u32, Vec<String>>| -> Vec<String> {
        ops.into_iter().map(|(line, ops)| format!("{line} {}", ops.join(" "))).collect()
    };
    assert_eq!(
        text(ops_by_line(&result, "run_pu1_lm.py", Direction::Forward)),
        [
            "18 matmul",
            "19 sigmoid mul",
            "20 matmul",
            "21 add",
            "25 mul mean",
            "26 ones_like",
            "29 mul sub_ mul sub_ mul sub_"
        ]
    );
    assert_eq!(
        text(ops_by_line(&result, "lm/layers.py", Direction::Forward)),
        ["27 rsqrt mul", "28 mul mean add", "33 to type_as", "34 mul"]
    );
    let backward = ops_by_line(&result, "run_pu1_lm.py", Direction::Backward);
    for (line, op) in [
        (18, "MmBackward0"),
        (19, "SigmoidBackward0"),
        (20, "MmBackward0"),
        (21, "AddBackward0"),
        (25, "MeanBackward0"),
    ] {
        assert!(
            backward.get(&line).is_some_and(|ops| ops.iter().any(|seen| seen == op)),
            "{line} {op}: {backward:?}"
        );
    }
    assert_eq!(ops_by_line(&result, "lm/layers.py", Direction::Backward)[&34], ["MulBackward0"]);
}

#[test]
fn the_buckets_add_up() {
    for trace in [LM, "traces/tables/privateuse1/pu1_train.json.gz", "attribution/hard/trace.json.gz"] {
        let (profile, attribution) = attributed(trace, true);
        let mut sum = attribution.unattributed;
        for charge in attribution
            .charges
            .iter()
            .filter(|charge| matches!(charge.place, Place::Line { .. } | Place::Ambiguous { .. }))
        {
            sum += charge.cost;
        }
        for function in attribution.files.iter().flat_map(|file| &file.functions) {
            sum += function.own;
        }
        assert_eq!(sum, attribution.totals, "{trace}");
        assert_eq!(sum.device_ns, profile.device_total_ns(), "{trace}");
    }
}

/// What dynamo made of a function does not follow its text: only the function is known, forward and backward.
#[test]
fn compiled_code_gets_no_lines_of_its_function() {
    for version in ["2.9", "2.15"] {
        for trace in ["eager", "eager_grad", "aot_eager", "aot_eager_grad", "inductor", "inductor_grad"] {
            for with_call_from in [true, false] {
                let path = format!("traces/tables/torch-{version}/c_compile_{trace}.json.gz");
                let (_, attribution) = attributed(&path, with_call_from);
                let on_lines = attribution
                    .charges
                    .iter()
                    .filter(|charge| matches!(charge.place, Place::Line { .. } | Place::Ambiguous { .. }));
                assert_eq!(on_lines.count(), 0, "{path}");
                let function = attribution.files.iter().flat_map(|file| &file.functions).next();
                assert!(function.is_some_and(|f| f.name == "rmsnorm" && f.inclusive.cpu_ns > 0), "{path}");
            }
        }
    }
}

/// The text as it is now, and where a line of the profiled text stands in it.
type Edit = (String, fn(u64) -> u64);

/// Lines added, removed or changed since: what is still claimed must be where the code stands now.
#[test]
fn an_edited_file_is_read_afresh() {
    let original = std::fs::read_to_string(fixture("attribution/sources/hard.py")).expect("hard.py");
    let truth = score::bytes(&fixture("attribution/hard/groundtruth.json.gz")).expect("its truth");
    let edits: [Edit; 3] = [
        (original.lines().skip(2).fold(String::new(), |text, line| text + line + "\n"), |line| line - 2),
        (format!("# new\n# lines\n{original}"), |line| line + 2),
        (original.replacen("    v = t * u\n", "    # in the middle\n    v = t * u\n", 1), |line| {
            if line >= 16 { line + 1 } else { line }
        }),
    ];
    for (text, moved) in edits {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("hard.py"), text).expect("writing the edited file");
        let mut now: serde_json::Value = serde_json::from_slice(&truth).expect("the truth is JSON");
        for entry in now.as_object_mut().expect("an object").values_mut() {
            let line = entry["user"][1].as_u64().expect("a line");
            entry["user"][1] = moved(line).into();
        }
        for with_call_from in [true, false] {
            let trace = fixture("attribution/hard/trace.json.gz");
            let (profile, attribution) = score::attribute(&trace, folder.path(), recorded(with_call_from))
                .expect("the fixture is a trace");
            assert!(attribution.files[0].stale);
            let truth = now.to_string();
            let score =
                score::score(&profile, &attribution, truth.as_bytes(), "user", folder.path()).expect("JSON");
            assert_eq!(score.sure_and_wrong, 0, "{:#?}", score.misses);
            assert!(score.known > 200, "{} {:#?}", score.known, score.misses);
        }
    }
}
