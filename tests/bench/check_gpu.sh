#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with an NVIDIA GPU: every operation's CUDA version against its reference, the same under
# compute-sanitizer (memcheck; racecheck), all at once; a sequence stopped and resumed; modalbench's tables.
# usage: check_gpu.sh BUILD_FOLDER [RESULTS.json]
set -uo pipefail
build=$1
failed=0
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# start NAME COMMAND...: runs it beside the others, its output to a log
start() {
  local name=$1
  shift
  (SECONDS=0; "$@" >"$logs/$name" 2>&1; code=$?; echo $SECONDS >"$logs/$name.seconds"; exit $code) &
  names+=("$name")
  pids+=($!)
}
names=()
pids=()
for program in "$build"/tests/kernel_*; do
  start "${program##*/}" "$program" --backend cuda
  for tool in memcheck racecheck; do
    start "${program##*/}_$tool" compute-sanitizer --tool $tool --error-exitcode 9 \
      "$program" --backend cuda --quick
  done
done
for i in "${!pids[@]}"; do
  log=$logs/${names[i]}
  wait "${pids[i]}" || grep -q '^SKIPPED' "$log" ||
    { failed=1; tail -20 "$log"; echo "${names[i]} FAILED"; }
  printf '%-36s %4s s  %s\n' "${names[i]}" "$(cat "$log.seconds")" \
    "$(grep -E '^SKIPPED|ERROR SUMMARY|RACECHECK SUMMARY' "$log" || tail -1 "$log")"
done
if python3 -c 'import h5py' 2>/dev/null; then
  python3 "$(dirname "$0")"/../python/check_resume.py "$build"/bin/modaldeform cuda || failed=1
else
  echo "check_resume: skipped: no h5py"
fi
"$build"/bin/modalbench all --backend cuda ${2:+--json "$2" --force} || failed=1
exit $failed
