# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE tled_step/tled_solid.c tled_step/tled_rich.c tled_step/tled_macro.c)
# Vectors of 32 bytes are passed between inline functions where the set of instructions has shorter registers: no ABI is there.
set_source_files_properties(tled_step/tled_step_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-Wno-psabi")
