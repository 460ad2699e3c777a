/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/render/stage.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/device.h"
#include "kernels/layers/layers.h"
#include "kernels/normals_wedge/normals_wedge.h"
#include "kernels/registry.h"
#include "kernels/shadow_view/shadow_view.h"
#include "lib/base/clock.h"
#include "lib/base/memory.h"
#include "lib/render/camera.h"
#include "lib/texture/mips.h"

const modal_array modal_render_arrays[MODAL_RENDER_BUFFERS] = {
    [MODAL_RENDER_PICTURE] = {.name = "picture", .components = 1, .unit = "1"},
    [MODAL_RENDER_DEEP] = {.name = "deep", .components = 2, .unit = "1"},
    [MODAL_RENDER_COLOUR] = {.name = "colour", .components = 3, .unit = "1"},
    [MODAL_RENDER_TRIANGLE] = {.name = "triangle", .components = 1, .unit = "1"},
    [MODAL_RENDER_OBJECT] = {.name = "object", .components = 1, .unit = "1"},
    [MODAL_RENDER_DEPTH] = {.name = "depth", .components = 1, .unit = "m"},
    [MODAL_RENDER_NORMAL] = {.name = "normal", .components = 3, .unit = "1"},
    [MODAL_RENDER_POSITION] = {.name = "position", .components = 3, .unit = "m"},
    [MODAL_RENDER_MOTION] = {.name = "motion", .components = 2, .unit = "1"},
};

const char *const modal_render_pass_names[MODAL_RENDER_PASSES] = {"normals", "shadows", "visibility", "layers", "shading"};

enum { PARTS = 56 + (4 + 3 * MODAL_OCTREE_MIPS) * MODAL_RENDER_SOLIDS };

/* On one device: the scene's arrays, and those between the operations, of one frame. */
typedef struct opened_stage {
    const modal_render_stage *stage;
    modal_device device;
    void *parts[PARTS]; /* all of them, to be freed */
    int n_parts;
    modal_raster_mesh mesh; /* but for the points */
    const float *normals_of_ground;
    const modal_raster_view *views;
    modal_raster_view *light_views; /* [n_maps] */
    modal_shadow_view_task lights[MODAL_RENDER_MAPS];
    modal_shadow_blur_task blur;
    float *depths, *maps; /* maps: of moments */
    uint64_t *keys;
    void *scratch, *map_scratch;
    /* maps are drawn beside what the camera sees: neither fills a GPU */
    modal_stream *side;
    modal_event *begun, *mapped, *listed; /* listed: the layers of a part */
    float *box_scratch;
    modal_shade_task shade; /* but for points, normals and outputs */
    modal_normals_wedge_task wedges; /* but for positions; n_wedges 0: not needed */
    modal_layers_task layers;        /* but for points, view and rows; layers NULL: nothing is seen through */
    int64_t *needed;                 /* by the layers of a part, pinned in main memory; NULL: no layers */
    int32_t rows;                    /* of the picture, whose layers are made at once */
    float *before;                   /* [n_points, 3] of the last frame of the batch before, `held`; NULL: no motion is wanted */
    int64_t held;
    int64_t n_drawn; /* frames */
    int measures;    /* the passes of this one */
} opened_stage;

static int draws_shadows(const modal_render_stage *s) { return s->shadows != MODAL_SHADOW_NONE && s->scene->n_maps > 0; }

static int64_t depth_maps(const modal_render_stage *s)
{
    return !draws_shadows(s) ? 0 : s->shadows == MODAL_SHADOW_HARD ? s->scene->n_maps : 1;
}

static int64_t moment_maps(const modal_render_stage *s)
{
    return draws_shadows(s) && s->shadows == MODAL_SHADOW_VSM ? s->scene->n_maps : 0;
}

static int64_t n_samples(const modal_render_stage *s) { return (int64_t)s->width * s->height * s->samples; }

/* Texels at the side of a map that say nothing: its filter reaches past the map there. What is softened around the objects comes no nearer. */
static int32_t border_of(const modal_render_stage *s) { return s->shadows == MODAL_SHADOW_VSM ? s->shadow_radius + 1 : 1; }

/* Of the shading of layers. */
static int64_t layer_bytes(const modal_render_stage *s, const modal_device *device)
{
    return device->shares_memory ? 0 : modal_shade_layer_bytes(s->most_fragments);
}

static int64_t bytes(const void *self, const modal_device *device, int64_t most_frames)
{
    const modal_render_stage *s = self;
    const int64_t texels = (int64_t)s->shadow_size * s->shadow_size, pixels = (int64_t)s->width * s->height;
    (void)most_frames;
    const int64_t scratch = modal_raster_scratch_bytes(s->scene->n_points + 4, s->scene->n_triangles);
    const int64_t layers = s->scene->n_blended ? 4 * n_samples(s) + 8 * s->most_fragments + layer_bytes(s, device) +
                                                      modal_layers_scratch_bytes(s->scene->n_points + 4, s->scene->n_triangles, n_samples(s))
                                                : 0;
    const int64_t wedges = s->scene->wedges.creases.corners ? 12 * s->scene->wedges.creases.n_wedges : 0;
    const int64_t before = s->arrays[MODAL_RENDER_MOTION] >= 0 ? 12 * s->scene->n_points : 0;
    return modal_render_scene_bytes(s->scene) + before + layers + wedges + 80 * s->n_views + scratch * (draws_shadows(s) ? 2 : 1) +
           8 * pixels * s->samples + texels * (4 * depth_maps(s) + 8 * moment_maps(s) + (moment_maps(s) ? 8 : 0)) + (1 << 16);
}

/* What this device's look-ups took their numbers from, to the sums of all. */
static void add_sources(opened_stage *o)
{
    uint64_t counts[MODAL_SHADE_SOURCES];
    modal_render_times *times = o->stage->times;
    if (!times || !o->shade.sources) return;
    if (modal_device_copy_out(&o->device, counts, o->shade.sources, sizeof counts, o->side, NULL) != MODAL_OK) return;
    if (modal_device_stream_wait(&o->device, o->side, NULL) != MODAL_OK) return;
    for (int i = 0; i < MODAL_SHADE_SOURCES; i++) {
#pragma omp atomic
        times->sources[i] += counts[i];
    }
}

static void close_stage(void *opened)
{
    opened_stage *o = opened;
    if (!o) return;
    if (o->side) modal_device_stream_wait(&o->device, o->side, NULL);
    add_sources(o);
    for (int i = 0; i < o->n_parts; i++) modal_device_free(&o->device, &o->parts[i]);
    modal_device_free_host(&o->device, &o->needed);
    modal_device_event_delete(&o->device, &o->begun);
    modal_device_event_delete(&o->device, &o->mapped);
    modal_device_event_delete(&o->device, &o->listed);
    modal_device_stream_delete(&o->device, &o->side);
    modal_free(&o);
}

/* Room on the device, and a copy of `from` in it unless that is NULL. */
static modal_status add_part(opened_stage *o, modal_stream *stream, const void *from, int64_t count, size_t size, void **to, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_device_alloc(&o->device, to, count, size, "picture", err));
    o->parts[o->n_parts++] = *to;
    if (from && count > 0) MODAL_TRY(modal_device_copy_in(&o->device, *to, from, count * (int64_t)size, stream, err));
done:
    return status;
}

/* The axes of a light's map, and the weights of its filter. */
static void set_light(const modal_render_stage *s, const modal_shade_light *light, modal_raster_view *view, float *scratch,
                      modal_shadow_view_task *task)
{
    double along[3], right[3], up[3], ahead[3], any[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) along[k] = -(double)light->direction[k];
    any[fabs(along[2]) < 0.9 ? 2 : 1] = 1.0;
    modal_render_axes(along, any, right, up, ahead);
    *task = (modal_shadow_view_task){.size = s->shadow_size, .margin = 2 * border_of(s), .view = view,
                                     .scratch = scratch};
    for (int k = 0; k < 3; k++) task->right[k] = (float)right[k], task->up[k] = (float)up[k], task->along[k] = (float)ahead[k];
}

static void set_weights(modal_shadow_blur_task *blur)
{
    const int r = blur->radius;
    double sum = 0.0, weights[2 * MODAL_SHADOW_RADIUS + 1];
    for (int i = -r; i <= r; i++) sum += weights[i + r] = r == 0 ? 1.0 : exp(-2.0 * i * i / (double)(r * r));
    for (int i = 0; i <= 2 * r; i++) blur->weights[i] = (float)(weights[i] / sum);
}

/* member = a part of `count` of what it points to. */
#define PART(member, from, count)                                                    \
    MODAL_TRY(add_part(o, stream, from, count, sizeof *(member), &part, err)); \
    (member) = part

/* The arrays of a level of an octree texture. */
static modal_status make_grid(opened_stage *o, modal_stream *stream, const modal_octree_tables *t, modal_octree_grid *grid, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *part;
    *grid = t->grid;
    PART(grid->top, t->top, t->n_top);
    PART(grid->masks, t->masks, t->n_masks);
    MODAL_TRY(add_part(o, stream, t->records, t->n_records, 8 * modal_octree_value_bytes(t->grid.channels), &part, err));
    grid->records = part;
done:
    return status;
}

/* Octree textures, and the points at rest. */
static modal_status make_solids(opened_stage *o, modal_stream *stream, modal_paint *paint, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_scene *scene = o->stage->scene;
    const int32_t n = scene->images.n_solids;
    static const uint64_t no_sources[MODAL_SHADE_SOURCES] = {0};
    modal_paint_solid *solids = NULL;
    modal_octree_mip *mips = NULL;
    void *part;
    if (n == 0) return MODAL_OK;
    MODAL_TRY(modal_alloc(&solids, n, sizeof *solids, "textures", err));
    MODAL_TRY(modal_alloc(&mips, (int64_t)n * MODAL_OCTREE_MIPS, sizeof *mips, "textures", err));
    for (int32_t i = 0; i < n; i++) {
        const modal_octree_pyramid *p = scene->images.solids[i].pyramid;
        modal_octree_mip *own = mips + (int64_t)i * MODAL_OCTREE_MIPS;
        solids[i] = scene->solids[i];
        MODAL_TRY(make_grid(o, stream, &p->finest, &solids[i].grid, err));
        for (int k = 0; k < p->n_mips; k++) {
            own[k].octave = p->mips[k].octave;
            MODAL_TRY(make_grid(o, stream, &p->tables[k], &own[k].grid, err));
        }
        PART(solids[i].mips, own, p->n_mips);
    }
    PART(paint->solids, solids, n);
    PART(paint->material_solids, scene->images.solids_of_material[0], 2 * (int64_t)scene->n_materials);
    PART(paint->rest, scene->rest, 3 * (scene->n_points + 4));
    PART(paint->rest_normals, scene->rest_normals, 3 * scene->n_rest_normals);
    PART(o->shade.sources, no_sources, MODAL_SHADE_SOURCES);
    MODAL_TRY(modal_device_stream_wait(&o->device, stream, err)); /* `solids` and `mips` have been read */
done:
    modal_free(&solids);
    modal_free(&mips);
    return status;
}

/* Materials and their images. */
static modal_status make_paint(opened_stage *o, modal_stream *stream, modal_paint *paint, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_scene *scene = o->stage->scene;
    const modal_render_images *images = &scene->images;
    void *part;
    float linear[256];
    int64_t n_texels = 0, at = 0;
    PART(paint->triangle_materials, scene->triangle_materials, scene->n_triangles);
    PART(paint->materials, scene->materials, MODAL_SHADE_MATERIAL * (int64_t)scene->n_materials);
    if (images->n_images + images->n_solids == 0) return MODAL_OK;
    for (int i = 0; i < 256; i++) linear[i] = modal_srgb_to_linear((uint8_t)i);
    for (int32_t i = 0; i < images->n_parts; i++) n_texels += images->part_texels[i];
    PART(paint->linear, linear, 256);
    PART(paint->material_images, images->of_material[0], 2 * (int64_t)scene->n_materials);
    MODAL_TRY(make_solids(o, stream, paint, err));
    if (images->n_images == 0) goto wait;
    PART(paint->images, images->images, images->n_images);
    PART(paint->levels, images->levels, images->n_levels);
    PART(paint->uv, scene->uv, 2 * scene->n_uv);
    PART(paint->triangle_uv, scene->triangle_uv, 3 * scene->n_triangles);
    PART(paint->texels, NULL, 4 * n_texels);
    for (int32_t i = 0; i < images->n_parts; at += 4 * images->part_texels[i++])
        MODAL_TRY(modal_device_copy_in(&o->device, (uint8_t *)part + at, images->parts[i], 4 * images->part_texels[i], stream, err));
wait:
    MODAL_TRY(modal_device_stream_wait(&o->device, stream, err)); /* `linear` has been read */
done:
    return status;
}

/* What normals of hard edges, and what is seen through, need. */
static modal_status make_more(opened_stage *o, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_stage *s = o->stage;
    const modal_render_scene *scene = s->scene;
    const modal_render_wedges *w = &scene->wedges;
    const modal_creases *c = &w->creases;
    void *part;
    if (c->corners) {
        const int64_t tiles = (c->n_wedges + MODAL_TILE - 1) / MODAL_TILE;
        o->wedges = (modal_normals_wedge_task){.n_vertices = c->n_vertices, .n_columns = 1, .n_wedges = c->n_wedges};
        PART(o->wedges.source, c->source, c->n_wedges - c->n_vertices);
        PART(o->wedges.corner_offsets, c->face_offsets, c->n_wedges + 1);
        PART(o->wedges.corners, w->corners, 2 * c->face_offsets[c->n_wedges]);
        PART(o->wedges.ring_offsets, w->ring_offsets, tiles + 1);
        PART(o->wedges.ring, w->ring, MODAL_TILE * w->ring_offsets[tiles]);
        PART(o->wedges.normals, NULL, 3 * c->n_wedges);
        PART(o->shade.triangle_normals, c->corners, 3 * c->n_triangles);
    }
    if (!scene->n_blended) return MODAL_OK;
    o->rows = s->height;
    o->layers = (modal_layers_task){.width = s->width, .height = s->height, .samples = s->samples, .cull = MODAL_RASTER_ONE_SIDED,
                                    .only = MODAL_RASTER_BLEND, .keys = o->keys, .submitted = s->transparency == MODAL_RENDER_TWO_PASS,
                                    .most_alpha = (float)s->shadow_alpha, .paint = o->shade.paint, .capacity = s->most_fragments};
    PART(o->layers.layers, NULL, n_samples(s) + 1);
    PART(o->layers.fragments, NULL, s->most_fragments);
    PART(o->layers.needed, NULL, 1);
    MODAL_TRY(modal_device_alloc_host(&o->device, &o->needed, 1, sizeof *o->needed, "picture", err));
    MODAL_TRY(add_part(o, stream, NULL, modal_layers_scratch_bytes(scene->n_points + 4, scene->n_triangles, n_samples(s)), 1, &part, err));
    o->layers.scratch = part;
    if (!o->device.shares_memory) MODAL_TRY(add_part(o, stream, NULL, layer_bytes(s, &o->device), 1, &o->shade.layer_scratch, err));
done:
    return status;
}

static modal_status make_parts(opened_stage *o, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_stage *s = o->stage;
    const modal_render_scene *scene = s->scene;
    const int64_t texels = (int64_t)s->shadow_size * s->shadow_size, pixels = (int64_t)s->width * s->height, n_ground = scene->has_ground ? 4 : 0;
    void *part;
    modal_shade_task *shade = &o->shade;
    *shade = (modal_shade_task){.n_objects = scene->n_objects, .width = s->width, .height = s->height, .samples = s->samples,
                                .n_lights = scene->n_lights, .shadows = draws_shadows(s) ? s->shadows : MODAL_SHADOW_NONE,
                                .shadow_size = s->shadow_size, .shadow_border = border_of(s), .bleeding = (float)s->bleeding};
    memcpy(shade->ambient, scene->ambient, sizeof shade->ambient);
    memcpy(shade->background, scene->background, sizeof shade->background);
    o->mesh = (modal_raster_mesh){.n_points = scene->n_points, .n_more = n_ground, .n_triangles = scene->n_triangles};
    PART(o->mesh.more, scene->ground, 3 * n_ground);
    PART(o->mesh.triangles, scene->triangles, 3 * scene->n_triangles);
    PART(o->mesh.flags, scene->flags, scene->n_triangles);
    PART(shade->more_normals, scene->ground_normals, 3 * n_ground);
    PART(shade->object_triangles, scene->object_triangles, (int64_t)scene->n_objects + 1);
    PART(shade->tints, scene->tints, 3 * (int64_t)scene->n_objects);
    PART(shade->lights, scene->lights, scene->n_lights);
    PART(o->views, s->views, s->n_views);
    PART(o->keys, NULL, pixels * s->samples);
    shade->keys = o->keys;
    o->held = INT64_MIN;
    if (s->arrays[MODAL_RENDER_MOTION] >= 0) {
        PART(o->before, NULL, 3 * scene->n_points);
    }
    MODAL_TRY(make_paint(o, stream, &shade->paint, err));
    MODAL_TRY(make_more(o, stream, err));
    MODAL_TRY(add_part(o, stream, NULL, modal_raster_scratch_bytes(scene->n_points + n_ground, scene->n_triangles), 1, &o->scratch, err));
    if (!draws_shadows(s)) return MODAL_OK;
    MODAL_TRY(add_part(o, stream, NULL, modal_raster_scratch_bytes(scene->n_points + n_ground, scene->n_triangles), 1, &o->map_scratch, err));
    PART(o->light_views, NULL, scene->n_maps);
    PART(o->depths, NULL, depth_maps(s) * texels);
    shade->shadow_views = o->light_views, shade->maps = o->depths;
    PART(o->box_scratch, NULL, MODAL_SHADOW_VIEW_SCRATCH);
    for (int32_t i = 0; i < scene->n_lights; i++)
        if (scene->lights[i].map >= 0)
            set_light(s, &scene->lights[i], o->light_views + scene->lights[i].map, o->box_scratch, &o->lights[scene->lights[i].map]);
    if (!moment_maps(s)) return MODAL_OK;
    o->blur = (modal_shadow_blur_task){.size = s->shadow_size, .radius = s->shadow_radius, .depths = o->depths};
    set_weights(&o->blur);
    PART(o->maps, NULL, 2 * moment_maps(s) * texels);
    shade->maps = o->maps;
    PART(o->blur.scratch, NULL, 2 * texels);
done:
    return status;
}

static modal_status open_stage(const void *self, const modal_device *device, int64_t most_frames, void **opened, modal_error *err)
{
    modal_status status = MODAL_OK;
    opened_stage *o = NULL;
    modal_stream *stream = NULL;
    (void)most_frames;
    *opened = NULL;
    MODAL_TRY(modal_alloc_zero(&o, 1, sizeof *o, "picture", err));
    o->stage = self;
    o->device = *device;
    MODAL_TRY(modal_device_stream_new(device, &stream, err));
    MODAL_TRY(modal_device_stream_new(device, &o->side, err));
    MODAL_TRY(modal_device_event_new(device, &o->begun, err));
    MODAL_TRY(modal_device_event_new(device, &o->mapped, err));
    MODAL_TRY(modal_device_event_new(device, &o->listed, err));
    MODAL_TRY(make_parts(o, stream, err));
    MODAL_TRY(modal_device_stream_wait(device, stream, err));
    *opened = o;
    o = NULL;
done:
    modal_device_stream_delete(device, &stream);
    close_stage(o);
    return status;
}

/* The maps of all lights that throw shadows. */
static modal_status queue_maps(opened_stage *o, modal_stream *stream, const modal_raster_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_stage *s = o->stage;
    const modal_kernels *kernels = o->device.kernels;
    const int64_t texels = (int64_t)s->shadow_size * s->shadow_size;
    for (int32_t i = 0; draws_shadows(s) && i < s->scene->n_maps; i++) {
        modal_shadow_view_task *light = &o->lights[i];
        light->n_points = mesh->n_points, light->points = mesh->points;
        MODAL_TRY(kernels->shadow_view(light, stream, err));
        const modal_raster_task draw = {.mesh = *mesh, .view = light->view, .width = s->shadow_size, .height = s->shadow_size, .samples = 1,
                                        .cull = MODAL_RASTER_CLOSED, .skip = MODAL_RASTER_NO_SHADOW | MODAL_RASTER_ABSENT,
                                        .test = s->scene->n_cutouts || s->scene->n_blended ? MODAL_RASTER_CUTOUT | MODAL_RASTER_BLEND : 0,
                                        .blended_alpha = (float)s->shadow_alpha, .paint = o->shade.paint,
                                        .depths = o->depths + (moment_maps(s) ? 0 : i * texels), .scratch = o->map_scratch};
        MODAL_TRY(kernels->raster(&draw, stream, err));
        if (!moment_maps(s)) continue;
        o->blur.moments = o->maps + 2 * i * texels;
        MODAL_TRY(kernels->shadow_blur(&o->blur, stream, err));
    }
done:
    return status;
}

/* Whether the frame's passes are measured. */
static modal_status begin_passes(opened_stage *o, modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_render_times *times = o->stage->times;
    const int64_t frame = o->n_drawn++;
    o->measures = times && (o->device.shares_memory || (frame >= times->waits_from && frame < times->waits_to));
    if (!o->measures) return MODAL_OK;
    MODAL_TRY(modal_device_stream_wait(&o->device, stream, err)); /* the deformer's work is none of a pass */
#pragma omp atomic
    times->n_measured++;
done:
    return status;
}

/* The pass that began at *since and has queued its work in `stream` is over. On a CPU that is done. Stages of several devices add to the same times. */
static modal_status end_pass(const opened_stage *o, modal_stream *stream, modal_render_pass pass, double *since, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_render_times *times = o->stage->times;
    if (!o->measures) return MODAL_OK;
    MODAL_TRY(modal_device_stream_wait(&o->device, stream, err));
    const double at = modal_seconds(), taken = at - *since;
#pragma omp atomic
    times->seconds[pass] += taken;
    *since = at;
done:
    return status;
}

/* A part of a picture: some whole rows, or columns of one. */
typedef struct part {
    int32_t row, end_row, column, end_column;
} part;

/* Less of it, so that `needed` fragments for all of it become those for which there is room; 0: it is one pixel. */
static int make_smaller(opened_stage *o, part *p, int64_t needed)
{
    const int rows = p->end_row - p->row, columns = p->end_column - p->column;
    const double share = 0.9 * (double)o->layers.capacity / (double)needed;
    if (rows > 1) {
        o->rows = (int32_t)(rows * share) > 1 ? (int32_t)(rows * share) : 1;
        p->end_row = p->row + o->rows;
    } else if (columns > 1) {
        p->end_column = p->column + ((int32_t)(columns * share) > 1 ? (int32_t)(columns * share) : 1);
    }
    return rows > 1 || columns > 1;
}

/* What comes after it. Rows grow where there is room for four times as many. */
static void go_on(opened_stage *o, part *p, int64_t needed, int32_t width, int32_t height)
{
    const int whole = p->column == 0 && p->end_column == width;
    if (whole && needed < o->layers.capacity / 4 && p->end_row - p->row == o->rows && o->rows < height)
        o->rows = o->rows > height / 2 ? height : 2 * o->rows;
    const int columns = p->end_column - p->column;
    p->column = p->end_column < width ? p->end_column : 0;
    if (p->column == 0) p->row = p->end_row;
    p->end_row = p->column > 0 ? p->row + 1 : p->row + o->rows < height ? p->row + o->rows : height;
    p->end_column = p->column > 0 && p->column + columns < width ? p->column + columns : width;
}

/* Shades parts, as large as their layers have room for. Which parts makes no difference to the bytes. */
static modal_status queue_layers(opened_stage *o, modal_stream *stream, modal_shade_task *shade, double *since, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_layers_task layers = o->layers;
    part p = {.end_row = o->rows < shade->height ? o->rows : shade->height, .end_column = shade->width};
    layers.mesh = shade->mesh, layers.view = shade->view;
    shade->layers = layers.layers, shade->fragments = layers.fragments, shade->n_needed = layers.needed, shade->layer_capacity = layers.capacity;
    while (p.row < shade->height) {
        layers.first_row = p.row, layers.end_row = p.end_row, layers.first_column = p.column, layers.end_column = p.end_column;
        shade->first_row = p.row, shade->end_row = p.end_row, shade->first_column = p.column, shade->end_column = p.end_column;
        MODAL_TRY(o->device.kernels->layers(&layers, stream, err));
        MODAL_TRY(modal_device_event_record(&o->device, o->listed, stream, err));
        MODAL_TRY(end_pass(o, stream, MODAL_PASS_LAYERS, since, err));
        MODAL_TRY(modal_device_stream_wait_event(&o->device, stream, o->mapped, err)); /* layers need no maps */
        MODAL_TRY(o->device.kernels->shade(shade, stream, err)); /* nothing where they did not fit, and the device need not wait for who asks */
        MODAL_TRY(modal_device_stream_wait_event(&o->device, o->side, o->listed, err));
        MODAL_TRY(modal_device_copy_out(&o->device, o->needed, layers.needed, sizeof *o->needed, o->side, err));
        MODAL_TRY(modal_device_stream_wait(&o->device, o->side, err));
        MODAL_TRY(end_pass(o, stream, MODAL_PASS_SHADING, since, err));
        const int64_t needed = *o->needed;
        if (needed > layers.capacity) {
            if (make_smaller(o, &p, needed)) continue;
            MODAL_FAIL(err, MODAL_ERROR_MEMORY, "pixel (%d, %d): %" PRId64 " layers of samples are seen through, room for %" PRId64, p.column, p.row,
                       needed, layers.capacity);
        }
        go_on(o, &p, needed, shade->width, shade->height);
        if (o->stage->times) {
#pragma omp atomic
            o->stage->times->n_tiles++;
        }
    }
done:
    return status;
}

/* One frame: all arrays of it are set in `shade` but those of the layers. */
static modal_status queue_frame(opened_stage *o, modal_stream *stream, modal_shade_task *shade, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_stage *s = o->stage;
    MODAL_TRY(begin_passes(o, stream, err));
    double since = modal_seconds();
    const int two_pass = s->scene->n_blended && s->transparency == MODAL_RENDER_TWO_PASS;
    const modal_raster_task draw = {.mesh = shade->mesh, .view = shade->view, .width = s->width, .height = s->height, .samples = s->samples,
                                    .cull = MODAL_RASTER_ONE_SIDED, .skip = MODAL_RASTER_ABSENT | (two_pass ? 0 : MODAL_RASTER_BLEND),
                                    .test = (s->scene->n_cutouts ? MODAL_RASTER_CUTOUT : 0) | (two_pass ? MODAL_RASTER_BLEND : 0),
                                    .blended_alpha = (float)s->shadow_alpha, .paint = o->shade.paint, .keys = o->keys, .scratch = o->scratch};
    if (o->wedges.n_wedges > 0) {
        modal_normals_wedge_task wedges = o->wedges;
        wedges.positions = shade->mesh.points;
        MODAL_TRY(o->device.kernels->normals_wedge(&wedges, stream, err));
        shade->normals = wedges.normals;
        MODAL_TRY(end_pass(o, stream, MODAL_PASS_NORMALS, &since, err));
    }
    /* `begun` comes after the last frame's shading, which reads the maps */
    MODAL_TRY(modal_device_event_record(&o->device, o->begun, stream, err));
    MODAL_TRY(modal_device_stream_wait_event(&o->device, o->side, o->begun, err));
    MODAL_TRY(queue_maps(o, o->side, &shade->mesh, err));
    MODAL_TRY(modal_device_event_record(&o->device, o->mapped, o->side, err));
    MODAL_TRY(end_pass(o, o->side, MODAL_PASS_SHADOWS, &since, err));
    MODAL_TRY(o->device.kernels->raster(&draw, stream, err));
    MODAL_TRY(end_pass(o, stream, MODAL_PASS_VISIBILITY, &since, err));
    if (o->layers.layers) {
        MODAL_TRY(queue_layers(o, stream, shade, &since, err));
    } else {
        MODAL_TRY(modal_device_stream_wait_event(&o->device, stream, o->mapped, err));
        MODAL_TRY(o->device.kernels->shade(shade, stream, err));
        MODAL_TRY(end_pass(o, stream, MODAL_PASS_SHADING, &since, err));
    }
done:
    return status;
}

/* The frame before, for motion. Where it is not known, the frame itself, which does not move. */
static void set_before(const opened_stage *o, const modal_device_frames *frames, int64_t f, modal_shade_task *shade)
{
    const modal_render_stage *s = o->stage;
    const int64_t number = frames->first + f * frames->step;
    const int known = number != s->first && (f > 0 || o->held == number - s->step);
    shade->points_before = !known ? shade->mesh.points : f > 0 ? shade->mesh.points - 3 * s->scene->n_points : o->before;
    shade->view_before = known && s->n_views > 1 ? shade->view - 1 : shade->view;
}

static modal_status queue(void *opened, modal_stream *stream, const modal_device_frames *frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    opened_stage *o = opened;
    const modal_render_stage *s = o->stage;
    const int64_t pixels = (int64_t)s->width * s->height, n = s->scene->n_points;
    for (int64_t f = 0; f < frames->n_frames; f++) {
        const int64_t number = frames->first + f * frames->step;
        modal_shade_task shade = o->shade;
        float *out[MODAL_RENDER_BUFFERS];
        shade.mesh = o->mesh;
        shade.mesh.points = frames->arrays[s->positions] + 3 * n * f;
        shade.normals = s->normals >= 0 ? frames->arrays[s->normals] + 3 * n * f : NULL;
        shade.view = o->views + (s->n_views > 1 ? (number - s->first) / s->step : 0);
        for (int i = 0; i < MODAL_RENDER_BUFFERS; i++)
            out[i] = s->arrays[i] >= 0 ? frames->arrays[s->arrays[i]] + f * pixels * modal_render_arrays[i].components : NULL;
        shade.picture = (uint8_t *)out[MODAL_RENDER_PICTURE];
        shade.colour = out[MODAL_RENDER_COLOUR];
        shade.triangle = (int32_t *)out[MODAL_RENDER_TRIANGLE];
        shade.object = (int32_t *)out[MODAL_RENDER_OBJECT];
        shade.depth = out[MODAL_RENDER_DEPTH];
        shade.normal = out[MODAL_RENDER_NORMAL];
        shade.position = out[MODAL_RENDER_POSITION];
        shade.deep = (uint16_t *)out[MODAL_RENDER_DEEP];
        shade.motion = out[MODAL_RENDER_MOTION];
        if (shade.motion) set_before(o, frames, f, &shade);
        MODAL_TRY(queue_frame(o, stream, &shade, err));
    }
    if (o->before) {
        const int64_t last = frames->n_frames - 1;
        MODAL_TRY(modal_device_copy(&o->device, o->before, frames->arrays[s->positions] + 3 * n * last, 12 * n, stream, err));
        o->held = frames->first + last * frames->step;
    }
    if (s->times) {
#pragma omp atomic
        s->times->n_frames += frames->n_frames;
    }
done:
    return status;
}

modal_frame_stage modal_render_stage_of(const modal_render_stage *stage)
{
    return (modal_frame_stage){stage, bytes, open_stage, queue, close_stage};
}
