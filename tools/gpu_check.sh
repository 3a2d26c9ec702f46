#!/usr/bin/env bash
# Renders the examples on a card through render-batch, and says what came of it:
#   tools/gpu_check.sh [FOLDER]
# device; time of the first picture (kernels are compiled then) and of the next; images a second with 1, 2, 4, 8
# workers on the card; and how truth and pictures differ from the CPU's. DEVICE=cpu tries the script without a card.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
device=${DEVICE:-auto}
profile=${PROFILE:-standard}
count=${COUNT:-120}
levels=${LEVELS:-1 2 4 8}
out=${1:-$(mktemp -d)}
mkdir -p "$out"
bin=$(dirname "$(command -v render-batch)") || { echo "render-batch is not on the path: activate the environment" >&2; exit 2; }

# What makes a run use the card, or with DEVICE=cpu so many CPU workers.
on_card() { if [[ $device == cpu ]]; then echo "--device cpu --workers $1"; else echo "--gpus 1 --device $device --workers-per-gpu $1"; fi; }

echo "== device"
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true

echo "== first use: kernels are compiled and kept in ${CUDA_CACHE_PATH:-~/.nv/ComputeCache}"
"$bin/render-doctor" --device "$device" --store "$out/none.lance" || true

echo "== the examples on the card, then on the CPU ($profile)"
# shellcheck disable=SC2046  # the words are options
"$bin/render-batch" scene_specs/examples/*.json $(on_card 1) --profile "$profile" --out "$out/card.lance" --json-log "$out/card.jsonl"
"$bin/render-batch" scene_specs/examples/*.json --device cpu --profile "$profile" --out "$out/cpu.lance"
"$bin/python" tools/compare_stores.py "$out/card.lance" "$out/cpu.lance"

echo "== images a second by workers ($count CLEVR scenes, $profile)"
"$bin/render-specs" clevr --count "$count" --objects 3-10 --split train --seed 1 --out "$out/clevr.jsonl"
for workers in $levels; do
  rm -rf "$out/speed.lance"
  # shellcheck disable=SC2046
  "$bin/render-batch" "$out/clevr.jsonl" $(on_card "$workers") --profile "$profile" --out "$out/speed.lance" --json >"$out/speed-$workers.json"
  "$bin/python" - "$workers" "$out/speed-$workers.json" <<'END'
import json, sys
found = json.load(open(sys.argv[2]))
steps = ", ".join(f"{step} {1000 * value / found['images']:.0f}" for step, value in found["steps"].items())
print(f"{sys.argv[1]} workers: {found['images_per_second']} images/s with start on {', '.join(found['devices'])}; ms an image: {steps}")
END
done
echo "== done; stores and logs are in $out"
