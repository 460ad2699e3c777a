# SPDX-License-Identifier: Apache-2.0
modal_unit_test(test_deform modal_deform modal_kernels modal_test_synthetic Threads::Threads)
