/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex paint: layers onto an octree texture. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "formats/json/layers.h"
#include "formats/octree/octree_h5.h"
#include "lib/base/memory.h"
#include "lib/octree/extend.h"
#include "lib/octree/measures.h"
#include "lib/octree/mipmaps.h"
#include "lib/octree/paint.h"
#include "tools/common/commit.h"
#include "tools/common/hdf5_stdin.h"
#include "tools/common/inputs.h"
#include "tools/modaltex/modaltex.h"
#include "tools/modaltex/modaltex_layers.h"
#include "tools/modaltex/modaltex_surface.h"

static const tool_option options[] = {
    {"surface", 0, "FILE", NULL, "What the texture was built around, a BASIS or SURFACE: for images and normals.", TOOL_READS},
    MODALTEX_OPTION_SHAPE,
    {"normals", 0, "FINE", NULL, "Normals of a finer surface, over all layers; channels float3 or rgba8.", TOOL_READS},
    {"extend", 0, NULL, NULL, "Layers go onto clear samples, and what they leave gets the colours of what is painted next to it; rgba8.", 0},
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_paint_program = {
    .name = "modaltex",
    .summary = "paint: layers onto a texture around a surface",
    .usage = "paint [options] TEX.h5 [LAYERS.json] OUT.h5",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 3,
    .most_operands = 4,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = -1,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "h5",
    .notes = "formats/layers.md says what is in LAYERS: colours of a scan's vertices, images by uv or along the axes, marble, wood, noise,\n"
             "checkers, strokes of a brush, normals, a field of a sequence. OUT is TEX with the layers over it.",
    .examples = "modaltex paint bunny_tex.h5 marble.json bunny_marble.h5\n"
                "modaltex paint bunny_bumps.h5 bumps.h5 --surface bunny.ply --normals bunny_fine.ply",
};

typedef struct inputs {
    const char *texture, *layers, *surface, *normals; /* paths; all but the first may be NULL */
    char *names; /* of what was read, for provenance */
    int64_t used, room;
} inputs;

/* With -v or --report: how far the texture is from the layer's source at the surface's vertices. */
static modal_status compare(tool *t, const modal_layer *layer, const modal_layer_inputs *of, const modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_difference d = {0};
    const int colours = layer->kind == MODAL_LAYER_COLOURS, field = layer->kind == MODAL_LAYER_FIELD && o->channels != MODAL_OCTREE_RGBA8;
    if ((!t->verbose && !tool_count(&t->arguments, "report")) || (!colours && !field) || layer->opacity < 1) return MODAL_OK;
    if (colours) MODAL_TRY(modal_octree_compare_colours(o, of->coloured, &d, err));
    else MODAL_TRY(modal_octree_compare_field(o, layer, of->surface, of->field, &d, err));
    json_t *to = json_object();
    tool_detail(t, "%s: at %lld vertices the texture is off by %.4g at most%s, PSNR %.1f dB", modal_layer_names[layer->kind], (long long)d.n, d.largest,
                colours ? " of 255" : "", d.psnr);
    json_object_set_new(to, "kind", json_string(modal_layer_names[layer->kind]));
    json_object_set_new(to, "vertices", json_integer(d.n));
    json_object_set_new(to, "largest", json_real(d.largest));
    if (isfinite(d.psnr)) json_object_set_new(to, "psnr", json_real(d.psnr));
    if (!json_object_get(t->report, "differences")) json_object_set_new(t->report, "differences", json_array());
    json_array_append_new(json_object_get(t->report, "differences"), to);
done:
    return status;
}

/* Paints onto all samples; what is odd about them is said. */
static modal_status paint_layer(tool *t, inputs *in, const modal_layer *layer, const char *layers_path, const modal_surface_mesh *surface,
                                modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltex_layer_files files = {0};
    modal_layer_inputs of = {.surface = surface};
    modal_layer_counts counts;
    const char *kind = modal_layer_names[layer->kind];
    MODAL_TRY(modaltex_layer_files_read(layers_path, layer, o, &files, &of, err));
    for (int k = 0; k < layer->n_files; k++) MODAL_TRY(tool_add_input(files.paths[k], &in->names, &in->used, &in->room, err));
    MODAL_TRY(modal_octree_paint(o, layer, &of, &counts, err));
    MODAL_TRY(compare(t, layer, &of, o, err));
    if (counts.n_outside > 0)
        tool_note(t, "%s: uv of %lld of %lld samples are outside of [0, 1] and wrapped", kind, (long long)counts.n_outside, (long long)o->n_samples);
    if (counts.n_missed > 0)
        tool_warn(t, "%s: %lld of %lld reach no sample of the texture", kind, (long long)counts.n_missed, (long long)layer->n_strokes);
    if (counts.n_turned > 0)
        tool_warn(t, "%s: %lld of %lld samples are next to what faces away on the finer surface, they get their own normal", kind,
                  (long long)counts.n_turned, (long long)o->n_samples);
done:
    modaltex_layer_files_free(&files);
    return status;
}

static modal_status paint(tool *t, inputs *in, const modal_layers *layers, int64_t shape, modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    if (in->surface) {
        MODAL_TRY(modaltex_surface_read(in->surface, shape, &surface, err));
        MODAL_TRY(modaltex_surface_check(in->surface, &surface, o, err));
        MODAL_TRY(tool_add_input(in->surface, &in->names, &in->used, &in->room, err));
    }
    for (int64_t i = 0; i < layers->n; i++) {
        const modal_layer *layer = &layers->layers[i];
        MODAL_TRY(modal_progress_report(&t->progress, "layers", (double)i / (double)layers->n, err));
        if (layer->kind > MODAL_LAYER_COLOURS && !in->surface)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: needs --surface, what the texture was built around", modal_layer_names[layer->kind]);
        MODAL_TRY(paint_layer(t, in, layer, in->layers, &surface, o, err));
    }
    if (in->normals) {
        const modal_layer layer = {.kind = MODAL_LAYER_NORMALS, .opacity = 1, .n_files = 1, .files = {(char *)in->normals}};
        if (!in->surface) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--normals: needs --surface, what the texture was built around");
        MODAL_TRY(paint_layer(t, in, &layer, NULL, &surface, o, err));
    }
done:
    modal_surface_mesh_free(&surface);
    return status;
}

static modal_status extend(tool *t, const char *layers, modal_octree *o, modal_error *err)
{
    int64_t n = 0;
    const modal_status status = modal_octree_extend(o, &n, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", layers);
    if (status != MODAL_OK) return status;
    tool_note(t, "--extend: %lld of %lld samples get colours of others", (long long)n, (long long)o->n_samples);
    json_object_set_new(t->report, "extended", json_integer(n));
    return MODAL_OK;
}

int modaltex_paint(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_paint_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_octree_file file = {0};
    modal_layers layers = {0};
    tool_output output = {0};
    int64_t shape = 0;
    int threads = 1;
    const tool_arguments *a = &t.arguments;
    const int n = a->n_operands;
    const char *to = a->operands[n - 1];
    inputs in = {.texture = a->operands[1], .layers = n == 4 ? a->operands[2] : NULL, .surface = tool_value(a, "surface"),
                 .normals = tool_value(a, "normals")};

    if (in.layers && strcmp(in.layers, "-") == 0)
        MODAL_FAIL(&err, MODAL_ERROR_USAGE, "LAYERS.json: needs a name, cannot be standard input, -");
    if (!in.layers && !in.normals) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "LAYERS.json or --normals is needed, both absent");
    MODAL_TRY(tool_integer(a, "shape", 0, INT32_MAX, &shape, &err));
    MODAL_TRY(tool_threads(&t, &threads, &err));
    omp_set_num_threads(threads);
    MODAL_TRY(tool_output_begin(&output, to, tool_count(&t.arguments, "force") > 0, &err));
    MODAL_TRY(tool_take_hdf5(&in.texture, &err));
    MODAL_TRY(modal_octree_read(in.texture, &file, &err));
    MODAL_TRY(tool_add_input(in.texture, &in.names, &in.used, &in.room, &err));
    if (in.layers) {
        MODAL_TRY(modal_layers_read(in.layers, modal_octree_width(file.octree.channels), &layers, &err));
        MODAL_TRY(tool_add_input(in.layers, &in.names, &in.used, &in.room, &err));
    }
    const int extends = tool_count(a, "extend") > 0;
    if (extends && (file.octree.channels != MODAL_OCTREE_RGBA8 || !in.layers))
        MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--extend: needs LAYERS.json and a texture of rgba8");
    double start = tool_seconds();
    if (extends) modal_octree_clear(&file.octree);
    MODAL_TRY(paint(&t, &in, &layers, shape, &file.octree, &err));
    if (extends) MODAL_TRY(extend(&t, in.layers, &file.octree, &err));
    tool_stage(&t, "layers", tool_seconds() - start, -1);
    start = tool_seconds();
    modal_free(&file.atlas.image); /* of other values */
    MODAL_TRY(modal_octree_make_mipmaps(&file.octree, &err));
    tool_stage(&t, "mipmaps", tool_seconds() - start, -1);
    start = tool_seconds();
    MODAL_TRY(modal_provenance_append(&file.provenance, &file.n_provenance, "modaltex paint", tool_build(), t.command_line, in.names, "cpu", &err));
    MODAL_TRY(modal_octree_write(output.temporary, &file, &err));
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_stage(&t, "write", tool_seconds() - start, -1);
    const long long n_layers = (long long)layers.n + !!in.normals;
    tool_note(&t, "%lld layer%s over %lld samples", n_layers, n_layers == 1 ? "" : "s", (long long)file.octree.n_samples);
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_layers_free(&layers);
    modal_octree_file_free(&file);
    modal_free(&in.names);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
