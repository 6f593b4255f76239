//! The `atenLens` section: asked of the client where it can be asked, else taken from what the client sends.

use lsp_types::{ConfigurationItem, MessageType};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::Client;

use crate::coordinator::Event;
use crate::logging::{self, LogFile};
use crate::settings::Settings;

/// Where settings come from and where they go.
#[derive(Clone)]
pub struct Configuration {
    pub client: Client,
    pub events: UnboundedSender<Event>,
    pub log_file: LogFile,
}

impl Configuration {
    /// Makes a section take effect; values that are not usable are named in the log.
    pub fn apply(&self, section: &Value) {
        let (settings, wrong) = Settings::read(section);
        let not_opened = logging::open(&self.log_file, settings.log_file.as_deref()).err();
        for line in wrong.into_iter().chain(not_opened) {
            tracing::warn!("{line}");
            let client = self.client.clone();
            tokio::spawn(async move {
                client.show_message(MessageType::WARNING, format!("ATen Lens: {line}")).await;
            });
        }
        // Fails only while the server ends.
        let _ = self.events.send(Event::Settings(settings));
    }

    /// Asks the client for the section. A client may never answer: do not wait for this in a handler, and do not drop it.
    pub async fn pull(self) {
        let item = ConfigurationItem { scope_uri: None, section: Some("atenLens".to_owned()) };
        if let Ok(sections) = self.client.configuration(vec![item]).await
            && let Some(section) = sections.first().filter(|section| section.is_object())
        {
            self.apply(section);
        }
    }
}
