#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with an NVIDIA GPU: every operation's CUDA version against its reference, the same under
# compute-sanitizer (memcheck; racecheck) and with the plans of devices of 8.0 and 8.6, six programs at a time; times of
# the check that every value is finite; a sequence stopped and resumed; modalbench's tables. --short: neither racecheck nor
# the last two, a few minutes, and only the programs in BUILD_FOLDER/tests are needed. kernel_tled_step asks for some ten
# thousand arrays, each a request to a device that programs share in turns: it goes first, by itself.
# A build with -DMODAL_CUDA_ARCHITECTURES=80-virtual runs the code of 8.0, compiled by the driver for what is here.
# usage: check_gpu.sh [--short] BUILD_FOLDER [RESULTS.json]
# BUILD_FOLDER: configured with -DBUILD_TESTING=ON and -DMODAL_BENCH=ON (--short needs the first alone)
set -uo pipefail
tools="memcheck racecheck"
short=
if [ "${1:-}" = --short ]; then
  short=1
  tools=memcheck
  shift
fi
build=$1
failed=0
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# start NAME COMMAND...: runs it beside at most $at_once - 1 others, its output to a log
start() {
  local name=$1
  shift
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
  (SECONDS=0; "$@" >"$logs/$name" 2>&1; code=$?; echo $SECONDS $code >"$logs/$name.end") &
  names+=("$name")
}
names=()
programs=("$build/tests/kernel_tled_step")
for program in "$build"/tests/kernel_*; do
  [ "${program##*/}" = kernel_tled_step ] || programs+=("$program")
done
for program in "${programs[@]}"; do
  at_once=6 size=--quick
  [ "${program##*/}" != kernel_tled_step ] || at_once=1 size=--tiny
  start "${program##*/}" "$program" --backend cuda
  for tool in $tools; do
    start "${program##*/}_$tool" compute-sanitizer --tool $tool --error-exitcode 9 "$program" --backend cuda $size
  done
  case ${program##*/} in
  *_modal_sum | *_deform | *_engine | *_reduced_step | *_tled_step) # what they launch depends on the device's shared memory
    for capability in 80 86; do
      start "${program##*/}_as_$capability" "$program" --backend cuda --quick --pretend $capability
    done
    ;;
  esac
  [ $at_once -gt 1 ] || wait
done
wait
for name in "${names[@]}"; do
  log=$logs/$name seconds=- code=-
  read -r seconds code <"$log.end"
  [ "$code" = 0 ] || grep -q '^SKIPPED' "$log" || { failed=1; tail -20 "$log"; echo "$name FAILED"; }
  printf '%-36s %4s s  %s\n' "$name" "$seconds" \
    "$(grep -E '^SKIPPED|ERROR SUMMARY|RACECHECK SUMMARY' "$log" || tail -1 "$log")"
done
"$build"/tests/normals_bench --backend cuda | grep -E '^cuda|^operation|checked' || failed=1
[ -z "$short" ] || exit $failed
if python3 -c 'import h5py' 2>/dev/null; then
  python3 "$(dirname "$0")"/../python/check_resume.py "$build"/bin/modaldeform cuda || failed=1
else
  echo "check_resume: skipped: no h5py"
fi
"$build"/bin/modalbench all --backend cuda ${2:+--json "$2" --force} || failed=1
exit $failed
