#!/usr/bin/env bash
# Render the examples on a GPU with render-batch and print the results:
#   tools/gpu_check.sh [FOLDER]
# the device; the time of the first image (which compiles kernels) and of the next; images per second with 1, 2, 4, 8
# workers on the GPU; and how truth and images differ from the CPU's. DEVICE=cpu tries the script without a GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
device=${DEVICE:-auto}
profile=${PROFILE:-standard}
count=${COUNT:-120}
levels=${LEVELS:-1 2 4 8}
out=${1:-$(mktemp -d)}
mkdir -p "$out"
bin=$(dirname "$(command -v render-batch)") || { echo "render-batch is not on the path: activate the environment" >&2; exit 2; }

# Options for a run on the GPU, or, with DEVICE=cpu, for a number of CPU workers.
on_card() { if [[ $device == cpu ]]; then echo "--device cpu --workers $1"; else echo "--gpus 1 --device $device --workers-per-gpu $1"; fi; }

echo "== device"
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true

echo "== first use: compiles kernels and keeps them in ${CUDA_CACHE_PATH:-~/.nv/ComputeCache}"
"$bin/render-doctor" --device "$device" --store "$out/none.lance" || true

echo "== the examples on the GPU, then on the CPU ($profile)"
# shellcheck disable=SC2046  # the words are options
"$bin/render-batch" scene_specs/examples/*.json $(on_card 1) --profile "$profile" --out "$out/card.lance" --json-log "$out/card.jsonl"
"$bin/render-batch" scene_specs/examples/*.json --device cpu --profile "$profile" --out "$out/cpu.lance"
"$bin/python" -m tools compare-stores "$out/card.lance" "$out/cpu.lance"

echo "== images per second by workers ($count CLEVR scenes, $profile)"
"$bin/render-specs" clevr --count "$count" --objects 3-10 --split train --seed 1 --out "$out/clevr.jsonl"
for workers in $levels; do
  rm -rf "$out/speed.lance"
  # shellcheck disable=SC2046
  "$bin/render-batch" "$out/clevr.jsonl" $(on_card "$workers") --profile "$profile" --out "$out/speed.lance" --json >"$out/speed-$workers.json"
  "$bin/python" - "$workers" "$out/speed-$workers.json" <<'END'
import json, sys
found = json.load(open(sys.argv[2]))
steps = ", ".join(f"{step} {1000 * value / found['images']:.0f}" for step, value in found["steps"].items())
print(f"{sys.argv[1]} workers: {found['images_per_second']} images/s with start on {', '.join(found['devices'])}; ms per image: {steps}")
END
done
echo "== done; stores and logs are in $out"
