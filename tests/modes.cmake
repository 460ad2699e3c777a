# SPDX-License-Identifier: Apache-2.0
# Assembly and natural modes.
modal_unit_test(test_fem modal_fem)
modal_unit_test(test_elements modal_fem)
modal_unit_test(test_stress modal_fem)
modal_unit_test(test_element_nearest modal_fem OpenMP::OpenMP_C)
modal_unit_test(test_element_matrices modal_fem)
modal_unit_test(test_elements_refused modal_fem)
modal_unit_test(test_materials_file modal_materials)
modal_unit_test(test_looks modal_looks)
modal_unit_test(test_pictures modal_pictures ZLIB::ZLIB)
if(MODAL_HAVE_MODES)
  modal_unit_test(test_modes modal_modes)
  modal_unit_test(test_modes_factor modal_modes)
  modal_unit_test(test_modes_proof modal_modes)
  modal_unit_test(test_modes_limits modal_modes)
  modal_unit_test(test_symmetric modal_modes modal_kernels)
  modal_unit_test(test_element_modes modal_modes)
  modal_unit_test(test_enhanced modal_modes)
  target_link_options(test_modes_proof PRIVATE -Wl,--wrap=modal_modes_lanczos -Wl,--wrap=modal_factor_count)
  modal_unit_test(test_modes_real modal_modes)
  set_tests_properties(unit.test_modes_real PROPERTIES SKIP_RETURN_CODE 77)

  add_executable(dump_modes ${CMAKE_CURRENT_SOURCE_DIR}/unit/dump_modes.c)
  set_target_properties(dump_modes PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(dump_modes PRIVATE modal_modes m)
  add_test(NAME unit.check_modes
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_modes.py
                   $<TARGET_FILE:dump_modes>)
  set_tests_properties(unit.check_modes PROPERTIES LABELS unit)

  add_test(NAME cli.solids
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_solids.py
                   $<TARGET_FILE:modalpack> $<TARGET_FILE:modalinfo> ${CMAKE_SOURCE_DIR})
  add_test(NAME cli.multiplets COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_multiplets.py
                                       $<TARGET_FILE:modalpack>)
  add_test(NAME cli.surfaces COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_surfaces.py
                                     ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  foreach(kind "" long)
    string(JOIN _ name benchmarks ${kind})
    add_test(NAME cli.${name} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_benchmarks.py $<TARGET_FILE:modalpack> ${kind})
    set_tests_properties(cli.${name} PROPERTIES LABELS "cli;${kind}" TIMEOUT 1200)
  endforeach()
  add_test(NAME cli.hex8 COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_hex8.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(cli.solids cli.multiplets cli.surfaces cli.hex8 PROPERTIES LABELS cli)
endif()

# On ranks of an MPI, where SLEPc is.
if(TARGET modalpack)
  foreach(kind short long)
    set(name mpi.ranks)
    if(kind STREQUAL long)
      set(name mpi.ranks_long)
    endif()
    add_test(NAME ${name} COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_ranks.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${kind}
                                  "${MODAL_RANKS_ABSENT}")
    set_tests_properties(${name} PROPERTIES LABELS mpi SKIP_RETURN_CODE 77 TIMEOUT 900) # ranks that wait give way to other tests
  endforeach()
  set_tests_properties(mpi.ranks_long PROPERTIES LABELS "mpi;long" PROCESSORS 2)
endif()

if(MODAL_HAVE_RANKS)
  modal_unit_test(test_ranks modal_ranks modal_modes)
  target_link_options(test_ranks PRIVATE -Wl,--wrap=ranks_examine -Wl,--wrap=ranks_most_index
                      -Wl,--copy-dt-needed-entries) # the LAPACK that PETSc has
  target_include_directories(test_ranks SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  set(ranks_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0) # of Open MPI and PETSc
  set_tests_properties(unit.test_ranks PROPERTIES LABELS "unit;mpi" ENVIRONMENT "${ranks_environment}")
  set(ranks_includes ${MODAL_SLEPC_INCLUDE_DIRS} ${MODAL_PETSC_INCLUDE_DIRS} ${MPI_C_INCLUDE_DIRS})
  list(TRANSFORM ranks_includes PREPEND -I)
  # PETSc with complex scalars: refused by the compiler, where the configuration did not see it.
  add_test(NAME mpi.complex COMMAND ${CMAKE_C_COMPILER} -E -DPETSC_USE_COMPLEX -I${CMAKE_SOURCE_DIR} ${ranks_includes}
           ${CMAKE_SOURCE_DIR}/lib/ranks/session.c)
  set_tests_properties(mpi.complex PROPERTIES LABELS mpi PASS_REGULAR_EXPRESSION "PETSc with complex scalars: the matrices here are real")
endif()

# The same .inp in CalculiX; skipped without ccx.
if(MODAL_HAVE_MODES)
  add_executable(solve_modes ${CMAKE_CURRENT_SOURCE_DIR}/clients/solve_modes.c)
  set_target_properties(solve_modes PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(solve_modes PRIVATE modal_modes modal_materials modal_meshes)
  add_test(NAME clients.calculix COMMAND ${MODAL_PYTHON}
           ${CMAKE_CURRENT_SOURCE_DIR}/clients/check_calculix.py $<TARGET_FILE:solve_modes>)
  set_tests_properties(clients.calculix PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

if(TARGET modalpack AND TARGET modaldeform)
  add_executable(stress_points ${CMAKE_CURRENT_SOURCE_DIR}/clients/stress_points.c)
  set_target_properties(stress_points PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(stress_points PRIVATE modal_formats modal_fem)
  add_test(NAME clients.calculix_stress COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/clients/check_stress_calculix.py
                                                ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE:stress_points>)
  set_tests_properties(clients.calculix_stress PROPERTIES LABELS clients SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# Beside the closest rival, for docs/results/modes.md; needs ARPACK-NG (libarpack2-dev), not run by ctest.
find_path(MODAL_ARPACK_INCLUDE arpack/arpack.h)
find_library(MODAL_ARPACK_LIBRARY arpack)
find_library(MODAL_OPENBLAS_LIBRARY openblas)
if(MODAL_HAVE_MODES AND MODAL_ARPACK_INCLUDE AND MODAL_ARPACK_LIBRARY AND MODAL_OPENBLAS_LIBRARY)
  add_executable(bench_modes ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench_modes.c)
  set_target_properties(bench_modes PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(bench_modes SYSTEM PRIVATE ${MODAL_CHOLMOD_INCLUDE} ${MODAL_ARPACK_INCLUDE})
  target_link_libraries(bench_modes PRIVATE modal_modes ${MODAL_CHOLMOD_LIBRARY} ${MODAL_ARPACK_LIBRARY} ${MODAL_OPENBLAS_LIBRARY}
                        OpenMP::OpenMP_C m)
endif()

# Beside SLEPc with MUMPS (libslepc-real-dev), not run by ctest.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(MODAL_SLEPC QUIET IMPORTED_TARGET slepc)
endif()
# Not without SLEPc: where Open MPI's programs are installed without its headers, FindMPI ends the configuration.
if(MODAL_SLEPC_FOUND)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(MODAL_HAVE_MODES AND MODAL_SLEPC_FOUND AND MPI_C_FOUND AND MODAL_OPENBLAS_LIBRARY)
  add_executable(bench_slepc ${CMAKE_CURRENT_SOURCE_DIR}/bench/bench_slepc.c)
  set_target_properties(bench_slepc PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(bench_slepc PRIVATE modal_modes PkgConfig::MODAL_SLEPC MPI::MPI_C
                        ${MODAL_OPENBLAS_LIBRARY} OpenMP::OpenMP_C m)
endif()
