# What the scripts share: where things are kept, how a step is reported, what is installed from Debian.

cache=${ATEN_LENS_CACHE:-$PWD/.cache}
mkdir -p "$cache"
export ATEN_LENS_CACHE="$cache"

steps=()

# step NAME COMMAND…: runs it, says how long it took, and ends the script where it fails.
step() {
  local name=$1 from=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  # Not `"$@" || …`, which would switch `set -e` off inside a function that is the command.
  current=$name
  "$@"
  current=
  steps+=("$(printf '%4d s  %s' $((SECONDS - from)) "$name")")
}

trap '[[ -z ${current:-} ]] || printf "\nFAILED: %s\n" "$current" >&2' EXIT

summary() {
  printf '\n== all passed in %d s\n' "$SECONDS"
  printf '%s\n' "${steps[@]}"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

install_tools() {
  local missing=()
  command -v chromium >/dev/null || missing+=(chromium)
  command -v nvim >/dev/null || missing+=(neovim)
  command -v make >/dev/null && command -v g++ >/dev/null || missing+=(build-essential)
  python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
  if ((${#missing[@]} > 0)); then
    echo "installing ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
  command -v cargo-nextest >/dev/null || cargo install --quiet --locked cargo-nextest
}
