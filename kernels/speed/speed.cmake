# SPDX-License-Identifier: Apache-2.0
# no multiply-add is fused: the bits are the contract
set_source_files_properties(speed/speed_ref.c PROPERTIES COMPILE_OPTIONS "-ffp-contract=off")
set_source_files_properties(speed/speed_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno")
