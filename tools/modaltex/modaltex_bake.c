/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex bake: an octree texture as an image by the texture coordinates of a surface, and a look that shows it. */
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/images/png_write.h"
#include "formats/octree/octree_h5.h"
#include "lib/base/memory.h"
#include "lib/octree/atlas.h"
#include "lib/octree/charts.h"
#include "tools/common/commit.h"
#include "tools/modaltex/modaltex.h"
#include "tools/modaltex/modaltex_layers.h"
#include "tools/modaltex/modaltex_surface.h"

static const tool_option options[] = {
    {"size", 0, "N", "2048", "Texels a side of the image, 1 to 16384.", 0},
    {"padding", 0, "full|none", "full", "What no chart covers gets the colours around it, so that no mip level mixes in a background; or is black.", 0},
    {"filter", 0, "footprint|trilinear", "footprint", "Texels larger than the texture's cells get means, or the value at their centre.", 0},
    {"own-charts", 0, NULL, NULL, "Makes charts although the surface has texture coordinates.", 0},
    {"allow-overlap", 0, NULL, NULL, "Charts may overlap or leave the image: the first triangle counts, what is outside is cut off.", 0},
    {"other-surface", 0, NULL, NULL, "SURFACE may be another one than the texture was built around, in the same coordinates.", 0},
    MODALTEX_OPTION_SHAPE,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_bake_program = {
    .name = "modaltex",
    .summary = "bake: a texture around a surface as an image by its texture coordinates",
    .usage = "bake [options] TEX.h5 BASIS|SURFACE OUT.png",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 4,
    .most_operands = 4,
    .input_traits = TOOL_READS,
    .output = 4,
    .output_traits = TOOL_WRITES,
    .notes = "Every texel that bilinear filtering of the surface reads gets the texture's value at the nearest point. Beside OUT.png stands\n"
             "OUT.look.json, which --look of modaldeform, modalrender and modalview takes. A SURFACE without texture coordinates gets charts, and\n"
             "OUT.obj is the surface with them.",
    .examples = "modaltex bake bunny_marble.h5 bunny.obj bunny.png\nmodaltex bake tree_tex.h5 tree.h5 bark.png --size 1024",
};

/* One of two words; *second tells which. */
static modal_status read_word(const tool *t, const char *name, const char *first, const char *other, int *second, modal_error *err)
{
    const char *value = tool_value(&t->arguments, name);
    *second = strcmp(value, other) == 0;
    if (*second || strcmp(value, first) == 0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not %s or %s, %s", name, first, other, value);
}

static modal_status check_surface(const tool *t, const char *path, const modal_octree *o, const modal_surface_mesh *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (o->channels != MODAL_OCTREE_RGBA8)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: an image has colours, the texture is of %s", t->arguments.operands[1], modal_octree_channels_name(o->channels));
    if (!tool_count(&t->arguments, "other-surface")) MODAL_TRY(modaltex_surface_check(path, s, o, err));
done:
    return status;
}

/* The surface's charts are all right, or may be as they are; says what is in them. */
static modal_status check_charts(tool *t, const char *path, const modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int allowed = tool_count(&t->arguments, "allow-overlap") > 0;
    if (!allowed && a->counts.overlapping > 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: charts overlap, %lld texels; --allow-overlap takes the first triangle of each", path,
                   (long long)a->counts.overlapping);
    if (!allowed && a->n_beyond > 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %lld triangles have texture coordinates outside of [0, 1]; --allow-overlap cuts them off", path,
                   (long long)a->n_beyond);
    if (a->counts.overlapping > 0) tool_warn(t, "charts overlap, %lld texels", (long long)a->counts.overlapping);
    if (a->n_beyond > 0) tool_warn(t, "%lld triangles have texture coordinates outside of [0, 1], cut off", (long long)a->n_beyond);
    if (a->n_flat > 0) tool_warn(t, "%lld triangles have no area in the image", (long long)a->n_flat);
    if (a->counts.outside > 0) tool_warn(t, "%lld texels are outside of the texture, they are black", (long long)a->counts.outside);
    const double n = (double)a->width * (double)a->height;
    tool_note(t, "%d x %d texels, %.1f %% covered", a->width, a->height, 100 * (double)a->counts.covered / n);
    json_object_set_new(t->report, "covered", json_integer(a->counts.covered));
    json_object_set_new(t->report, "overlapping", json_integer(a->counts.overlapping));
    json_object_set_new(t->report, "outside", json_integer(a->counts.outside));
    json_object_set_new(t->report, "triangles_beyond", json_integer(a->n_beyond));
    json_object_set_new(t->report, "triangles_without_area", json_integer(a->n_flat));
done:
    return status;
}

static modal_status write_bytes(const tool_output *output, const void *bytes, int64_t length, modal_error *err)
{
    FILE *file = fopen(output->temporary, "wb");
    int failed = !file || fwrite(bytes, 1, (size_t)length, file) != (size_t)length;
    if (file) failed |= fclose(file) != 0;
    return failed ? modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", output->path, strerror(errno)) : MODAL_OK;
}

/* The upper row first; alpha only where something covered has it. */
static modal_status write_png(const tool_output *output, modal_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *bytes = NULL;
    int64_t length = 0;
    int clear = 0;
    for (int64_t y = 0; y < a->height; y++)
        for (int64_t x = 0; x < a->width; x++)
            clear |= (a->covered[y * ((a->width + 31) / 32) + x / 32] >> x % 32 & 1) && a->texels[y * a->width + x] >> 24 != 255;
    for (int64_t y = 0; y < a->height / 2; y++)
        for (int64_t x = 0; x < a->width; x++) {
            uint32_t *const low = &a->texels[y * a->width + x], *const high = &a->texels[(a->height - 1 - y) * a->width + x], swap = *low;
            *low = *high;
            *high = swap;
        }
    if (clear) MODAL_TRY(modal_png_encode_alpha((const uint8_t *)a->texels, a->width, a->height, &bytes, &length, err));
    else MODAL_TRY(modal_png_encode(a->texels, 8, a->width, a->height, &bytes, &length, err));
    MODAL_TRY(write_bytes(output, bytes, length, err));
done:
    modal_free(&bytes);
    return status;
}

/* A look whose only material shows the image. */
static modal_status write_look(const tool_output *output, const char *image, modal_error *err)
{
    json_t *look = json_pack("{s:i, s:{s:{s:s}}, s:s}", "look", 1, "materials", "baked", "image", image, "default", "baked");
    char *text = look ? json_dumps(look, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    json_decref(look);
    if (!text) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: the image's name is no UTF-8, or there is no memory", output->path);
    const size_t length = strlen(text);
    text[length] = '\n'; /* instead of the end */
    const modal_status status = write_bytes(output, text, (int64_t)length + 1, err);
    free(text);
    return status;
}

/* OUT.png as OUT with another ending, which the caller frees. */
static modal_status path_beside(const char *png, const char *ending, char **path, modal_error *err)
{
    const size_t length = strlen(png), stem = length > 4 && strcmp(png + length - 4, ".png") == 0 ? length - 4 : length, room = stem + strlen(ending) + 1;
    const modal_status status = modal_alloc(path, (int64_t)room, 1, "names", err);
    if (status == MODAL_OK) snprintf(*path, room, "%.*s%s", (int)stem, png, ending);
    return status;
}

/* The surface's own texture coordinates become those of charts. */
static modal_status make_charts(tool *t, const char *path, int64_t size, modal_surface_mesh *s, modal_error *err)
{
    modal_charts charts;
    const modal_status status = modal_charts_make(s, 3.0 / (double)size, &charts, err); /* what two charts cover is apart */
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", path);
    if (status != MODAL_OK) return status;
    tool_note(t, "%lld charts, %.1f %% of the image", (long long)charts.n_charts, 100 * charts.used);
    json_object_set_new(t->report, "charts", json_integer(charts.n_charts));
    json_object_set_new(t->report, "charts_area", json_real(charts.used));
    modal_free(&s->uv);
    modal_free(&s->triangle_uv);
    s->uv = charts.uv, s->n_uv = charts.n_uv, s->triangle_uv = charts.triangle_uv;
    charts.uv = NULL, charts.triangle_uv = NULL;
    modal_charts_free(&charts);
    return MODAL_OK;
}

/* The surface with its texture coordinates; numbers are read back as they are. */
static modal_status write_obj(const tool_output *output, const modal_surface_mesh *s, modal_error *err)
{
    FILE *file = fopen(output->temporary, "w");
    for (int64_t v = 0; file && v < s->n_vertices; v++)
        fprintf(file, "v %.17g %.17g %.17g\n", s->positions[3 * v], s->positions[3 * v + 1], s->positions[3 * v + 2]);
    for (int64_t i = 0; file && i < s->n_uv; i++) fprintf(file, "vt %.17g %.17g\n", s->uv[2 * i], s->uv[2 * i + 1]);
    for (int64_t i = 0; file && i < 3 * s->n_triangles; i++)
        fprintf(file, "%s%d/%d%s", i % 3 ? " " : "f ", s->triangles[i] + 1, s->triangle_uv[i] + 1, i % 3 == 2 ? "\n" : "");
    int failed = !file || ferror(file);
    if (file) failed |= fclose(file) != 0;
    return failed ? modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", output->path, strerror(errno)) : MODAL_OK;
}

/* The texture in the image, by charts that are made where there are none. */
static modal_status bake(tool *t, const modal_octree *o, modal_surface_mesh *s, const modal_atlas_request *request, modal_atlas *atlas, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_pyramid pyramid = {0};
    double start = tool_seconds();
    const char *path = t->arguments.operands[2];
    if (request->by_footprint) MODAL_TRY(modal_octree_pyramid_make(o, &pyramid, err));
    else MODAL_TRY(modal_octree_tables_make(o, &pyramid.finest, err));
    tool_stage(t, "tables", tool_seconds() - start, modal_octree_tables_bytes(&pyramid.finest));
    start = tool_seconds();
    if (s->n_uv == 0) {
        MODAL_TRY(make_charts(t, path, request->width, s, err));
        tool_stage(t, "charts", tool_seconds() - start, -1);
        start = tool_seconds();
    }
    status = modal_atlas_bake(&pyramid, request, atlas, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", path);
    if (status != MODAL_OK) goto done;
    tool_stage(t, "bake", tool_seconds() - start, 4 * (int64_t)request->width * request->height);
    MODAL_TRY(check_charts(t, path, atlas, err));
done:
    modal_octree_pyramid_free(&pyramid);
    return status;
}

int modaltex_bake(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_bake_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_octree_file file = {0};
    modal_surface_mesh surface = {0};
    modal_atlas atlas = {0};
    tool_output png = {0}, look = {0}, obj = {0};
    tool_output *outputs[3] = {&look, &png, &png};
    int threads = 1, empty = 0, trilinear = 0;
    int64_t shape = 0, size = 0;
    char *look_file = NULL, *obj_file = NULL;
    const char *from = t.arguments.operands[2], *to = t.arguments.operands[3], *slash = strrchr(to, '/');
    const int force = tool_count(&t.arguments, "force") > 0;

    MODAL_TRY(tool_integer(&t.arguments, "size", 1, MODAL_BAKE_SIDE, &size, &err));
    MODAL_TRY(read_word(&t, "padding", "full", "none", &empty, &err));
    MODAL_TRY(read_word(&t, "filter", "footprint", "trilinear", &trilinear, &err));
    MODAL_TRY(tool_integer(&t.arguments, "shape", 0, INT32_MAX, &shape, &err));
    MODAL_TRY(tool_threads(&t, &threads, &err));
    omp_set_num_threads(threads);
    MODAL_TRY(path_beside(to, ".look.json", &look_file, &err));
    MODAL_TRY(path_beside(to, ".obj", &obj_file, &err));
    MODAL_TRY(tool_outputs_recover(to, &err));
    MODAL_TRY(tool_output_begin(&png, to, force, &err));
    MODAL_TRY(tool_output_begin(&look, look_file, force, &err));
    MODAL_TRY(modal_octree_read(t.arguments.operands[1], &file, &err));
    MODAL_TRY(modaltex_surface_read(from, shape, &surface, &err));
    MODAL_TRY(check_surface(&t, from, &file.octree, &surface, &err));
    if (tool_count(&t.arguments, "own-charts") || !surface.triangle_uv) surface.n_uv = 0;
    const int n_outputs = surface.n_uv == 0 ? 3 : 2;
    if (n_outputs == 3) {
        MODAL_TRY(tool_output_begin(&obj, obj_file, force, &err));
        outputs[1] = &obj;
    }
    if (!trilinear && !file.octree.mipmaps) MODAL_TRY(modal_octree_make_mipmaps(&file.octree, &err));
    const modal_atlas_request request = {.surface = &surface, .width = (int32_t)size, .height = (int32_t)size, .by_footprint = !trilinear, .fill = !empty};
    MODAL_TRY(bake(&t, &file.octree, &surface, &request, &atlas, &err));
    double start = tool_seconds();
    MODAL_TRY(write_png(&png, &atlas, &err));
    MODAL_TRY(write_look(&look, slash ? slash + 1 : to, &err));
    if (n_outputs == 3) MODAL_TRY(write_obj(&obj, &surface, &err));
    MODAL_TRY(tool_outputs_commit(outputs, n_outputs, NULL, &err));
    tool_stage(&t, "write", tool_seconds() - start, -1);
done:
    tool_output_name_error(&png, &err);
    tool_output_discard(&png);
    tool_output_discard(&look);
    tool_output_discard(&obj);
    modal_atlas_free(&atlas);
    modal_octree_file_free(&file);
    modal_surface_mesh_free(&surface);
    modal_free(&look_file);
    modal_free(&obj_file);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
