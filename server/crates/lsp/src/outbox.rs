//! What goes to the client unasked. Diagnostics are sent only where they changed. Everything is queued for one task that
//! sends in order, so nobody waits for a slow client; requests to the client are spawned and never timed out or dropped
//! (a late answer to a dropped one would end the transport).

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

use lsp_types::{Diagnostic, MessageType, Url};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::Client;

use crate::capabilities::ResolvedClientCapabilities;
use crate::diagnostics;
use crate::documents::Documents;
use crate::protocol::{Status, StatusNotification};
use crate::snapshot::Snapshot;

enum Outgoing {
    Diagnostics(Url, Vec<Diagnostic>, Option<i32>),
    Status(Status),
    Message(MessageType, String),
}

/// The client, and what it was last told.
pub struct Outbox {
    client: Client,
    capabilities: Arc<OnceLock<ResolvedClientCapabilities>>,
    queue: UnboundedSender<Outgoing>,
    published: BTreeMap<Url, Vec<Diagnostic>>,
    said: HashSet<String>,
    status: Option<Status>,
}

impl Outbox {
    pub fn new(client: Client, capabilities: Arc<OnceLock<ResolvedClientCapabilities>>) -> Self {
        let (queue, waiting) = unbounded_channel();
        tokio::spawn(send(client.clone(), waiting));
        Self { client, capabilities, queue, published: BTreeMap::new(), said: HashSet::new(), status: None }
    }

    /// Brings the client's diagnostics up to date with the world.
    pub fn publish(&mut self, world: &Snapshot, documents: &Documents) {
        let Some(capabilities) = self.capabilities.get() else { return };
        let mut wanted = diagnostics::all(world, documents, capabilities);
        for uri in self.published.keys() {
            wanted.entry(uri.clone()).or_default();
        }
        for (uri, diagnostics) in wanted {
            if self.published.get(&uri).map_or(&[][..], Vec::as_slice) == diagnostics {
                continue;
            }
            if diagnostics.is_empty() {
                self.published.remove(&uri);
            } else {
                self.published.insert(uri.clone(), diagnostics.clone());
            }
            let version = documents.get(&uri).map(|document| document.version);
            let _ = self.queue.send(Outgoing::Diagnostics(uri, diagnostics, version));
        }
    }

    /// Asks the client to ask again for lenses and hints.
    pub fn refresh(&self) {
        let Some(capabilities) = self.capabilities.get() else { return };
        if capabilities.code_lens_refresh {
            let client = self.client.clone();
            tokio::spawn(async move { client.code_lens_refresh().await });
        }
        if capabilities.inlay_hint_refresh {
            let client = self.client.clone();
            tokio::spawn(async move { client.inlay_hint_refresh().await });
        }
    }

    /// Tells the state for a status item, if it is another than the last told.
    pub fn status(&mut self, status: &Status) {
        // Others have no place for it and would only log that they do not know it.
        let wanted = self.capabilities.get().is_some_and(|client| client.client_commands);
        if wanted && self.status.as_ref() != Some(status) {
            self.status = Some(status.clone());
            let _ = self.queue.send(Outgoing::Status(status.clone()));
        }
    }

    /// Shows a message, once in the server's life.
    pub fn say_once(&mut self, kind: MessageType, text: &str) {
        if self.said.insert(text.to_owned()) {
            let _ = self.queue.send(Outgoing::Message(kind, text.to_owned()));
        }
    }
}

async fn send(client: Client, mut waiting: UnboundedReceiver<Outgoing>) {
    while let Some(outgoing) = waiting.recv().await {
        match outgoing {
            Outgoing::Diagnostics(uri, diagnostics, version) => {
                client.publish_diagnostics(uri, diagnostics, version).await;
            }
            Outgoing::Status(status) => client.send_notification::<StatusNotification>(status).await,
            Outgoing::Message(kind, text) => client.show_message(kind, text).await,
        }
    }
}
