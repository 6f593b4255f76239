"""What the tests of other clients share: the server to run, and a copy of the worked example to run it on."""

import os
import pathlib
import shutil

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def server() -> str:
    """The release build; ATEN_LENS names another."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    binary = pathlib.Path(os.environ.get("ATEN_LENS", target / "release" / "aten-lens"))
    assert binary.exists(), f"{binary} does not exist: run `cargo build --release` first"
    return str(binary)


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    """The RMSNorm project, its naive capture the newest."""
    return pathlib.Path(shutil.copytree(REPOSITORY / "fixtures/projects/rmsnorm", tmp_path / "rmsnorm"))
