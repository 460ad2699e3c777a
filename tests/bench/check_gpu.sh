#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with an NVIDIA GPU: every operation's CUDA version against its reference, the same under
# compute-sanitizer (memcheck; racecheck), and modalbench's tables of times. usage: check_gpu.sh BUILD_FOLDER
set -uo pipefail
build=$1
failed=0
for program in "$build"/tests/kernel_*; do
  name=$(basename "$program")
  printf '%-28s %s\n' "$name" "$("$program" --backend cuda 2>&1 | tail -1)"
  [ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
  "$program" --backend cuda >/dev/null 2>&1 || { echo "$name FAILED"; failed=1; }
  for tool in memcheck racecheck; do
    compute-sanitizer --tool $tool --error-exitcode 9 "$program" --backend cuda --quick \
      >/tmp/sanitizer.log 2>&1 || { echo "$name $tool FAILED"; tail -20 /tmp/sanitizer.log; failed=1; }
    printf '%-28s %s: %s\n' "$name" $tool "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' /tmp/sanitizer.log)"
  done
done
"$build"/bin/modalbench all --backend cuda || failed=1
exit $failed
