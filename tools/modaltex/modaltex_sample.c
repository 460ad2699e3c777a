/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex sample: an octree texture at the vertices of a mesh or at points. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "formats/meshes/csv.h"
#include "formats/octree/octree_h5.h"
#include "lib/base/memory.h"
#include "lib/octree/mipmaps.h"
#include "tools/common/commit.h"
#include "tools/modaltex/modaltex.h"
#include "tools/modaltex/modaltex_surface.h"

static const tool_option options[] = {
    {"filter", 0, "trilinear|nearest", "trilinear", "Between the eight samples around a vertex, or the nearest of them.", 0},
    {"footprint", 0, "M", "0", "Means over about M metres, between mip levels; 0: the samples.", 0},
    {"outside", 0, "V", "0", "Every number of a vertex outside of the texture; of colours 0 to 255.", 0},
    MODALTEX_OPTION_SHAPE,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_sample_program = {
    .name = "modaltex",
    .summary = "sample: the values of a texture at the vertices of a mesh or at points",
    .usage = "sample [options] TEX.h5 BASIS|SURFACE|POINTS.csv OUT.ply|OUT.csv",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 4,
    .most_operands = 4,
    .input_traits = TOOL_READS,
    .output = 4,
    .output_traits = TOOL_WRITES,
    .endings = "ply csv",
    .notes = "OUT is the mesh with red, green, blue, alpha, or value, or value_x, value_y, value_z at its vertices; a .csv has the vertices only, a\n"
             "row each. It may be a finer mesh than the texture was built around, in the same coordinates. POINTS has x,y,z in m, a point a\n"
             "row. Vertices and points outside of the texture are counted.",
    .examples = "modaltex sample bunny_marble.h5 bunny.ply marble.ply\nmodaltex sample wetness.h5 sensors.csv wet.csv",
};

static void write_head(FILE *file, const modal_surface_mesh *s, modal_octree_channels channels)
{
    static const char *const names[MODAL_OCTREE_CHANNELS] = {
        "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n", "property float value\n",
        "property float value_x\nproperty float value_y\nproperty float value_z\n"};
    fprintf(file,
            "ply\nformat binary_little_endian 1.0\nelement vertex %lld\nproperty double x\nproperty double y\nproperty double z\n%s",
            (long long)s->n_vertices, names[channels]);
    if (s->n_triangles > 0) fprintf(file, "element face %lld\nproperty list uchar int vertex_indices\n", (long long)s->n_triangles);
    fputs("end_header\n", file);
}

static void write_ply(FILE *file, const modal_surface_mesh *s, modal_octree_channels channels, const void *values)
{
    const size_t bytes = modal_octree_value_bytes(channels);
    write_head(file, s, channels);
    for (int64_t v = 0; v < s->n_vertices; v++) {
        fwrite(s->positions + 3 * v, sizeof *s->positions, 3, file);
        fwrite((const char *)values + (size_t)v * bytes, 1, bytes, file);
    }
    for (int64_t t = 0; t < s->n_triangles; t++) {
        fputc(3, file);
        fwrite(s->triangles + 3 * t, sizeof *s->triangles, 3, file);
    }
}

static void write_csv(FILE *file, const modal_surface_mesh *s, modal_octree_channels channels, const void *values)
{
    static const char *const names[MODAL_OCTREE_CHANNELS] = {"red,green,blue,alpha", "value", "value_x,value_y,value_z"};
    const int is_colour = channels == MODAL_OCTREE_RGBA8, width = modal_octree_width(channels);
    fprintf(file, "x,y,z,%s\n", names[channels]);
    for (int64_t v = 0; v < s->n_vertices; v++) {
        const double *x = s->positions + 3 * v;
        fprintf(file, "%.17g,%.17g,%.17g", x[0], x[1], x[2]);
        for (int64_t k = v * width; k < (v + 1) * width; k++)
            fprintf(file, ",%.9g", is_colour ? (double)((const uint8_t *)values)[k] : (double)((const float *)values)[k]);
        fputc('\n', file);
    }
}

static int is_csv(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcasecmp(path + n - 4, ".csv") == 0;
}

/* Points are a surface without triangles. */
static modal_status read_points(const char *path, int64_t shape, modal_surface_mesh *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_series list = {0};
    if (shape > 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shape: %s is no basis, %lld", path, (long long)shape);
    MODAL_TRY(modal_list_read_csv(path, 2, &list, err));
    MODAL_TRY(modal_alloc(&s->positions, 3 * list.n_rows, sizeof *s->positions, "points", err));
    s->n_vertices = list.n_rows;
    for (int64_t i = 0; i < list.n_rows; i++) {
        s->positions[3 * i] = list.times[i];
        memcpy(s->positions + 3 * i + 1, list.values + 2 * i, 2 * sizeof *s->positions);
    }
done:
    modal_series_free(&list);
    return status;
}

static modal_status write_values(const tool_output *output, const modal_surface_mesh *s, modal_octree_channels channels, const void *values, modal_error *err)
{
    FILE *file = fopen(output->temporary, "wb");
    if (file) (is_csv(output->path) ? write_csv : write_ply)(file, s, channels, values);
    const int failed = !file || ferror(file);
    if ((file && fclose(file) != 0) || failed) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", output->path, strerror(errno));
    return MODAL_OK;
}

/* Values of all vertices, and whether each was found; the file has mip levels where a footprint is asked for, or they are made. */
static modal_status look_up(tool *t, modal_octree *o, double footprint, modal_octree_filter filter, const modal_surface_mesh *s, void *values,
                            uint8_t *found, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_pyramid p = {0};
    int64_t n_outside = 0;
    double start = tool_seconds();
    if (footprint > 0 && !o->mipmaps) MODAL_TRY(modal_octree_make_mipmaps(o, err));
    if (footprint > 0) MODAL_TRY(modal_octree_pyramid_make(o, &p, err));
    else MODAL_TRY(modal_octree_tables_make(o, &p.finest, err));
    tool_stage(t, "tables", tool_seconds() - start, modal_octree_tables_bytes(&p.finest));
    start = tool_seconds();
    if (footprint > 0)
        MODAL_TRY(modal_octree_sample_level(&p, (float)log2(footprint * p.finest.scale), s->positions, s->n_vertices, values, found, &n_outside, err));
    else
        MODAL_TRY(modal_octree_sample(&p.finest, filter, s->positions, s->n_vertices, values, found, &n_outside, err));
    tool_stage(t, "samples", tool_seconds() - start, -1);
done:
    modal_octree_pyramid_free(&p);
    return status;
}

/* Gives vertices that were not found the value `outside`; returns their number. */
static int64_t fill_outside(modal_octree_channels channels, const uint8_t *found, int64_t n, double outside, void *values)
{
    const size_t bytes = modal_octree_value_bytes(channels);
    const float number = (float)outside;
    int64_t n_outside = 0;
    for (int64_t v = 0; v < n; v++) {
        char *value = (char *)values + (size_t)v * bytes;
        if (found[v]) continue;
        n_outside++;
        if (channels == MODAL_OCTREE_RGBA8) memset(value, (int)lround(outside), bytes);
        else
            for (size_t k = 0; k < bytes; k += sizeof number) memcpy(value + k, &number, sizeof number);
    }
    return n_outside;
}

int modaltex_sample(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_sample_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_octree_file file = {0};
    modal_surface_mesh surface = {0};
    tool_output output = {0};
    void *values = NULL;
    uint8_t *found = NULL;
    int threads = 1;
    int64_t shape = 0, n_outside = 0;
    double footprint = 0, outside = 0;
    const char *filter = tool_value(&t.arguments, "filter");
    const int nearest = strcmp(filter, "nearest") == 0;
    const char *from = t.arguments.operands[2], *to = t.arguments.operands[3], *ending = strrchr(to, '.');

    if (!nearest && strcmp(filter, "trilinear") != 0) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--filter: not trilinear or nearest, %s", filter);
    MODAL_TRY(tool_number(&t.arguments, "footprint", 0, 1e30, &footprint, &err));
    if (footprint > 0 && nearest) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--footprint: not with --filter nearest");
    MODAL_TRY(tool_number(&t.arguments, "outside", -FLT_MAX, FLT_MAX, &outside, &err));
    MODAL_TRY(tool_integer(&t.arguments, "shape", 0, INT32_MAX, &shape, &err));
    MODAL_TRY(tool_threads(&t, &threads, &err));
    omp_set_num_threads(threads);
    if (!is_csv(to) && (!ending || strcasecmp(ending, ".ply") != 0)) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "OUT: no name of a .ply or .csv, %s", to);
    MODAL_TRY(tool_output_begin(&output, to, tool_count(&t.arguments, "force") > 0, &err));
    MODAL_TRY(modal_octree_read(t.arguments.operands[1], &file, &err));
    MODAL_TRY(is_csv(from) ? read_points(from, shape, &surface, &err) : modaltex_surface_read(from, shape, &surface, &err));
    MODAL_TRY(modal_alloc(&values, surface.n_vertices, modal_octree_value_bytes(file.octree.channels), "values", &err));
    if (file.octree.channels == MODAL_OCTREE_RGBA8 && !(outside >= 0 && outside <= 255))
        MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--outside: colours are 0 to 255, %g", outside);
    MODAL_TRY(modal_alloc(&found, surface.n_vertices, 1, "values", &err));
    MODAL_TRY(look_up(&t, &file.octree, footprint, nearest ? MODAL_OCTREE_NEAREST : MODAL_OCTREE_TRILINEAR, &surface, values, found, &err));
    n_outside = fill_outside(file.octree.channels, found, surface.n_vertices, outside, values);
    MODAL_TRY(write_values(&output, &surface, file.octree.channels, values, &err));
    MODAL_TRY(tool_output_complete(&output, &err));
    if (n_outside > 0)
        tool_warn(&t, "%lld of %lld vertices are outside of the texture, they get %g", (long long)n_outside, (long long)surface.n_vertices, outside);
    json_object_set_new(t.report, "vertices", json_integer(surface.n_vertices));
    json_object_set_new(t.report, "outside", json_integer(n_outside));
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_octree_file_free(&file);
    modal_surface_mesh_free(&surface);
    modal_free(&values);
    modal_free(&found);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
