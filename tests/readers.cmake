# SPDX-License-Identifier: Apache-2.0
# The readers of meshes.
foreach(name text contents files peers surfaces broken)
  modal_unit_test(test_readers_${name} modal_meshes)
endforeach()
# They count the allocator's calls.
foreach(name files broken)
  target_link_options(test_readers_${name} PRIVATE -Wl,--wrap=aligned_alloc -Wl,--wrap=free)
endforeach()
modal_unit_test(test_readers_data modal_meshes)
set_tests_properties(unit.test_readers_data PROPERTIES SKIP_RETURN_CODE 77)
modal_unit_test(test_readers_speed modal_meshes)
modal_unit_test(test_readers_speed_more modal_meshes)
set_tests_properties(unit.test_readers_speed unit.test_readers_speed_more PROPERTIES
                     LABELS "unit;slow" RUN_SERIAL ON)

# What others read from the same files: meshio, and Gmsh itself where its library is found.
add_executable(dump_mesh ${CMAKE_CURRENT_SOURCE_DIR}/unit/dump_mesh.c)
target_link_libraries(dump_mesh PRIVATE modal_meshes)
set_target_properties(dump_mesh PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
set(readers_arguments --dump $<TARGET_FILE:dump_mesh>)
find_path(GMSH_INCLUDE_DIR gmshc.h)
find_library(GMSH_LIBRARY gmsh)
if(GMSH_INCLUDE_DIR AND GMSH_LIBRARY)
  add_executable(dump_mesh_gmsh ${CMAKE_CURRENT_SOURCE_DIR}/unit/dump_mesh_gmsh.c)
  target_include_directories(dump_mesh_gmsh SYSTEM PRIVATE ${GMSH_INCLUDE_DIR})
  target_link_libraries(dump_mesh_gmsh PRIVATE ${GMSH_LIBRARY})
  set_target_properties(dump_mesh_gmsh PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  list(APPEND readers_arguments --dump-gmsh $<TARGET_FILE:dump_mesh_gmsh>)
endif()
foreach(client meshio gmsh)
  add_test(NAME clients.readers_${client}
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_readers.py ${client}
                   ${readers_arguments})
  set_tests_properties(clients.readers_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77)
endforeach()
add_test(NAME formats.volumes COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_volumes.py
         files --dump $<TARGET_FILE:dump_mesh>)
set_tests_properties(formats.volumes PROPERTIES LABELS formats)
foreach(client meshio vtk)
  add_test(NAME clients.volumes_${client}
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_volumes.py ${client}
                   --dump $<TARGET_FILE:dump_mesh>)
  set_tests_properties(clients.volumes_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77)
endforeach()
