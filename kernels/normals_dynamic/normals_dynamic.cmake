# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE normals_dynamic/normals_tables.c)
# cross products: no multiply-add is fused
set_source_files_properties(normals_dynamic/normals_dynamic_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
