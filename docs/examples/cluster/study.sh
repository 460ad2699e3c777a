#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A study: every seed with every speed of the wind, by GNU parallel. What is in the log as done is not run again.
mkdir -p runs
exec parallel --joblog runs/log --resume-failed -j "${JOBS:-4}" \
  modalsim -q -f basis.h5 runs/{1}-{2}.h5 --scene "${SCENE:-wind.json}" --set /wind/seed={1} --set /wind/velocity/0={2} -j1 \
  ::: ${SEEDS:-1 2 3 4 5} ::: ${SPEEDS:-2 4 8}
