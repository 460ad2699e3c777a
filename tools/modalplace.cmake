# SPDX-License-Identifier: Apache-2.0
add_executable(modalplace modalplace.c modalplace_link.c common/parts.c)
target_link_libraries(modalplace PRIVATE modal_tool modal_formats modal_meshes modal_dynamics)
install(TARGETS modalplace RUNTIME)
