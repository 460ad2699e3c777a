# SPDX-License-Identifier: Apache-2.0
set_source_files_properties(curvature_tensor/curvature_tensor_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
