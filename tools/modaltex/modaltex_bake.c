/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex bake: an octree texture as an image by the texture coordinates of a surface, and a look that shows it. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "formats/octree/octree_h5.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/octree/atlas.h"
#include "lib/octree/charts.h"
#include "tools/common/commit.h"
#include "tools/common/files.h"
#include "tools/common/inputs.h"
#include "tools/modaltex/modaltex.h"
#include "tools/modaltex/modaltex_bake.h"
#include "tools/modaltex/modaltex_layers.h"
#include "tools/modaltex/modaltex_surface.h"

static const tool_option options[] = {
    {"size", 0, "N", "2048", "Texels a side of the image, 1 to 16384.", 0},
    {"padding", 0, "full|none", "full", "What no chart covers gets the colours around it, so that no mip level mixes in a background; or is black.", 0},
    {"filter", 0, "footprint|trilinear", "footprint", "Texels larger than the texture's cells get means, or the value at their centre.", 0},
    {"range", 0, "LOW,HIGH", "0,1", "Of a texture of numbers: which are black and white, in linear steps; float is grey, float3 red, green and blue.", 0},
    {"bits", 0, "8|16", "8", "Of a number in the image; 16: of a texture of numbers.", 0},
    {"space", 0, "tangent|object", "tangent", "Of a texture of normals: in the frame of tangent, bitangent and normal, or in the object's coordinates.", 0},
    {"keep", 0, NULL, NULL, "Also keep the texture coordinates, the image and what each texel shows in TEX.h5, which is written anew, for `flow --images`.", 0},
    {"own-charts", 0, NULL, NULL, "Makes charts although the surface has texture coordinates.", 0},
    {"allow-overlap", 0, NULL, NULL, "Charts may overlap or leave the image: the first triangle counts, what is outside is cut off.", 0},
    {"other-surface", 0, NULL, NULL, "SURFACE may be another one than the texture was built around, in the same coordinates.", 0},
    MODALTEX_OPTION_SHAPE,
    {"backend", 0, "NAME", "auto", "What computes: auto (a GPU if there is one, else the CPU), ref, cpu, cuda or cuda:N.", 0},
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
    .endings = "png",
    .notes = "Every texel that bilinear filtering of the surface reads gets the texture's value at the nearest point. Beside OUT.png stands\n"
             "OUT.look.json, which --look of modaldeform, modalrender and modalview takes. A SURFACE without texture coordinates gets charts, and\n"
             "OUT.obj is the surface with them.",
    .examples = "modaltex bake bunny_marble.h5 bunny.obj baked.png\nmodaltex bake tree_tex.h5 tree.h5 bark.png --size 1024",
};

/* One of two words; *second tells which. */
static modal_status read_word(const tool *t, const char *name, const char *first, const char *other, int *second, modal_error *err)
{
    const char *value = tool_value(&t->arguments, name);
    *second = strcmp(value, other) == 0;
    if (*second || strcmp(value, first) == 0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not %s or %s, %s", name, first, other, value);
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
    if (a->counts.covered == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no texel shows the surface; triangles without area in the image: %lld", path, (long long)a->n_flat);
    if (a->counts.overlapping > 0) tool_warn(t, "charts overlap, %lld texels", (long long)a->counts.overlapping);
    if (a->n_beyond > 0) tool_warn(t, "%lld triangles have texture coordinates outside of [0, 1], cut off", (long long)a->n_beyond);
    if (a->n_flat > 0) tool_warn(t, "%lld triangles have no area in the image", (long long)a->n_flat);
    if (a->counts.outside > 0) tool_warn(t, "%lld texels are outside of the texture, they are black", (long long)a->counts.outside);
    if (a->n_behind > 0) tool_warn(t, "%lld texels have a normal on the inner side of the surface", (long long)a->n_behind);
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

/* OUT.png, whose name ends so, as OUT with another ending, which the caller frees. */
static modal_status path_beside(const char *png, const char *ending, char **path, modal_error *err)
{
    const size_t stem = strlen(png) - 4, room = stem + strlen(ending) + 1;
    const modal_status status = modal_alloc(path, (int64_t)room, 1, "names", err);
    if (status == MODAL_OK) snprintf(*path, room, "%.*s%s", (int)stem, png, ending);
    return status;
}

/* The surface's own texture coordinates become those of charts. */
static modal_status make_charts(tool *t, const char *path, int64_t size, modal_surface_mesh *s, modal_error *err)
{
    /* What a chart covers reaches sqrt(2) texels, and twice that and a mip texel of 2 are below 5: no texel of the first mip level is of two charts. */
    modal_charts charts;
    const modal_status status = modal_charts_make(s, 5.0 / (double)size, &charts, err);
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

/* A run: what is asked for, read and made. */
typedef struct baking {
    const char *texture, *surface_path, *png_path;
    int force, empty, trilinear, object_space, tangents, keep, bits, threads;
    int64_t shape, size;
    double range[2];
    modal_device device;
    modal_octree_file file;
    modal_surface_mesh surface;
    modal_atlas atlas;
    modaltex_picture picture;
    char *names[2];                  /* of look and obj */
    tool_output png, look, obj, kept;
    tool_output *outputs[4];
    int n_outputs;
} baking;

static modal_status read_request(tool *t, baking *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    int64_t bits = 8;
    b->texture = a->operands[1], b->surface_path = a->operands[2], b->png_path = a->operands[3];
    b->force = tool_count(a, "force") > 0, b->keep = tool_count(a, "keep") > 0;
    MODAL_TRY(tool_integer(a, "size", 1, MODAL_BAKE_SIDE, &b->size, err));
    MODAL_TRY(read_word(t, "padding", "full", "none", &b->empty, err));
    MODAL_TRY(read_word(t, "filter", "footprint", "trilinear", &b->trilinear, err));
    MODAL_TRY(read_word(t, "space", "tangent", "object", &b->object_space, err));
    MODAL_TRY(tool_parse_numbers(tool_value(a, "range"), 2, b->range, "--range", err));
    if (!(b->range[1] > b->range[0])) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--range: the second must be above the first, %s", tool_value(a, "range"));
    MODAL_TRY(tool_integer(a, "bits", 8, 16, &bits, err));
    if (bits != 8 && bits != 16) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--bits: 8 or 16, %lld", (long long)bits);
    b->bits = (int)bits;
    if (b->keep && tool_count(a, "other-surface")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--keep: not with --other-surface, the texture's triangles are its own");
    MODAL_TRY(tool_integer(a, "shape", 0, INT32_MAX, &b->shape, err));
    MODAL_TRY(tool_threads(t, &b->threads, err));
    omp_set_num_threads(b->threads); /* the CPU back end takes it from the thread that opens it */
    MODAL_TRY(modal_device_open(&b->device, tool_value(a, "backend"), err));
    if (strcmp(tool_value(a, "backend"), "auto") == 0) tool_note(t, "back end: %s, %s", b->device.name, b->device.hardware);
done:
    return status;
}

/* Outputs but the surface's; the texture may be one. */
static modal_status begin(baking *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (b->keep) tool_files_continue(b->texture, b->texture);
    MODAL_TRY(tool_outputs_recover(b->png_path, err));
    MODAL_TRY(tool_output_begin(&b->png, b->png_path, b->force, err));
    if (strlen(b->png_path) < 5 || strcasecmp(b->png_path + strlen(b->png_path) - 4, ".png") != 0) /* else two outputs may have one name */
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "OUT.png: no name of a .png, %s", b->png_path);
    MODAL_TRY(path_beside(b->png_path, ".look.json", &b->names[0], err));
    MODAL_TRY(path_beside(b->png_path, ".obj", &b->names[1], err));
    MODAL_TRY(tool_output_begin(&b->look, b->names[0], b->force, err));
done:
    return status;
}

static modal_status read_inputs(const tool *t, baking *b, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_octree *o = &b->file.octree;
    MODAL_TRY(modal_octree_read(b->texture, &b->file, err));
    MODAL_TRY(modaltex_surface_read(b->surface_path, b->shape, &b->surface, err));
    if (o->channels == MODAL_OCTREE_RGBA8 && b->bits == 16) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--bits: 16 is for textures of numbers, %s has 8", b->texture);
    if (o->channels == MODAL_OCTREE_RGBA8 && tool_count(&t->arguments, "range"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--range: is for textures of numbers, %s has colours", b->texture);
    if (!o->normals && tool_count(&t->arguments, "space")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--space: is for textures of normals, %s", b->texture);
    b->tangents = o->normals && !b->object_space;
    if (b->tangents && tool_count(&t->arguments, "range")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--range: normals of --space tangent have none, %s", b->texture);
    if (b->tangents) b->range[0] = -1, b->range[1] = 1;
    if (!tool_count(&t->arguments, "other-surface")) MODAL_TRY(modaltex_surface_check(b->surface_path, &b->surface, o, err));
    if (tool_count(&t->arguments, "own-charts") || !b->surface.triangle_uv) b->surface.n_uv = 0;
    if (b->surface.n_uv == 0) MODAL_TRY(tool_output_begin(&b->obj, b->names[1], b->force, err));
    if (b->keep) MODAL_TRY(tool_output_begin(&b->kept, b->texture, 1, err));
    tool_output *const all[] = {&b->kept, &b->look, &b->obj, &b->png};
    for (int i = 0; i < 4; i++)
        if (all[i]->temporary) b->outputs[b->n_outputs++] = all[i];
    if (!b->trilinear && !o->mipmaps) MODAL_TRY(modal_octree_make_mipmaps(&b->file.octree, err));
done:
    return status;
}

/* The texture in the image, by charts that are made where there are none. */
static modal_status bake(tool *t, baking *b, const modal_atlas_request *request, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_pyramid pyramid = {0};
    double start = tool_seconds();
    if (request->by_footprint) MODAL_TRY(modal_octree_pyramid_make(&b->file.octree, &pyramid, err));
    else MODAL_TRY(modal_octree_tables_make(&b->file.octree, &pyramid.finest, err));
    tool_stage(t, "tables", tool_seconds() - start, modal_octree_tables_bytes(&pyramid.finest));
    start = tool_seconds();
    if (b->surface.n_uv == 0) {
        const clock_t processor = clock();
        MODAL_TRY(make_charts(t, b->surface_path, request->width, &b->surface, err));
        tool_stage(t, "charts", tool_seconds() - start, -1);
        tool_stage(t, "charts, processor", (double)(clock() - processor) / CLOCKS_PER_SEC, -1);
        start = tool_seconds();
    }
    status = modal_atlas_bake(&b->device, &pyramid, request, &b->atlas, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", b->surface_path);
    if (status != MODAL_OK) goto done;
    tool_stage(t, "bake", tool_seconds() - start, 4 * (int64_t)request->width * request->height);
    MODAL_TRY(check_charts(t, b->surface_path, &b->atlas, err));
    MODAL_TRY(modaltex_picture_make(&b->atlas, request, b->bits, &b->picture, err));
done:
    modal_octree_pyramid_free(&pyramid);
    return status;
}

/* The texture with the atlas, a step of provenance more. The picture's texels become the file's. */
static modal_status write_kept(const tool *t, baking *b, const modal_atlas_request *request, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_atlas *to = &b->file.atlas;
    char *inputs = NULL;
    int64_t used = 0, room = 0;
    modal_octree_atlas_free(to);
    MODAL_TRY(modal_atlas_keep(&b->file.octree, request, &b->atlas, to, err));
    if (b->file.octree.channels == MODAL_OCTREE_RGBA8) {
        to->image = (uint8_t *)b->picture.texels;
        b->picture.texels = NULL;
    }
    MODAL_TRY(tool_add_input(b->texture, &inputs, &used, &room, err));
    MODAL_TRY(tool_add_input(b->surface_path, &inputs, &used, &room, err));
    MODAL_TRY(modal_provenance_append(&b->file.provenance, &b->file.n_provenance, "modaltex bake", tool_build(), t->command_line, inputs,
                                      b->device.name, err));
    MODAL_TRY(modal_octree_write(b->kept.temporary, &b->file, err));
done:
    modal_free(&inputs);
    return status;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int modaltex_bake(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_bake_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    baking b = {0};

    MODAL_TRY(read_request(&t, &b, &err));
    MODAL_TRY(begin(&b, &err));
    MODAL_TRY(read_inputs(&t, &b, &err));
    const modal_atlas_request request = {.surface = &b.surface, .width = (int32_t)b.size, .height = (int32_t)b.size, .by_footprint = !b.trilinear,
                                         .fill = !b.empty, .tangents = b.tangents, .range = {b.range[0], b.range[1]}};
    MODAL_TRY(bake(&t, &b, &request, &err));
    const double start = tool_seconds();
    MODAL_TRY(modaltex_write_png(&b.png, &b.picture, &err));
    MODAL_TRY(modaltex_write_look(&b.look, name_of(b.png_path), b.tangents, b.obj.temporary ? name_of(b.names[1]) : NULL, &err));
    if (b.obj.temporary) MODAL_TRY(modaltex_write_obj(&b.obj, &b.surface, &err));
    if (b.keep) MODAL_TRY(write_kept(&t, &b, &request, &err));
    MODAL_TRY(tool_outputs_commit(b.outputs, b.n_outputs, NULL, &err));
    tool_stage(&t, "write", tool_seconds() - start, -1);
done:
    for (int i = 0; i < b.n_outputs; i++) tool_output_name_error(b.outputs[i], &err);
    tool_output_discard(&b.png);
    tool_output_discard(&b.look);
    tool_output_discard(&b.obj);
    tool_output_discard(&b.kept);
    modal_atlas_free(&b.atlas);
    modaltex_picture_free(&b.picture);
    modal_octree_file_free(&b.file);
    modal_surface_mesh_free(&b.surface);
    for (int i = 0; i < 2; i++) modal_free(&b.names[i]);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
