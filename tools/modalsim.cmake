# SPDX-License-Identifier: Apache-2.0
add_executable(modalsim modalsim.c modalsim_request.c modalsim_linear.c modalsim_basis.c modalsim_scene.c
               modalsim_response.c modalsim_rebase.c modalsim_trajectory.c common/trajectory_input.c common/hdf5_stdin.c common/parts.c)
target_link_libraries(modalsim PRIVATE modal_tool modal_formats modal_meshes modal_scenes modal_dynamics
                      OpenMP::OpenMP_C)
install(TARGETS modalsim RUNTIME)
