# SPDX-License-Identifier: Apache-2.0
# calls the others: the options of the whole are enough
set_source_files_properties(deform_normals/deform_normals_cpu.c PROPERTIES COMPILE_OPTIONS "")
