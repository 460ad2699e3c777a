# SPDX-License-Identifier: Apache-2.0
# Bases and forces for large deformations.
if(TARGET modal_reduced)
  modal_unit_test(test_reduced modal_reduced)
  modal_unit_test(test_reduced_elements modal_reduced)
  modal_unit_test(test_snapshots modal_reduced)
endif()
if(TARGET modalpack)
  foreach(name reduced reduced_elements derivatives snapshots effective_mass mode_swing amplitude stress)
    add_test(NAME cli.${name}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_${name}.py
                     ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
    set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
  add_test(NAME cli.import
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_import.py
                   ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${MODAL_TEST_DATA})
  set_tests_properties(cli.import PROPERTIES LABELS cli TIMEOUT 300)
endif()
if(TARGET modalpack)
  add_test(NAME cli.bending_hint COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_bending_hint.py
                                         ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.bending_hint PROPERTIES LABELS cli)
  add_test(NAME cli.identity COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_identity.py
                                     $<TARGET_FILE:modalpack> $<TARGET_FILE:modalinfo> ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.identity PROPERTIES LABELS cli TIMEOUT 300)
endif()
