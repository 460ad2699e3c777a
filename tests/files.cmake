# SPDX-License-Identifier: Apache-2.0
# basis.h5 and traj.h5: units, h5py as a second reader, damaged files.
add_library(modal_test_files STATIC unit/file_samples.c unit/file_damage.c)
target_link_libraries(modal_test_files PUBLIC modal_formats PkgConfig::CMOCKA)
target_compile_definitions(modal_test_files PUBLIC TEST_FILES="${CMAKE_CURRENT_SOURCE_DIR}/files")

foreach(name test_basis_file test_basis_damage test_assembly test_trajectory_file test_guard)
  if(name STREQUAL test_guard)
    set(MODAL_TEST_FOLDER formats/h5/guard)
  endif()
  modal_unit_test(${name} modal_test_files)
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;formats")
endforeach()
set(MODAL_TEST_FOLDER tests/unit)

# Every truncation, every failing allocation and more draws, of which the above take some.
foreach(name test_basis_damage test_assembly)
  add_test(NAME unit.${name}_all COMMAND ${name})
  set_tests_properties(unit.${name}_all PROPERTIES LABELS "unit;formats;long" ENVIRONMENT MODAL_ALL_DAMAGE=1 TIMEOUT 900)
endforeach()

modal_unit_test(test_inputs_broken modal_test_files modal_scenes modal_materials)

add_executable(write_samples ${CMAKE_CURRENT_SOURCE_DIR}/unit/write_samples.c)
target_link_libraries(write_samples PRIVATE modal_test_files)
set_target_properties(write_samples PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME formats.h5py
         COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_files.py
                 --formats ${CMAKE_SOURCE_DIR}/formats --write-samples $<TARGET_FILE:write_samples>)
set_tests_properties(formats.h5py PROPERTIES LABELS formats)
if(TARGET modalpack)
  add_test(NAME formats.extensions COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_extensions.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME formats.basis COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_basis.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
  add_test(NAME formats.quality COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_quality.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE_DIR:write_samples> ${CMAKE_SOURCE_DIR})
  set_tests_properties(formats.extensions formats.basis formats.quality PROPERTIES LABELS "cli;formats")
endif()
if(TARGET modalpack AND TARGET modalplace AND TARGET modaldeform)
  set(library $<TARGET_FILE:libmodaltools>)
  if(MODAL_SANITIZE) # Python has no sanitizer's runtime
    set(library -)
  endif()
  add_test(NAME formats.python_deformer COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_deformer.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} $<TARGET_FILE:write_samples>
           ${library})
  set_tests_properties(formats.python_deformer PROPERTIES LABELS "cli;formats" TIMEOUT 300)
  add_test(NAME formats.python_package COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_package.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} $<TARGET_FILE:write_samples>)
  if(TARGET modalsim)
    add_test(NAME formats.python_solid COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_solid.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR})
    set_tests_properties(formats.python_solid PROPERTIES LABELS "cli;formats" TIMEOUT 120)
  endif()
  add_test(NAME formats.python_types COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_types.py ${CMAKE_SOURCE_DIR})
  set_tests_properties(formats.python_types PROPERTIES LABELS "formats;clients" SKIP_RETURN_CODE 77 TIMEOUT 120)
  if(TARGET modalsim)
    add_test(NAME formats.python_notebook COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_notebook.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${library})
    set_tests_properties(formats.python_notebook PROPERTIES LABELS "cli;formats;clients" SKIP_RETURN_CODE 77 TIMEOUT 300)
  endif()
  set_tests_properties(formats.python_package PROPERTIES LABELS "cli;formats" SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

if(TARGET modalpack AND TARGET modalplace)
  foreach(case "assembly" "assembly_5000;5000") # the second one: that many files
    list(POP_FRONT case name)
    add_test(NAME formats.${name} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_assembly.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_SOURCE_DIR} ${case})
  endforeach()
  set_tests_properties(formats.assembly PROPERTIES LABELS "cli;formats")
  set_tests_properties(formats.assembly_5000 PROPERTIES LABELS "cli;formats;long" TIMEOUT 1800)
endif()
if(TARGET modalinfo AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalinfo.py)
  add_test(NAME cli.modalinfo
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modalinfo.py
                   --modalinfo $<TARGET_FILE:modalinfo> --write-samples $<TARGET_FILE:write_samples>)
  set_tests_properties(cli.modalinfo PROPERTIES LABELS "cli;formats")
  if(TARGET modalpack)
    add_test(NAME cli.compare COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_compare.py
             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    set_tests_properties(cli.compare PROPERTIES LABELS "cli;formats")
  endif()
endif()

# A small file of every kind and version that there was, and other layouts of it.
add_executable(dump_file ${CMAKE_CURRENT_SOURCE_DIR}/unit/dump_file.c)
target_link_libraries(dump_file PRIVATE modal_formats)
set_target_properties(dump_file PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
if(TARGET modalinfo AND TARGET modalpack AND TARGET modalsim AND TARGET modaldeform)
  add_test(NAME formats.frozen
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_frozen.py ${CMAKE_CURRENT_SOURCE_DIR}/files/frozen
                   ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE:dump_file>)
  add_test(NAME formats.frozen_all
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_frozen.py ${CMAKE_CURRENT_SOURCE_DIR}/files/frozen
                   ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE:dump_file> --all)
  set_tests_properties(formats.frozen_all PROPERTIES LABELS "cli;formats;long" TIMEOUT 300)
  add_test(NAME formats.sizes
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_sizes.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                   ${CMAKE_SOURCE_DIR})
  set_tests_properties(formats.frozen formats.sizes PROPERTIES LABELS "cli;formats" TIMEOUT 300)
endif()

# The tables of the pages beside what the C readers read.
add_test(NAME formats.tables COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_tables.py ${CMAKE_SOURCE_DIR})
set_tests_properties(formats.tables PROPERTIES LABELS formats)

# The validator in Python against our programs; `./run long` has 1,000 mutations.
if(NOT MODAL_FUZZ AND TARGET modalinfo AND TARGET modalpack AND TARGET modalsim)
  foreach(case "validator;40" "validator_1000;1000")
    list(GET case 0 name)
    list(GET case 1 count)
    add_test(NAME formats.${name}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_validator.py --tests ${CMAKE_BINARY_DIR}/tests
                     --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --source ${CMAKE_SOURCE_DIR} --count ${count})
  endforeach()
  set_tests_properties(formats.validator PROPERTIES LABELS formats TIMEOUT 600)
  set_tests_properties(formats.validator_1000 PROPERTIES LABELS "formats;long" TIMEOUT 3600)
endif()

# Damaged files through the readers and the programs; `./run long` has 500 of every kind and layout.
if(NOT MODAL_FUZZ AND TARGET modalinfo AND TARGET modaldeform AND TARGET modalview)
  foreach(case "mutations;15;15" "mutations_500;500;4")
    list(GET case 0 name)
    list(GET case 1 count)
    list(GET case 2 every)
    add_test(NAME formats.${name}
             COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_mutations.py --tests ${CMAKE_BINARY_DIR}/tests
                     --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus
                     --count ${count} --programs ${every})
  endforeach()
  set_tests_properties(formats.mutations PROPERTIES LABELS formats TIMEOUT 300)
  set_tests_properties(formats.mutations_500 PROPERTIES LABELS "formats;long" TIMEOUT 10800)
endif()
