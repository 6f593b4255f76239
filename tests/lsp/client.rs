//! A language client small enough to read, strict enough to catch what editors forgive.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take before a test fails: generous, since it is no measurement.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How this client behaves.
#[derive(Clone)]
pub struct Manner {
    /// The `atenLens` section; `None` leaves `workspace/configuration` without an answer for ever.
    pub settings: Option<Value>,
    /// Answers `workspace/codeLens/refresh` and `workspace/inlayHint/refresh`.
    pub answers_refresh: bool,
    /// Has the commands that lenses link to.
    pub commands: bool,
    /// Makes files that a workspace edit names.
    pub makes_files: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self { settings: Some(json!({})), answers_refresh: true, commands: true, makes_files: true }
    }
}

pub struct Client {
    process: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<Value>,
    manner: Manner,
    next_id: i64,
    /// Notifications of the server not yet looked at.
    pub notices: VecDeque<Value>,
    /// Answers that came before they were waited for.
    answers: Vec<Value>,
    /// Requests of the server, in order.
    pub asked: Vec<String>,
}

impl Client {
    /// A server with nothing said to it yet.
    pub fn spawn(manner: Manner) -> Self {
        Self::run(Command::new(env!("CARGO_BIN_EXE_aten-lens")), manner)
    }

    /// The same by another way to start it.
    pub fn run(mut command: Command, manner: Manner) -> Self {
        let mut process = command
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let (sender, incoming) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read_message(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            process,
            stdin,
            incoming,
            manner,
            next_id: 0,
            notices: VecDeque::new(),
            answers: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// A server of a folder, initialized.
    pub fn start(folder: &Path) -> Self {
        Self::start_with(folder, Manner::default())
    }

    pub fn start_with(folder: &Path, manner: Manner) -> Self {
        let mut client = Self::spawn(manner);
        client.initialize(Some(folder));
        client
    }

    pub fn initialize(&mut self, folder: Option<&Path>) -> Value {
        let operations = if self.manner.makes_files { json!(["create", "rename"]) } else { json!([]) };
        let folders = folder.map(|folder| json!([{ "uri": uri(folder), "name": "workspace" }]));
        let result = self.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": folder.map(uri),
                "workspaceFolders": folders,
                "initializationOptions": { "clientCommands": self.manner.commands },
                "capabilities": {
                    "workspace": {
                        "configuration": true,
                        "workspaceEdit": { "documentChanges": true, "resourceOperations": operations },
                        "codeLens": { "refreshSupport": true },
                        "inlayHint": { "refreshSupport": true },
                    },
                    "textDocument": {
                        "publishDiagnostics": { "relatedInformation": true, "codeDescriptionSupport": true },
                        "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } } },
                        "hover": { "contentFormat": ["markdown"] },
                    },
                },
            }),
        );
        self.notify("initialized", json!({}));
        result.unwrap()
    }

    pub fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its id.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request: its result, or the message of its error.
    pub fn answer(&mut self, id: i64) -> Result<Value, String> {
        let is_it = |message: &Value| message["id"] == json!(id) && message.get("method").is_none();
        let early = self.answers.iter().position(is_it).map(|at| self.answers.remove(at));
        let answer = early.or_else(|| self.next(PATIENCE, is_it));
        let answer = answer.unwrap_or_else(|| panic!("no answer to request {id}"));
        match answer.get("error") {
            Some(error) => Err(error["message"].as_str().unwrap_or_default().to_owned()),
            None => Ok(answer["result"].clone()),
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    pub fn command(&mut self, name: &str, arguments: Value) -> Result<Value, String> {
        self.request("workspace/executeCommand", json!({ "command": name, "arguments": arguments }))
    }

    /// Waits for a notification that fits; others of the same method before it are dropped, the rest kept.
    pub fn wait(&mut self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        while let Some(at) = self.notices.iter().position(|notice| notice["method"] == method) {
            let notice = self.notices.remove(at).unwrap();
            if fits(&notice["params"]) {
                return notice["params"].clone();
            }
        }
        let until = Instant::now() + PATIENCE;
        while let Some(message) =
            self.next(until.saturating_duration_since(Instant::now()), |m| m["method"] == method)
        {
            if fits(&message["params"]) {
                return message["params"].clone();
            }
        }
        panic!("no {method} that fits");
    }

    /// Reads what arrives within a time, for tests that something does not.
    pub fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.next(until.saturating_duration_since(Instant::now()), |_| false).is_some() {}
    }

    /// The next message that is wanted. Notifications passed over are kept, requests answered.
    fn next(&mut self, time: Duration, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let until = Instant::now() + time;
        loop {
            match self.incoming.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
                        self.asked.push(method.to_owned());
                        self.reply(method, id);
                    } else if wanted(&message) {
                        return Some(message);
                    } else if message.get("method").is_some() {
                        self.notices.push_back(message);
                    } else {
                        self.answers.push(message);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn reply(&mut self, method: &str, id: &Value) {
        let result = match method {
            "workspace/configuration" => match &self.manner.settings {
                Some(settings) => json!([settings]),
                None => return,
            },
            "workspace/codeLens/refresh" | "workspace/inlayHint/refresh" if !self.manner.answers_refresh => {
                return;
            }
            _ => Value::Null,
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub fn set_settings(&mut self, settings: Value) {
        self.manner.settings = Some(settings);
        self.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    }

    pub fn open(&mut self, path: &Path) -> String {
        let text = std::fs::read_to_string(path).unwrap();
        self.open_text(path, &text)
    }

    pub fn open_text(&mut self, path: &Path, text: &str) -> String {
        let uri = uri(path);
        let document = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        uri
    }

    pub fn change(&mut self, uri: &str, version: i64, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// `(line, text)` of the inlay hints of a document.
    pub fn hints(&mut self, uri: &str) -> Vec<(u64, String)> {
        let range =
            json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 100_000, "character": 0 } });
        let hints =
            self.request("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range }));
        let hint = |hint: &Value| {
            (hint["position"]["line"].as_u64().unwrap(), hint["label"].as_str().unwrap().to_owned())
        };
        hints.unwrap().as_array().map(|hints| hints.iter().map(hint).collect()).unwrap_or_default()
    }

    /// `(line, title)` of the code lenses of a document.
    pub fn lenses(&mut self, uri: &str) -> Vec<(u64, String)> {
        let lenses =
            self.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } })).unwrap();
        let lens = |lens: &Value| {
            (
                lens["range"]["start"]["line"].as_u64().unwrap(),
                lens["command"]["title"].as_str().unwrap().to_owned(),
            )
        };
        lenses.as_array().map(|lenses| lenses.iter().map(lens).collect()).unwrap_or_default()
    }

    pub fn hover(&mut self, uri: &str, line: u64) -> Option<String> {
        let at = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": 4 } });
        let hover = self.request("textDocument/hover", at).unwrap();
        hover["contents"]["value"].as_str().map(ToOwned::to_owned)
    }

    pub fn code_actions(&mut self, uri: &str, line: u64) -> Vec<Value> {
        let at = json!({ "line": line, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri },
            "range": { "start": at, "end": at },
            "context": { "diagnostics": [] },
        });
        self.request("textDocument/codeAction", params).unwrap().as_array().cloned().unwrap_or_default()
    }

    /// Waits until a trace is shown whose status text fits.
    pub fn ready(&mut self) -> Value {
        self.wait("atenLens/status", |status| status["state"] == "ready")
    }

    /// The operators table: each row's cells by their columns' ids.
    pub fn operators(&mut self) -> Vec<HashMap<String, String>> {
        let table = self.request("atenLens/operators", json!({ "capture": null, "asTorch": false })).unwrap();
        let texts = |cells: &Value, key: &str| -> Vec<String> {
            cells.as_array().unwrap().iter().map(|cell| cell[key].as_str().unwrap().to_owned()).collect()
        };
        let columns = texts(&table["columns"], "id");
        let row = |row: &Value| columns.iter().cloned().zip(texts(&row["cells"], "text")).collect();
        table["rows"].as_array().unwrap().iter().map(row).collect()
    }

    /// Says goodbye as the specification has it.
    pub fn end(mut self) -> ExitStatus {
        self.request("shutdown", Value::Null).unwrap();
        self.notify("exit", Value::Null);
        self.exit_status()
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the process to end.
    pub fn exit_status(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The `file:` URI of a path, percent-encoded where an editor would.
pub fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.to_str().unwrap().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(byte as char);
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

fn read_message(from: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse().ok();
        }
    }
    let mut body = vec![0; length?];
    from.read_exact(&mut body).ok()?;
    // Whatever is not a message on stdout is a fault of the server.
    Some(serde_json::from_slice(&body).expect("only messages on stdout"))
}
