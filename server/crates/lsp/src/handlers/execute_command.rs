//! `workspace/executeCommand`.

use std::path::PathBuf;

use capture::AddRecorderError;
use lsp_types::Url;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::coordinator::Event;
use crate::documents::Documents;
use crate::handlers::hover;
use crate::protocol::command;
use crate::snapshot::Snapshot;

/// What a command answers, or one line why it cannot.
pub type Answer = Result<Value, String>;

/// Runs a command of the server. `world` and `documents` are as they are at the call.
pub async fn execute(
    name: &str,
    arguments: &[Value],
    world: &Snapshot,
    documents: &Documents,
    events: &UnboundedSender<Event>,
) -> Answer {
    match name {
        command::REFRESH => tell(events, Event::Refresh),
        command::CLEAR => tell(events, Event::Clear),
        command::TOGGLE_MARKS => {
            let (answer, shown) = oneshot::channel();
            tell(events, Event::Toggle(answer))?;
            shown.await.map(|shown| json!(shown)).map_err(|_| ENDING.to_owned())
        }
        command::SHOW_CAPTURE => {
            let path =
                arguments.first().and_then(Value::as_str).ok_or("ATen Lens: name the trace to show")?;
            let (answer, shown) = oneshot::channel();
            tell(events, Event::Show(PathBuf::from(path), answer))?;
            shown.await.map_err(|_| ENDING.to_owned())?.map(|()| Value::Null)
        }
        command::DESCRIBE => describe(arguments, world, documents),
        command::ADD_RECORDER => add_recorder(arguments, world).await,
        _ => Err(format!("ATen Lens: no command {name}; known are {}", command::ALL.join(", "))),
    }
}

const ENDING: &str = "ATen Lens: the server is ending";

fn tell(events: &UnboundedSender<Event>, event: Event) -> Answer {
    events.send(event).map(|()| Value::Null).map_err(|_| ENDING.to_owned())
}

/// Writes the recorder into the folder named, else into the first of the workspace; answers with its path and its usage. A
/// file of its name that holds something else is an error, unless the client says whether it is to be replaced: then it can
/// ask its user.
async fn add_recorder(arguments: &[Value], world: &Snapshot) -> Answer {
    let named = arguments.first().and_then(Value::as_str).map(PathBuf::from);
    let folder = named.or_else(|| world.folders.first().cloned());
    let folder = folder.ok_or("ATen Lens: open a folder to put the recorder into")?;
    let replace = arguments.get(1).and_then(Value::as_bool);
    let adding = move || capture::add_recorder(&folder, replace.unwrap_or(false));
    let added = tokio::task::spawn_blocking(adding).await.map_err(|_| ENDING.to_owned())?;
    let (path, differs) = match added {
        Ok(path) => (path, false),
        Err(AddRecorderError::Differs(path)) if replace.is_some() => (path, true),
        Err(error) => return Err(error.to_string()),
    };
    Ok(json!({ "path": path.to_string_lossy(), "usage": capture::RECORDER_USAGE, "differs": differs }))
}

/// What a line costs, as a text for clients that have no view of their own.
fn describe(arguments: &[Value], world: &Snapshot, documents: &Documents) -> Answer {
    let uri = arguments.first().and_then(Value::as_str).and_then(|uri| Url::parse(uri).ok());
    let line = arguments.get(1).and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    let (Some(uri), Some(line)) = (uri, line) else {
        return Err("ATen Lens: describe takes a document's URI and a 0-based line".to_owned());
    };
    let document = documents.get(&uri).ok_or_else(|| format!("ATen Lens: {uri} is not open"))?;
    let text = hover::text(world, &document, line, None);
    Ok(json!(text.unwrap_or_else(|| "ATen Lens: nothing is charged to this line.".to_owned())))
}
