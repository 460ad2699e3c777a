# SPDX-License-Identifier: Apache-2.0
# cross products: no multiply-add is fused
set_source_files_properties(normals_wedge/normals_wedge_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
