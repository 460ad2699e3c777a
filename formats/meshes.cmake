# SPDX-License-Identifier: Apache-2.0
# Own strict readers of what users hand over: see meshes.md. No HDF5 here.
add_library(modal_meshes STATIC
  text_reader.c tag_table.c group_builder.c
  msh_write.c msh_parts.c number_text.c
  msh.c msh_elements.c msh_element_types.c msh_ascii.c msh_binary.c
  veg.c bou.c obj.c mesh_read.c
  mesh_builder.c medit.c tetgen.c inp.c inp_sets.c vtk.c vtk_grid.c vtu.c vtu_data.c
  vega_matrix.c surface_builder.c stl.c ply_read.c off.c surface_read.c)
target_link_libraries(modal_meshes PUBLIC modal_data)
# For .vtu files that are packed; HDF5 has it, too.
find_package(ZLIB)
if(ZLIB_FOUND)
  target_link_libraries(modal_meshes PUBLIC ZLIB::ZLIB)
  target_compile_definitions(modal_meshes PUBLIC MODAL_HAVE_ZLIB)
endif()
message(STATUS "zlib for .vtu: ${ZLIB_FOUND}")
