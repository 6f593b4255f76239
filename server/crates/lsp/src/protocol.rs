//! What the server says beyond plain LSP. `PROTOCOL.md` is the documentation; this is its shape.

use lsp_types::Url;
use lsp_types::notification::Notification;
use serde::{Deserialize, Serialize};

/// Commands of `workspace/executeCommand`.
pub mod command {
    pub const REFRESH: &str = "atenLens.server.refresh";
    pub const TOGGLE_MARKS: &str = "atenLens.server.toggleMarks";
    pub const CLEAR: &str = "atenLens.server.clear";
    pub const SHOW_CAPTURE: &str = "atenLens.server.showCapture";
    pub const DESCRIBE: &str = "atenLens.server.describe";
    pub const ADD_RECORDER: &str = "atenLens.server.addRecorder";
    pub const ALL: [&str; 6] = [REFRESH, TOGGLE_MARKS, CLEAR, SHOW_CAPTURE, DESCRIBE, ADD_RECORDER];
    /// A command of the client, for clients that say they have it.
    pub const OPEN_TRACE: &str = "atenLens.openTrace";
}

/// Answer of `atenLens/captures`.
#[derive(Debug, Serialize)]
pub struct Captures {
    pub captures: Vec<CaptureItem>,
    pub watched: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct CaptureItem {
    pub id: String,
    pub name: String,
    pub path: String,
    pub backend: String,
    pub device: String,
    pub steps: String,
    pub age: String,
    pub shown: bool,
    pub problem: Option<String>,
}

/// Parameters of `atenLens/operators`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorsParams {
    pub capture: Option<String>,
    pub as_torch: bool,
    pub filter: Option<String>,
    pub uri: Option<Url>,
    pub line: Option<u32>,
}

/// Answer of `atenLens/operators`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operators {
    pub capture: String,
    pub title: String,
    pub subtitle: String,
    pub notices: Vec<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    pub sorted_by: String,
    pub selected: Option<usize>,
    pub footer: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Column {
    pub id: String,
    pub label: String,
    pub numeric: bool,
    pub sort: bool,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub cells: Vec<Cell>,
    pub kind: String,
    pub bar: Option<f64>,
    pub location: Option<Location>,
    pub locations: usize,
}

#[derive(Debug, Serialize)]
pub struct Cell {
    pub text: String,
    pub value: Option<f64>,
}

/// A 0-based line of a document.
#[derive(Debug, Serialize)]
pub struct Location {
    pub uri: Url,
    pub line: u32,
}

/// `atenLens/status`.
#[derive(Debug)]
pub enum StatusNotification {}

impl Notification for StatusNotification {
    type Params = Status;
    const METHOD: &'static str = "atenLens/status";
}

/// What a status item shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub state: State,
    pub text: String,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    None,
    Loading,
    Ready,
    Error,
}
