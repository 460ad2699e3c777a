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
    MODAL_RENDER_DEEP,    /* the same in 16 bits, 65535, the bytes of two */
    MODAL_RENDER_COLOUR,  /* the first that is a buffer by itself */
    MODAL_RENDER_TRIANGLE, /* a number of 32 bits in a float's place */
    MODAL_RENDER_OBJECT,   /* likewise */
    MODAL_RENDER_DEPTH,
    MODAL_RENDER_NORMAL,
    MODAL_RENDER_POSITION,
    MODAL_RENDER_MOTION, /* from the frame before, which this device made last or makes in the same batch: `first` has none */
    MODAL_RENDER_BUFFERS
} modal_render_buffer;

/* Each as an array of the list. */
extern const modal_array modal_render_arrays[MODAL_RENDER_BUFFERS];

/* How what is seen through is put together: sorted in each sample; or, for comparison, in two passes, what has more alpha than shadow_alpha as if
 * it were opaque, then the rest in the order of triangles (B. Wang, CUDA Deformers for Model Reduction, 2015). */
typedef enum modal_render_transparency { MODAL_RENDER_SORTED, MODAL_RENDER_TWO_PASS } modal_render_transparency;

/* Seconds of each pass, where operations are done when they return: on a CPU; on a GPU where each pass is waited for. */
typedef enum modal_render_pass {
    MODAL_PASS_NORMALS,
    MODAL_PASS_SHADOWS,
    MODAL_PASS_VISIBILITY,
    MODAL_PASS_LAYERS,
    MODAL_PASS_SHADING,
    MODAL_RENDER_PASSES
} modal_render_pass;
extern const char *const modal_render_pass_names[MODAL_RENDER_PASSES];

typedef struct modal_render_times {
    int64_t n_frames, n_tiles; /* n_tiles: parts in which frames' layers were made */
    double seconds[MODAL_RENDER_PASSES];
    int64_t n_measured;    /* frames that `seconds` are of: on a CPU all */
    int64_t waits_from, waits_to; /* of the caller: passes of frames [from, to) that a GPU draws are waited for and measured, none beside another */
    uint64_t sources[MODAL_SHADE_SOURCES]; /* samples by what they were looked up in, where there are octree textures; added when a stage is closed */
} modal_render_times;

typedef struct modal_render_stage {
    const modal_render_scene *scene;  /* borrowed */
    const modal_raster_view *views;   /* [n_views], borrowed: one, or one a frame: that of number first + i step */
    int64_t n_views, first, step;
    int32_t width, height, samples;
    modal_shadow_kind shadows;
    int32_t shadow_size, shadow_radius; /* texels: of a map's side; of the filter of vsm, whose deviation is half of it */
    double bleeding;
    modal_render_transparency transparency;
    double shadow_alpha;
    int64_t most_fragments;           /* for which there is room at once, >= 1; frames with more are done by rows */
    modal_render_times *times;        /* added to; NULL: not measured */
    int positions, normals;           /* arrays of the list; normals -1 where the scene has wedges */
    int arrays[MODAL_RENDER_BUFFERS]; /* array that a buffer becomes, or -1 */
} modal_render_stage;

/* A stage that makes the buffers for which stage->arrays has a place. *stage is borrowed as long as the slots live. */
modal_frame_stage modal_render_stage_of(const modal_render_stage *stage);

#endif
