"""The server as clients other than ours see it, through the capabilities those announce."""

import asyncio

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from conftest import server

#: What each line of the naive variant costs, by its number from 0.
COSTS = {5: "402 µs", 6: "341 µs", 7: "435 µs", 8: "415 µs", 9: "379 µs", 10: "384 µs"}


#: What the server may ask of a client that announced it.
ASKED = [
    types.CLIENT_REGISTER_CAPABILITY,
    types.WORKSPACE_CODE_LENS_REFRESH,
    types.WORKSPACE_INLAY_HINT_REFRESH,
]


def answer_everything(client: LanguageClient):
    """The test client knows no request by itself; an editor answers these with nothing."""
    for method in ASKED:

        @client.feature(method)
        def _(*_):
            return None


@pytest_lsp.fixture(
    params=["visual-studio-code", "neovim"],
    config=ClientServerConfig(server_command=[server(), "lsp"]),
)
async def client(request, project, lsp_client: LanguageClient):
    answer_everything(lsp_client)
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(request.param),
            root_uri=project.as_uri(),
            workspace_folders=[types.WorkspaceFolder(uri=project.as_uri(), name="rmsnorm")],
        )
    )
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
async def uri(client: LanguageClient, project) -> str:
    """The project's file, open, with its findings published."""
    file = project / "rmsnorm.py"
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            text_document=types.TextDocumentItem(
                uri=file.as_uri(), language_id="python", version=1, text=file.read_text()
            )
        )
    )
    deadline = asyncio.get_running_loop().time() + 15
    while not client.diagnostics.get(file.as_uri()):
        assert asyncio.get_running_loop().time() < deadline, "no findings within 15 s"
        await asyncio.sleep(0.05)
    return file.as_uri()


async def test_findings(client: LanguageClient, uri: str):
    findings = client.diagnostics[uri]
    codes = {finding.code for finding in findings}
    assert {"hotspot", "unfused-rms-norm"} <= codes
    assert {finding.severity for finding in findings} == {types.DiagnosticSeverity.Information}
    hottest = min((f for f in findings if f.code == "hotspot"), key=lambda f: f.message)
    assert hottest.range.start.line == 7
    assert "435 µs NEURON" in hottest.message


async def test_lenses_are_on_definitions(client: LanguageClient, uri: str):
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    titles = {lens.range.start.line: lens.command.title for lens in lenses}
    assert "2.35 ms NEURON · 6 ops" in titles[3]
    # A client without our commands gets one the server runs itself.
    assert {lens.command.command for lens in lenses} == {"atenLens.server.describe"}
    lens = next(lens for lens in lenses if lens.range.start.line == 3)
    text = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(lens.command.command, arguments=lens.command.arguments)
    )
    assert "NEURON" in text


async def test_hints(client: LanguageClient, uri: str):
    everything = types.Range(types.Position(0, 0), types.Position(40, 0))
    hints = await client.text_document_inlay_hint_async(
        types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
    )
    labels = {hint.position.line: hint.label for hint in hints}
    assert labels.keys() == COSTS.keys()
    for line, cost in COSTS.items():
        assert cost in labels[line]
        assert len(labels[line]) <= 43


async def test_hover(client: LanguageClient, uri: str):
    hover = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(8, 10))
    )
    assert "rsqrt" in hover.contents.value and "415 µs" in hover.contents.value
    assert "command:" not in hover.contents.value
    nothing = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(1, 0))
    )
    assert nothing is None


async def test_quick_fix(client: LanguageClient, uri: str):
    name = types.Range(types.Position(3, 4), types.Position(3, 4))
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            name,
            types.CodeActionContext(diagnostics=client.diagnostics[uri]),
        )
    )
    fixes = [action for action in actions if "torch.rms_norm" in action.title]
    assert len(fixes) == 1
    edits = fixes[0].edit.changes[uri]
    assert any("torch.rms_norm(x, (x.shape[-1],), weight, eps)" in edit.new_text for edit in edits)


async def test_an_edit_moves_the_hints(client: LanguageClient, uri: str):
    start = types.Range(types.Position(2, 0), types.Position(2, 0))
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangePartial(text="# äöü 🔥\n", range=start)],
        )
    )
    everything = types.Range(types.Position(0, 0), types.Position(40, 0))
    hints = await client.text_document_inlay_hint_async(
        types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
    )
    assert {hint.position.line for hint in hints} == {line + 1 for line in COSTS}
