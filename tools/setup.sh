#!/usr/bin/env bash
# Makes the private environment that `make demo` and `make test` run in, or says in one line why it can't. With the
# argument `readers`, makes that of `make test-all`: .venv-readers also has other people's readers, PyTorch, axe-core,
# a server for stores on S3, and evaluation harnesses (each in an environment inside), and Chromium is installed.
#   DIORAMA_VENV  its folder (.venv)     PYTHON  the Python to make it from: 3.11 (Blender 4.5) or 3.13 (Blender 5.2)
# Where uv is on the PATH, it makes the environment, and fetches Python 3.11 if there is none.
# Exit codes: 0 ready; 2 something is missing that this script may not install; 1 an installation failed.
# A virtual environment can't be moved, so it is made in its place; a stamp written last says that it is whole.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
readers=${1:-}
case $readers in
  "") venv=${DIORAMA_VENV:-.venv} lock=tools/locks/dev.lock sizes="0.6 GB to fetch, 1.8 GB on disk" most=2400 ;;
  readers) venv=.venv-readers lock=tools/locks/readers.lock sizes="1.6 GB to fetch, 4.8 GB on disk" most=3200 ;;
  *) echo "setup: unknown environment '$readers'; there are: readers, and that without a name" >&2; exit 2 ;;
esac
mark=$venv/diorama-setup # exists: this folder is ours to remove; holds the wanted stamp: it is whole

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# They make the folders subpackages of `diorama`. git checks them out as files where core.symlinks is false.
for name in render scene_specs assets; do
  if [[ ! -L diorama/$name ]]; then
    rm -f "diorama/$name"
    ln -s "../$name" "diorama/$name" || fail "diorama/$name must be a link to ../$name. Clone to a file system with symbolic links"
  fi
done

# Two calls at once would install into each other. The kernel lets go of the lock when this process and what it started
# end, however they end. The folder itself is locked, since git may put another file into a file's place.
if command -v flock >/dev/null; then
  exec 9<"$root"
  flock --nonblock 9 || { say "waiting for another set-up of this folder"; flock 9; }
fi

# Library that bpy loads -> Debian package that has it. A bare Debian 12 or 13 needs these and no others.
system_libraries="libX11.so.6:libx11-6 libXrender.so.1:libxrender1 libXfixes.so.3:libxfixes3 libXi.so.6:libxi6
  libxkbcommon.so.0:libxkbcommon0 libSM.so.6:libsm6 libGL.so.1:libgl1"

find_python() { # prints the interpreter itself, not the environment's link to it that may be about to go
  local name
  for name in ${PYTHON:-python3.11 python3.13 python3 python}; do
    if "$name" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))' 2>/dev/null; then
      "$name" -c 'import sys; print(sys._base_executable)'
      return
    fi
  done
  return 1
}

# Sets `python` to one that uv fetches, or says how to get one.
fetch_python() {
  if [[ -n ${PYTHON:-} || -z $uv ]]; then
    fail "no Python 3.11 or 3.13 found${PYTHON:+ at $PYTHON} (Blender runs on no other). $(python_advice)"
  fi
  say "fetching Python 3.11 with uv (30 MB)"
  "$uv" python install 3.11 || { say "uv could not fetch Python 3.11 (above)"; exit 1; }
  python=$("$uv" python find 3.11)
}

python_advice() {
  local sudo="" name=""
  case $(grep -s '^VERSION_CODENAME=' /etc/os-release) in
    *=bookworm) name=python3.11 ;;
    *=trixie) name=python3.13 ;;
  esac
  if [[ $(id -u) -ne 0 ]]; then sudo="sudo "; fi
  if ! command -v apt-get >/dev/null; then
    echo "Install uv, which brings one (https://docs.astral.sh/uv/), then run this again. README.md lists systems."
  elif [[ -n $name ]]; then
    echo "Run:  ${sudo}apt-get update && ${sudo}apt-get install -y $name $name-venv  then run this again."
  else
    echo "uv brings one. Run:  ${sudo}apt-get update && ${sudo}apt-get install -y pipx && pipx install uv &&" \
      "PATH=~/.local/bin:\$PATH make demo"
  fi
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

# Debian has the part of Python that makes environments in a package of its own. uv needs no such part.
missing_parts() { # missing_parts PYTHON: library:package or module:package for each that is missing
  missing_libraries "$1"
  if [[ -z $uv ]] && ! is_whole && ! "$1" -c 'import ensurepip, venv' 2>/dev/null; then
    "$1" -c 'import sys; print("ensurepip:python%d.%d-venv" % sys.version_info[:2])'
  fi
  if [[ -n $readers ]]; then
    command -v "${DIORAMA_CHROMIUM:-chromium}" google-chrome >/dev/null || echo "chromium:chromium"
    is_whole || command -v npm >/dev/null || echo "npm:npm"
  fi
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

# pip prints hundreds of lines and then installs for a minute without one; the growth of the folder says more. Here in
# the folder, so that downloads count. In the background, so that this script can report and can end it.
pip_with_progress() {
  local temporary seconds=0 size folder=${into:-$venv}
  mkdir -p "$folder/tmp"
  temporary=$(cd "$folder/tmp" && pwd -P)
  TMPDIR=$temporary "$folder/bin/python" -m pip install --disable-pip-version-check --no-input "$@" >"$log" 2>&1 &
  installer=$!
  while sleep 1; kill -0 "$installer" 2>/dev/null; do
    seconds=$((seconds + 1))
    if [[ $((seconds % 10)) -eq 0 ]]; then
      size=$(du -sm "$folder" 2>/dev/null | cut -f 1) || true # files come and go
      say "  ${seconds} s: ${size} MB of about $most (downloads included)"
    fi
  done
  wait "$installer" || { installer=""; rm -rf "$folder/tmp"; tail -n 20 "$log" >&2; return 1; }
  installer=""
  rm -rf "$folder/tmp"
}

# `into` names another environment than $venv, which clean_up removes when it fails: an assignment in front of a function
# holds in the trap, too.
install() { # install WHAT [argument of pip...]
  local what=$1
  shift
  if [[ -n $uv ]]; then # shows its own progress
    "$uv" pip install --python "${into:-$venv}/bin/python" "$@" && return
  else
    pip_with_progress "$@" && return
  fi
  say "installing $what failed (above)"
  exit 1
}

new_venv() { # new_venv FOLDER PYTHON
  if [[ -n $uv ]]; then
    # The mark is in the folder already. With pip, for whoever has no uv on the PATH later.
    "$uv" venv --quiet --allow-existing --seed --python "$2" "$1"
  else
    "$2" -m venv "$1"
  fi
}

make_venv() {
  local python=$1 other=""
  if [[ -z $readers ]]; then other=", or name another folder: DIORAMA_VENV=FOLDER"; fi
  if [[ -d $venv ]]; then rmdir "$venv" 2>/dev/null || true; fi
  if [[ -e $venv && ! -e $mark ]]; then
    fail "$venv is there but was not made by this script. Move it away$other"
  fi
  say "making $venv with $python and $(grep -c '^[a-z].*==' "$lock") locked packages" \
    "($sizes; some minutes)"
  unfinished=1
  remove_venv
  mkdir -p "$venv"
  echo "unfinished" >"$mark"
  new_venv "$venv" "$python"
  if [[ -n $readers ]]; then fetch_axe; fi
  # Wheels alone: compiling a package half-way through on a machine without a compiler helps nobody.
  install "the locked packages" --only-binary :all: --require-hashes -r "$lock"
  if [[ -n $readers ]]; then add_readers; fi
  echo "$stamp" >"$mark"
  unfinished=""
}

# What no lock can name: axe-core is not a Python package, and builds of PyTorch differ from index to index.
axe=axe-core@4.14.1
axe_sha256=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
torch=torch==2.13.0
# PyPI's wheels for Linux (x86-64, ARM) and macOS, for Python 3.11 and 3.13, and PyTorch's own for the CPU (x86-64, 3.11).
torch_lock="$torch --hash=sha256:60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7 \
  --hash=sha256:092790c696a760c729fd5722835f50b9d81fd7c8f141571f3f3cf4081a8f664c \
  --hash=sha256:e76f9bcecc52b8ff711239a2f7547d5353df95878ab232f0773c1d95928b92f8 \
  --hash=sha256:a3a9a21312872af8a26950b2c15680335a386a1f56ed03e780653d78b9607e9e \
  --hash=sha256:1e09d6a722504957c694faceca843acde562786df1144ebcc5a74075ec7f6005 \
  --hash=sha256:33449899ce5496c1b84b4853179d94fd102028ae1407314d9fb956bb79e70d09 \
  --hash=sha256:6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b
sympy==1.14.0 --hash=sha256:e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5
mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"
# Older releases of `datasets`, which people have. The newest is that of the harness, which has what these need.
datasets="datasets==2.21.0 --hash=sha256:25e4e097110ce28824b746a107727ada94024cba11db8bc588d468414692b65a
datasets==3.6.0 --hash=sha256:25000c4a2c0873a710df127d08a202a06eab7bf42441a6bc278b499c2f72cd1b
datasets==4.8.5 --hash=sha256:5079900781719c0e063a8efdd2cd95a31ad0c63209178669cd23cf1b926149ff"

fetch_axe() {
  local file=$venv/${axe/@/-}.tgz
  npm pack --silent --pack-destination "$venv" "$axe" >"$log" 2>&1 && echo "$axe_sha256  $file" >"$file.sha256" &&
    sha256sum --check --quiet "$file.sha256" >>"$log" 2>&1 && tar -xzf "$file" -C "$venv" package/axe.min.js && return
  tail -n 20 "$log" >&2
  say "fetching $axe with npm failed (above)"
  exit 1
}

add_readers() {
  say "installing a server for stores on S3, then PyTorch"
  new_venv "$venv/moto" "$venv/bin/python"
  most=150 into=$venv/moto install "moto" --only-binary :all: --require-hashes -r tools/locks/moto.lock
  say "installing Inspect AI, lmms-eval and mlcroissant"
  new_venv "$venv/harness" "$venv/bin/python"
  # Without dependencies: the lock leaves out PyTorch, which is found here.
  most=1900 into=$venv/harness install "them" --no-deps --require-hashes -r tools/locks/harness.lock
  "$venv/bin/python" -c 'import site; print(*site.getsitepackages())' >"$venv"/harness/lib/python3.11/site-packages/torch.pth
  local line name
  while read -r line; do
    name=${line%% *}
    echo "$line" >"$venv/older.lock"
    into=$venv/harness install "$name" --no-deps --require-hashes --target "$venv/${name/==/-}" -r "$venv/older.lock"
  done <<<"$datasets"
  # With pip in any case: uv does not read pip's settings, which say where builds for the CPU are.
  if timeout 300 "$venv/bin/python" -m pip install --quiet --dry-run --report - "$torch" | grep '"name": "nvidia-' >"$log"; then
    say "pip finds only PyTorch's build for CUDA (3 GB more); where one for the CPU is: PIP_EXTRA_INDEX_URL=ADDRESS"
  fi
  echo "$torch_lock" >"$venv/torch.lock"
  uv="" install "PyTorch" --only-binary :all: --no-deps --require-hashes -r "$venv/torch.lock"
  # Nothing more for the CPU; NVIDIA's libraries, which no hash names, for CUDA.
  uv="" install "what PyTorch needs" --only-binary :all: "$torch"
}

clean_up() {
  if [[ -n $installer ]]; then kill "$installer" 2>/dev/null && wait "$installer" || true; fi
  rm -f "$log"
  if [[ -n $unfinished ]]; then remove_venv; fi
}

log=$(mktemp)
unfinished=""
installer=""
into=""
uv=$(command -v uv || true)
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# An environment made elsewhere, or from another lock, is not this one.
stamp="$(cksum <"$lock") $root"
if [[ -n $readers ]]; then
  stamp="$stamp $(cksum <<<"$torch_lock$datasets") $axe $(cat tools/locks/{moto,harness}.lock | cksum)"
fi
if is_whole; then
  python=$venv/bin/python
else
  python=$(find_python) || fetch_python
fi

missing=$(missing_parts "$python")
if [[ -n $missing ]]; then
  need_system_packages "$missing"
  missing=$(missing_parts "$python")
  if [[ -n $missing ]]; then fail "still missing after the installation: $(paste -sd ' ' - <<<"$missing")"; fi
fi

is_whole || make_venv "$python"

# Commands and version come from these two files; the code itself is used in place.
package=$(cat pyproject.toml render/__init__.py | cksum)
if [[ $(sed -n 2p "$mark") != "$package" ]]; then
  # What 0.1.0 was called; both at once would register every plug-in twice.
  "$venv/bin/python" -m pip uninstall --quiet --yes diorama 2>"$log" || { cat "$log" >&2; exit 1; }
  install "Diorama itself" --no-deps --no-build-isolation --editable .
  printf '%s\n%s\n' "$stamp" "$package" >"$mark"
  say "$venv is ready after $SECONDS s"
fi
