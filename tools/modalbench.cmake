# SPDX-License-Identifier: Apache-2.0
# The parts are in tests/bench, what they compare with in tests/bench/opponents. cuBLAS and OpenBLAS
# are opponents, nothing else: without them modalbench says that they are absent.
set(bench ${CMAKE_SOURCE_DIR}/tests/bench)
add_library(modal_bench STATIC
  ${bench}/bench.c ${bench}/bench_cpu.c ${bench}/matrix_layout.c ${bench}/plants.c ${bench}/torus.c
  ${bench}/bench_uq.c ${bench}/bench_multi.c ${bench}/bench_batch.c ${bench}/bench_frame.c
  ${bench}/bench_operations.c ${bench}/bench_pipeline.c ${bench}/opponents/openblas.c)
set_source_files_properties(${bench}/bench_cpu.c PROPERTIES COMPILE_OPTIONS "-O3")
target_link_libraries(modal_bench PUBLIC modal_kernels modal_deform modal_formats PkgConfig::JANSSON
                      PRIVATE OpenMP::OpenMP_C Threads::Threads m)

pkg_check_modules(OPENBLAS QUIET IMPORTED_TARGET openblas)
if(OPENBLAS_FOUND)
  target_link_libraries(modal_bench PRIVATE PkgConfig::OPENBLAS)
  target_compile_definitions(modal_bench PRIVATE MODAL_HAVE_OPENBLAS)
else()
  message(STATUS "modalbench: no OpenBLAS to compare with")
endif()

if(MODAL_HAVE_CUDA)
  target_sources(modal_bench PRIVATE
    ${bench}/bench_cuda.cu ${bench}/opponents/paper_single.cu ${bench}/opponents/paper_normals.cu
    ${bench}/opponents/paper_multi.cu ${bench}/opponents/paper_transform.cu)
  target_compile_definitions(modal_bench PRIVATE MODAL_HAVE_CUDA)
  set_target_properties(modal_bench PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(modal_bench PRIVATE CUDA::cudart_static)
endif()
if(MODAL_HAVE_CUDA AND TARGET CUDA::cublas)
  target_sources(modal_bench PRIVATE ${bench}/opponents/cublas.c)
  target_link_libraries(modal_bench PRIVATE CUDA::cublas)
else()
  message(STATUS "modalbench: no cuBLAS to compare with")
  target_sources(modal_bench PRIVATE ${bench}/opponents/cublas_absent.c)
endif()

add_executable(modalbench modalbench.c)
target_link_libraries(modalbench PRIVATE modal_tool modal_bench)
# so that it runs where a library of another part is missing
target_link_options(modalbench PRIVATE -Wl,--as-needed)
install(TARGETS modalbench RUNTIME)
