# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE tangents_dynamic/tangents_weights.c)
# cross products: no multiply-add is fused
set_source_files_properties(tangents_dynamic/tangents_dynamic_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
