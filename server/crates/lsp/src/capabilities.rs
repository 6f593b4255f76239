//! What this client can do, resolved once into one flat struct.

use lsp_types::{ClientCapabilities, InitializeParams, MarkupKind, ResourceOperationKind};

/// Flat answers to the questions handlers ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent answer of the client")]
pub struct ResolvedClientCapabilities {
    pub code_lens_refresh: bool,
    pub inlay_hint_refresh: bool,
    pub configuration: bool,
    pub configuration_registration: bool,
    pub related_information: bool,
    pub code_description: bool,
    pub code_action_literals: bool,
    pub markdown_hover: bool,
    /// A workspace edit may make files.
    pub file_creation: bool,
    /// The client has the commands that lenses and hovers link to (`initializationOptions.clientCommands`).
    pub client_commands: bool,
}

impl ResolvedClientCapabilities {
    pub fn new(params: &InitializeParams) -> Self {
        let ClientCapabilities { workspace, text_document, .. } = &params.capabilities;
        let workspace = workspace.as_ref();
        let text = text_document.as_ref();
        let diagnostics = text.and_then(|text| text.publish_diagnostics.as_ref());
        let formats = text.and_then(|text| text.hover.as_ref()?.content_format.as_ref());
        let options = params.initialization_options.as_ref();
        Self {
            code_lens_refresh: workspace
                .and_then(|w| w.code_lens.as_ref()?.refresh_support)
                .unwrap_or_default(),
            inlay_hint_refresh: workspace
                .and_then(|w| w.inlay_hint.as_ref()?.refresh_support)
                .unwrap_or_default(),
            configuration: workspace.and_then(|w| w.configuration).unwrap_or_default(),
            configuration_registration: workspace
                .and_then(|w| w.did_change_configuration.as_ref()?.dynamic_registration)
                .unwrap_or_default(),
            related_information: diagnostics.and_then(|d| d.related_information).unwrap_or_default(),
            code_description: diagnostics.and_then(|d| d.code_description_support).unwrap_or_default(),
            code_action_literals: text
                .and_then(|text| text.code_action.as_ref())
                .is_some_and(|action| action.code_action_literal_support.is_some()),
            markdown_hover: formats.is_none_or(|formats| formats.contains(&MarkupKind::Markdown)),
            file_creation: workspace.and_then(|w| w.workspace_edit.as_ref()).is_some_and(|edit| {
                let operations = edit.resource_operations.as_deref().unwrap_or_default();
                edit.document_changes == Some(true) && operations.contains(&ResourceOperationKind::Create)
            }),
            client_commands: options
                .and_then(|options| options.get("clientCommands")?.as_bool())
                .unwrap_or_default(),
        }
    }
}
