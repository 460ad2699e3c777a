#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Remakes docs/results/gpu.md on a machine with an NVIDIA GPU: the deformer's parts of modalbench in three processes, one after
# the other, two minutes each, and what format_results.py makes of them. Files of `pipeline` go to FOLDER (default: /dev/shm).
# usage: measure_gpu.sh BUILD_FOLDER [OUTPUT.md [FOLDER]]
# BUILD_FOLDER: configured with -DMODAL_BENCH=ON
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
output=${2:-$here/../../docs/results/gpu.md}
folder=${3:-/dev/shm}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
for i in 1 2 3; do
  "$build"/bin/modalbench uq multi batch frame pipeline --backend cuda --folder "$folder" --json "$results/$i.json" >&2
done
python3 "$here/format_results.py" "$results"/{1,2,3}.json "$output"
