# SPDX-License-Identifier: Apache-2.0
# no multiply-add is fused: givers and takers round shares alike (surface_flow.h)
set_source_files_properties(surface_flow/surface_flow_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math")
