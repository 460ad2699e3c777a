# SPDX-License-Identifier: Apache-2.0
# modalview needs npm at build time, which brings three.js and esbuild (tools/modalview/package.json).
find_program(MODAL_NPM npm)
find_program(MODAL_NODE node)
find_package(ZLIB)
if(MODAL_VIEW STREQUAL "OFF" OR NOT MODAL_NPM OR NOT MODAL_NODE OR NOT ZLIB_FOUND)
  if(MODAL_VIEW STREQUAL "ON")
    message(FATAL_ERROR "MODAL_VIEW=ON: needs npm, node and zlib")
  endif()
  message(STATUS "modalview: not built (MODAL_VIEW=OFF, or no npm or zlib)")
  return()
endif()

# Fetched when configuring, so that a machine without a network still builds everything else.
set(page ${CMAKE_BINARY_DIR}/modalview)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/modalview/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS modalview/package-lock.json)
file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/modalview/package-lock.json wanted)
set(fetched "")
if(EXISTS ${page}/fetched)
  file(READ ${page}/fetched fetched)
endif()
if(NOT fetched STREQUAL wanted)
  message(STATUS "modalview: fetching three.js and esbuild with npm")
  file(COPY ${CMAKE_CURRENT_SOURCE_DIR}/modalview/package.json
       ${CMAKE_CURRENT_SOURCE_DIR}/modalview/package-lock.json DESTINATION ${page})
  execute_process(COMMAND ${MODAL_NPM} ci --ignore-scripts --no-audit --no-fund --loglevel error
                  WORKING_DIRECTORY ${page} RESULT_VARIABLE failed ERROR_VARIABLE why OUTPUT_QUIET)
  if(failed)
    if(MODAL_VIEW STREQUAL "ON")
      message(FATAL_ERROR "MODAL_VIEW=ON: npm failed: ${why}")
    endif()
    message(WARNING "modalview: not built, npm could not fetch three.js and esbuild: ${why}")
    return()
  endif()
  file(WRITE ${page}/fetched ${wanted})
endif()

enable_language(ASM)
add_custom_command(OUTPUT ${page}/page.html
  COMMAND ${CMAKE_COMMAND} -E copy ${sources} ${page}
  COMMAND ${MODAL_NODE} build.mjs page.html
  DEPENDS ${sources}
  WORKING_DIRECTORY ${page} COMMENT "Bundling the page of modalview" VERBATIM)

set_source_files_properties(modalview_page.S PROPERTIES OBJECT_DEPENDS ${page}/page.html
                            COMPILE_DEFINITIONS "MODALVIEW_PAGE=\"${page}/page.html\"")
add_custom_target(modalview_page DEPENDS ${page}/page.html)
add_executable(modalview modalview.c common/trajectory_input.c common/hdf5_stdin.c common/parts.c modalview_page.S
  ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_data.c ${CMAKE_SOURCE_DIR}/formats/viewer/viewer_reach.c)
add_dependencies(modalview modalview_page)
target_link_libraries(modalview PRIVATE modal_tool modal_formats ZLIB::ZLIB m)
install(TARGETS modalview RUNTIME)
