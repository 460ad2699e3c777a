/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex build: an octree texture around a surface. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "formats/octree/octree_h5.h"
#include "lib/base/memory.h"
#include "lib/octree/build.h"
#include "lib/octree/connect.h"
#include "lib/octree/measures.h"
#include "lib/octree/mipmaps.h"
#include "tools/common/commit.h"
#include "tools/common/inputs.h"
#include "tools/common/pipes.h"
#include "tools/modaltex/modaltex.h"
#include "tools/modaltex/modaltex_surface.h"

static const tool_option options[] = {
    {"resolution", 0, "N", "256", "Samples along the cube around the surface, 8 to 1048576: the next power of --n is taken.", TOOL_FIRST},
    {"n", 0, "2|4|8", "2", "A node of the tree has N^3 cells: 2 is the smallest file, 8 the fewest steps down.", 0},
    {"channels", 0, "rgba8|float|float3", "rgba8", "What a sample has: a colour with alpha, a number, or three.", 0},
    MODALTEX_OPTION_SHAPE,
    {"neighbours", 0, NULL, NULL, "Also store each sample's neighbours along the surface and its share of it, for modaltex flow.", 0},
    TOOL_OPTION_THREADS,
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_build_program = {
    .name = "modaltex",
    .summary = "build: a texture around a surface, without texture coordinates",
    .usage = "build [options] BASIS|SURFACE TEX.h5",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 3,
    .most_operands = 3,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 3,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "h5",
    .notes = "SURFACE is an .obj, .ply, .stl, .off or .vtk of polygons; of a BASIS the surface at rest is taken. Values are white, or 0;\n"
             "modaltex paint changes them. formats/octree.md says what is in TEX.",
    .examples = "modaltex build bunny.ply bunny_tex.h5 --resolution 512\nmodaltex build basis.h5 wetness.h5 --channels float",
};

static modal_status read_options(const tool *t, modal_octree_request *r, int64_t *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    const char *channels = tool_value(a, "channels");
    int64_t side = 2;
    int kind = 0;
    MODAL_TRY(tool_integer(a, "resolution", 8, 1 << MODAL_OCTREE_BITS, &r->resolution, err));
    MODAL_TRY(tool_integer(a, "n", 2, 8, &side, err));
    if (side != 2 && side != 4 && side != 8) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--n: not 2, 4 or 8, %lld", (long long)side);
    r->side = (int)side;
    while (kind < MODAL_OCTREE_CHANNELS && strcmp(channels, modal_octree_channels_name((modal_octree_channels)kind)) != 0) kind++;
    if (kind == MODAL_OCTREE_CHANNELS) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--channels: not rgba8, float or float3, %s", channels);
    r->channels = (modal_octree_channels)kind;
    MODAL_TRY(tool_integer(a, "shape", 0, INT32_MAX, shape, err));
    r->neighbours = tool_count(a, "neighbours") > 0;
    MODAL_TRY(tool_size(a, "memory-limit", &r->memory_limit, err));
done:
    return status;
}

static void tell_plan(void *to, int64_t n_samples, double bytes)
{
    tool *t = to;
    tool_note(t, "%lld samples, about %.3g MB of memory", (long long)n_samples, 1e-6 * bytes);
    json_object_set_new(t->report, "planned_bytes", json_real(bytes));
}

/* What it became, for the user and the report. */
static modal_status tell(tool *t, const modal_surface_mesh *surface, const modal_octree *o, int64_t n_flat, modal_error *err)
{
    double neighbours = 0, tight = 0;
    const int bits = modal_octree_bits(o), asked = t->verbose || tool_count(&t->arguments, "report");
    modal_status status = asked ? modal_octree_neighbours(o, &neighbours, err) : MODAL_OK; /* it takes as long as a part of the tree */
    if (status == MODAL_OK && asked) status = modal_octree_tight_share(surface, ldexp(o->size, -bits), &tight, err);
    if (status != MODAL_OK) return status;
    if (n_flat > 0) tool_warn(t, "%lld triangles without area, left out", (long long)n_flat);
    tool_note(t, "%d points a side, %.3g m apart: %lld cells of the surface, %lld samples, %lld nodes", 1 << bits, ldexp(o->size, -bits), (long long)o->n_cells,
              (long long)o->n_samples, (long long)o->n_nodes);
    tool_detail(t, "%.2f of 26 neighbours of a sample are there; without the corners for trilinear look-ups %lld samples would do", neighbours,
                (long long)o->n_cells);
    tool_detail(t, "%.2f %% of the surface has a curvature radius below two cells", 100 * tight);
    json_object_set_new(t->report, "tight_share", json_real(tight));
    json_object_set_new(t->report, "points_a_side", json_integer(1 << bits));
    json_object_set_new(t->report, "cell", json_real(ldexp(o->size, -bits)));
    json_object_set_new(t->report, "cells", json_integer(o->n_cells));
    json_object_set_new(t->report, "samples", json_integer(o->n_samples));
    json_object_set_new(t->report, "nodes", json_integer(o->n_nodes));
    json_object_set_new(t->report, "neighbours", json_real(neighbours));
    json_object_set_new(t->report, "triangles_without_area", json_integer(n_flat));
    return MODAL_OK;
}

static modal_status connect(tool *t, const modal_surface_mesh *surface, modal_octree *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sheets sheets = {0};
    const double start = tool_seconds();
    int64_t n = 0;
    MODAL_TRY(modal_sheets_make(o, surface->positions, surface->n_vertices, surface->triangles, surface->n_triangles, &sheets, err));
    MODAL_TRY(modal_octree_connect(&sheets, &t->progress, o, err));
    for (int64_t i = 0; i < o->n_samples; i++) n += __builtin_popcount((unsigned)o->neighbours[i]);
    tool_stage(t, "neighbours", tool_seconds() - start, -1);
    tool_detail(t, "%.2f neighbours of a sample along the surface", (double)n / (double)o->n_samples);
    json_object_set_new(t->report, "surface_neighbours", json_real((double)n / (double)o->n_samples));
done:
    modal_sheets_free(&sheets);
    return status;
}

int modaltex_build(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_build_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_surface_mesh surface = {0};
    modal_octree_file file = {0};
    modal_octree_request request = {.progress = &t.progress, .planned = tell_plan, .planned_to = &t};
    tool_output output = {0};
    int64_t shape = 0, n_flat = 0, used = 0, room = 0;
    int threads = 1;
    char *inputs = NULL;
    const char *from = t.arguments.operands[1], *to = t.arguments.operands[2];

    MODAL_TRY(read_options(&t, &request, &shape, &err));
    MODAL_TRY(tool_threads(&t, &threads, &err));
    omp_set_num_threads(threads);
    MODAL_TRY(tool_output_begin(&output, to, tool_count(&t.arguments, "force") > 0, &err));
    MODAL_TRY(tool_pipe_take(&from, &err));
    double start = tool_seconds();
    MODAL_TRY(modaltex_surface_read(from, shape, &surface, &err));
    tool_stage(&t, "read", tool_seconds() - start, -1);
    request.n_vertices = surface.n_vertices;
    request.n_triangles = surface.n_triangles;
    request.positions = surface.positions;
    request.triangles = surface.triangles;
    start = tool_seconds();
    status = modal_octree_build(&request, &file.octree, &n_flat, &err);
    if (status == MODAL_OK) status = modal_octree_make_mipmaps(&file.octree, &err);
    if (status != MODAL_OK) {
        if (status == MODAL_ERROR_INPUT) modal_error_context(&err, "%s", from);
        goto done;
    }
    tool_stage(&t, "tree", tool_seconds() - start, -1);
    if (request.neighbours) MODAL_TRY(connect(&t, &surface, &file.octree, &err));
    start = tool_seconds();
    MODAL_TRY(tool_add_input(from, &inputs, &used, &room, &err));
    MODAL_TRY(modal_provenance_append(&file.provenance, &file.n_provenance, "modaltex build", tool_build(), t.command_line, inputs, "cpu", &err));
    MODAL_TRY(modal_octree_write(output.temporary, &file, &err));
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_stage(&t, "write", tool_seconds() - start, -1);
    MODAL_TRY(tell(&t, &surface, &file.octree, n_flat, &err));
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_octree_file_free(&file);
    modal_surface_mesh_free(&surface);
    modal_free(&inputs);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
