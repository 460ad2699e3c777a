# SPDX-License-Identifier: Apache-2.0
# libmodaltools: the readers, the files and the deformer for other programs, as one shared library of the
# same objects that the tools use. It links neither CHOLMOD nor a meshing library.
set(objects "")
foreach(part modal_base modal_model modal_frames modal_mesh modal_laws modal_fem modal_shape modal_json modal_meshes modal_formats modal_kernels modal_deform modal_curvature)
  list(APPEND objects $<TARGET_OBJECTS:${part}>)
endforeach()
# the interface that other programs keep to
add_library(modal_open STATIC ${CMAKE_SOURCE_DIR}/tools/library/motion.c ${CMAKE_SOURCE_DIR}/tools/library/motion_open.c
            ${CMAKE_SOURCE_DIR}/tools/library/motion_frame.c ${CMAKE_SOURCE_DIR}/tools/library/motion_names.c
            ${CMAKE_SOURCE_DIR}/tools/library/motion_solid.c ${CMAKE_SOURCE_DIR}/tools/library/motion_curvature.c)
target_compile_definitions(modal_open PRIVATE MODAL_VERSION="${PROJECT_VERSION}")
target_link_libraries(modal_open PUBLIC modal_formats modal_deform modal_fem modal_curvature OpenMP::OpenMP_C Threads::Threads)
add_library(libmodaltools SHARED ${objects} $<TARGET_OBJECTS:modal_open>)
set_target_properties(libmodaltools PROPERTIES OUTPUT_NAME modaltools VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINKER_LANGUAGE C)
target_link_libraries(libmodaltools PRIVATE modal_hdf5 PkgConfig::XXHASH PkgConfig::JANSSON ZLIB::ZLIB
                      OpenMP::OpenMP_C Threads::Threads m)
if(MODAL_HAVE_CUDA)
  target_link_libraries(libmodaltools PRIVATE CUDA::cudart_static)
endif()
target_link_options(libmodaltools PRIVATE -Wl,--as-needed)
target_include_directories(libmodaltools INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/modaltools>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(libmodaltools PROPERTIES EXPORT_NAME modaltools)
install(TARGETS libmodaltools EXPORT modaltools LIBRARY)

set(public_headers
  lib/base/status.h lib/base/tile.h lib/base/memory.h lib/base/hash.h lib/base/progress.h
  lib/model/element.h lib/model/notes.h lib/model/volume_mesh.h lib/model/basis.h lib/model/quality.h lib/model/trajectory.h lib/model/matrix_source.h lib/model/encoding.h
  lib/model/frames.h lib/model/creases.h lib/deform/deform.h
  formats/h5/findings.h formats/meshes/mesh_read.h formats/meshes/obj.h formats/meshes/bou.h formats/meshes/csv.h
  formats/basis/basis_h5.h formats/trajectory/trajectory_h5.h formats/sequences/sequence.h formats/sequences/sequence_vtkhdf.h)

# It exports what these headers declare, and nothing else: open.h by a version that stays, the others by the library's.
set(exports ${CMAKE_BINARY_DIR}/libmodaltools.map)
set(names "")
set(open_names "")
foreach(header ${public_headers} tools/library/open.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${header})
  file(READ ${CMAKE_SOURCE_DIR}/${header} text)
  string(REGEX MATCHALL "\nextern [^][\n;()]*[ *]modal_[a-z0-9_]+" variables "${text}")
  string(REGEX MATCHALL "\n[a-z][^\n;()]*[ *]modal_[a-z0-9_]+\\(" lines "${text}")
  foreach(line ${variables} ${lines})
    if(NOT line MATCHES "\n(static|typedef|struct|enum) " AND line MATCHES "[ *](modal_[a-z0-9_]+)\\(?$")
      if(header STREQUAL tools/library/open.h)
        string(APPEND open_names "    ${CMAKE_MATCH_1};\n")
      else()
        string(APPEND names "    ${CMAKE_MATCH_1};\n")
      endif()
    endif()
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${exports} CONTENT "MODALTOOLS_OPEN_1 {\n  global:\n${open_names}};
MODALTOOLS_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} {\n  global:\n${names}  local: *;\n};\n")
target_link_options(libmodaltools PRIVATE -Wl,--version-script=${exports})
set_target_properties(libmodaltools PROPERTIES LINK_DEPENDS ${exports})

# find_package(modaltools) brings the target modaltools::modaltools.
set(cmake_files ${CMAKE_INSTALL_LIBDIR}/cmake/modaltools)
install(EXPORT modaltools NAMESPACE modaltools:: FILE modaltools-config.cmake DESTINATION ${cmake_files})
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/modaltools-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/modaltools-config-version.cmake DESTINATION ${cmake_files})

# The headers keep their folders, below one of the library's own.
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${CMAKE_SOURCE_DIR}/${header}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/modaltools/${folder})
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/tools/library/open.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/modaltools)
file(RELATIVE_PATH MODAL_PREFIX_FROM_PKGCONFIG /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/modaltools.pc.in ${CMAKE_BINARY_DIR}/modaltools.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/modaltools.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
