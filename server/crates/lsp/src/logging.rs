//! `tracing` to the client's log and, by setting, to a file. Never to stdout, which belongs to the protocol.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use lsp_types::MessageType;
use tokio::sync::mpsc::UnboundedSender;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The optional log file, set when the settings are known.
pub type LogFile = Arc<Mutex<Option<std::fs::File>>>;

/// Installs the layer. Lines for the client go to `lines`; whoever holds the other end sends them.
pub fn install(lines: UnboundedSender<(MessageType, String)>) -> LogFile {
    let file = LogFile::default();
    let layer = ClientLog { lines, file: file.clone() };
    if tracing_subscriber::registry().with(layer).try_init().is_err() {
        // A second server in one process (tests) keeps the first one's subscriber.
    }
    file
}

/// Opens the log file of the settings; the reason why not comes back as one line.
pub fn open(file: &LogFile, path: Option<&str>) -> Result<(), String> {
    let opened = match path {
        None => None,
        Some(path) => Some(
            std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .map_err(|error| format!("atenLens.logFile: {path}: {error}"))?,
        ),
    };
    *file.lock().unwrap_or_else(PoisonError::into_inner) = opened;
    Ok(())
}

struct ClientLog {
    lines: UnboundedSender<(MessageType, String)>,
    file: LogFile,
}

/// The text of a span's or event's fields.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        let _ = if field.name() == "message" {
            write!(self.0, "{value:?}")
        } else {
            write!(self.0, "{}={value:?}", field.name())
        };
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for ClientLog {
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        id: &tracing::span::Id,
        context: Context<'_, S>,
    ) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        // tower-lsp and notify log their own business; what they say below a warning is noise here.
        let ours = metadata.target().starts_with("lsp");
        if *metadata.level() > Level::DEBUG || (!ours && *metadata.level() > Level::WARN) {
            return;
        }
        let mut line = String::new();
        for span in
            context.event_scope(event).into_iter().flat_map(tracing_subscriber::registry::Scope::from_root)
        {
            let extensions = span.extensions();
            let fields = extensions.get::<Fields>().map_or("", |fields| fields.0.as_str());
            let _ = write!(line, "{}{{{fields}}} ", span.name());
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        line.push_str(&fields.0);
        let kind = match *metadata.level() {
            Level::ERROR => MessageType::ERROR,
            Level::WARN => MessageType::WARNING,
            Level::INFO => MessageType::INFO,
            _ => MessageType::LOG,
        };
        if let Some(file) = self.file.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            let _ = writeln!(file, "{:5} {line}", metadata.level().as_str());
        }
        if *metadata.level() <= Level::INFO {
            let _ = self.lines.send((kind, line));
        }
    }
}
