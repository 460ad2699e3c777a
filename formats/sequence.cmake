# SPDX-License-Identifier: Apache-2.0
# The deformed sequence: VTKHDF with its XDMF sidecar, and the manifest beside them.
target_sources(modal_formats PRIVATE sequence.c sequence_vtkhdf.c sequence_vtkhdf_head.c sequence_precision.c
               sequence_cells.c sequence_check_cells.c
               sequence_xdmf.c sequence_check.c
               sequence_pc2.c sequence_mdd.c sequence_ply.c sequence_obj.c sequence_csv.c
               sequence_glb.c glb_json.c sequence_vtk.c
               file_out.c h5_heap.c manifest.c)
# Numbers as text are in modal_meshes.
target_link_libraries(modal_formats PUBLIC modal_meshes PkgConfig::JANSSON OpenMP::OpenMP_C)
