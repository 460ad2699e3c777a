# SPDX-License-Identifier: Apache-2.0
# Overlaps are decided as on a CPU: no multiply and add is fused.
if(MODAL_HAVE_CUDA)
  set_source_files_properties(${operation}/${operation}_cuda.cu PROPERTIES COMPILE_OPTIONS "--fmad=false")
endif()
