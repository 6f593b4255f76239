//! tower-lsp's trait, method by method. State is changed before the first await, so that messages take effect in order.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability, CodeActionResponse,
    CodeLens, CodeLensOptions, CodeLensParams, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    ExecuteCommandOptions, ExecuteCommandParams, Hover, HoverParams, HoverProviderCapability,
    InitializeParams, InitializeResult, InitializedParams, InlayHint, InlayHintParams, MessageType, OneOf,
    Registration, ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind, Url,
    WorkspaceFolder, WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::{Client, LanguageServer};

use crate::capabilities::ResolvedClientCapabilities;
use crate::configuration::Configuration;
use crate::coordinator::Event;
use crate::documents::{Document, Documents};
use crate::handlers::captures::Summaries;
use crate::handlers::{captures, code_action, code_lens, execute_command, hover, inlay_hint, operators};
use crate::protocol::{Captures, Operators, OperatorsParams, command};
use crate::snapshot::Snapshot;

/// How long to wait for the settings before looking for traces with the defaults.
const CONFIGURATION_WAIT: Duration = Duration::from_secs(1);

/// The server as tower-lsp sees it.
pub struct Backend {
    pub configuration: Configuration,
    pub capabilities: Arc<OnceLock<ResolvedClientCapabilities>>,
    pub documents: Arc<Documents>,
    pub snapshots: watch::Receiver<Arc<Snapshot>>,
    pub events: UnboundedSender<Event>,
    pub folders: OnceLock<Vec<PathBuf>>,
    pub summaries: Arc<Summaries>,
}

impl Backend {
    fn world(&self) -> Arc<Snapshot> {
        self.snapshots.borrow().clone()
    }

    fn capabilities(&self) -> ResolvedClientCapabilities {
        self.capabilities.get().cloned().unwrap_or_default()
    }

    fn document(&self, uri: &Url) -> Option<Arc<Document>> {
        self.documents.get(uri)
    }

    fn tell(&self, event: Event) {
        // Fails only while the server ends.
        let _ = self.events.send(event);
    }

    /// `atenLens/captures`; it has no parameters yet, and takes whatever is sent.
    pub async fn captures(&self, _: Value) -> Result<Captures> {
        let (world, summaries) = (self.world(), self.summaries.clone());
        let listed = tokio::task::spawn_blocking(move || captures::captures(&world, &summaries)).await;
        listed.map_err(|_| Error::internal_error())
    }

    /// `atenLens/operators`.
    pub async fn operators(&self, params: OperatorsParams) -> Result<Operators> {
        let (world, documents) = (self.world(), self.documents.clone());
        let made =
            tokio::task::spawn_blocking(move || operators::operators(&world, &documents, &params)).await;
        made.map_err(|_| Error::internal_error())?.map_err(refused)
    }
}

/// An error that is the user's to read: one line.
fn refused(line: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: line.into(), data: None }
}

/// Asks to be told of changed settings.
async fn register(client: &Client) {
    let registration = Registration {
        id: "atenLens.configuration".to_owned(),
        method: "workspace/didChangeConfiguration".to_owned(),
        register_options: Some(serde_json::json!({ "section": "atenLens" })),
    };
    if let Err(error) = client.register_capability(vec![registration]).await {
        tracing::debug!("the client refused a registration: {error}");
    }
}

fn paths(folders: &[WorkspaceFolder]) -> Vec<PathBuf> {
    folders.iter().filter_map(|folder| folder.uri.to_file_path().ok()).collect()
}

#[tower_lsp::async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let _ = self.capabilities.set(ResolvedClientCapabilities::new(&params));
        let folders = match &params.workspace_folders {
            Some(folders) => paths(folders),
            None => params.root_uri.iter().filter_map(|root| root.to_file_path().ok()).collect(),
        };
        let _ = self.folders.set(folders);
        if let Some(section) =
            params.initialization_options.as_ref().and_then(|options| options.get("settings"))
        {
            self.configuration.apply(section);
        }
        Ok(InitializeResult { capabilities: server_capabilities(), server_info: Some(server_info()) })
    }

    async fn initialized(&self, _: InitializedParams) {
        let capabilities = self.capabilities();
        let start = Event::Start(self.folders.get().cloned().unwrap_or_default());
        let (configuration, events) = (self.configuration.clone(), self.events.clone());
        tokio::spawn(async move {
            if capabilities.configuration {
                // A client that does not answer gets the defaults; its answer still counts when it comes.
                let pull = tokio::spawn(configuration.clone().pull());
                let _ = tokio::time::timeout(CONFIGURATION_WAIT, pull).await;
            }
            let _ = events.send(start);
            if capabilities.configuration_registration {
                register(&configuration.client).await;
            }
        });
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.documents.open(document.uri, document.version, &document.text);
        self.tell(Event::Document);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        self.documents.change(&document.uri, document.version, &params.content_changes);
        self.tell(Event::Document);
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.documents.close(&params.text_document.uri);
        self.tell(Event::Document);
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        if self.capabilities().configuration {
            tokio::spawn(self.configuration.clone().pull());
        } else if let Some(section) = params.settings.get("atenLens") {
            self.configuration.apply(section);
        }
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let (added, removed) = (paths(&params.event.added), paths(&params.event.removed));
        self.tell(Event::Folders { added, removed });
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let at = params.text_document_position_params;
        let Some(document) = self.document(&at.text_document.uri) else { return Ok(None) };
        Ok(hover::hover(&self.world(), &document, at.position, &self.capabilities()))
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let Some(document) = self.document(&params.text_document.uri) else { return Ok(None) };
        Ok(Some(inlay_hint::inlay_hints(&self.world(), &document, params.range)))
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let Some(document) = self.document(&params.text_document.uri) else { return Ok(None) };
        Ok(Some(code_lens::code_lenses(&self.world(), &document, &self.capabilities())))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let Some(document) = self.document(&params.text_document.uri) else { return Ok(None) };
        let capabilities = self.capabilities();
        if !capabilities.code_action_literals {
            return Ok(None);
        }
        let (world, range) = (self.world(), params.range);
        Ok(Some(code_action::code_actions(&world, &document, range, &params.context, &capabilities)))
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let world = self.world();
        let answer = execute_command::execute(
            &params.command,
            &params.arguments,
            &world,
            &self.documents,
            &self.events,
        )
        .await;
        let value = answer.map_err(refused)?;
        if params.command == command::DESCRIBE
            && let Some(text) = value.as_str()
        {
            let (client, text) = (self.configuration.client.clone(), text.to_owned());
            tokio::spawn(async move { client.show_message(MessageType::INFO, text).await });
        }
        Ok(Some(value))
    }
}

fn server_info() -> ServerInfo {
    ServerInfo { name: "ATen Lens".to_owned(), version: Some(env!("CARGO_PKG_VERSION").to_owned()) }
}

fn server_capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: command::ALL.iter().map(ToString::to_string).collect(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}
