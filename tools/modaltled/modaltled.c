/* SPDX-License-Identifier: Apache-2.0 */
/* modaltled: total Lagrangian explicit dynamics of a whole solid, from a mesh to snapshots of its displacements. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "tools/common/commit.h"
#include "tools/common/files.h"
#include "tools/common/pipes.h"
#include "tools/common/quality.h"
#include "tools/modaltled/modaltled.h"

static const tool_option options[] = {
    {"scene", 0, "FILE", NULL,
     "What moves the solid, for how long, in which steps (JSON, formats/solid_scene.md). Required.", TOOL_READS | TOOL_FIRST},
    TOOL_OPTIONS_MATERIAL,
    TOOL_OPTIONS_FIXED,
    TOOL_OPTION_IGNORE,
    TOOL_OPTIONS_UNITS("of MESH."),
    {"arithmetic", 0, "float32|float64", "float32",
     "What forces and displacements are computed and stored in; float32 keeps what is lost when a small increment is added.",
     TOOL_FIRST},
    {"fields", 0, "LIST", "solid,energy",
     "What is written beside displacements: solid (the mesh and its masses), energy, velocities, internal_forces, separated by "
     "commas, or none.",
     TOOL_FIRST},
    {"probes", 0, "FILE.csv", NULL, "Displacement, velocity and force of every probe and body at every step, a line a step.", TOOL_WRITES},
    {"unsafe-step", 0, NULL, NULL, "Take a step above the critical one.", 0},
    {"require-ok", 0, NULL, NULL,
     "Exit with code 5 unless the motion is ok by its own indicators (formats/trajectory.md). The frames are written in any case.", 0},
    {"keep-partial", 0, NULL, NULL, "When the motion fails or a signal comes, write the frames up to there.", 0},
    {"checkpoint", 0, "FILE", NULL, "Keep there all that the run needs to go on.", TOOL_WRITES},
    {"checkpoint-every", 0, "N", "20", "Frames between checkpoints; until steady looks at the error, of some 40 steps each.", 0},
    {"restart", 0, "FILE", NULL, "Go on from a checkpoint of the same mesh, scene and options, to the same bytes.", TOOL_READS},
    {"backend", 0, "NAME", "auto",
     "What computes: auto (a GPU if there is one, else the CPU), ref, cpu, cuda or cuda:N; several GPUs as cuda:0,1 or cuda:all.", 0},
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static const tool_program program = {
    .name = "modaltled",
    .summary = "moves a whole soft solid, strongly deformed, by total Lagrangian explicit dynamics",
    .usage = "[options] MESH SNAPSHOTS.h5 --scene SCENE.json",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "h5",
    .notes = "MESH is one of formats/meshes.md, of tetrahedra of 4 nodes and hexahedra of 8. SNAPSHOTS.h5\n"
             "(formats/snapshots.md) has the displacements of all nodes at every frame; modalpack --snapshots\n"
             "makes a basis of it.",
    .examples = "modaltled liver.msh s.h5 --scene press.json --material rubber --fixed back\n"
                "modaltled beam.msh s.h5 --scene fall.json --young 3e3 --poisson 0.45 --density 1000",
    .library = modal_h5_version,
};

static modal_status read_fields(const char *text, int *fields, modal_error *err)
{
    static const char *const known[MODALTLED_FIELDS] = {"solid", "energy", "velocities", "internal_forces"};
    if (strcmp(text, "none") == 0) return MODAL_OK;
    for (const char *c = text;; c++) {
        const size_t length = strcspn(c, ",");
        int i = 0;
        while (i < MODALTLED_FIELDS && (strlen(known[i]) != length || strncmp(known[i], c, length) != 0)) i++;
        if (i == MODALTLED_FIELDS)
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "--fields: not solid, energy, velocities, internal_forces, or none alone, %.*s", (int)length, c);
        if (fields[i]++) return modal_error_set(err, MODAL_ERROR_USAGE, "--fields: twice, %s", known[i]);
        c += length;
        if (!*c) return MODAL_OK;
    }
}

static modal_status open_devices(modaltled_request *r, const char *text, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_device_label names[MODAL_DEVICE_LIST];
    r->n_devices = 1;
    if (modal_device_is_list(text)) MODAL_TRY(modal_device_list(text, names, &r->n_devices, err));
    else snprintf(names[0], sizeof names[0], "%s", text);
    for (int k = r->n_devices - 1; k >= 0; k--) /* the first is selected in the end */
        MODAL_TRY(modal_device_open(&r->devices[k], names[k], err));
    r->device = r->devices[0];
    if (r->n_devices > 1 && r->device.shares_memory) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--backend: several devices are GPUs, %s", text);
done:
    return status;
}

static modal_status read_request(tool *t, modaltled_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    int threads;
    MODAL_TRY(tool_solid_options(a, a->operands[0], &r->input, err));
    r->snapshots_path = a->operands[1];
    r->scene_path = tool_value(a, "scene");
    if (!r->scene_path) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--scene: is needed");
    const char *arithmetic = tool_value(a, "arithmetic");
    r->precision = strcmp(arithmetic, "float64") == 0 ? MODAL_TLED_FLOAT64 : MODAL_TLED_FLOAT32;
    if (r->precision == MODAL_TLED_FLOAT32 && strcmp(arithmetic, "float32") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--arithmetic: must be float32 or float64, %s", arithmetic);
    MODAL_TRY(read_fields(tool_value(a, "fields"), r->fields, err));
    r->unsafe_step = tool_count(a, "unsafe-step") > 0;
    r->require_sound = tool_count(a, "require-ok") > 0;
    r->keep_partial = tool_count(a, "keep-partial") > 0;
    r->force = tool_count(a, "force") > 0;
    r->checkpoint_path = tool_value(a, "checkpoint");
    r->restart_path = tool_value(a, "restart");
    r->probes_path = tool_value(a, "probes");
    if (r->probes_path && r->restart_path)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--probes: not with --restart, whose file has frames alone");
    if (!r->checkpoint_path && tool_count(a, "checkpoint-every") > 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--checkpoint-every: goes with --checkpoint");
    MODAL_TRY(tool_integer(a, "checkpoint-every", 1, INT32_MAX, &r->checkpoint_every, err));
    if (r->restart_path && r->checkpoint_path) tool_files_continue(r->restart_path, r->checkpoint_path);
    MODAL_TRY(tool_threads(t, &threads, err));
    omp_set_num_threads(threads); /* the CPU back end takes it from the thread that opens it */
    MODAL_TRY(open_devices(r, tool_value(a, "backend"), err));
done:
    return status;
}

/* What a relaxation does not have. */
static modal_status check_fields(const modaltled_request *r, const modaltled_case *c, modal_error *err)
{
    if (c->scene.steady && r->probes_path) return modal_error_set(err, MODAL_ERROR_INPUT, "--probes: not with \"until\"");
    if (c->scene.steady && r->fields[MODALTLED_VELOCITIES])
        return modal_error_set(err, MODAL_ERROR_INPUT, "--fields: velocities: has no meaning with \"until\": masses are not the solid's");
    return MODAL_OK;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (argc == 3 && strcmp(argv[1], "--material") == 0 && strcmp(argv[2], "list") == 0) return tool_list_materials();
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK, ran;
    modal_error err = {0}, later = {0};
    modaltled_request r = {0};
    modaltled_case c = {0};
    modaltled_outputs outputs = {0};
    int64_t n_written = 0;
    modal_quality_judgement quality = {0};

    MODAL_TRY(read_request(&t, &r, &err));
    MODAL_TRY(tool_output_begin(&outputs.snapshots, r.snapshots_path, r.force, &err));
    if (r.checkpoint_path) MODAL_TRY(tool_output_begin(&outputs.checkpoint, r.checkpoint_path, r.force, &err));
    if (r.probes_path) MODAL_TRY(tool_output_begin(&outputs.probes, r.probes_path, r.force, &err));
    MODAL_TRY(tool_pipe_take(&r.input.mesh_path, &err));
    MODAL_TRY(modaltled_read(&t, &r, &c, &err));
    MODAL_TRY(check_fields(&r, &c, &err));
    MODAL_TRY(modaltled_plan(&t, &r, &c, &err));
    if (strcmp(tool_value(&t.arguments, "backend"), "auto") == 0)
        tool_note(&t, "back end: %s, %s", r.device.name, r.device.hardware);
    if (r.keep_partial || r.checkpoint_path) tool_signals_hold();
    ran = modaltled_run(&t, &r, &c, &outputs, &n_written, &quality, &err);
    const int keeps = ran == MODAL_OK || (r.keep_partial && n_written > 0 &&
                                          (ran == MODAL_ERROR_NOT_CONVERGED || ran == MODAL_ERROR_INTERRUPTED));
    if (keeps) {
        const double start = tool_seconds();
        status = tool_output_complete(&outputs.snapshots, ran == MODAL_OK ? &err : &later);
        tool_stage(&t, "sync", tool_seconds() - start, -1);
        if (ran != MODAL_OK && status != MODAL_OK) tool_warn(&t, "the frames that are done could not be kept: %s", later.message);
        if (status == MODAL_OK) tool_note(&t, "%s: %lld frames", r.snapshots_path, (long long)n_written);
        if (status == MODAL_OK) tool_quality_say(&t, &quality);
        if (status == MODAL_OK && ran == MODAL_OK && r.require_sound) status = tool_require_sound(&quality, r.snapshots_path, &err);
    }
    if (ran != MODAL_OK) status = ran;
done:
    tool_output_name_error(&outputs.snapshots, &err);
    tool_output_name_error(&outputs.checkpoint, &err);
    tool_output_name_error(&outputs.probes, &err);
    tool_output_discard(&outputs.snapshots);
    tool_output_discard(&outputs.checkpoint);
    tool_output_discard(&outputs.probes);
    modaltled_case_free(&c);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
