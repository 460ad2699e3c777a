# SPDX-License-Identifier: Apache-2.0
# basis.h5 and traj.h5: units, h5py as a second reader, the fuzz corpus.
add_library(modal_test_files STATIC unit/file_samples.c unit/file_damage.c)
target_link_libraries(modal_test_files PUBLIC modal_formats PkgConfig::CMOCKA)

foreach(name test_basis_file test_trajectory_file)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}.c)
    modal_unit_test(${name} modal_test_files)
    set_tests_properties(unit.${name} PROPERTIES LABELS "unit;formats")
  endif()
endforeach()

# make_file_corpus rewrites the seeds: tests/make_file_corpus ../tests/fuzz/corpus
add_executable(make_file_corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/make_file_corpus.c)
target_link_libraries(make_file_corpus PRIVATE modal_test_files)
set_target_properties(make_file_corpus PROPERTIES
                      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
foreach(format basis trajectory sequence scene snapshots checkpoint)
  set(name fuzz_${format})
  if(MODAL_FUZZ)
    # HDF5 itself is not instrumented; the fuzzer sees our checks only.
    add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name}.c)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
    set(arguments -runs=0)
  else()
    add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name}.c
                   ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/replay.c)
    set(arguments)
  endif()
  target_link_libraries(${name} PRIVATE modal_formats modal_scenes)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME fuzz.${format} COMMAND ${name} ${arguments}
           ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${format})
  set_tests_properties(fuzz.${format} PROPERTIES LABELS fuzz TIMEOUT 120)
endforeach()

modal_unit_test(test_inputs_broken modal_test_files modal_scenes modal_materials)

add_executable(write_samples ${CMAKE_CURRENT_SOURCE_DIR}/unit/write_samples.c)
target_link_libraries(write_samples PRIVATE modal_test_files)
set_target_properties(write_samples PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME formats.h5py
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_files.py
                 --formats ${CMAKE_SOURCE_DIR}/formats --write-samples $<TARGET_FILE:write_samples>)
set_tests_properties(formats.h5py PROPERTIES LABELS formats)
if(TARGET modalinfo AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalinfo.py)
  add_test(NAME cli.modalinfo
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalinfo.py
                   --modalinfo $<TARGET_FILE:modalinfo> --write-samples $<TARGET_FILE:write_samples>)
  set_tests_properties(cli.modalinfo PROPERTIES LABELS "cli;formats")
endif()
