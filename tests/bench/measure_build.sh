#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a whole build costs: a fresh folder, no compiler cache; processor seconds (user and system) of every compiled file.
#   tests/bench/measure_build.sh FOLDER [CMAKE_OPTION...]    builds in FOLDER, which must not exist; prints the ten dearest
#                                                            files and the whole as Markdown (docs/results/build.md)
# TARGETS="modalmesh modalpack" builds these alone. JOBS=N: default all cores. FOLDER/files has every file.
set -euo pipefail

if [ "${1:-}" = --one ]; then # the compiler's launcher: --one LOG COMPILER ARGUMENT...
  log=$2
  shift 2
  name=link
  for ((i = 1; i < $#; i++)); do
    [ "${!i}" != -o ] || { ((++i)) && name=${!i}; }
  done
  TIMEFORMAT='%U %S %R'
  code=0
  { times=$({ time "$@" 2>&3 >&4; } 2>&1) || code=$?; } 3>&2 4>&1
  printf '%s %s\n' "$times" "$name" >>"$log"
  exit $code
fi

[ $# -ge 1 ] && [ ! -e "$1" ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1")
script=$(realpath "$0")
shift
cd "$(dirname "$script")/../.."
export CUDAARCHS=${CUDAARCHS:-90-real}
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER
launchers=()
for language in C CXX CUDA; do
  launchers+=("-DCMAKE_${language}_COMPILER_LAUNCHER=$script;--one;$folder/files")
done
export CCACHE_DISABLE=1
cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release "${launchers[@]}" "$@" >"$folder/log"
TIMEFORMAT='%U %S %R'
whole=$({ time cmake --build "$folder" -j "${JOBS:-$(nproc)}" ${TARGETS:+--target $TARGETS} >>"$folder/log" 2>&1; } 2>&1) || {
  tail -n 20 "$folder/log" >&2
  exit 1
}
read -r user system wall <<<"$whole"
echo "| processor s | file |"
echo "| --- | --- |"
LC_ALL=C awk '{ printf "| %.1f | %s |\n", $1 + $2, $4 }' "$folder/files" | sed 's#[^ ]*CMakeFiles/[^/]*[.]dir/##; s#__/##g; s#[.]o |$# |#' |
  LC_ALL=C sort -t '|' -k 2 -rn | head -n 10 || true
echo
LC_ALL=C awk -v user="$user" -v sys="$system" -v wall="$wall" -v jobs="${JOBS:-$(nproc)}" '
  { files++; compiled += $1 + $2 }
  END { printf "%d files, %.0f processor s (%.0f user, %.0f system; compilers %.0f), %.0f s by %d jobs\n", files, user + sys, user, sys, compiled, wall, jobs }' \
  "$folder/files"
