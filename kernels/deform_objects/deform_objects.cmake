# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE deform_objects/pack.c)
