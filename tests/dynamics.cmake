# SPDX-License-Identifier: Apache-2.0
# Modal dynamics, and the tool modalsim.
modal_unit_test(test_oscillator modal_oscillators)
modal_unit_test(test_dynamics modal_forest)
modal_unit_test(test_csv modal_meshes)
add_test(NAME cli.modalsim
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalsim.py
                 $<TARGET_FILE:modalsim>)
set_tests_properties(cli.modalsim PROPERTIES LABELS cli SKIP_RETURN_CODE 77)
if(TARGET modalpack)
  add_test(NAME cli.rebase COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_rebase.py
                                   ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.rebase PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.modaltled COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modaltled.py
                                      $<TARGET_FILE:modaltled> $<TARGET_FILE:modalpack> $<TARGET_FILE:modalsim>
                                      $<TARGET_FILE:modaldeform>)
  add_test(NAME cli.modaltled_long COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modaltled.py
                                           $<TARGET_FILE:modaltled> $<TARGET_FILE:modalpack> $<TARGET_FILE:modalsim>
                                           $<TARGET_FILE:modaldeform> --long)
  add_test(NAME cli.modaltled_materials COMMAND ${MODAL_PYTHON}
           ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modaltled_materials.py $<TARGET_FILE:modaltled>)
  add_test(NAME cli.modaltled_quality COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modaltled_quality.py
                                              $<TARGET_FILE:modaltled> $<TARGET_FILE:modalpack> $<TARGET_FILE:modalsim>
                                              $<TARGET_FILE:modaldeform> $<TARGET_FILE:modalinfo>)
  add_test(NAME cli.modaltled_restart COMMAND ${MODAL_PYTHON}
           ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modaltled_restart.py $<TARGET_FILE:modaltled>)
  add_test(NAME cli.tled_follow COMMAND ${MODAL_PYTHON}
           ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tled_follow.py $<TARGET_FILE:modaltled>)
  add_test(NAME cli.tled_whole COMMAND ${MODAL_PYTHON}
           ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tled_whole.py $<TARGET_FILE:modaltled>)
  add_test(NAME cli.tled_whole_all COMMAND ${MODAL_PYTHON}
           ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tled_whole.py $<TARGET_FILE:modaltled> --all)
  set_tests_properties(cli.tled_whole_all PROPERTIES LABELS "cli;long" TIMEOUT 300)
  set_tests_properties(cli.modaltled cli.modaltled_materials cli.modaltled_quality cli.modaltled_restart cli.tled_follow cli.tled_whole PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(cli.modaltled_long PROPERTIES LABELS "cli;long")
  foreach(part elements mean closed static cook balance)
    add_test(NAME cli.tled_${part} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tled_proofs.py
                                           $<TARGET_FILE:modaltled> ${part})
    set_tests_properties(cli.tled_${part} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
  foreach(part static cook balance)
    add_test(NAME cli.tled_${part}_long COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tled_proofs.py
                                                $<TARGET_FILE:modaltled> ${part} --long)
    set_tests_properties(cli.tled_${part}_long PROPERTIES LABELS "cli;long" TIMEOUT 3600)
  endforeach()
  set(tissue materials snapshots project deform resumed)
  if(TARGET modalview)
    list(APPEND tissue page)
  endif()
  foreach(part ${tissue})
    add_test(NAME cli.tissue_${part} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tissue.py
                                             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${part})
    set_tests_properties(cli.tissue_${part} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
  add_test(NAME cli.scene_template COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_template.py
                                           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} template)
  set_tests_properties(cli.scene_template PROPERTIES LABELS cli TIMEOUT 300)
  foreach(part solid frames ground chain manners checkpoints cuda)
    add_test(NAME cli.scene_${part}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_scene.py
                     ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${part})
    set_tests_properties(cli.scene_${part} PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77)
  endforeach()
  foreach(part exact inertia response manners memory cuda)
    add_test(NAME cli.linear_${part}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_scene_linear.py
                     ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${part})
    set_tests_properties(cli.linear_${part} PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77)
  endforeach()
  foreach(part order every step same)
    add_test(NAME cli.loads_${part}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_order.py
                     ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${part})
    set_tests_properties(cli.loads_${part} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
  add_test(NAME cli.attraction COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_attraction.py
                                       ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} all)
  set_tests_properties(cli.attraction PROPERTIES LABELS cli TIMEOUT 300)
  foreach(part beam long same inside damping storm tempest drift decay)
    add_test(NAME cli.trust_${part}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_trust.py
                     ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${part})
    set_tests_properties(cli.trust_${part} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
  set_tests_properties(cli.trust_tempest PROPERTIES LABELS "cli;long" TIMEOUT 1200)
  # modaltled beside NiftySim, which is not part of the repository either.
  set(MODAL_NIFTYSIM "" CACHE FILEPATH "the program niftysim, for a test")
  add_test(NAME clients.niftysim COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/clients/check_niftysim.py
           $<TARGET_FILE:modaltled> "${MODAL_NIFTYSIM}")
  set_tests_properties(clients.niftysim PROPERTIES LABELS clients TIMEOUT 600 SKIP_RETURN_CODE 77)
  # Tangent damping beside VegaFEM, whose sources are not part of the repository.
  set(MODAL_VEGAFEM "" CACHE PATH "folder of VegaFEM's sources, for a test")
  add_test(NAME clients.vegafem COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_vegafem.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} "${MODAL_VEGAFEM}")
  set_tests_properties(clients.vegafem PROPERTIES LABELS clients TIMEOUT 300 SKIP_RETURN_CODE 77)
  # Verdicts against the truth: some scenes, and `./run long` has 600.
  foreach(case "judged;4;--first;82" "judged_200;200;--also;7;8")
    list(POP_FRONT case name)
    add_test(NAME cli.${name} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_judged.py
                                      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${case})
  endforeach()
  # Bases and runs by default, whole solids in numpy: a round of every kind, and 400 off by more than 10 %.
  foreach(case "judged_linear;34" "judged_linear_1100;1100;--seed;4")
    list(POP_FRONT case name)
    add_test(NAME cli.${name} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_judged_linear.py
                                      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${case})
  endforeach()
  set_tests_properties(cli.judged_linear PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(cli.judged_linear_1100 PROPERTIES LABELS "cli;long" TIMEOUT 7200)
  set_tests_properties(cli.judged PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(cli.judged_200 PROPERTIES LABELS "cli;long" TIMEOUT 7200)
  set_tests_properties(cli.trust_long PROPERTIES LABELS "cli;long" TIMEOUT 1200)
  set_tests_properties(cli.loads_every PROPERTIES LABELS "cli;long" TIMEOUT 1200)
  foreach(part whole loads file)
    add_test(NAME cli.left_out_${part}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_left_out.py
                     ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${part})
    set_tests_properties(cli.left_out_${part} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
  add_test(NAME cli.energy
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_energy.py
                   ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.energy PROPERTIES LABELS cli TIMEOUT 120)
  add_test(NAME cli.modalsim_room
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_room.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.modalsim_room PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.plants
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_plants.py
                   ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.plants PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(cli.scene_cuda cli.linear_cuda PROPERTIES LABELS "cli;cuda")
endif()
