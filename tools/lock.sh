#!/usr/bin/env bash
# Writes the lock files from pyproject.toml. Run it after every change of the dependencies, and with --upgrade to take
# newer versions; without, versions that still fit stay.
#   requirements.lock         what a user runs: h5py, the openai client, stores on S3 since clusters write there, and
#                             the build backend that installs Diorama itself
#   tools/locks/reading.lock  the same without Blender and Ray, for who only reads stores
#   tools/locks/dev.lock      the same and the tools of `make test`
#   tools/locks/readers.lock  the same and most tools of `make test-all`
#   tools/locks/cluster.lock  what Ray's launchers also need, for docker/Dockerfile
#   tools/locks/docs.lock     what `make docs` installs into an environment of its own
#   tools/locks/moto.lock     a server for stores on S3, which `make test-all` installs into an environment of its own
#   tools/locks/harness.lock  Inspect AI and lmms-eval, which `make test-all` installs into another one
#   tools/locks/{ziglang,opencl}.lock  what simulated GPUs need: tools/simulated_gpu
# The files hold hashes of every file of a release, for all platforms and Pythons from 3.11 on, and no index's address: they
# work with any mirror. One uv.lock could replace them (`[tool.uv] conflicts` resolves the extras together), but it holds
# the address of every file on the index that it was made with, and is larger than all of these.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
mkdir -p "$work/tools/locks"
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3.11}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv

compile() { # compile LOCK [option of uv...]: written beside the old lock's place, moved only when whole
  local lock=$1
  shift
  # With extras: pip before 23.3 does not apply the line `coverage==1` to a requirement of `coverage[toml]`.
  if [[ -f $lock ]]; then cp "$lock" "$work/$lock"; fi
  "$work/venv/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-build --no-strip-extras --custom-compile-command "tools/lock.sh" --output-file "$work/$lock" "$@"
}

# The backend has to be locked too: with --no-build-isolation it is taken from the environment.
grep -oE '"hatchling[^"]*"' pyproject.toml | head -n 1 | tr -d '"' >"$work/backend.in"
user=(--extra s3 --extra h5 --extra openai)
compile requirements.lock "$@" "${user[@]}" pyproject.toml "$work/backend.in"
printf 'bpy\nray\n' >"$work/rendering.in"
compile tools/locks/reading.lock "$@" "${user[@]}" --excludes "$work/rendering.in" --constraint "$work/requirements.lock" \
  pyproject.toml "$work/backend.in"
compile tools/locks/dev.lock "$@" "${user[@]}" --extra dev --extra stress --extra physics --constraint "$work/requirements.lock" pyproject.toml "$work/backend.in"
compile tools/locks/readers.lock "$@" "${user[@]}" --extra dev --extra stress --extra physics --extra readers --constraint "$work/tools/locks/dev.lock" \
  pyproject.toml "$work/backend.in"
sed -nE 's/^ray(==[^ ]+).*/ray[default]\1/p' "$work/requirements.lock" >"$work/cluster.in"
compile tools/locks/cluster.lock "$@" --constraint "$work/requirements.lock" "$work/cluster.in"
# Without Diorama itself: the site is built from the sources, and the others are no part of its environment.
# Builds of PyTorch for the CPU are on other indexes; our tasks of lmms-eval don't need the other two.
printf '%s ; python_version < "3"\n' torch torchvision transformers-stream-generator >"$work/without.in"
for name in docs moto ziglang opencl harness; do
  "$work/venv/bin/python" - "$name" <<'NAME' >"$work/$name.in"
import sys, tomllib
file = tomllib.load(open("pyproject.toml", "rb"))
print(*{**file["project"]["optional-dependencies"], **file["dependency-groups"]}[sys.argv[1]], sep="\n")
NAME
  if [[ $name == harness ]]; then set -- "$@" --build --override "$work/without.in"; fi
  compile "tools/locks/$name.lock" "$@" "$work/$name.in"
done
# Temporary names would change with every run.
sed -i.bak "s#$work/##g" "$work"/requirements.lock "$work"/tools/locks/*.lock
mv "$work"/requirements.lock .
mv "$work"/tools/locks/*.lock tools/locks
echo "lock: wrote requirements.lock and tools/locks/{reading,dev,readers,cluster,docs,moto,ziglang,opencl,harness}.lock"
