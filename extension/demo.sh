#!/usr/bin/env bash
# Builds everything and opens the worked example, RMSNorm, with what each line costs on its lines.
#   bash extension/demo.sh              in VS Code where `code` is on the PATH, else in a VS Code in the browser
#   bash extension/demo.sh --browser    in the browser in any case
#   bash extension/demo.sh --no-wait    only shows that it comes up
# VS Code runs with a profile of its own, which is thrown away: your settings and extensions are not touched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

browser=false wait=true
for argument in "$@"; do
  case $argument in
    --browser) browser=true ;;
    --no-wait) wait=false ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

cache=${ATEN_LENS_CACHE:-$PWD/.cache}
export ATEN_LENS_CACHE="$cache"
own=$(mktemp -d "${TMPDIR:-/tmp}/aten-lens-demo-XXXXXX")
trap 'rm -rf "$own"' EXIT

echo "Building the server…"
cargo build --quiet --locked --release
echo "Building the extension…"
(cd extension && npm ci --silent --no-audit --no-fund && npm run --silent package >"$own/package.log" 2>&1) || {
  cat "$own/package.log" >&2
  exit 1
}
vsix=$(echo extension/aten-lens-*.vsix)
# A copy, so that what you try leaves the fixtures as they are.
cp -r fixtures/projects/rmsnorm "$own/rmsnorm"

if ! $browser && command -v code >/dev/null; then
  profile=(--user-data-dir "$own/user" --extensions-dir "$own/extensions")
  mkdir -p "$own/user/User"
  echo '{ "security.workspace.trust.enabled": false, "workbench.startupEditor": "none" }' >"$own/user/User/settings.json"
  code "${profile[@]}" --install-extension "$vsix" --force
  echo "Opening VS Code; close its window to end the demo."
  if $wait; then
    code "${profile[@]}" --new-window --wait "$own/rmsnorm" "$own/rmsnorm/rmsnorm.py"
  fi
  exit
fi

echo "Fetching a VS Code that runs in the browser (once, about a minute)…"
tests/editor/install-code-server.sh "$cache/code-server"
arguments=("$own" "$PWD/$vsix")
$wait || arguments+=(--no-wait)
node tests/editor/serve.mjs "${arguments[@]}"
