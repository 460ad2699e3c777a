/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex paint: layers onto an octree texture. */
#include <limits.h>
#include <omp.h>
#include <string.h>

#include "formats/json/layers.h"
#include "formats/meshes/surface_read.h"
#include "formats/octree/octree_h5.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "lib/octree/build.h"
#include "lib/octree/paint.h"
#include "tools/common/commit.h"
#include "tools/common/inputs.h"
#include "tools/modaltex/modaltex.h"

static const tool_option options[] = {
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_paint_program = {
    .name = "modaltex",
    .summary = "paint: layers onto a texture around a surface",
    .usage = "paint [options] TEX.h5 LAYERS.json OUT.h5",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 4,
    .most_operands = 4,
    .input_traits = TOOL_READS,
    .output = 4,
    .output_traits = TOOL_WRITES,
    .notes = "formats/layers.md says what is in LAYERS: colours of a scan's vertices, marble, wood, noise, checkers, strokes of a brush.\n"
             "OUT is TEX with the layers over it.",
    .examples = "modaltex paint bunny_tex.h5 marble.json bunny_marble.h5",
};

/* The colours that a layer names, of a file beside LAYERS. *path [the caller frees] is what was read. */
static modal_status read_colours(const char *layers_path, const char *name, const modal_octree *o, modal_surface_mesh *surface, char **path,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    char folder[PATH_MAX + 1];
    int64_t n_collapsed = 0;
    char text[MODAL_HASH_TEXT];
    if (!modal_path_folder(layers_path, 1, folder)) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: its folder cannot be opened", layers_path);
    status = modal_path_find(folder, name, 0, path, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", name);
        goto done;
    }
    MODAL_TRY(modal_surface_read(*path, surface, &n_collapsed, err));
    if (!surface->colours) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: its vertices have no colours (red, green, blue of a .ply)", name);
    MODAL_TRY(modal_octree_sign(surface->positions, surface->n_vertices, surface->triangles, surface->n_triangles, text, err));
    if (strcmp(text, o->source_hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: another surface than the texture was built around, hash %s, not %s", name, text, o->source_hash);
done:
    return status;
}

static modal_status paint(tool *t, const char *layers_path, const modal_layers *layers, modal_octree *o, char **inputs, int64_t *used, int64_t *room,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    char *path = NULL;
    for (int64_t i = 0; i < layers->n; i++) {
        const modal_layer *layer = &layers->layers[i];
        MODAL_TRY(modal_progress_report(&t->progress, "layers", (double)i / (double)layers->n, err));
        if (layer->file) {
            MODAL_TRY(read_colours(layers_path, layer->file, o, &surface, &path, err));
            MODAL_TRY(tool_add_input(path, inputs, used, room, err));
        }
        const modal_vertex_values at = {surface.n_vertices, surface.n_triangles, surface.triangles, surface.colours};
        MODAL_TRY(modal_octree_paint(o, layer, &at, err));
        modal_surface_mesh_free(&surface);
        modal_free(&path);
    }
done:
    modal_surface_mesh_free(&surface);
    modal_free(&path);
    return status;
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
    int64_t used = 0, room = 0;
    int threads = 1;
    char *inputs = NULL;
    const char *from = t.arguments.operands[1], *with = t.arguments.operands[2], *to = t.arguments.operands[3];

    MODAL_TRY(tool_threads(&t, &threads, &err));
    omp_set_num_threads(threads);
    MODAL_TRY(tool_output_begin(&output, to, tool_count(&t.arguments, "force") > 0, &err));
    MODAL_TRY(modal_octree_read(from, &file, &err));
    MODAL_TRY(modal_layers_read(with, modal_octree_width(file.octree.channels), &layers, &err));
    MODAL_TRY(tool_add_input(from, &inputs, &used, &room, &err));
    MODAL_TRY(tool_add_input(with, &inputs, &used, &room, &err));
    double start = tool_seconds();
    MODAL_TRY(paint(&t, with, &layers, &file.octree, &inputs, &used, &room, &err));
    tool_stage(&t, "layers", tool_seconds() - start, -1);
    start = tool_seconds();
    MODAL_TRY(modal_provenance_append(&file.provenance, &file.n_provenance, "modaltex paint", tool_version(), t.command_line, inputs, "cpu", &err));
    MODAL_TRY(modal_octree_write(output.temporary, &file, &err));
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_stage(&t, "write", tool_seconds() - start, -1);
    tool_note(&t, "%lld layer%s over %lld samples", (long long)layers.n, layers.n == 1 ? "" : "s", (long long)file.octree.n_samples);
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_layers_free(&layers);
    modal_octree_file_free(&file);
    modal_free(&inputs);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
