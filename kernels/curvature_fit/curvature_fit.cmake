# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE curvature_fit/neighbour_rings.c)
set_source_files_properties(curvature_fit/curvature_fit_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
