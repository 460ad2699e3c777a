/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex flow: liquid and dirt on a surface while it deforms. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/modaltex/modaltex.h"
#include "tools/modaltex/modaltex_flow.h"

static const tool_option options[] = {
    {"basis", 0, "FILE", NULL, "The basis, where the trajectory's own link does not lead to it.", TOOL_READS},
    {"object", 0, "I", "0", "The object on which it flows, from 0.", 0},
    {"frames", 0, "A:B:STEP", NULL, "Frames to write, as Python slices them: 10:20, ::5, -1: and so on.", TOOL_FIRST},
    {"gravity", 0, "X,Y,Z", "0,0,-9.81", "m/s^2, in the world.", TOOL_FIRST},
    {"speed", 0, "V", "0.1", "m/s, of liquid down a vertical wall under 9.81 m/s^2; elsewhere in proportion to gravity along the surface.", TOOL_FIRST},
    {"rain", 0, "RATE", "0", "kg/(m^2 s) (1 mm an hour is 2.8e-4), along gravity, on what faces up.", TOOL_FIRST},
    {"source", 0, "X,Y,Z,R,RATE", NULL, "RATE kg/s come out of the surface within R m of a place at rest.", TOOL_REPEATABLE | TOOL_FIRST},
    {"absorb", 0, "A", "0", "1/s: share of the liquid that the surface takes up in a second.", 0},
    {"evaporate", 0, "E", "0", "1/s: share of the liquid, and of what was taken up, that leaves in a second.", 0},
    {"dirt", 0, "D", "0", "kg/m^2 on all of the surface at first; liquid carries it along.", 0},
    {"film", 0, "F", "0.1", "kg/m^2 (0.1 mm of water) of liquid with which half of the dirt moves along.", 0},
    {"texture", 0, "TEX.h5", NULL, "Also write the wetness of the last frame as a texture, for sample and bake.", TOOL_WRITES},
    {"images", 0, "wetness|dirt", NULL, "Also write OUT/png/000000.png, ...: each frame by the texture's atlas (modaltex bake --keep), in grey.", 0},
    {"range", 0, "LOW,HIGH", "0,1", "kg/m^2 that are black and white in --images.", 0},
    {"checkpoint", 0, "FILE", NULL, "Keep there what is needed to go on: the texture with the state.", TOOL_WRITES},
    {"checkpoint-every", 0, "N", "100", "Frames between checkpoints; one more comes after the last.", 0},
    {"restart", 0, "FILE", NULL, "Go on from a checkpoint of the same texture, trajectory and settings; OUT has the frames after it.", TOOL_READS},
    {"backend", 0, "NAME", "auto", "What computes: auto (a GPU if there is one, else the CPU), ref, cpu, cuda or cuda:N.", 0},
    TOOL_OPTION_THREADS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_flow_program = {
    .name = "modaltex",
    .summary = "flow: liquid and dirt on a surface while it deforms",
    .usage = "flow [options] TRAJ.h5 TEX.h5 OUT",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 4,
    .most_operands = 4,
    .input_traits = TOOL_READS,
    .output = 4,
    .output_traits = TOOL_WRITES,
    .endings = "",
    .notes = "TEX is a texture around the object's surface at rest (modaltex build; best with --neighbours). OUT is a folder, made if absent:\n"
             "sequence.vtkhdf and sequence.xdmf with wetness (liquid and what was taken up) and dirt at the vertices, kg/m^2 of the\n"
             "surface at rest, and manifest.json. Liquid gathers where nothing is downhill, also at the rim of an open surface.",
    .examples = "modaltex flow swing.h5 wet.h5 out --rain 0.01 --evaporate 0.05\n"
                "modaltex flow swing.h5 wet.h5 out --source 0,0,0.2,0.02,1e-3 --dirt 0.05 --texture last.h5\n"
                "modaltex flow swing.h5 wet.h5 more --rain 0.01 --restart state.h5",
};

static modal_status read_sources(const tool_arguments *a, modaltex_flow_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n = tool_count(a, "source");
    MODAL_TRY(modal_alloc(&r->sources, n, sizeof *r->sources, "sources", err));
    for (int i = 0; i < n; i++) {
        const char *text = tool_value_at(a, "source", i);
        double v[5];
        MODAL_TRY(tool_parse_numbers(text, 5, v, "--source", err));
        r->sources[i] = (modal_flow_source){{v[0], v[1], v[2]}, v[3], v[4]};
        if (!(v[3] > 0 && v[3] <= 1e6)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--source: the radius must be above 0 and at most 1e6 m, %s", text);
        if (!(v[4] >= 0 && v[4] <= 1e6)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--source: the rate must be in 0 .. 1e6 kg/s, %s", text);
    }
    r->settings.sources = r->sources;
    r->settings.n_sources = n;
done:
    return status;
}

static modal_status read_request(tool *t, modaltex_flow_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    modal_flow_settings *s = &r->settings;
    double speed = 0;
    r->trajectory = a->operands[1], r->texture = a->operands[2], r->folder = a->operands[3];
    r->basis = tool_value(a, "basis");
    r->last = tool_value(a, "texture"), r->checkpoint = tool_value(a, "checkpoint"), r->restart = tool_value(a, "restart");
    r->force = tool_count(a, "force") > 0;
    MODAL_TRY(tool_integer(a, "object", 0, INT32_MAX, &r->object, err));
    MODAL_TRY(tool_slice_parse(tool_value(a, "frames"), &r->frames, err));
    MODAL_TRY(tool_parse_numbers(tool_value(a, "gravity"), 3, s->gravity, "--gravity", err));
    for (int k = 0; k < 3; k++)
        if (!(fabs(s->gravity[k]) <= 1e6)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--gravity: must be at most 1e6 m/s^2, %s", tool_value(a, "gravity"));
    MODAL_TRY(tool_number(a, "speed", 0, 1e6, &speed, err));
    s->mobility = speed / 9.81;
    MODAL_TRY(tool_number(a, "rain", 0, 1e6, &s->rain, err));
    MODAL_TRY(tool_number(a, "absorb", 0, 1e6, &s->absorption, err));
    MODAL_TRY(tool_number(a, "evaporate", 0, 1e6, &s->evaporation, err));
    MODAL_TRY(tool_number(a, "dirt", 0, 1e6, &r->dirt, err));
    MODAL_TRY(tool_number(a, "film", 1e-9, 1e6, &s->film, err));
    MODAL_TRY(read_sources(a, r, err));
    if (!r->checkpoint && tool_count(a, "checkpoint-every")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--checkpoint-every: needs --checkpoint");
    MODAL_TRY(tool_integer(a, "checkpoint-every", 1, INT32_MAX, &r->checkpoint_every, err));
    if (r->restart && tool_count(a, "dirt")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--dirt: --restart has what there is of it");
    if (r->restart && r->checkpoint) tool_files_continue(r->restart, r->checkpoint);
    r->images = tool_value(a, "images");
    if (r->images && strcmp(r->images, "wetness") != 0 && strcmp(r->images, "dirt") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--images: not wetness or dirt, %s", r->images);
    MODAL_TRY(tool_parse_numbers(tool_value(a, "range"), 2, r->range, "--range", err));
    if (!(r->range[1] > r->range[0])) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--range: the second must be above the first, %s", tool_value(a, "range"));
    if (!r->images && tool_count(a, "range")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--range: needs --images");
    MODAL_TRY(tool_threads(t, &r->threads, err));
    omp_set_num_threads(r->threads); /* the CPU back end takes it from the thread that opens it */
    MODAL_TRY(modal_device_open(&r->device, tool_value(a, "backend"), err));
    if (strcmp(tool_value(a, "backend"), "auto") == 0) tool_note(t, "back end: %s, %s", r->device.name, r->device.hardware);
done:
    return status;
}

int modaltex_flow(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_flow_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modaltex_flow_request r = {0};
    modaltex_flow_input in = {0};
    modaltex_flow_output out = {0};
    MODAL_TRY(read_request(&t, &r, &err));
    MODAL_TRY(modaltex_flow_begin(&r, &out, &err));
    MODAL_TRY(modaltex_flow_read(&t, &r, &in, &err));
    MODAL_TRY(tool_files_check(&err));
    if (!r.restart && r.settings.rain <= 0 && r.settings.n_sources == 0 && r.dirt <= 0)
        tool_warn(&t, "all stays dry: --rain, --source and --dirt are absent");
    MODAL_TRY(modaltex_flow_run(&t, &r, &in, &out, &err));
done:
    modaltex_flow_end(&r, &out, &err);
    modaltex_flow_free(&in);
    modal_free(&r.sources);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
