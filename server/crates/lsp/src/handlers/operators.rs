//! `atenLens/operators`: the operators table of the capture shown.

use ide::FileId;
use lsp_types::Url;

use crate::documents::Documents;
use crate::protocol::{Cell, Column, Location, Operators, OperatorsParams, Row};
use crate::snapshot::{Shown, Snapshot};

/// The table, or one line why there is none.
pub fn operators(
    world: &Snapshot,
    documents: &Documents,
    params: &OperatorsParams,
) -> Result<Operators, String> {
    let Some(shown) = world.shown.as_deref() else {
        let why = world.status.detail.lines().next().unwrap_or("Nothing is shown yet.");
        return Err(format!("ATen Lens: {why}"));
    };
    let id = shown.capture.path.display().to_string();
    if params.capture.as_ref().is_some_and(|wanted| *wanted != id) {
        return Err(
            "ATen Lens: that capture is not the one shown; run atenLens.server.showCapture first".to_owned()
        );
    }
    let table = ide::operators::operators(&shown.analysis, params.as_torch);
    let asked = asked_line(shown, documents, params);
    let selected =
        asked.and_then(|(file, line)| ide::operators::row_of_line(&shown.analysis, &table, file, line));
    Ok(Operators {
        capture: id,
        title: shown.capture.name.clone(),
        subtitle: format!("{} · {}", shown.analysis.summary(), table.rules),
        notices: shown.analysis.notices(),
        columns: table.columns.iter().map(column).collect(),
        rows: table.rows.into_iter().map(|row| self::row(shown, documents, row)).collect(),
        sorted_by: table.sorted_by.to_owned(),
        selected,
        footer: table.footer,
    })
}

fn column(column: &ide::operators::Column) -> Column {
    Column { id: column.id.to_owned(), label: column.label.clone(), numeric: column.numeric, sort: true }
}

fn row(shown: &Shown, documents: &Documents, row: ide::operators::OperatorRow) -> Row {
    Row {
        cells: row.cells.into_iter().map(|cell| Cell { text: cell.text, value: cell.value }).collect(),
        kind: row.kind.as_str().to_owned(),
        bar: row.bar,
        location: row.location.and_then(|(file, line)| location(shown, documents, file, line)),
        locations: row.locations,
    }
}

/// Where a 1-based line of the attributed text is now.
fn location(shown: &Shown, documents: &Documents, file: FileId, line: u32) -> Option<Location> {
    let costs = shown.analysis.file(file);
    let path = shown.path(file);
    match documents.of_path(path).into_iter().next() {
        Some(document) => {
            let line = document.map_from(&costs.text).line(line - 1)?;
            Some(Location { uri: document.uri.clone(), line })
        }
        None => Some(Location { uri: Url::from_file_path(path).ok()?, line: line - 1 }),
    }
}

/// The analysed line that the parameters ask about.
fn asked_line(shown: &Shown, documents: &Documents, params: &OperatorsParams) -> Option<(FileId, u32)> {
    let document = documents.get(params.uri.as_ref()?)?;
    let file = *shown.files.get(document.path.as_ref()?)?;
    let origin = document.map_from(&shown.analysis.file(file).text).origin(params.line?)?;
    Some((file, origin + 1))
}
