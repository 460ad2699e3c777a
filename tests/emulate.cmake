# SPDX-License-Identifier: Apache-2.0
# CUDA code without a GPU: the kernels of some operations compiled as C++ and run by emulate/emulator.cpp in the place of the CPU's back
# end of the programs that check them. Headers of emulate/kernels stand for those of kernels/ that are a GPU's instructions.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  return()
endif()
if(MODAL_SANITIZE MATCHES "thread|fuzzer") # fibers are not threads to them
  return()
endif()
enable_language(CXX)

# modal_emulated_test(OPERATION SOURCES .cu... RENAMES name=other... WRAPS function... [WAYS variable...]): what the library has, too,
# gets other names; calls of the functions go to those of emulate/emulated_OPERATION.cpp; WAYS and NO_BARRIERS are those of
# check_emulated.py.
function(modal_emulated_test operation)
  cmake_parse_arguments(PARSE_ARGV 1 emulated "NO_BARRIERS" "" "SOURCES;RENAMES;WRAPS;WAYS")
  list(TRANSFORM emulated_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/kernels/)
  # -w: nvcc has said what there is to say
  set_source_files_properties(${emulated_SOURCES} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++;-w;-O1;-include;cuda_runtime.h")
  set(program emulated_${operation})
  add_executable(${program} ${CMAKE_SOURCE_DIR}/tests/kernels/${operation}.c emulate/emulator.cpp emulate/${program}.cpp
                 ${emulated_SOURCES})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
                        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON LINKER_LANGUAGE CXX)
  target_include_directories(${program} BEFORE PRIVATE emulate)
  target_compile_definitions(${program} PRIVATE MODAL_HAVE_CUDA MODAL_EMULATED modal_cuda_machine_of=modal_emulated_machine ${emulated_RENAMES})
  if(MODAL_SANITIZE) # of memory alone: GCC takes minutes for UBSan's checks
    target_compile_options(${program} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address>)
  endif()
  target_link_libraries(${program} PRIVATE modal_test_harness OpenMP::OpenMP_C)
  list(TRANSFORM emulated_WRAPS REPLACE "(.+)" "LINKER:--wrap=\\1")
  target_link_options(${program} PRIVATE ${emulated_WRAPS} -Wl,--as-needed)
  foreach(tier quick all)
    add_test(NAME kernels.${program}.${tier} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_emulated.py
             $<TARGET_FILE:${program}> ${tier} $<$<BOOL:${emulated_NO_BARRIERS}>:--no-barriers> ${emulated_WAYS} COMMAND_EXPAND_LISTS)
  endforeach()
  set_tests_properties(kernels.${program}.quick PROPERTIES LABELS kernels)
  set_tests_properties(kernels.${program}.all PROPERTIES LABELS "kernels;long")
endfunction()

modal_emulated_test(reduced_step WRAPS modal_reduced_step_cpu
  SOURCES reduced_step/reduced_step_cuda.cu reduced_step/reduced_step_warps.cu reduced_step/reduced_step_blocks.cu
          reduced_step/reduced_step_grids.cu reduced_step/reduced_step_single.cu
  RENAMES modal_reduced_step_cuda=modal_emulated_reduced_step modal_step_kernel_warps=modal_emulated_warps
          modal_step_kernel_blocks=modal_emulated_blocks modal_step_kernel_grids=modal_emulated_grids
          modal_step_kernel_single=modal_emulated_single)
modal_emulated_test(raster WRAPS modal_raster_cpu SOURCES raster/raster_cuda.cu
  RENAMES modal_raster_cuda=modal_emulated_raster modal_cuda=modal_emulated_cuda)
modal_emulated_test(shade NO_BARRIERS WRAPS modal_shade_cpu SOURCES shade/shade_cuda.cu
  RENAMES modal_shade_cuda=modal_emulated_shade modal_cuda=modal_emulated_cuda)
modal_emulated_test(layers WRAPS modal_layers_cpu SOURCES layers/layers_cuda.cu
  RENAMES modal_layers_cuda=modal_emulated_layers modal_cuda=modal_emulated_cuda)
modal_emulated_test(tled_step WRAPS modal_tled_layout_cpu modal_tled_step_cpu WAYS EMULATED_APART EMULATED_OVERLAPS
  SOURCES tled_layout/tled_layout_cuda.cu tled_step/tled_step_cuda.cu
  RENAMES modal_tled_layout_cuda=modal_emulated_tled_layout modal_tled_step_cuda=modal_emulated_tled_step
          modal_tled=modal_emulated_tled modal_cuda=modal_emulated_cuda)
modal_emulated_test(octree_lookup NO_BARRIERS WRAPS modal_octree_lookup_cpu SOURCES octree_lookup/octree_lookup_cuda.cu
  RENAMES modal_octree_lookup_cuda=modal_emulated_octree_lookup modal_cuda=modal_emulated_cuda modal_octree_device=modal_emulated_octree)
modal_emulated_test(octree_bake WRAPS modal_octree_bake_cpu SOURCES octree_bake/octree_bake_cuda.cu
  RENAMES modal_octree_bake_cuda=modal_emulated_octree_bake modal_cuda=modal_emulated_cuda modal_octree_device=modal_emulated_octree)
modal_emulated_test(surface_flow WRAPS modal_surface_flow_cpu SOURCES surface_flow/surface_flow_cuda.cu
  RENAMES modal_surface_flow_cuda=modal_emulated_surface_flow modal_cuda=modal_emulated_cuda)
