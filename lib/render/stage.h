/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures as a stage of frames (lib/frames/plan.h): of positions and normals that are on the device, which need not leave it. */
#ifndef MODAL_RENDER_STAGE_H
#define MODAL_RENDER_STAGE_H

#include "kernels/shadow_blur/shadow_blur.h"
#include "lib/frames/plan.h"
#include "lib/render/scene.h"

/* What a picture is made of; rows of their arrays are pixels, from the upper left on. */
typedef enum modal_render_buffer {
    MODAL_RENDER_PICTURE, /* r g b in sRGB and 255, the bytes of one float */
    MODAL_RENDER_COLOUR,
    MODAL_RENDER_TRIANGLE, /* a number of 32 bits in a float's place */
    MODAL_RENDER_OBJECT,   /* likewise */
    MODAL_RENDER_DEPTH,
    MODAL_RENDER_NORMAL,
    MODAL_RENDER_POSITION,
    MODAL_RENDER_BUFFERS
} modal_render_buffer;

/* Each as an array of the list. */
extern const modal_array modal_render_arrays[MODAL_RENDER_BUFFERS];

typedef struct modal_render_stage {
    const modal_render_scene *scene;  /* borrowed */
    const modal_raster_view *views;   /* [n_views], borrowed: one, or one a frame: that of number first + i step */
    int64_t n_views, first, step;
    int32_t width, height, samples;
    modal_shadow_kind shadows;
    int32_t shadow_size, shadow_radius; /* texels: of a map's side; of the filter of vsm, whose deviation is half of it */
    double bleeding;
    int positions, normals;           /* arrays of the list */
    int arrays[MODAL_RENDER_BUFFERS]; /* array that a buffer becomes, or -1 */
} modal_render_stage;

/* A stage that makes the buffers for which stage->arrays has a place. *stage is borrowed as long as the slots live. */
modal_frame_stage modal_render_stage_of(const modal_render_stage *stage);

#endif
