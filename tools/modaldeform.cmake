# SPDX-License-Identifier: Apache-2.0
add_executable(modaldeform modaldeform.c modaldeform_inputs.c modaldeform_frames.c
               modaldeform_outputs.c modaldeform_journal.c modaldeform_probes.c modaldeform_volume.c
               common/trajectory_input.c common/hdf5_stdin.c common/parts.c)
target_link_libraries(modaldeform PRIVATE modal_tool modal_formats modal_deform modal_kernels
                      OpenMP::OpenMP_C Threads::Threads)
install(TARGETS modaldeform RUNTIME)
