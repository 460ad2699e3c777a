# SPDX-License-Identifier: Apache-2.0
# The readers of meshes. With clang, MODAL_FUZZ=ON makes the fuzz targets real ones (libFuzzer with
# ASan and UBSan): tests/fuzz_msh -max_len=4096 FOLDER ../tests/fuzz/corpus/msh ../tests/files
# (with -DMODAL_SANITIZE=address,undefined -DCMAKE_C_FLAGS=-fsanitize=fuzzer-no-link it sees all of this project's
# code, readers of HDF5 files among them; HDF5's own leaks are to be suppressed: LSAN_OPTIONS=suppressions=FILE
# with a line leak:libhdf5)
option(MODAL_FUZZ "fuzz targets with libFuzzer (needs clang)" OFF)

foreach(name text contents files surfaces broken)
  modal_unit_test(test_readers_${name} modal_meshes)
endforeach()
# They count the allocator's calls.
foreach(name files broken)
  target_link_options(test_readers_${name} PRIVATE -Wl,--wrap=aligned_alloc -Wl,--wrap=free)
endforeach()
modal_unit_test(test_readers_data modal_meshes)
set_tests_properties(unit.test_readers_data PROPERTIES SKIP_RETURN_CODE 77)
modal_unit_test(test_readers_speed modal_meshes)
modal_unit_test(test_readers_speed_more modal_meshes)
set_tests_properties(unit.test_readers_speed unit.test_readers_speed_more PROPERTIES
                     LABELS "unit;slow" RUN_SERIAL ON)

# fuzz_NAME from SOURCE.c; further arguments are definitions.
function(modal_fuzz_target format source)
  set(name fuzz_${format})
  set(source ${CMAKE_SOURCE_DIR}/tests/fuzz/${source}.c)
  if(MODAL_FUZZ)
    # The readers are compiled again: the fuzzer needs its own instrumentation in them.
    add_executable(${name} ${source} ${fuzz_sources})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined
                           -fno-sanitize-recover=all)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
    set(arguments -runs=0)
  else()
    add_executable(${name} ${source} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
    target_link_libraries(${name} PRIVATE modal_meshes modal_materials)
    set(arguments)
  endif()
  target_compile_definitions(${name} PRIVATE ${ARGN} $<$<BOOL:${ZLIB_FOUND}>:MODAL_HAVE_ZLIB>)
  target_link_libraries(${name} PRIVATE $<$<BOOL:${ZLIB_FOUND}>:ZLIB::ZLIB> PkgConfig::JANSSON m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME fuzz.${format} COMMAND ${name} ${arguments}
           ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${format} ${CMAKE_SOURCE_DIR}/tests/files)
  set_tests_properties(fuzz.${format} PROPERTIES LABELS fuzz)
endfunction()

set(fuzz_sources
  formats/meshes/text_reader.c formats/meshes/tag_table.c formats/meshes/group_builder.c formats/meshes/msh.c
  formats/meshes/msh_elements.c formats/meshes/msh_element_types.c formats/meshes/msh_ascii.c formats/meshes/msh_binary.c
  formats/meshes/veg.c formats/meshes/bou.c formats/meshes/obj.c formats/meshes/csv.c formats/meshes/vega_matrix.c
  formats/meshes/surface_builder.c formats/meshes/stl.c formats/meshes/ply_read.c formats/meshes/off.c lib/base/point_table.c
  formats/meshes/mesh_builder.c formats/meshes/medit.c formats/meshes/tetgen.c formats/meshes/inp.c formats/meshes/inp_sets.c
  formats/meshes/vtk.c formats/meshes/vtk_grid.c formats/meshes/vtu.c formats/meshes/vtu_data.c lib/mesh/element.c
  formats/json/materials.c formats/json/json_place.c lib/mesh/material.c
  lib/base/status.c lib/base/text.c lib/base/memory.c lib/mesh/volume_mesh.c)
list(TRANSFORM fuzz_sources PREPEND ${CMAKE_SOURCE_DIR}/)
foreach(format msh veg bou obj csv vega materials)
  modal_fuzz_target(${format} fuzz_${format})
endforeach()
foreach(format stl ply off)
  modal_fuzz_target(${format} fuzz_surface PARSE=modal_${format}_parse)
endforeach()

foreach(format medit inp vtk vtu)
  modal_fuzz_target(${format} fuzz_volume PARSE=modal_${format}_parse)
endforeach()
modal_fuzz_target(tetgen fuzz_volume PAIR)

# What others read from the same files: meshio, and Gmsh itself where its library is found.
add_executable(dump_mesh ${CMAKE_CURRENT_SOURCE_DIR}/unit/dump_mesh.c)
target_link_libraries(dump_mesh PRIVATE modal_meshes)
set_target_properties(dump_mesh PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
set(readers_arguments --dump $<TARGET_FILE:dump_mesh>)
find_path(GMSH_INCLUDE_DIR gmshc.h)
find_library(GMSH_LIBRARY gmsh)
if(GMSH_INCLUDE_DIR AND GMSH_LIBRARY)
  add_executable(dump_mesh_gmsh ${CMAKE_CURRENT_SOURCE_DIR}/unit/dump_mesh_gmsh.c)
  target_include_directories(dump_mesh_gmsh SYSTEM PRIVATE ${GMSH_INCLUDE_DIR})
  target_link_libraries(dump_mesh_gmsh PRIVATE ${GMSH_LIBRARY})
  set_target_properties(dump_mesh_gmsh PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  list(APPEND readers_arguments --dump-gmsh $<TARGET_FILE:dump_mesh_gmsh>)
endif()
foreach(client meshio gmsh)
  add_test(NAME clients.readers_${client}
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_readers.py ${client}
                   ${readers_arguments})
  set_tests_properties(clients.readers_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77)
endforeach()
add_test(NAME formats.volumes COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_volumes.py
         files --dump $<TARGET_FILE:dump_mesh>)
set_tests_properties(formats.volumes PROPERTIES LABELS formats)
foreach(client meshio vtk)
  add_test(NAME clients.volumes_${client}
           COMMAND ${MODAL_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_volumes.py ${client}
                   --dump $<TARGET_FILE:dump_mesh>)
  set_tests_properties(clients.volumes_${client} PROPERTIES LABELS clients SKIP_RETURN_CODE 77)
endforeach()
