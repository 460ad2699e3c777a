# SPDX-License-Identifier: Apache-2.0
# modalmesh; what needs a meshing library that is absent is skipped.
set(modalmesh_arguments --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --dump $<TARGET_FILE:dump_mesh>
    --data ${MODAL_TEST_DATA})
if(TARGET dump_mesh_gmsh)
  list(APPEND modalmesh_arguments --dump-gmsh $<TARGET_FILE:dump_mesh_gmsh>)
endif()
foreach(case convert surfaces geometry pipeline)
  add_test(NAME cli.modalmesh_${case}
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalmesh.py ${case}
                   ${modalmesh_arguments})
  set_tests_properties(cli.modalmesh_${case} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()

add_library(crash_engine MODULE ${CMAKE_CURRENT_SOURCE_DIR}/preload/crash_engine.c)
add_test(NAME cli.wrap COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_wrap.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
         $<TARGET_FILE:crash_engine>)
set_tests_properties(cli.wrap PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)

if(TARGET modalpack)
  foreach(case files cad)
    add_test(NAME cli.units_${case} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_units.py ${case}
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
    set_tests_properties(cli.units_${case} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
  set_tests_properties(cli.units_cad PROPERTIES LABELS clients)
  add_test(NAME cli.boundary COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_boundary.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.boundary PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.ignore COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_ignore.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.ignore PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME clients.bracket COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/clients/check_bracket.py
           $<TARGET_FILE:modalpack>)
  set_tests_properties(clients.bracket PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

modal_unit_test(test_mesh_surface_check modal_meshes modal_mesh)
target_link_options(test_mesh_surface_check PRIVATE -Wl,--wrap=aligned_alloc -Wl,--wrap=free)
modal_unit_test(test_mesh_improve modal_mesh)
target_link_options(test_mesh_improve PRIVATE -Wl,--wrap=aligned_alloc -Wl,--wrap=free)
add_test(NAME cli.improve COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_improve.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(cli.improve PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
