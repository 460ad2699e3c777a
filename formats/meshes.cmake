# SPDX-License-Identifier: Apache-2.0
# Own strict readers of what users hand over: see meshes.md. No HDF5 here.
add_library(modal_meshes STATIC
  text_reader.c tag_table.c group_builder.c
  msh.c msh_elements.c msh_element_types.c msh_ascii.c msh_binary.c
  veg.c bou.c obj.c mesh_read.c
  surface_builder.c stl.c ply_read.c off.c surface_read.c)
target_link_libraries(modal_meshes PUBLIC modal_data)
