#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Remakes tuning_fork.msh. usage: data/make.sh [REFINE [OUTPUT]]
# With REFINE other than 1, every cell count is multiplied by it.
set -eu
folder=$(dirname -- "$0")
refine=${1:-1}
if [ "$refine" != 1 ] && [ $# -lt 2 ]; then
  echo "make.sh: a refined mesh needs an OUTPUT, it is not tuning_fork.msh" >&2
  exit 2
fi
exec gmsh -3 "$folder/tuning_fork.geo" -v 2 -setnumber refine "$refine" -o "${2:-$folder/tuning_fork.msh}"
