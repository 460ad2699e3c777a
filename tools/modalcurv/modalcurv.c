/* SPDX-License-Identifier: Apache-2.0 */
/* modalcurv: curvature of surfaces that others made: one mesh, or a sequence. */
#include <inttypes.h>
#include <malloc.h>
#include <omp.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/sequences/sequence_ply.h"
#include "formats/sequences/sequence_vtk.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/model/basis.h"
#include "tools/common/back_ends.h"
#include "tools/common/files.h"
#include "tools/modalcurv/modalcurv.h"

static const tool_option options[] = {
    {"method", 0, "tensor|ring|fit", "tensor",
     "tensor: from triangles; ring: straight from the neighbours; fit: of a height function fitted to several rings, the one "
     "that converges on irregular meshes.",
     TOOL_FIRST},
    {"degree", 0, "2|4", "2", "Of the fitted polynomial.", 0},
    {"rings", 0, "K", NULL, "Rings of neighbours that are fitted, 1 to 12 (default: 2, of degree 4 3).", 0},
    {"smooth", 0, "LENGTH", NULL,
     "Diffuse the tensors over this length, m, before curvatures and directions are taken of them: against noise.",
     TOOL_FIRST},
    {"fields", 0, "LIST", "curvature",
     "What to write: k_max, k_min, mean_curvature, gauss_curvature (curvature: these four), direction_max, direction_min, "
     "curvature_derivative, boundary, fit_degree; against the rest area_ratio, stretch_max, stretch_min, stretch_direction.",
     TOOL_FIRST},
    {"colour", 0, "FIELD[:RANGE]", NULL,
     "Give .ply files colours of this field, k_max for example: blue below, white at, red above 0 (of area_ratio and stretch 1), up to "
     "RANGE (default: the farther of the quantiles 2 % and 98 % of the first frame).", 0},
    {"rest", 0, "FILE", NULL, "The surface that area_ratio and stretch compare with (default: the first frame); of a .pc2 or .mdd its triangles.", TOOL_READS},
    {"lines", 0, "ridges,valleys", NULL, "Also write these lines of the surface, lines/NNNNNN.vtp a frame.", TOOL_FIRST},
    {"strength", 0, "S", "0", "Only lines along which curvature, over their length, sums up to S.", 0},
    {"frames", 0, "A:B:STEP", NULL, "Frames to read, as Python slices them: 10:20, ::5, -1: and so on, or one index.",
     TOOL_FIRST},
    {"format", 0, "LIST", "vtkhdf", "What to write, separated by commas: vtkhdf (with an XDMF sidecar), ply, vtp (a file a "
     "frame); or null: nothing, for times.",
     TOOL_FIRST},
    {"backend", 0, "NAME", "auto", "What computes: auto (a GPU if there is one, else the CPU), ref, cpu, cuda or cuda:N.", 0},
    {"memory-limit", 0, "BYTES", NULL, "Main memory to stay within, with K, M, G or T: fewer frames at once (default: 16 and 32 MiB of positions).", 0},
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    fprintf(to, "%s\n", modal_h5_version());
    tool_print_back_ends(to);
}

static const tool_program program = {
    .name = "modalcurv",
    .summary = "computes the curvature of a surface, or of every frame of a sequence",
    .usage = "[options] INPUT OUT",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS,
    .output = 2,
    .output_traits = TOOL_WRITES,
    .endings = "",
    .notes = "INPUT is a .ply, .obj, .off or .stl, a sequence.vtkhdf, a .series of .ply files, a folder of .ply\n"
             "files with or without its .series, or a .pc2 or .mdd, whose triangles are in rest.obj beside it or\n"
             "the file of --rest. OUT is a folder, made if absent: sequence.vtkhdf and sequence.xdmf, or what\n"
             "--format says. Curvature is in 1/m; of a closed surface with outward\n"
             "normals it is positive where that is convex.",
    .examples = "modalcurv bunny.ply out\n"
                "modalcurv bunny.ply out --method fit --degree 4 --fields curvature,direction_max\n"
                "modalcurv scan.stl out --smooth 0.002 --format ply --colour mean_curvature --report -\n"
                "modalcurv sequence.vtkhdf out --frames ::10",
    .print_versions = print_versions,
};

/* ---- the command line ---- */

static modal_status parse_formats(const char *text, modalcurv_request *r, modal_error *err)
{
    static const modal_sequence_format *const known[MODALCURV_FORMATS] = {&modal_sequence_vtkhdf, &modal_sequence_ply,
                                                                          &modal_sequence_vtp};
    int wanted[MODALCURV_FORMATS] = {0};
    if (strcmp(text, "null") == 0) return MODAL_OK;
    for (const char *c = text;; c++) {
        const size_t length = strcspn(c, ",");
        int i = 0;
        while (i < MODALCURV_FORMATS &&
               (strlen(known[i]->name) != length || strncmp(known[i]->name, c, length) != 0))
            i++;
        if (i == MODALCURV_FORMATS)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--format: not vtkhdf, ply, vtp, or null alone, %.*s", (int)length, c);
        if (wanted[i]++) return modal_error_set(err, MODAL_ERROR_USAGE, "--format: twice, %s", known[i]->name);
        c += length;
        if (*c == '\0') break;
    }
    for (int i = 0; i < MODALCURV_FORMATS; i++)
        if (wanted[i]) r->formats[r->n_formats++] = known[i];
    return MODAL_OK;
}

static modal_status read_method(const tool_arguments *a, modal_curvature_options *o, modal_error *err)
{
    static const char *const methods[] = {"tensor", "ring", "fit"};
    modal_status status = MODAL_OK;
    const char *method = tool_value(a, "method");
    int m = 0;
    while (m < 3 && strcmp(method, methods[m]) != 0) m++;
    if (m == 3) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--method: not tensor, ring or fit, %s", method);
    o->method = (modal_curvature_method)m;
    int64_t degree = 2, rings = 0;
    MODAL_TRY(tool_integer(a, "degree", 2, 4, &degree, err));
    if (degree == 3) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--degree: not 2 or 4, 3");
    MODAL_TRY(tool_integer(a, "rings", 1, 12, &rings, err));
    if (o->method != MODAL_CURVATURE_FIT && (tool_count(a, "degree") || tool_count(a, "rings")))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: only with --method fit", tool_count(a, "degree") ? "degree" : "rings");
    o->degree = (int)degree;
    o->n_rings = rings ? (int)rings : degree == 4 ? 3 : 2;
    MODAL_TRY(tool_number(a, "smooth", 0.0, 1e30, &o->smooth, err));
done:
    return status;
}

static modal_status read_request(tool *t, modalcurv_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    modal_cache_kind cache;
    r->input = a->operands[0];
    r->folder = a->operands[1];
    r->rest = tool_value(a, "rest");
    MODAL_TRY(read_method(a, &r->options, err));
    MODAL_TRY(modal_curvature_parse_fields(tool_value(a, "fields"), r->options.fields, err));
    if (r->options.fields[MODAL_FIT_DEGREE] && r->options.method != MODAL_CURVATURE_FIT)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: fit_degree is of --method fit alone");
    MODAL_TRY(parse_formats(tool_value(a, "format"), r, err));
    MODAL_TRY(modalcurv_read_colour(a, r, err));
    int compares = r->coloured >= 0 && modal_curvature_is_stretch((modal_curvature_field)r->coloured);
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        compares |= r->options.fields[i] && modal_curvature_is_stretch((modal_curvature_field)i);
    if (r->rest && !compares && !modalcurv_is_cache(r->input, &cache))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--rest: none of --fields compares with it, %s", r->rest);
    MODAL_TRY(modalcurv_read_lines(a, r, err));
    MODAL_TRY(tool_slice_parse(tool_value(a, "frames"), &r->frames, err));
    MODAL_TRY(tool_size(a, "memory-limit", &r->memory_limit, err));
    if (tool_value(a, "memory-limit") && r->memory_limit <= 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--memory-limit: must be positive, %s", tool_value(a, "memory-limit"));
    r->force = tool_count(a, "force") > 0;
    r->reports = tool_count(a, "report") > 0;
    MODAL_TRY(tool_threads(t, &r->threads, err));
    omp_set_num_threads(r->threads); /* the CPU back end takes it from the thread that opens it */
    MODAL_TRY(modal_device_open(r->device, tool_value(a, "backend"), err));
done:
    return status;
}

/* ---- all of it ---- */

static modal_status write_all(tool *t, const modalcurv_request *r, const modalcurv_input *in, modalcurv_outputs *out,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    modalcurv_frames w = {.t = t, .r = r, .in = in, .out = out};
    int64_t *wide = NULL;
    modal_provenance *provenance = NULL;
    int32_t n_provenance = 0;
    char *inputs = NULL;
    const int64_t length = MODAL_HASH_TEXT + 4 + (int64_t)strlen(r->input);
    MODAL_TRY(modalcurv_frames_new(&w, err));
    MODAL_TRY(modal_alloc(&wide, 3 * in->n_triangles, sizeof *wide, "triangles", err));
    for (int64_t i = 0; i < 3 * in->n_triangles; i++) wide[i] = in->triangles[i];
    MODAL_TRY(modal_alloc(&inputs, length, 1, "provenance", err));
    snprintf(inputs, (size_t)length, "%s  %s", in->hash, r->input);
    MODAL_TRY(modal_provenance_append(&provenance, &n_provenance, program.name, tool_build(), t->command_line, inputs,
                                      r->device->kernels->back_end, err));
    const modal_sequence_info info = {.n_points = in->n_vertices,
                                      .n_triangles = in->n_triangles,
                                      .triangles = wide,
                                      .n_frames = in->n,
                                      .times = in->times,
                                      .arrays = w.arrays,
                                      .source_kind = "sequence",
                                      .source_hash = in->hash,
                                      .n_provenance = n_provenance,
                                      .provenance = provenance,
                                      .colour = r->coloured >= 0 ? &w.colour : NULL,
                                      .threads = r->threads};
    MODAL_TRY(modal_sequence_check_info(&info, err));
    MODAL_TRY(tool_files_check(err));
    MODAL_TRY(modalcurv_begin_writers(out, &info, err));
    MODAL_TRY(modalcurv_frames_run(&w, err));
    const double start = tool_seconds();
    const char *fields[MODAL_MOST_ARRAYS];
    for (int i = 0; i < w.arrays.n; i++) fields[i] = w.arrays.all[i].name;
    modal_manifest manifest = {.tool = program.name, .version = tool_version(), .arguments = t->command_line,
                               .input = r->input, .input_hash = in->hash,
                               .back_end = r->device->kernels->back_end, .device = r->device->hardware,
                               .frame_start = in->start, .frame_step = in->step, .n_frames = in->n,
                               .first_time = in->times[0], .last_time = in->times[in->n - 1],
                               .n_points = in->n_vertices, .n_triangles = in->n_triangles, .order = "user", .normals = "none",
                               .n_fields = w.arrays.n, .fields = fields};
    MODAL_TRY(modalcurv_commit_outputs(out, &info, &manifest, err));
    tool_stage(t, "close and sync", tool_seconds() - start, -1);
    if (r->coloured >= 0) json_object_set_new(t->report, "colour_range", json_real(w.colour.range));
    json_object_set_new(t->report, "backend", json_string(r->device->name));
    json_object_set_new(t->report, "device", json_string(r->device->hardware));
    tool_note(t, "%s: %" PRId64 " frame%s of %" PRId64 " vertices", r->folder, in->n, in->n == 1 ? "" : "s", in->n_vertices);
done:
    modal_free(&wide);
    modal_free(&inputs);
    for (int32_t i = 0; i < n_provenance; i++) modal_provenance_free(&provenance[i]);
    modal_free(&provenance);
    modalcurv_frames_free(&w);
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_device device;
    modalcurv_request r = {.device = &device};
    pthread_mutex_t hdf5 = PTHREAD_MUTEX_INITIALIZER;
    modalcurv_input in = {.hdf5 = &hdf5};
    modalcurv_outputs out = {0};

    MODAL_TRY(read_request(&t, &r, &err));
#ifdef __GLIBC__
    if (r.memory_limit > 0) mallopt(M_MMAP_THRESHOLD, 1 << 17); /* what is freed goes back to the system at once */
#endif
    MODAL_TRY(modalcurv_begin_outputs(&r, &out, &err));
    double start = tool_seconds();
    MODAL_TRY(modalcurv_open(&r, &in, &err));
    tool_stage(&t, "open", tool_seconds() - start, -1);
    if (strcmp(tool_value(&t.arguments, "backend"), "auto") == 0)
        tool_note(&t, "back end: %s, %s", device.name, device.hardware);
    modalcurv_report_topology(&t, &in);
    MODAL_TRY(write_all(&t, &r, &in, &out, &err));
done:
    modalcurv_end_outputs(&out, &err);
    modalcurv_close(&in);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
