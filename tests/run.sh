#!/usr/bin/env bash
# Runs every check and test there is, and installs what that needs on a Debian machine with Rust and Node.
#   bash tests/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/tools.sh

rust_lints() {
  # Tests may read files and look at the clock, which the pure crates may not: so the bans hold for what is shipped.
  cargo clippy --quiet --locked --workspace --lib --bins -- -D warnings
  cargo clippy --quiet --locked --workspace --all-targets -- -D warnings \
    -A clippy::disallowed-methods -A clippy::disallowed-types
}

extension() { (cd extension && "$@"); }

client_tests() {
  local python="$cache/clients/bin/python"
  [[ -x $python ]] || python3 -m venv "$cache/clients"
  "$python" -m pip install --quiet --disable-pip-version-check --requirement tests/clients/requirements.txt
  "$python" -m pytest -q tests/clients
}

step "tools" install_tools
step "formatting" cargo fmt --all --check
step "fixtures are what their script makes" python3 fixtures/build_traces.py --check
step "recorder" python3 -m unittest discover --quiet --start-directory tests/recorder
step "architecture" node tests/architecture.mjs
step "extension: packages" extension npm ci --no-audit --no-fund
step "extension: lint" extension npm run --silent lint
step "extension: types" extension npm run --silent check
step "extension: unit tests" extension npm test --silent
step "clippy" rust_lints
step "Rust tests" cargo nextest run --locked --workspace --no-tests=pass
step "release build" cargo build --quiet --locked --release
step "VSIX" extension npm run --silent package
step "editor: packages" npm --prefix tests/editor ci --no-audit --no-fund
step "editor: VS Code for the browser" tests/editor/install-code-server.sh "$cache/code-server"
step "editor tests" npm --prefix tests/editor test --silent
step "other clients" client_tests
step "demo" bash extension/demo.sh --browser --no-wait
summary
