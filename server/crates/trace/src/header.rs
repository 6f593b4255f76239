//! The values that stand beside `traceEvents`.

use serde::Deserialize;

use crate::Header;
use crate::number;
use crate::text;

#[derive(Deserialize)]
struct Distributed {
    rank: Option<i64>,
}

#[derive(Deserialize)]
struct Property {
    name: Option<String>,
}

/// Takes a value of the header by its key (with quotes); what is unknown or of another type is let pass.
pub(crate) fn take(header: &mut Header, key: &str, token: &str) {
    let flag = || match token {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    };
    match key.trim_matches('"') {
        "schemaVersion" => header.schema_version = number::id(token),
        "baseTimeNanoseconds" => header.base_time_ns = text::of(token).and_then(|t| t.trim().parse().ok()),
        "distributedInfo" => {
            header.rank = serde_json::from_str::<Distributed>(token).ok().and_then(|d| d.rank);
        }
        "deviceProperties" => {
            let all: Vec<Property> = serde_json::from_str(token).unwrap_or_default();
            header.device_names = all.into_iter().filter_map(|p| p.name).collect();
        }
        "with_stack" => header.with_stack = flag(),
        "record_shapes" => header.record_shapes = flag(),
        _ => {}
    }
}
