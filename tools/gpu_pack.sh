#!/usr/bin/env bash
# Pack what tools/gpu_probe.py needs on a bare Linux machine without network: Python 3.11, numpy and bpy, without
# everything that a headless Cycles render on an NVIDIA GPU does not load, compressed, in parts of limited size.
#   tools/gpu_pack.sh [FOLDER]    writes part-00, part-01, ..., SHA256SUMS and unpack.sh into FOLDER (gpu_pack)
# On the other machine, with all parts in one folder:  FOLDER/unpack.sh TARGET  and then  TARGET/python tools/gpu_probe.py
#   PYTHON   the interpreter of an environment with bpy (.venv/bin/python)
#   KERNELS  GPU generations whose compiled kernels are packed besides the portable ones, such as "75 86 89 120" (none):
#            4 MB each; without them the driver compiles the portable ones at first use, which takes minutes
#   PART_MB  size of a part, MB (57)
#   LEVEL    of compression, 0 to 9 (1: 218 MB in two minutes; 9: 191 MB in ten, and four parts all the same)
set -euo pipefail
out=${1:-gpu_pack}
python=${PYTHON:-.venv/bin/python}
part_mb=${PART_MB:-57}

eval "$("$python" - <<'ASK'
import pathlib, shlex, sys, sysconfig
from importlib.util import find_spec
folders = {"base": sys.base_prefix, "stdlib": sysconfig.get_path("stdlib")}
# Not imported: an imported bpy reports a folder inside of itself.
folders |= {name: str(pathlib.Path(find_spec(name).origin).parent) for name in ("bpy", "numpy")}
print(*(f"{name}={shlex.quote(folder)}" for name, folder in folders.items()))
ASK
)"
mkdir -p "$out"
work=$(mktemp -d "$out/.work.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
site=$root/lib/python3.11/site-packages
mkdir -p "$root/bin" "$root/fallback" "$site"

# Python and numpy. If the interpreter is a shared library, that file is next to the standard library.
cp -L "$base/bin/python3.11" "$root/bin/"
cp -L "$base"/lib/libpython3.11.so.1.0 "$root/lib/" 2>/dev/null || true
tar -C "$stdlib" -cf - --exclude=site-packages --exclude=__pycache__ --exclude=test --exclude=tests --exclude=idlelib \
  --exclude=tkinter --exclude='_tkinter*' --exclude=ensurepip --exclude=lib2to3 --exclude=turtledemo --exclude='config-*' . | tar -C "$root/lib/python3.11" -xf -
tar -C "$(dirname "$numpy")" -cf - --exclude=__pycache__ --exclude=tests --exclude='*.a' --exclude='*.pyi' \
  --exclude='numpy/*/include' numpy numpy.libs | tar -C "$site" -xf -

# bpy: one add-on (Cycles), no user interface, no kernels for GPUs of other makers.
tar -C "$(dirname "$bpy")" -cf - --exclude=__pycache__ --exclude='bpy/4.5/python' --exclude='bpy/4.5/extensions' \
  --exclude='bpy/4.5/datafiles/assets' --exclude='bpy/4.5/datafiles/fonts/Noto*' --exclude='bpy/4.5/datafiles/fonts/lastresort*' \
  --exclude='bpy/4.5/datafiles/icons' --exclude='bpy/4.5/datafiles/studiolights' --exclude='*.cube' --exclude='*.spi1d' \
  --exclude='*.spi3d' --exclude='bpy/4.5/scripts/addons_core' --exclude='*_device_hip.so*' \
  --exclude='*_device_sycl.so*' bpy | tar -C "$site" -xf -
mkdir -p "$site/bpy/4.5/scripts/addons_core"
tar -C "$bpy/4.5/scripts/addons_core" -cf - --exclude=__pycache__ --exclude='*gfx*' --exclude='*.cubin.zst' cycles |
  tar -C "$site/bpy/4.5/scripts/addons_core" -xf -
# Blender loads these at start-up and prints long errors if they are missing.
for add_on in bl_pkg io_anim_bvh io_curve_svg io_mesh_uv_layout io_scene_fbx io_scene_gltf2 pose_library; do
  printf 'def register(): pass\ndef unregister(): pass\n' >"$site/bpy/4.5/scripts/addons_core/$add_on.py"
done
for generation in ${KERNELS:-}; do
  cp "$bpy/4.5/scripts/addons_core/cycles/lib/kernel_sm_$generation.cubin.zst" "$site/bpy/4.5/scripts/addons_core/cycles/lib/"
done

# System libraries that the other machine may lack; never glibc, which belongs to the machine.
find "$root" \( -name '*.so' -o -name '*.so.*' -o -name python3.11 \) -type f -print0 | xargs -0 -n 40 ldd 2>/dev/null |
  sed -nE 's/^\s+\S+ => (\/\S+) .*/\1/p' | sort -u | grep -v "^$(realpath "$root")\|^$(realpath "$base")/" |
  grep -vE '/(libc|libm|libdl|librt|libutil|libpthread|libresolv|libnsl|libanl|ld-linux[^/]*)\.so' |
  while read -r library; do cp -L "$library" "$root/fallback/"; done
find "$root" \( -name '*.so' -o -name '*.so.*' -o -name python3.11 \) -type f -exec strip --strip-unneeded {} + 2>/dev/null || true

cat >"$root/python" <<'RUN'
#!/bin/sh
# Use this Python, and of the machine only glibc, the driver, and libraries that unpack.sh found there.
here=$(cd "$(dirname "$0")" && pwd -P)
unset PYTHONPATH
export PYTHONHOME="$here" PYTHONNOUSERSITE=1 LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/bin/python3.11" "$@"
RUN
chmod +x "$root/python"

cat >"$out/unpack.sh" <<'UNPACK'
#!/bin/sh
# unpack.sh TARGET: joins the parts next to this script; ends with a first import of bpy.
#   FALLBACK=all  use the packed system libraries even where the machine has its own
set -eu
from=$(cd "$(dirname "$0")" && pwd -P)
target=${1:?unpack.sh TARGET}
(cd "$from" && sha256sum --check --quiet SHA256SUMS) || { echo "unpack: a part is missing or damaged (above)" >&2; exit 1; }
mkdir -p "$target"
if command -v xz >/dev/null; then
  cat "$from"/part-* | xz -dc | tar -C "$target" -xf -
else
  cat "$from"/part-* | python3 -c "import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode='r|xz').extractall(sys.argv[1])" "$target"
fi
there=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null || true)
for library in "$target"/fallback/*; do
  case "${FALLBACK:-}$there" in
    all*) mv "$library" "$target/lib/" ;;
    *"$(basename "$library") ("*) ;;
    *) mv "$library" "$target/lib/" ;;
  esac
done
"$target/python" -c "import bpy; print('unpack: bpy', bpy.app.version_string, 'imports')"
UNPACK
chmod +x "$out/unpack.sh"

rm -f "$out"/part-* "$out/SHA256SUMS"
tar -C "$root" --sort=name --owner=0 --group=0 --numeric-owner -cf - . | xz --threads=1 --x86 --lzma2="preset=${LEVEL:-1}" | split -b "${part_mb}MB" -d - "$out/part-"
(cd "$out" && sha256sum part-* >SHA256SUMS)
echo "unpacked $(du -sm "$root" | cut -f1) MB; in $out: $(cd "$out" && ls part-* | wc -l) parts, $(cat "$out"/part-* | wc -c) bytes" >&2
