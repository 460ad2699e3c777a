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
