"""Debian's Neovim, without a window, as its user would set it up."""

import json
import pathlib
import shutil
import subprocess

import pytest

from conftest import server


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim(project: pathlib.Path):
    script = pathlib.Path(__file__).with_name("neovim.lua")
    run = subprocess.run(
        ["nvim", "--headless", "--clean", "-n", "-c", f"luafile {script}", str(project / "rmsnorm.py")],
        env={"ATEN_LENS": server(), "PATH": "/usr/bin:/bin", "HOME": str(project.parent)},
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    seen = json.loads((project / "seen.json").read_text())
    assert {finding["code"] for finding in seen["findings"]} >= {"hotspot", "unfused-rms-norm"}
    assert any("2.35 ms NEURON · 6 ops" in title for title in seen["lenses"])
    assert "415 µs" in seen["hover"]
    assert any("torch.rms_norm" in title for title in seen["fixes"])
    assert "    return torch.rms_norm(x, (x.shape[-1],), weight, eps)" in seen["fixed"][:12]
    assert seen["ended"], "the server outlived the editor's `exit`"
