# SPDX-License-Identifier: Apache-2.0
if(MODAL_HAVE_MODES)
  add_executable(modalpack modalpack.c modalpack_solid.c modalpack_materials.c modalpack_fixed.c modalpack_modes.c modalpack_shapes.c modalpack_reduced.c modalpack_import.c modalpack_recipe.c
                 modalpack_write.c common/units.c)
  target_include_directories(modalpack SYSTEM PRIVATE ${MODAL_CHOLMOD_INCLUDE}) # for its version
  target_link_libraries(modalpack PRIVATE modal_tool modal_formats modal_materials modal_meshes modal_mesh modal_modes
                        modal_reduced
                        ${MODAL_CHOLMOD_LIBRARY} OpenMP::OpenMP_C Threads::Threads)
  install(TARGETS modalpack RUNTIME)
endif()
