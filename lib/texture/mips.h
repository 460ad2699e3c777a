/* SPDX-License-Identifier: Apache-2.0 */
/* Mip levels of an image; formats/textures.md, "Texels", says what they are. */
#ifndef MODAL_TEXTURE_MIPS_H
#define MODAL_TEXTURE_MIPS_H

#include <stdint.h>

#include "lib/base/status.h"

enum { MODAL_MIP_LEVELS = 32 }; /* more than any image has */

typedef enum modal_mip_role { MODAL_MIP_COLOURS, MODAL_MIP_NORMALS } modal_mip_role;

/* Number of levels, the last of 1 x 1, and the size of each in widths and heights, [MODAL_MIP_LEVELS]. */
int modal_mip_sizes(int32_t width, int32_t height, int32_t *widths, int32_t *heights);

/* Bytes of all levels of 4 bytes a texel. */
int64_t modal_mip_bytes(int32_t width, int32_t height);

/* Makes all levels but the first. texels: the levels one after the other, [modal_mip_bytes]; the first [height, width, 4] is filled.
 * cutoff: of a cut-out, whose cover is kept, else negative. Needs 5 bytes of memory a texel, 20 where a size is odd. MODAL_ERROR_MEMORY. Thread-safe. */
modal_status modal_mip_make(modal_mip_role role, double cutoff, int32_t width, int32_t height, uint8_t *texels, modal_error *err);

/* The least alpha in [0, 255] that `cutoff`, in [0, 1], lets be seen. */
int modal_mip_least_seen(double cutoff);

/* Cover of cut-outs: the alpha in [1, 256] that is to become `least`, so that as nearly `seen` as possible of what the histogram of alpha counts has `least` or
 * more. Of several the nearest to `least`: what need not change does not, and what lies between two texels is seen as before. 256: none should be seen. */
int modal_mip_cover_alpha(const int64_t histogram[256], double seen, int least);

/* alpha by the factor that makes `best` of modal_mip_cover_alpha `least`. */
uint8_t modal_mip_covering(uint8_t alpha, int best, int least);

/* sRGB of 8 bits to linear light in [0, 1], and the nearest back. */
float modal_srgb_to_linear(uint8_t value);
uint8_t modal_srgb_from_linear(float value);

/* The least linear light that rounds to each byte; of 0 it is 0. */
void modal_srgb_least(float least[256]);

#endif
