# SPDX-License-Identifier: Apache-2.0
set_source_files_properties(curvature_derivative/curvature_derivative_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
