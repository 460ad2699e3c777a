# SPDX-License-Identifier: Apache-2.0
modal_unit_test(test_mesh modal_mesh)
modal_unit_test(test_layers modal_mesh)
modal_unit_test(test_shapes modal_shape m)
modal_unit_test(test_octree modal_octree OpenMP::OpenMP_C m)
modal_unit_test(test_atlas modal_octree OpenMP::OpenMP_C m)
modal_unit_test(test_octree_neighbours modal_octree OpenMP::OpenMP_C m)
modal_unit_test(test_octree_flow modal_octree OpenMP::OpenMP_C m)
modal_unit_test(test_mesh_surface modal_mesh)
modal_unit_test(test_mesh_embed modal_shape OpenMP::OpenMP_C)
# Prints the table of lib/mesh/order.h and the time of each step; all but one of its tests need the
# folder of real meshes.
modal_unit_test(test_mesh_real modal_shape)
