# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE tled_step/tled_solid.c)
