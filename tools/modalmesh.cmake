# SPDX-License-Identifier: Apache-2.0
# Gmsh's library (GPL) and TetGen's (AGPL, C++), each where it is found, in a module of its own that
# modalmesh loads when it needs it.
add_executable(modalmesh modalmesh.c modalmesh_child.c modalmesh_new.c modalmesh_report.c
               modalmesh_materials.c common/units.c)
target_link_libraries(modalmesh PRIVATE modal_tool modal_meshes modal_mesh OpenMP::OpenMP_C
                      ${CMAKE_DL_LIBS} m)
install(TARGETS modalmesh RUNTIME)

function(modal_mesh_engine name source include library version)
  add_library(modalmesh_${name} MODULE ${source} modalmesh_new.c)
  set_target_properties(modalmesh_${name} PROPERTIES PREFIX ""
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/modaltools)
  target_include_directories(modalmesh_${name} SYSTEM PRIVATE ${include})
  target_link_libraries(modalmesh_${name} PRIVATE modal_meshes modal_mesh ${library} m)
  add_dependencies(modalmesh modalmesh_${name})
  string(TOUPPER ${name} upper)
  target_compile_definitions(modalmesh PRIVATE MODAL_${upper}_VERSION="${version}")
  install(TARGETS modalmesh_${name} LIBRARY DESTINATION lib/modaltools)
endfunction()

find_path(GMSH_INCLUDE_DIR gmshc.h)
find_library(GMSH_LIBRARY gmsh)
if(GMSH_INCLUDE_DIR AND GMSH_LIBRARY)
  file(STRINGS ${GMSH_INCLUDE_DIR}/gmshc.h line REGEX "define GMSH_API_VERSION +\"")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${line}")
  modal_mesh_engine(gmsh modalmesh_gmsh.c ${GMSH_INCLUDE_DIR} ${GMSH_LIBRARY} ${version})
endif()
find_path(TETGEN_INCLUDE_DIR tetgen.h)
find_library(TETGEN_LIBRARY tet)
include(CheckLanguage)
check_language(CXX)
if(TETGEN_INCLUDE_DIR AND TETGEN_LIBRARY AND CMAKE_CXX_COMPILER)
  enable_language(CXX)
  file(STRINGS ${TETGEN_INCLUDE_DIR}/tetgen.h line REGEX "Version [0-9.]+")
  string(REGEX REPLACE ".*Version ([0-9.]+).*" "\\1" version "${line}")
  modal_mesh_engine(tetgen modalmesh_tetgen.cpp ${TETGEN_INCLUDE_DIR} ${TETGEN_LIBRARY} ${version})
endif()
message(STATUS "modalmesh with Gmsh: ${GMSH_LIBRARY}, TetGen: ${TETGEN_LIBRARY}")
