#!/usr/bin/env bash
# Puts a whole VS Code that runs in a browser (code-server) into a folder, from the npm registry alone.
#   install-code-server.sh FOLDER
#
# A plain `npm install code-server` runs install scripts that download archives from elsewhere, so scripts stay off
# and the few native modules VS Code's server really loads are compiled here against the headers of this Node.
set -euo pipefail

# The newest release for Node 20: VS Code 1.100.3.
version=4.100.3
ripgrep_version=1.18.0

folder=$(mkdir -p "${1:?usage: install-code-server.sh FOLDER}" && cd "$1" && pwd)
done_mark="$folder/.complete-$version"
[[ -e $done_mark ]] && exit 0

say() { echo "code-server: $*" >&2; }
npm_quiet() { npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >&2; }

# Half an earlier attempt is worse than none.
find "$folder" -mindepth 1 -delete
cd "$folder"
echo '{"name":"aten-lens-code-server","private":true}' >package.json

say "fetching $version"
npm_quiet --save-exact "code-server@$version" "@vscode/ripgrep-linux-x64@$ripgrep_version"
root="$folder/node_modules/code-server"
vscode="$root/lib/vscode"
(cd "$vscode" && npm_quiet --omit=dev)
(cd "$vscode/extensions" && npm_quiet --omit=dev)

node_gyp="$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")/node_modules/node-gyp/bin/node-gyp.js"
[[ -e $node_gyp ]] || { say "npm carries no node-gyp at $node_gyp"; exit 1; }
# Where the headers of the running Node are: `<prefix>/include/node`.
node_prefix=${NODE_PREFIX:-$(node -p 'require("node:path").dirname(require("node:path").dirname(process.execPath))')}
[[ -e $node_prefix/include/node/node_api.h ]] || { say "no Node headers under $node_prefix/include/node"; exit 1; }

compile() {
  local module=$1 log
  shift
  log="$folder/compile-$(basename "$module").log"
  say "compiling ${module#"$folder"/node_modules/}"
  (cd "$module" && node "$node_gyp" rebuild --nodedir="$node_prefix" --jobs=max "$@") >"$log" 2>&1 || {
    tail -40 "$log" >&2
    exit 1
  }
}
for name in @vscode/spdlog native-watchdog node-pty; do
  compile "$vscode/node_modules/$name"
done
argon2="$folder/node_modules/argon2"
[[ -e $argon2 ]] || argon2="$root/node_modules/argon2"
# argon2 names its output by these three, which its own install script would set.
compile "$argon2" --module_name=argon2 --module_path="$argon2/lib/binding/napi-v3" --napi_version=9 --napi_build_version=3

# What is left of the post-install: three links, and ripgrep for the file search.
cd "$vscode"
ln -sfn node_modules node_modules.asar
ln -sfn code-linux.sh bin/remote-cli/code-server
ln -sfn browser-linux.sh bin/helpers/browser.sh
install -D -m 755 "$folder/node_modules/@vscode/ripgrep-linux-x64/bin/rg" node_modules/@vscode/ripgrep/bin/rg

XDG_CONFIG_HOME="$folder/.config" XDG_DATA_HOME="$folder/.config" node "$root/out/node/entry.js" --version >&2
touch "$done_mark"
