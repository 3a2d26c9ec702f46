#!/usr/bin/env bash
# Makes the private environment that `make demo` and `make test` run in, or says in one line why it can't.
#   DIORAMA_VENV  its folder (.venv)     PYTHON  the Python 3.11 to make it from
# Exit codes: 0 ready; 2 something is missing that this script may not install; 1 an installation failed.
# A virtual environment can't be moved, so it is made in its place; a stamp written last says that it is whole.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
venv=${DIORAMA_VENV:-.venv}
lock=requirements-dev.lock
mark=$venv/diorama-setup # exists: this folder is ours to remove; holds the wanted stamp: it is whole

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# Two calls at once would install into each other. The kernel lets go of the lock when this process and what it started
# end, however they end. The folder itself is locked, since git may put another file into a file's place.
if command -v flock >/dev/null; then
  exec 9<"$root"
  flock --nonblock 9 || { say "waiting for another set-up of this folder"; flock 9; }
fi

# Library that bpy loads -> Debian package that has it. A bare Debian 12 needs these and no others.
system_libraries="libX11.so.6:libx11-6 libXrender.so.1:libxrender1 libXfixes.so.3:libxfixes3 libXi.so.6:libxi6
  libxkbcommon.so.0:libxkbcommon0 libSM.so.6:libsm6 libGL.so.1:libgl1"

find_python() { # prints the interpreter itself, not the environment's link to it that may be about to go
  local name
  for name in ${PYTHON:-python3.11 python3 python}; do
    if "$name" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      "$name" -c 'import sys; print(sys._base_executable)'
      return
    fi
  done
  return 1
}

# Loading says more than looking for a file: it follows the loader's own paths.
missing_libraries() { # missing_libraries PYTHON: prints library:package for each that can't be loaded
  "$1" - $system_libraries <<'PROBE'
import ctypes, sys
if sys.platform == "linux":
    for pair in sys.argv[1:]:
        try:
            ctypes.CDLL(pair.split(":")[0])
        except OSError:
            print(pair)
PROBE
}

need_system_packages() { # installs what is missing where that is allowed, else says the command
  local missing=$1 packages libraries command
  packages=$(sed 's/.*://' <<<"$missing" | paste -sd ' ' -)
  libraries=$(sed 's/:.*//' <<<"$missing" | paste -sd ' ' -)
  command="apt-get install -y --no-install-recommends $packages"
  if ! command -v apt-get >/dev/null; then
    fail "missing: $libraries. Install them with this system's package manager (on Debian: $packages), then run this again."
  elif [[ $(id -u) -ne 0 ]]; then
    fail "missing: $libraries. Run:  sudo apt-get update && sudo $command  then run this again."
  fi
  say "installing system packages: $packages"
  export DEBIAN_FRONTEND=noninteractive
  if ! { apt-get update -qq && $command -qq; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "apt-get failed (above). Try by hand:  apt-get update && $command"
    exit 1
  fi
}

is_whole() { [[ -e $mark && $(sed -n 1p "$mark") == "$stamp" ]] && "$venv/bin/python" -c "" 2>/dev/null; }

# Renamed first: a folder half removed would have lost its mark and look like somebody else's.
remove_venv() {
  rm -rf "$venv.tmp"
  if [[ -e $venv ]]; then mv "$venv" "$venv.tmp"; fi
  rm -rf "$venv.tmp"
}

pip_install() { # pip_install WHAT [argument of pip...]
  local what=$1
  shift
  if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "installing $what failed (above)"
    exit 1
  fi
}

make_venv() {
  local python=$1
  if [[ -d $venv ]]; then rmdir "$venv" 2>/dev/null || true; fi
  if [[ -e $venv && ! -e $mark ]]; then
    fail "$venv is there but was not made by this script. Move it away, or name another folder: DIORAMA_VENV=FOLDER"
  fi
  say "making $venv with $python and $(grep -c '^[a-z].*==' "$lock") locked packages" \
    "(0.6 GB to fetch, 1.8 GB on disk; some minutes)"
  unfinished=1
  remove_venv
  mkdir -p "$venv"
  echo "unfinished" >"$mark"
  "$python" -m venv "$venv"
  # Wheels alone: compiling a package half-way through on a machine without a compiler helps nobody.
  pip_install "the locked packages" --only-binary :all: --require-hashes -r "$lock"
  echo "$stamp" >"$mark"
  unfinished=""
}

clean_up() {
  rm -f "$log"
  if [[ -n $unfinished ]]; then remove_venv; fi
}

log=$(mktemp)
unfinished=""
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# An environment made elsewhere, or from another lock, is not this one.
stamp="$(cksum <"$lock") $root"
if is_whole; then
  python=$venv/bin/python
else
  python=$(find_python) || fail "no Python 3.11 found (bpy 4.5 runs on no other). On Debian 12: apt-get install" \
    "python3.11 python3.11-venv; elsewhere: uv python install 3.11, or pyenv. PYTHON=/path/to/python3.11 names one."
  "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python can't make environments. On Debian 12: apt-get install python3.11-venv"
fi

missing=$(missing_libraries "$python")
if [[ -n $missing ]]; then
  need_system_packages "$missing"
  missing=$(missing_libraries "$python")
  if [[ -n $missing ]]; then fail "still missing after the installation: $(paste -sd ' ' - <<<"$missing")"; fi
fi

is_whole || make_venv "$python"

# Commands and version come from these two files; the code itself is used in place.
package=$(cat pyproject.toml render/__init__.py | cksum)
if [[ $(sed -n 2p "$mark") != "$package" ]]; then
  pip_install "Diorama itself" --no-deps --no-build-isolation --editable .
  printf '%s\n%s\n' "$stamp" "$package" >"$mark"
  say "$venv is ready"
fi
