//! Device time: where it comes from, whom it belongs to, what the backend is called.

use std::sync::atomic::AtomicBool;

use profile::key_averages::canonical;
use profile::{DeviceKind, DeviceSource, EventId, Join, Profile};
use trace::WarningKind;

fn build(events: &[&str]) -> Profile {
    with_header("", events)
}

fn with_header(header: &str, events: &[&str]) -> Profile {
    let text = format!("{{{header}\"traceEvents\":[{}]}}", events.join(","));
    let trace = trace::read(text.as_bytes(), &AtomicBool::new(false));
    Profile::build(trace.unwrap_or_else(|error| panic!("{error}: {text}")))
}

fn named(profile: &Profile, name: &str) -> EventId {
    profile.ids().find(|&id| profile.name(id) == name).unwrap_or_else(|| panic!("no {name}"))
}

const OP: &str = r#"{"ph":"X","cat":"cpu_op","name":"aten::mul","pid":10,"tid":10,"ts":0,"dur":100,"args":{"External id":5}}"#;
const CALL: &str = r#"{"ph":"X","cat":"privateuse1_runtime","name":"nrt_execute","pid":10,"tid":10,"ts":10,"dur":5,"args":{"External id":5,"correlation":7}}"#;
const KERNEL: &str = r#"{"ph":"X","cat":"kernel","name":"neff_mul","pid":0,"tid":0,"ts":50,"dur":30,"args":{"External id":5,"correlation":7}}"#;
const LABEL: &str = r#"{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"NEURON 0"}}"#;
/// The same work as `KERNEL`, as a stream event of the driver category on the device's process.
const STREAM: &str = r#"{"ph":"X","cat":"privateuse1_driver","name":"aten::mul","pid":0,"tid":0,"ts":50,"dur":30,"args":{"External id":5}}"#;

#[test]
fn the_backend_has_its_own_name() {
    let profile = build(&[OP, CALL, KERNEL, LABEL]);
    let device = profile.device.clone().unwrap_or_else(|| panic!("a device"));
    assert_eq!(
        (device.kind, &*device.name, device.source),
        (DeviceKind::PrivateUse1, "NEURON", DeviceSource::Kernel)
    );
    let amd = with_header(
        r#""deviceProperties":[{"id":0,"name":"AMD Instinct MI300X"}],"#,
        &[&OP.replace("privateuse1", "cuda"), &KERNEL.replace("neff", "k")],
    );
    assert_eq!(amd.device.map(|device| device.kind), Some(DeviceKind::Hip));
}

#[test]
fn without_device_work_there_is_no_device_and_the_reason_is_said() {
    let profile = build(&[OP, CALL, LABEL]);
    assert_eq!(profile.device, None);
    assert!(profile.log.warnings.iter().any(|warning| warning.kind == WarningKind::NoDevice));
    assert_eq!(build(&[OP]).log.warnings, []);
}

#[test]
fn stream_events_on_a_labelled_device_are_device_time() {
    let profile = build(&[OP, CALL, STREAM, LABEL]);
    assert_eq!(profile.device.as_ref().map(|device| device.source), Some(DeviceSource::Stream));
    assert_eq!(profile.device_total_ns(), 30_000);
    assert_eq!(profile.self_device_ns(named(&profile, "aten::mul")), 30_000);
}

#[test]
fn a_driver_event_that_names_a_stream_is_device_time() {
    let event = STREAM.replace(r#""External id":5"#, r#""External id":5,"framework_stream_id":0"#);
    assert_eq!(build(&[OP, CALL, &event]).device_total_ns(), 30_000);
}

#[test]
fn never_a_kernel_and_a_stream_event_for_one_op() {
    let profile = build(&[OP, CALL, KERNEL, STREAM, LABEL]);
    assert_eq!(profile.device_total_ns(), 30_000);
    assert_eq!(profile.device.as_ref().map(|device| device.source), Some(DeviceSource::Kernel));
}

#[test]
fn an_unlabelled_driver_event_is_a_host_call() {
    let profile = build(&[OP, &STREAM.replace(r#""pid":0,"tid":0"#, r#""pid":10,"tid":10"#)]);
    assert_eq!((profile.device_total_ns(), profile.device), (0, None));
}

#[test]
fn a_pid_that_is_a_process_and_a_device_is_no_device_lane() {
    let cpu = r#"{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"CPU"}}"#;
    assert_eq!(build(&[OP, STREAM, LABEL, cpu]).device_total_ns(), 0);
}

#[test]
fn the_two_id_spaces_are_never_joined() {
    // The kernel's correlation is the op's External id, and the other way round.
    let kernel = KERNEL.replace(r#""External id":5,"correlation":7"#, r#""External id":7,"correlation":5"#);
    let profile = build(&[OP, CALL, &kernel]);
    assert_eq!(profile.device_events()[0].join, Join::None);
    assert_eq!(profile.unattributed_device_ns(), 30_000);
}

#[test]
fn a_correlation_written_as_external_id_is_none() {
    // A call outside any op, before the op whose External id equals its correlation.
    let call = CALL.replace(
        r#""ts":10,"dur":5,"args":{"External id":5,"correlation":7"#,
        r#""ts":-9,"dur":5,"args":{"External id":5,"correlation":5"#,
    );
    let kernel = KERNEL.replace(r#""correlation":7"#, r#""correlation":5"#);
    let profile = build(&[OP, &call, &kernel]);
    assert_eq!(profile.device_events()[0].join, Join::Correlation);
    assert_eq!(profile.self_device_ns(named(&profile, "nrt_execute")), 30_000);
    // Within the op the same number is a coincidence.
    let inside = CALL.replace(r#""correlation":7"#, r#""correlation":5"#);
    assert_eq!(build(&[OP, &inside, &kernel]).device_events()[0].join, Join::ExternalId);
}

#[test]
fn a_stream_is_serial() {
    let long = KERNEL.replace(r#""ts":50,"dur":30"#, r#""ts":40,"dur":30"#);
    let profile = build(&[OP, CALL, &long, KERNEL]);
    assert_eq!(profile.device_events()[0].busy_ns, 10_000);
    assert_eq!((profile.device_total_ns(), profile.device_busy_ns), (60_000, 40_000));
    assert!(
        profile.log.warnings.iter().any(|w| w.kind == WarningKind::Overlap && w.message.contains("neff_mul"))
    );
}

#[test]
fn device_work_without_a_time_does_not_stretch_the_window() {
    let profile = build(&[
        r#"{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1700000000000000,"dur":100}"#,
        r#"{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":0}"#,
    ]);
    let window = profile.window().map(|(start, end)| end - start);
    assert_eq!(window, Some(100_000));
}

#[test]
fn nested_ops_of_one_name_count_once_and_keep_their_device_time() {
    let inner = r#"{"ph":"X","cat":"cpu_op","name":"aten::mul","pid":10,"tid":10,"ts":5,"dur":80,"args":{"External id":6}}"#;
    let kernel = KERNEL.replace(r#""External id":5"#, r#""External id":6"#);
    let profile = build(&[OP, inner, CALL, &kernel]);
    let table = canonical(&profile);
    let row = table.rows.iter().find(|row| row.name == "aten::mul").unwrap_or_else(|| panic!("a row"));
    assert_eq!((row.calls, row.self_device_ns, row.device_total_ns), (1, 30_000, 30_000));
    assert_eq!(profile.merged_into(EventId(1)), Some(EventId(0)));
}

#[test]
fn the_last_started_forward_op_of_a_number_is_the_backwards() {
    let op = |name: &str, ts: u32, number: u32, thread: u32| {
        format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{thread},"ts":{ts},"dur":5,"args":{{"Sequence number":{number},"Fwd thread id":{thread}}}}}"#
        )
    };
    let events = [
        op("first", 0, 3, 0),
        op("last", 10, 3, 0),
        op("MulBackward0", 20, 3, 1),
        op("later", 30, 3, 0),
        op("Other", 40, 9, 1),
    ];
    let profile = build(&events.each_ref().map(String::as_str));
    let forward = |name| profile.forward_of(named(&profile, name)).map(|id| profile.name(id));
    assert_eq!(forward("MulBackward0"), Some("last"));
    assert_eq!((forward("Other"), forward("last")), (None, None));
}
