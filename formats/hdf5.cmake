# SPDX-License-Identifier: Apache-2.0
# The HDF5 files: what all of them share, basis.h5, traj.h5.
add_library(modal_formats STATIC
  findings.c rules.c h5_util.c h5_read.c h5_write.c provenance_h5.c
  basis_fields.c basis_rules.c basis_read.c basis_tiles.c basis_write.c
  trajectory_rules.c trajectory_read.c trajectory_write.c snapshots_h5.c)
target_link_libraries(modal_formats PUBLIC modal_data modal_hdf5 m)
include(${CMAKE_CURRENT_SOURCE_DIR}/sequence.cmake OPTIONAL)
