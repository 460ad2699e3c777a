# SPDX-License-Identifier: Apache-2.0
modal_unit_test(test_deform modal_deform modal_kernels modal_test_synthetic Threads::Threads)
modal_unit_test(test_deform_large modal_deform modal_kernels modal_test_synthetic Threads::Threads)
