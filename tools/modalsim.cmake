# SPDX-License-Identifier: Apache-2.0
add_executable(modalsim modalsim.c)
target_link_libraries(modalsim PRIVATE modal_tool modal_formats modal_meshes modal_dynamics)
install(TARGETS modalsim RUNTIME)
