//! The language server: the only crate with tower-lsp and tokio. It listens on nothing but stdio.

mod backend;
mod capabilities;
mod configuration;
mod coordinator;
mod diagnostics;
mod documents;
mod guard;
mod handlers;
mod job;
mod logging;
mod outbox;
mod position;
mod protocol;
mod settings;
mod snapshot;
mod status;
mod watcher;
mod wire;

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, watch};
use tower_lsp::{LspService, Server};

use crate::backend::Backend;
use crate::configuration::Configuration;
use crate::coordinator::Coordinator;
use crate::guard::{Guard, Lifecycle};
use crate::outbox::Outbox;
use crate::snapshot::Snapshot;

/// How many requests are worked on at a time. tower-lsp's default of 4 lets four slow ones hold up a cancel or shutdown.
const CONCURRENCY: usize = 64;

/// Serves one client over stdio until it says `exit` or closes its end.
pub fn serve() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("aten-lens: cannot start: {error}");
            return ExitCode::from(1);
        }
    };
    let status = runtime.block_on(run());
    // Reads and scans still running must not keep the process.
    runtime.shutdown_background();
    ExitCode::from(status)
}

async fn run() -> u8 {
    let lifecycle = Arc::new(Lifecycle::default());
    let (lines, mut logged) = mpsc::unbounded_channel();
    let log_file = logging::install(lines);
    let events = mpsc::unbounded_channel();
    let (writer, snapshots) = watch::channel(Arc::new(Snapshot::default()));
    let service = LspService::build(|client| {
        let (capabilities, documents) = (Arc::new(OnceLock::new()), Arc::default());
        let outbox = Outbox::new(client.clone(), Arc::clone(&capabilities));
        let sender = events.0.clone();
        tokio::spawn(Coordinator::new(events, writer, Arc::clone(&documents), outbox).run());
        let log = client.clone();
        tokio::spawn(async move {
            while let Some((kind, line)) = logged.recv().await {
                log.log_message(kind, line).await;
            }
        });
        Backend {
            configuration: Configuration { client, events: sender.clone(), log_file },
            capabilities,
            documents,
            snapshots,
            events: sender,
            folders: OnceLock::new(),
            summaries: Arc::default(),
        }
    });
    let (service, socket) = service
        .custom_method("atenLens/captures", Backend::captures)
        .custom_method("atenLens/operators", Backend::operators)
        .finish();
    let server = Server::new(wire::filtered(tokio::io::stdin()), tokio::io::stdout(), socket)
        .concurrency_level(CONCURRENCY);
    tokio::select! {
        () = server.serve(Guard::new(service, Arc::clone(&lifecycle))) => {}
        () = lifecycle.exited() => {}
    }
    lifecycle.status()
}
