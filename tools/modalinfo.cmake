# SPDX-License-Identifier: Apache-2.0
add_executable(modalinfo modalinfo.c modalinfo_describe.c modalinfo_output.c
               modalinfo_pack.c modalinfo_print.c common/hdf5_stdin.c common/parts.c)
target_link_libraries(modalinfo PRIVATE modal_tool modal_formats m)
install(TARGETS modalinfo RUNTIME)
