# SPDX-License-Identifier: Apache-2.0
# What all tools do the same way, and the rules of the tree.
modal_unit_test(test_tool modal_tool)

add_test(NAME tree.layers
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_layers.py ${CMAKE_SOURCE_DIR})
set_tests_properties(tree.layers PROPERTIES LABELS unit)
add_test(NAME tree.style
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_style.py ${CMAKE_SOURCE_DIR})
set_tests_properties(tree.style PROPERTIES LABELS unit)

add_test(NAME tree.pages COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_pages.py ${CMAKE_SOURCE_DIR})
add_test(NAME tree.skipped COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/skipped.py --check)
set_tests_properties(tree.skipped PROPERTIES LABELS unit)

add_test(NAME tree.configure
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_configure.py ${CMAKE_SOURCE_DIR})
set_tests_properties(tree.configure PROPERTIES LABELS cli SKIP_RETURN_CODE 77)

set(tools "")
foreach(tool modalmesh modalpack modalplace modalsim modaltled modaldeform modalcurv modalrender modalview modalinfo modaltex modalbench)
  if(TARGET ${tool})
    list(APPEND tools $<TARGET_FILE:${tool}>)
  endif()
endforeach()
add_test(NAME cli.modalcurv
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalcurv.py $<TARGET_FILE:modalcurv>
         $<TARGET_FILE:modalinfo>)
set_tests_properties(cli.modalcurv PROPERTIES LABELS cli)
add_test(NAME cli.busy
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/bench/measure_busy.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} check)
set_tests_properties(cli.busy PROPERTIES LABELS cli)
add_test(NAME cli.usage
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_usage.py ${tools})
set_tests_properties(cli.usage PROPERTIES LABELS cli SKIP_RETURN_CODE 77)

if(TARGET modalpack)
  foreach(kind "" long)
    string(JOIN _ name texts ${kind})
    set(labels cli ${kind})
    add_test(NAME cli.${name} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_texts.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${kind})
    set_tests_properties(cli.${name} PROPERTIES LABELS "${labels}" TIMEOUT 3600)
    if(NOT MODAL_SANITIZE) # which takes terabytes of addresses
      string(JOIN _ name limits ${kind})
      add_test(NAME cli.${name} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_limits.py
               ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${kind})
      set_tests_properties(cli.${name} PROPERTIES LABELS "${labels}" TIMEOUT 3600)
    endif()
  endforeach()

  set(sanitize "")
  if(MODAL_SANITIZE)
    set(sanitize --sanitize ${MODAL_SANITIZE})
  endif()
  add_test(NAME cli.install COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_install.py
           ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${sanitize})
  add_test(NAME cli.packages COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_install.py
           ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} --packages)
  add_test(NAME cli.packages_shipped COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_install.py
           ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} --packages --shipped)
  set_tests_properties(cli.install cli.packages cli.packages_shipped PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
  set_tests_properties(cli.packages_shipped PROPERTIES LABELS "cli;long" TIMEOUT 900)

  add_test(NAME cli.shapes COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_shapes.py
           $<TARGET_FILE:modalpack> $<TARGET_FILE:modalinfo>)
  set_tests_properties(cli.shapes PROPERTIES LABELS cli)
  add_test(NAME cli.modalpack COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalpack.py
           $<TARGET_FILE:modalpack> ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.modalpack PROPERTIES LABELS cli TIMEOUT 300)

  add_test(NAME cli.rigid COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_rigid.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.rigid PROPERTIES LABELS cli)
  add_test(NAME cli.modalrender COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalrender.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.modalrender PROPERTIES LABELS cli SKIP_RETURN_CODE 77)
  foreach(part look resume given motion)
    add_test(NAME cli.render_${part} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_render_${part}.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    set_tests_properties(cli.render_${part} PROPERTIES LABELS cli)
  endforeach()
  add_test(NAME cli.render_golden COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_render_golden.py
           ${CMAKE_CURRENT_SOURCE_DIR}/files/golden ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.render_golden PROPERTIES LABELS cli)
  add_test(NAME cli.dataset COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_dataset.py ${CMAKE_SOURCE_DIR}
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.dataset PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
  foreach(part exr modes ffprobe)
    add_test(NAME cli.render_${part} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_render_formats.py ${part}
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    set_tests_properties(cli.render_${part} PROPERTIES LABELS cli SKIP_RETURN_CODE 77)
  endforeach()
  foreach(part names films)
    add_test(NAME cli.output_${part} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_names.py ${part} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    set_tests_properties(cli.output_${part} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
  add_test(NAME cli.octree COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_octree.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.octree PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.flow COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_flow.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.flow PROPERTIES LABELS cli TIMEOUT 300)
  foreach(page README docs/tour)
    get_filename_component(name ${page} NAME)
    set(check_tour ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tour.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${page}.md)
    add_test(NAME cli.page_${name} COMMAND ${check_tour} --short)
    add_test(NAME cli.page_${name}_all COMMAND ${check_tour})
    set_tests_properties(cli.page_${name} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 600)
    set_tests_properties(cli.page_${name}_all PROPERTIES LABELS "cli;long" SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()
  add_test(NAME cli.demo COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_demo.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.demo PROPERTIES LABELS "cli;long" TIMEOUT 600)
  add_test(NAME cli.modaltex_docs COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modaltex_docs.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.modaltex_docs PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.bake COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_bake.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
           ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.bake PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
  add_test(NAME cli.texture COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_texture.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.texture PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.render_texture COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_render_texture.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli.render_texture PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.render_texture_all COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_render_texture.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} --all)
  set_tests_properties(cli.render_texture_all PROPERTIES LABELS "cli;long" TIMEOUT 600)

  foreach(case look:basis look:convert look:glb look:obj look_images:images look_gltf:gltf look_vtk:vtkhdf creases:creases creases:vn)
    string(REPLACE ":" ";" case ${case})
    list(GET case 0 file)
    list(GET case 1 part)
    add_test(NAME look.${part} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_${file}.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${part})
    set_tests_properties(look.${part} PROPERTIES LABELS cli SKIP_RETURN_CODE 77)
  endforeach()

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
  add_test(NAME cli.deform_curvature
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_deform_curvature.py $<TARGET_FILE:modaldeform>
           $<TARGET_FILE:modalcurv> ${CMAKE_BINARY_DIR}/fork_basis.h5)
  set_tests_properties(cli.deform_curvature PROPERTIES LABELS cli FIXTURES_REQUIRED fork_basis)
endif()

if(TARGET modalpack AND TARGET modalmesh AND TARGET modalview)
  set(library -)
  if(TARGET libmodaltools AND NOT MODAL_SANITIZE) # Python has no sanitizer's runtime
    set(library $<TARGET_FILE:libmodaltools>)
  endif()
  add_test(NAME cli.chain COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_chain.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
           ${CMAKE_SOURCE_DIR} ${library})
  set_tests_properties(cli.chain PROPERTIES LABELS cli TIMEOUT 300)
endif()

if(TARGET modalpack AND TARGET modalmesh)
  set(check_quick ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_quick.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME cli.quick COMMAND ${check_quick})
  add_test(NAME cli.quick_outputs COMMAND ${check_quick} outputs)
  add_test(NAME cli.quick_bunny COMMAND ${check_quick} ${MODAL_TEST_DATA})
  set_tests_properties(cli.quick cli.quick_outputs PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 600)
  set_tests_properties(cli.quick_bunny PROPERTIES LABELS "cli;long" SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

if(TARGET modalpack AND TARGET modalview AND TARGET modaltex AND TARGET modaltled)
  # textures.h5 as a look; every dataset of the table of formats/README.md: its writers write it, its readers read it
  add_test(NAME look.packed COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_look_packed.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} packed)
  add_test(NAME formats.packed COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_packed.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  set_tests_properties(look.packed formats.packed PROPERTIES LABELS "cli;formats" TIMEOUT 300)
endif()

if(TARGET modalpack AND TARGET modalview)
  set(check_page ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_page.py
      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  add_test(NAME cli.modalview COMMAND ${check_page})
  add_test(NAME clients.chromium COMMAND ${check_page} --browser ${CMAKE_BINARY_DIR})
  set_tests_properties(cli.modalview PROPERTIES LABELS cli TIMEOUT 300)
  if(TARGET modalrender AND TARGET modaltled)
    set(check_plain ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_plain_commands.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
        ${CMAKE_SOURCE_DIR})
    add_test(NAME cli.plain_commands COMMAND ${check_plain})
    add_test(NAME cli.plain_commands_all COMMAND ${check_plain} ${MODAL_TEST_DATA})
    set_tests_properties(cli.plain_commands PROPERTIES LABELS cli TIMEOUT 300)
    set_tests_properties(cli.plain_commands_all PROPERTIES LABELS "cli;long" SKIP_RETURN_CODE 77 TIMEOUT 3600)
  endif()
  set(check_play ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_play.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  add_test(NAME cli.play COMMAND ${check_play})
  add_test(NAME clients.chromium_play COMMAND ${check_play} --browser)
  set(check_loads ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_loads_page.py
      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  add_test(NAME cli.loads_page COMMAND ${check_loads})
  add_test(NAME clients.chromium_loads COMMAND ${check_loads} --browser)
  set_tests_properties(cli.loads_page PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(clients.chromium_loads PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
  set(check_look_page ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_look_page.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME cli.look_page COMMAND ${check_look_page})
  add_test(NAME clients.chromium_look COMMAND ${check_look_page} --browser)
  set_tests_properties(cli.look_page PROPERTIES LABELS cli)
  set_tests_properties(clients.chromium_look PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
  set(check_response ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_response_page.py
      ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  add_test(NAME cli.response_page COMMAND ${check_response})
  add_test(NAME clients.chromium_response COMMAND ${check_response} --browser ${CMAKE_BINARY_DIR})
  set_tests_properties(cli.response_page PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(clients.chromium_response PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
  set_tests_properties(cli.play PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(clients.chromium_play PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300 RUN_SERIAL TRUE) # sound keeps time with pictures
  set_tests_properties(clients.chromium PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
  add_test(NAME clients.chromium_curvature COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_curvature_page.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(clients.chromium_curvature PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# What all tools do alike with files, by every command line of tests/python/tool_commands.py.
if(TARGET modalpack AND TARGET modalview AND TARGET modalmesh)
  set(names "")
  foreach(tool ${tools})
    string(REGEX REPLACE "\\$<TARGET_FILE:(.*)>" "\\1" name ${tool})
    list(APPEND names ${name})
  endforeach()
  add_test(NAME cli.overwrites COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_overwrites.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${names})
  add_test(NAME cli.overwrites_all COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_overwrites.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${names} --all)
  add_test(NAME cli.descriptors COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_descriptors.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${names})
  add_test(NAME cli.descriptors_all COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_descriptors.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${names} --all)
  set_tests_properties(cli.overwrites cli.descriptors PROPERTIES LABELS cli TIMEOUT 300)
  set_tests_properties(cli.overwrites_all cli.descriptors_all PROPERTIES LABELS "cli;long" TIMEOUT 1800)
  foreach(case inputs extremes)
    set(check_case ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_${case}.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${names})
    add_test(NAME cli.${case} COMMAND ${check_case})
    add_test(NAME cli.${case}_all COMMAND ${check_case} --all)
    set_tests_properties(cli.${case} PROPERTIES LABELS cli TIMEOUT 300)
    set_tests_properties(cli.${case}_all PROPERTIES LABELS "cli;long" TIMEOUT 7200)
  endforeach()
  if(NOT MODAL_SANITIZE) # whose library wants to be the first that is loaded
    add_library(kill_at MODULE ${CMAKE_CURRENT_SOURCE_DIR}/preload/kill_at.c)
    set_target_properties(kill_at PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(kill_at PRIVATE ${CMAKE_DL_LIBS})
    set(check_kills ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_kills.py
        ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE:kill_at>)
    add_test(NAME cli.kills COMMAND ${check_kills})
    add_test(NAME cli.kills_all COMMAND ${check_kills} --all)
    set_tests_properties(cli.kills PROPERTIES LABELS cli TIMEOUT 600)
    set_tests_properties(cli.kills_all PROPERTIES LABELS "cli;long" TIMEOUT 7200)
  endif()
endif()
