# SPDX-License-Identifier: Apache-2.0
# What goes with the programs: manual pages and completions, made by the tools from their option
# tables, documents; and the packages (cpack: .deb and a .tar.gz that runs where it is unpacked).
get_property(tools DIRECTORY ${CMAKE_SOURCE_DIR}/tools PROPERTY SUBDIRECTORIES)
list(TRANSFORM tools REPLACE ".*/" "")
set(made ${CMAKE_BINARY_DIR}/documents)
set(documents "")
foreach(tool ${tools})
  if(NOT TARGET ${tool})
    continue() # without what it needs
  endif()
  foreach(document "man:${tool}.1" "bash:bash/${tool}" "zsh:zsh/_${tool}")
    string(REPLACE ":" ";" document ${document})
    list(GET document 0 kind)
    list(GET document 1 file)
    get_filename_component(folder ${made}/${file} DIRECTORY)
    add_custom_command(OUTPUT ${made}/${file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${tool} --generate ${kind} > ${made}/${file}
      DEPENDS ${tool} VERBATIM)
    list(APPEND documents ${made}/${file})
  endforeach()
  install(FILES ${made}/${tool}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${made}/bash/${tool} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${made}/zsh/_${tool} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endforeach()
add_custom_target(documents ALL DEPENDS ${documents})
file(GLOB specifications CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/formats/*.md)
# In the folders that they have here, so that the links between them lead somewhere.
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${specifications} DESTINATION ${CMAKE_INSTALL_DOCDIR}/formats)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Two examples to begin with, and the Python package, which pip installs from there.
install(PROGRAMS ${CMAKE_SOURCE_DIR}/data/plant.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES ${CMAKE_SOURCE_DIR}/data/tuning_fork.msh DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tools/python/modaltools DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools/python
        PATTERN __pycache__ EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/tools/python/pyproject.toml ${CMAKE_SOURCE_DIR}/tools/python/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools/python)
# The plugin of ParaView (PV_PLUGIN_PATH) and the add-on of Blender, and the package beside them, where they find it.
install(FILES ${CMAKE_SOURCE_DIR}/tools/paraview/modaltools_reader.py ${CMAKE_SOURCE_DIR}/tools/paraview/modaltools_load.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/modaltools/paraview)
# Blender installs an add-on of several files from a .zip.
set(addon modaltools_import)
set(addon_files)
foreach(file __init__ files keys meshes own panel play)
  list(APPEND addon_files ${addon}/${file}.py)
endforeach()
list(TRANSFORM addon_files PREPEND ${CMAKE_SOURCE_DIR}/tools/blender/ OUTPUT_VARIABLE addon_sources)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${addon}.zip DEPENDS ${addon_sources} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tools/blender
                   COMMAND ${CMAKE_COMMAND} -E tar cf ${CMAKE_BINARY_DIR}/${addon}.zip --format=zip --mtime=2026-01-01 ${addon_files})
add_custom_target(blender_addon ALL DEPENDS ${CMAKE_BINARY_DIR}/${addon}.zip)
install(FILES ${CMAKE_BINARY_DIR}/${addon}.zip DESTINATION ${CMAKE_INSTALL_DATADIR}/modaltools/blender)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tools/python/modaltools DESTINATION ${CMAKE_INSTALL_DATADIR}/modaltools/python
        PATTERN __pycache__ EXCLUDE)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "modaltools")
set(CPACK_PACKAGE_CONTACT "the developers of modaltools")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Modal bases, reduced dynamics and deformed mesh sequences")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # dependencies from what the programs link
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
include(CPack)
