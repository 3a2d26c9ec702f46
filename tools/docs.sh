#!/usr/bin/env bash
# Builds the documentation site into build/site. mkdocs has an environment of its own, .venv-docs, which is made again
# when its lock changes; Diorama's own environment writes the pages, because it has the commands.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=.venv-docs
lock=tools/locks/docs.lock
python=${DIORAMA_VENV:-.venv}/bin/python

if ! cmp --silent "$lock" "$venv/installed.lock"; then
  echo "docs: making $venv (190 MB on disk)"
  rm -rf "$venv"
  if uv=$(command -v uv); then
    "$uv" venv --quiet --python "$python" "$venv"
    "$uv" pip install --quiet --python "$venv/bin/python" --only-binary :all: --require-hashes -r "$lock"
  else
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r "$lock"
  fi
  cp "$lock" "$venv/installed.lock"
fi
"$python" -m tools docs-site build/docs
# The notice is about a later version of mkdocs, which the lock excludes.
NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --quiet --strict
echo "docs: wrote build/site/index.html; to search it, serve it: $python -m http.server --directory build/site"
