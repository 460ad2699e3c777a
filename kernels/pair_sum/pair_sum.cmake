# SPDX-License-Identifier: Apache-2.0
# roots of many numbers at once have no errno
set_source_files_properties(pair_sum/pair_sum_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-fno-math-errno")
set_source_files_properties(pair_sum/pair_sum_ref.c PROPERTIES COMPILE_OPTIONS "-ffp-contract=off;-fno-math-errno")
