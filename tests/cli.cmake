# SPDX-License-Identifier: Apache-2.0
# What all tools do the same way, and the rules of the tree.
modal_unit_test(test_tool modal_tool)

add_test(NAME tree.layers
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_layers.py ${CMAKE_SOURCE_DIR})
set_tests_properties(tree.layers PROPERTIES LABELS unit)

set(tools "")
foreach(tool modalmesh modalpack modalplace modalsim modaldeform modalview modalinfo modalbench)
  if(TARGET ${tool})
    list(APPEND tools $<TARGET_FILE:${tool}>)
  endif()
endforeach()
add_test(NAME cli.usage
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_usage.py ${tools})
set_tests_properties(cli.usage PROPERTIES LABELS cli)

if(TARGET modalpack)
  set(sanitize "")
  if(MODAL_SANITIZE)
    set(sanitize --sanitize ${MODAL_SANITIZE})
  endif()
  add_test(NAME cli.install COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_install.py
           ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${sanitize})
  add_test(NAME cli.packages COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_install.py
           ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} --packages)
  set_tests_properties(cli.install cli.packages PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)

  add_test(NAME cli.shapes COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_shapes.py
           $<TARGET_FILE:modalpack> $<TARGET_FILE:modalinfo>)
  set_tests_properties(cli.shapes PROPERTIES LABELS cli)
  add_test(NAME cli.modalpack COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalpack.py
           $<TARGET_FILE:modalpack> ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.modalpack PROPERTIES LABELS cli TIMEOUT 300)

  # The whole pipeline on real meshes; those that are not part of the repository may be absent.
  foreach(case fork beam3 bridge bunny dragon yeahright)
    add_test(NAME pipeline.${case}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_pipeline.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${MODAL_TEST_DATA} ${case})
    set_tests_properties(pipeline.${case} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()

  # 440 Hz, by an independent computation and by modalpack.
  add_test(NAME pipeline.fork_basis
           COMMAND modalpack ${CMAKE_SOURCE_DIR}/data/tuning_fork.msh ${CMAKE_BINARY_DIR}/fork_basis.h5
           --force --modes 20 --young 2.06e11 --poisson 0.29 --density 7850 --fixed stem_end)
  add_test(NAME pipeline.fork_440_hz
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_fork.py
           --basis ${CMAKE_BINARY_DIR}/fork_basis.h5)
  set_tests_properties(pipeline.fork_basis PROPERTIES LABELS cli FIXTURES_SETUP fork_basis)
  set_tests_properties(pipeline.fork_440_hz PROPERTIES LABELS cli FIXTURES_REQUIRED fork_basis)
endif()

if(TARGET modalpack AND TARGET modalview)
  set(check_page ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_page.py
      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  add_test(NAME cli.modalview COMMAND ${check_page})
  add_test(NAME clients.chromium COMMAND ${check_page} --browser ${CMAKE_BINARY_DIR})
  set_tests_properties(cli.modalview PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(clients.chromium PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
