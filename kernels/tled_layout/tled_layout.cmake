# SPDX-License-Identifier: Apache-2.0
target_sources(modal_kernels PRIVATE tled_layout/tled_banks.c tled_layout/tled_bisect.c tled_layout/tled_fans.c tled_layout/tled_near.c
  tled_layout/tled_patches.c tled_layout/tled_remotes.c)
