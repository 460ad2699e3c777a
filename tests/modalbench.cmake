# SPDX-License-Identifier: Apache-2.0
# That modalbench runs, checks what it times and says so in its JSON; not how fast anything is.
if(TARGET modalbench)
  add_test(NAME cli.modalbench COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalbench.py
           $<TARGET_FILE:modalbench> ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.modalbench PROPERTIES LABELS cli TIMEOUT 300)
endif()
