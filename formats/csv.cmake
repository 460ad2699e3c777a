# SPDX-License-Identifier: Apache-2.0
# Time series as text: one more of the readers of what users hand over.
if(TARGET modal_meshes)
  target_sources(modal_meshes PRIVATE csv.c)
endif()
