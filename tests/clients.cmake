# SPDX-License-Identifier: Apache-2.0
# The sequence: its writer and checker (unit), read by h5py alone (formats), opened by ParaView
# (clients, skipped where pvpython is absent).
modal_unit_test(test_sequence modal_formats modal_hdf5)
modal_unit_test(test_sequence_damage modal_formats modal_hdf5)
add_test(NAME unit.test_sequence_damage_all COMMAND test_sequence_damage)
set_tests_properties(unit.test_sequence_damage_all PROPERTIES LABELS "unit;long" ENVIRONMENT MODAL_ALL_DAMAGE=1 TIMEOUT 900)
modal_unit_test(test_number_text modal_formats)
modal_unit_test(test_direct_out modal_formats modal_hdf5)
modal_unit_test(test_octree_cut modal_formats)
modal_unit_test(test_file_out modal_formats)
add_executable(decode_images bench/decode_images.c)
set_target_properties(decode_images PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(decode_images PRIVATE modal_images modal_meshes)
add_executable(bench_writer bench/bench_writer.c)
set_target_properties(bench_writer PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(bench_writer PRIVATE modal_formats modal_hdf5)

add_executable(make_sequence clients/make_sequence.c)
set_target_properties(make_sequence PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(make_sequence PRIVATE modal_formats m)

set(sequence_folder ${CMAKE_CURRENT_BINARY_DIR}/sequence)
add_test(NAME formats.sequence_made COMMAND make_sequence ${sequence_folder} 40 12)
set_tests_properties(formats.sequence_made PROPERTIES LABELS formats FIXTURES_SETUP sequence)
add_test(NAME formats.sequence_h5py COMMAND ${MODAL_PYTHON}
         ${CMAKE_SOURCE_DIR}/tests/python/check_sequence.py ${sequence_folder})
set_tests_properties(formats.sequence_h5py PROPERTIES LABELS formats FIXTURES_REQUIRED sequence)

find_program(MODAL_PVPYTHON pvpython)
find_program(MODAL_BLENDER blender)
# npm packages that ./run clients installs; never part of the repository.
set(MODAL_NODE_MODULES ${CMAKE_SOURCE_DIR}/build/clients/node_modules CACHE PATH "npm packages of the tests")
# A system with VTK 9.3 that ./run clients makes: the default format is played there.
set(MODAL_VTK_ROOT ${CMAKE_SOURCE_DIR}/build/clients/trixie CACHE PATH "root of a Debian 13 with python3-vtk9")
add_test(NAME clients.paraview_xdmf COMMAND ${MODAL_PYTHON}
         ${CMAKE_SOURCE_DIR}/tests/python/open_sequence.py ${sequence_folder} "${MODAL_PVPYTHON}")
set_tests_properties(clients.paraview_xdmf PROPERTIES LABELS clients FIXTURES_REQUIRED sequence
                     SKIP_RETURN_CODE 77 TIMEOUT 300)

if(TARGET modaldeform AND TARGET write_samples)
  add_test(NAME cli.modaldeform COMMAND ${MODAL_PYTHON}
           ${CMAKE_SOURCE_DIR}/tests/python/check_modaldeform.py $<TARGET_FILE:modaldeform>
           $<TARGET_FILE:write_samples>)
  set_tests_properties(cli.modaldeform PROPERTIES LABELS cli TIMEOUT 300)
  set(modalview "")
  if(TARGET modalview)
    set(modalview $<TARGET_FILE:modalview>)
  endif()
  add_test(NAME cli.finite COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_finite.py
           $<TARGET_FILE:write_samples> $<TARGET_FILE:modaldeform> ${modalview})
  set_tests_properties(cli.finite PROPERTIES LABELS cli TIMEOUT 300)
  if(TARGET modalview AND TARGET modalinfo)
    add_test(NAME cli.pipes COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_pipes.py
             $<TARGET_FILE:modaldeform> $<TARGET_FILE:modalview> $<TARGET_FILE:modalinfo> $<TARGET_FILE:write_samples>)
    set_tests_properties(cli.pipes PROPERTIES LABELS "cli;formats" TIMEOUT 120)
  endif()
  add_test(NAME cli.modaldeform_formats COMMAND ${MODAL_PYTHON}
           ${CMAKE_SOURCE_DIR}/tests/python/check_formats.py $<TARGET_FILE:modaldeform>
           $<TARGET_FILE:write_samples>)
  set_tests_properties(cli.modaldeform_formats PROPERTIES LABELS "cli;formats" TIMEOUT 300)
  foreach(client paraview vtkhdf blender gltf-validator meshio)
    set(program_of_paraview "${MODAL_PVPYTHON}")
    set(program_of_vtkhdf "${MODAL_PVPYTHON},${MODAL_VTK_ROOT}")
    set(program_of_blender "${MODAL_BLENDER}")
    set(program_of_gltf-validator "${MODAL_NODE_MODULES}/gltf-validator")
    set(program_of_meshio "-")
    add_test(NAME clients.formats_${client} COMMAND ${MODAL_PYTHON}
             ${CMAKE_SOURCE_DIR}/tests/python/open_formats.py $<TARGET_FILE:modaldeform>
             $<TARGET_FILE:write_samples> ${client} "${program_of_${client}}" ${sequence_folder})
    set_tests_properties(clients.formats_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77
                         FIXTURES_REQUIRED sequence TIMEOUT 300)
  endforeach()
endif()

foreach(client blender paraview)
  set(program_of_paraview "${MODAL_PVPYTHON}")
  set(program_of_blender "${MODAL_BLENDER}")
  add_test(NAME clients.curvature_${client} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_curvature_clients.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${client} "${program_of_${client}}")
  set_tests_properties(clients.curvature_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()

if(TARGET modaldeform AND TARGET modalpack)
  foreach(client blender gltf-validator vtk)
    set(program_of_vtk "${MODAL_VTK_ROOT}")
    set(program_of_blender "${MODAL_BLENDER}")
    set(program_of_gltf-validator "${MODAL_NODE_MODULES}/gltf-validator")
    set(file check_look_clients)
    if(client STREQUAL vtk)
      set(file check_look_vtk)
    endif()
    add_test(NAME clients.look_${client} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/${file}.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${client} "${program_of_${client}}")
    set_tests_properties(clients.look_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
endif()

# What modaltex bake and flow write.
find_program(MODAL_CHROMIUM NAMES chromium chromium-browser google-chrome)
if(TARGET modaltex AND TARGET modaldeform AND TARGET modalpack AND TARGET modalview)
  foreach(client blender gltf-validator page paraview)
    set(program_of_blender "${MODAL_BLENDER}")
    set(program_of_gltf-validator "${MODAL_NODE_MODULES}/gltf-validator")
    set(program_of_page "${MODAL_CHROMIUM}")
    set(program_of_paraview "${MODAL_PVPYTHON}")
    add_test(NAME clients.bake_${client} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_bake_clients.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
             ${CMAKE_SOURCE_DIR} ${client} "${program_of_${client}}")
    set_tests_properties(clients.bake_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
endif()

if(TARGET modaldeform AND TARGET modalpack AND TARGET modalmesh)
  add_test(NAME clients.blender_own_mesh COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_own_mesh.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} "${MODAL_BLENDER}")
  set_tests_properties(clients.blender_own_mesh PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# The trajectory itself, by the plugin and the add-on of tools/paraview and tools/blender.
if(TARGET modaldeform AND TARGET modalpack AND TARGET modalsim AND TARGET modalplace)
  add_test(NAME clients.trajectory_paraview COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_paraview.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} "${MODAL_PVPYTHON}" "${MODAL_VTK_ROOT}" $<TARGET_FILE:libmodaltools>)
  foreach(blender trajectory_blender trajectory_blender_4)
    set(program_of_trajectory_blender "${MODAL_BLENDER}")
    set(program_of_trajectory_blender_4 "${MODAL_VTK_ROOT}") # Debian 13 has Blender 4.3
    add_test(NAME clients.${blender} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_blender.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
             ${CMAKE_SOURCE_DIR} "${program_of_${blender}}" ${CMAKE_BINARY_DIR}/modaltools_import.zip $<TARGET_FILE:libmodaltools>)
    set_tests_properties(clients.${blender} PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
  set_tests_properties(clients.trajectory_paraview PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

if(TARGET modaldeform AND TARGET modalpack)
  foreach(kind "" long)
    string(JOIN _ name sound ${kind})
    set(labels cli ${kind})
    add_test(NAME cli.${name} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_sound.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${kind})
    set_tests_properties(cli.${name} PROPERTIES LABELS "${labels}" TIMEOUT 300)
  endforeach()
endif()

if(TARGET modaldeform)
  add_test(NAME cli.modaldeform_large COMMAND ${MODAL_PYTHON}
           ${CMAKE_SOURCE_DIR}/tests/python/check_large.py $<TARGET_FILE:modaldeform>)
  set_tests_properties(cli.modaldeform_large PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli.modaldeform_resume COMMAND ${MODAL_PYTHON}
           ${CMAKE_SOURCE_DIR}/tests/python/check_resume.py $<TARGET_FILE:modaldeform>)
  set_tests_properties(cli.modaldeform_resume PROPERTIES LABELS cli TIMEOUT 300)
endif()

if(TARGET modaldeform AND TARGET modalinfo AND TARGET modalpack AND TARGET modalsim)
  set(check_shares ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_shares.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  foreach(part bytes refuse kills launch mpi)
    add_test(NAME shares.${part} COMMAND ${check_shares} ${part})
    set_tests_properties(shares.${part} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
  add_test(NAME shares.kills_long COMMAND ${check_shares} kills_long)
  add_test(NAME shares.bytes_long COMMAND ${check_shares} bytes_long)
  set_tests_properties(shares.kills_long shares.bytes_long PROPERTIES LABELS "cli;long" TIMEOUT 3600)
  set_tests_properties(shares.mpi PROPERTIES LABELS "cli;mpi" SKIP_RETURN_CODE 77)
  if(NOT MODAL_SANITIZE) # whose library wants to be the first that is loaded
    add_library(no_links MODULE ${CMAKE_SOURCE_DIR}/tests/preload/no_links.c)
    set_target_properties(no_links PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(no_links PRIVATE ${CMAKE_DL_LIBS})
    add_test(NAME shares.links COMMAND ${check_shares} links $<TARGET_FILE:no_links>)
    set_tests_properties(shares.links PROPERTIES LABELS cli)
  endif()
endif()

if(TARGET modaldeform AND TARGET modalplace AND TARGET modalpack AND TARGET modalsim AND TARGET modalinfo)
  foreach(part make arrays study snakemake bases set map make_long)
    add_test(NAME clusters.${part} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_clusters.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
             ${CMAKE_SOURCE_DIR} ${part})
    set_tests_properties(clusters.${part} PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
  set_tests_properties(clusters.make_long PROPERTIES LABELS "cli;long" TIMEOUT 3600)
  set_tests_properties(clusters.snakemake PROPERTIES LABELS "cli;clients")
endif()

# Other versions of HDF5: that of the Debian 13, for which our C code is compiled there, too, and that of h5wasm.
if(TARGET modalinfo AND TARGET modalpack AND TARGET modalsim AND TARGET modaldeform AND TARGET write_samples)
  set(lists "")
  foreach(part modal_base modal_model modal_laws modal_mesh modal_fem modal_json modal_meshes modal_formats modal_tool modal_test_files modalinfo dump_file write_samples)
    string(APPEND lists "${part}=$<TARGET_PROPERTY:${part},SOURCE_DIR>;$<TARGET_PROPERTY:${part},SOURCES>\n")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hdf5_sources.txt CONTENT "${lists}")
  foreach(case "1_14;debian;${MODAL_VTK_ROOT};${CMAKE_CURRENT_BINARY_DIR}/hdf5_sources.txt" "2;h5wasm;${MODAL_NODE_MODULES}/h5wasm")
    list(POP_FRONT case name)
    add_test(NAME clients.hdf5_${name} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_hdf5.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_BINARY_DIR}/tests ${CMAKE_SOURCE_DIR} ${case})
    set_tests_properties(clients.hdf5_${name} PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 900)
  endforeach()
endif()

modal_unit_test(test_shares modal_formats)
set_tests_properties(unit.test_shares PROPERTIES LABELS "unit;formats")
modal_unit_test(test_writers modal_test_files ZLIB::ZLIB)
target_sources(test_writers PRIVATE ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_data.c ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_quality.c
  ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_sink.c ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_response.c
  ${CMAKE_SOURCE_DIR}/formats/viewer/response_table.c
  ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_reach.c ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_look.c)
set_tests_properties(unit.test_writers PROPERTIES LABELS "unit;formats")

# Ids of pictures beside rays (libembree-dev).
find_path(MODAL_EMBREE_INCLUDE embree3/rtcore.h)
find_library(MODAL_EMBREE_LIBRARY embree3)
if(MODAL_EMBREE_INCLUDE AND MODAL_EMBREE_LIBRARY)
  add_executable(embree_ids clients/embree_ids.c)
  set_target_properties(embree_ids PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(embree_ids SYSTEM PRIVATE ${MODAL_EMBREE_INCLUDE})
  target_link_libraries(embree_ids PRIVATE modal_test_harness ${MODAL_EMBREE_LIBRARY} OpenMP::OpenMP_C m)
  add_test(NAME clients.embree_ids COMMAND embree_ids)
else()
  add_test(NAME clients.embree_ids COMMAND sh -c "echo 'skipped: no libembree-dev at configuration'; exit 77")
endif()
set_tests_properties(clients.embree_ids PROPERTIES LABELS clients SKIP_RETURN_CODE 77)

# Outlines of pictures beside ParaView's.
if(TARGET modalrender)
  add_test(NAME clients.render_paraview COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_render_paraview.py "${MODAL_PVPYTHON}"
           ${CMAKE_CURRENT_SOURCE_DIR}/clients/silhouette_in_paraview.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(clients.render_paraview PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
