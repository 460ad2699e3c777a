/* SPDX-License-Identifier: Apache-2.0 */
/* modalbench: how fast the deformer is on this machine, beside its opponents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/h5/h5_util.h"
#include "tools/common/back_ends.h"
#include "tools/common/commit.h"
#include "tools/common/output.h"
#include "tools/common/tool.h"
#include "tools/modalbench/modalbench.h"

static const tool_option options[] = {
    {"json", 0, "FILE", NULL, "Write every number as one JSON object; - is standard output.", TOOL_WRITES | TOOL_PIPE},
    {"backend", 0, "NAME", "auto",
     "cuda or cuda:N: that GPU and the CPU; cpu: the CPU alone; auto: a GPU if there is one.", 0},
    {"quick", 0, NULL, NULL, "Small sizes and few runs: whether it works, not how fast it is.", 0},
    {"gpu-only", 0, NULL, NULL, "`render` and `plants` leave the CPU's rows out, which take most of their time.", 0},
    {"folder", 0, "FOLDER", NULL,
     "Where `pipeline` writes its files, which go at once (default: TMPDIR, or /tmp).", TOOL_WRITES},
    {"surface", 0, "FILE", NULL, "What `octree` goes around (default: a torus): an .obj, .ply, .stl, .off or .vtk.", TOOL_READS},
    {"depth", 0, "D", "0", "Only this depth of `octree`, from 6 on (default: 8 to 10, on a GPU to 12).", 0},
    {"ours", 0, NULL, NULL, "Of `tled` only tled_step in float32 on the solids that have targets, compared with float64 on the CPU.", 0},
    {"plants", 0, "FOLDER", NULL, "What `plants` measures: made by tests/bench/grow_plants.py.", TOOL_READS},
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    fprintf(to, "%s\n", modal_h5_version());
    modal_bench_print_versions(to);
    tool_print_back_ends(to);
}

static const tool_program program = {
    .name = "modalbench",
    .summary = "measures the deformer on this machine, beside the methods and libraries it competes with",
    .usage = "[options] PART|all ...",
    .options = options,
    .least_operands = 1,
    .most_operands = 11,
    .notes =
        "PART is one of:\n"
        "uq        U q of one object (tables 1 and 5 of Wang and Barbic 2020)\n"
        "multi     scenes of many objects (tables 3 and 4)\n"
        "batch     U q of 1 to 128 frames at once\n"
        "frame     normals (table 2) and whole frames of a mesh of the size of the paper's dragon\n"
        "pipeline  the deformer end to end, into main memory and into a file\n"
        "rings     curvature by every way to look at a vertex's neighbours\n"
        "nbody     all pairs of bodies, beside the published kernel\n"
        "tled      steps of total Lagrangian explicit dynamics, beside other ways to take them\n"
        "octree    values of a texture around a surface, beside NanoVDB, a dense lattice and a tree of cells\n"
        "render    pictures of a trajectory, beside OpenGL\n"
        "plants    whole simulations of plants (--plants FOLDER), and the paper's kernels by their launches\n"
        "\n"
        "The paper's own layouts and kernels, cuBLAS and OpenBLAS run beside ours, on random data; every\n"
        "result is compared with the reference back end first. Times are medians of 15 runs after warm-ups,\n"
        "modal matrices come from memory, not from a cache, unless a row says hot.",
    .examples = "modalbench all --json results.json\n"
                "modalbench uq batch --backend cpu -j 8",
    .print_versions = print_versions,
};

enum { TLED_PART = 7, OCTREE_PART = 8, PLANTS_PART = 10, PARTS = 11 };

typedef struct request {
    modal_bench_request bench;
    int chosen[PARTS]; /* by index of modal_bench_parts */
    const char *json;
    int json_to_stdout;
} request;

static modal_status read_request(tool *t, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    int64_t depth;
    const tool_arguments *a = &t->arguments;
    for (int i = 0; i < a->n_operands; i++) {
        int found = 0;
        for (int k = 0; modal_bench_parts[k]; k++)
            if (strcmp(a->operands[i], "all") == 0 || strcmp(a->operands[i], modal_bench_parts[k]) == 0)
                r->chosen[k] = found = 1;
        if (!found)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "none of uq, multi, batch, frame, pipeline, rings, nbody, tled, octree, render, plants, all: %s",
                       a->operands[i]);
    }
    r->json = tool_value(a, "json");
    r->json_to_stdout = r->json && strcmp(r->json, "-") == 0;
    r->bench.back_end = tool_value(a, "backend");
    r->bench.quick = tool_count(a, "quick") > 0;
    r->bench.gpu_only = tool_count(a, "gpu-only") > 0;
    if (r->bench.gpu_only && strcmp(r->bench.back_end, "cpu") == 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--gpu-only: not with --backend cpu");
    r->bench.surface = tool_value(a, "surface");
    if (r->bench.surface && !r->chosen[OCTREE_PART]) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--surface: only with octree, %s", r->bench.surface);
    MODAL_TRY(tool_integer(a, "depth", 0, 14, &depth, err));
    r->bench.depth = (int)depth;
    if (depth && !r->chosen[OCTREE_PART]) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--depth: only with octree, %lld", (long long)depth);
    if (depth && depth < 6) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--depth: 6 to 14, %lld", (long long)depth);
    r->bench.only_ours = tool_count(a, "ours") > 0;
    if (r->bench.only_ours && !r->chosen[TLED_PART]) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--ours: only with tled");
    r->bench.plants = tool_value(a, "plants");
    if (r->bench.plants && !r->chosen[PLANTS_PART]) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--plants: only with plants, %s", r->bench.plants);
    if (r->bench.plants && stat(r->bench.plants, &info) != 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot open, %s", r->bench.plants, strerror(errno));
    if (r->bench.plants && !S_ISDIR(info.st_mode)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: is a file, not a folder of plants", r->bench.plants);
    r->bench.folder = tool_value(a, "folder");
    if (!r->bench.folder) r->bench.folder = getenv("TMPDIR");
    if (!r->bench.folder || !r->bench.folder[0]) r->bench.folder = "/tmp";
    MODAL_TRY(tool_size(a, "memory-limit", &r->bench.memory_limit, err));
    MODAL_TRY(tool_threads(t, &r->bench.n_threads, err));
    r->bench.text = tool_text_stream(t);
done:
    return status;
}

static modal_status write_json(const tool *t, const request *r, tool_output *output,
                               const modal_bench *bench, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *text = NULL;
    json_t *numbers = modal_bench_json(bench);
    FILE *file = NULL;
    if (!numbers) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "JSON: no memory");
    json_object_set_new(numbers, "tool", json_string(program.name));
    json_object_set_new(numbers, "version", json_string(tool_version()));
    json_object_set_new(numbers, "command", json_string(t->command_line));
    text = json_dumps(numbers, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    if (!text) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "JSON: no memory");
    if (r->json_to_stdout) {
        MODAL_TRY(tool_write_stdout(text, strlen(text), err));
        MODAL_TRY(tool_write_stdout("\n", 1, err));
        goto done;
    }
    file = fopen(output->temporary, "w");
    if (!file || fputs(text, file) < 0 || fputc('\n', file) < 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be written", r->json);
    const int closed = fclose(file);
    file = NULL;
    if (closed != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be written", r->json);
    MODAL_TRY(tool_output_complete(output, err));
done:
    if (file) fclose(file);
    json_decref(numbers);
    free(text); /* jansson's */
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    request r = {0};
    tool_output output = {0};
    modal_bench *bench = NULL;

    MODAL_TRY(read_request(&t, &r, &err));
    if (r.json && !r.json_to_stdout)
        MODAL_TRY(tool_output_begin(&output, r.json, tool_count(&t.arguments, "force") > 0, &err));
    double start = tool_seconds();
    MODAL_TRY(modal_bench_new(&bench, &r.bench, &err));
    tool_stage(&t, "ceilings", tool_seconds() - start, -1);
    for (int i = 0; modal_bench_parts[i]; i++) {
        if (!r.chosen[i]) continue;
        start = tool_seconds();
        MODAL_TRY(modal_bench_run(bench, i, &err));
        tool_stage(&t, modal_bench_parts[i], tool_seconds() - start, -1);
    }
    if (r.json) MODAL_TRY(write_json(&t, &r, &output, bench, &err));
done:
    tool_output_discard(&output);
    modal_bench_delete(bench);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
