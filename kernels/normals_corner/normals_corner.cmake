# SPDX-License-Identifier: Apache-2.0
set_source_files_properties(normals_corner/normals_corner_cpu.c PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
