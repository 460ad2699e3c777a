# SPDX-License-Identifier: Apache-2.0
# no multiply-add is fused: the bits are the contract (raster_math.h)
set_source_files_properties(layers/layers_ref.c PROPERTIES COMPILE_OPTIONS "-ffp-contract=off")
set_source_files_properties(layers/layers_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math")
set_source_files_properties(layers/layers_cuda.cu PROPERTIES COMPILE_OPTIONS "-fmad=false")
