# SPDX-License-Identifier: Apache-2.0
# CUDA code without a GPU: the kernels of reduced_step, one cooperative launch, compiled as C++ and run by emulate/emulator.cpp in
# the place of the CPU's back end of the program that checks the operation.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  return()
endif()
if(MODAL_SANITIZE MATCHES "thread|fuzzer") # fibers are not threads to them
  return()
endif()
enable_language(CXX)
set(emulated "")
foreach(part cuda warps blocks grids single)
  set(source ${CMAKE_SOURCE_DIR}/kernels/reduced_step/reduced_step_${part}.cu)
  # -w: nvcc has said what there is to say
  set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++;-w;-O1;-include;cuda_runtime.h")
  list(APPEND emulated ${source})
endforeach()
add_executable(emulated_reduced_step ${CMAKE_SOURCE_DIR}/tests/kernels/reduced_step.c emulate/emulator.cpp ${emulated})
set_target_properties(emulated_reduced_step PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
                      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON LINKER_LANGUAGE CXX)
target_include_directories(emulated_reduced_step BEFORE PRIVATE emulate)
target_compile_definitions(emulated_reduced_step PRIVATE MODAL_HAVE_CUDA modal_reduced_step_cuda=modal_emulated_reduced_step
                           modal_cuda_machine_of=modal_emulated_machine modal_step_kernel_warps=modal_emulated_warps
                           modal_step_kernel_blocks=modal_emulated_blocks modal_step_kernel_grids=modal_emulated_grids
                           modal_step_kernel_single=modal_emulated_single)
if(MODAL_SANITIZE) # of memory alone: GCC takes minutes for UBSan's checks
  target_compile_options(emulated_reduced_step PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address>)
endif()
target_link_libraries(emulated_reduced_step PRIVATE modal_test_harness OpenMP::OpenMP_C)
target_link_options(emulated_reduced_step PRIVATE "LINKER:--wrap=modal_reduced_step_cpu" -Wl,--as-needed)
foreach(tier quick all)
  add_test(NAME kernels.emulated_reduced_step.${tier} COMMAND ${MODAL_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check_emulated.py
           $<TARGET_FILE:emulated_reduced_step> ${tier})
endforeach()
set_tests_properties(kernels.emulated_reduced_step.quick PROPERTIES LABELS kernels)
set_tests_properties(kernels.emulated_reduced_step.all PROPERTIES LABELS "kernels;long")
