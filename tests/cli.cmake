# SPDX-License-Identifier: Apache-2.0
# What all tools do the same way, and the rules of the tree.
modal_unit_test(test_tool modal_tool)

add_test(NAME tree.layers
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_layers.py ${CMAKE_SOURCE_DIR})
set_tests_properties(tree.layers PROPERTIES LABELS unit)

set(tools "")
foreach(tool modalpack modalsim modaldeform modalinfo)
  if(TARGET ${tool})
    list(APPEND tools $<TARGET_FILE:${tool}>)
  endif()
endforeach()
add_test(NAME cli.usage
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_usage.py ${tools})
set_tests_properties(cli.usage PROPERTIES LABELS cli)
