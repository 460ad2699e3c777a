/* SPDX-License-Identifier: Apache-2.0 */
/* modalview: one page, complete in itself, that shows a basis or a trajectory in any browser. The page
 * is made at build time from tools/modalview/page/; here it gets its data. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "formats/sequences/sequence_wav.h"
#include "formats/viewer/viewer_data.h"
#include "lib/base/memory.h"
#include "lib/deform/rates.h"
#include "formats/json/scene.h"
#include "tools/common/commit.h"
#include "tools/common/hdf5_stdin.h"
#include "tools/common/look_images.h"
#include "tools/common/parts.h"
#include "tools/common/quality.h"
#include "tools/common/slow_motion.h"
#include "tools/common/tool.h"
#include "tools/common/trajectory_input.h"
#include "tools/modalview/modalview_loads.h"
#include "tools/modalview/modalview_snapshots.h"

enum { LARGE_PAGE = 50000000 }; /* bytes, above which a browser gets slow to open one */

/* tools/modalview/modalview_page.S */
extern const char modalview_page[], modalview_page_end[], modalview_response[], modalview_response_end[];

static const tool_option options[] = {
    {"basis", 0, "BASIS.h5", NULL, "Take the trajectory's basis from here, where it has moved.", TOOL_READS},
    TOOL_OPTION_PARTS,
    {"title", 0, "TEXT", NULL, "Title of the page (default: the name of the input).", 0},
    {"scene", 0, "SCENE.json", NULL, "The scene that the trajectory was made of; the page shows its forces where they act.", TOOL_READS},
    {"sound", 0, "SOUND.wav", NULL, "The trajectory's sound, as modaldeform --format wav writes it; the page plays it.", TOOL_READS},
    TOOL_OPTION_LOOK,
    TOOL_OPTION_ANY_PATH,
    TOOL_OPTION_SLOW_MOTION("Without it 1, but as auto if the motion swings more than four times a second and there is no --sound, and "
                            "faster if it swings less than every ten seconds. The page shows at first"),
    {"up", 0, "y|z", "y", "The axis that points upwards when the page opens.", 0},
    {"turntable", 0, NULL, NULL, "The camera turns around the scene, a turn in 12 s, until it is moved by hand.", 0},
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    fprintf(to, "%s, zlib %s; the pages contain three.js (MIT licence)\n", modal_h5_version(), zlibVersion());
}

static const tool_program program = {
    .name = "modalview",
    .summary = "makes one self-contained page of a trajectory, the modes of a basis or a response",
    .usage = "[options] TRAJ.h5|BASIS.h5|SNAPSHOTS.h5|RESPONSE.csv PAGE.html",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "html htm",
    .notes = "The page holds the basis and the reduced coordinates and deforms on the viewer's own GPU; it needs\n"
             "no network, no server and no other file. Of SNAPSHOTS (modaltled)\n"
             "it holds as few columns as show every vertex to 1e-3 of the largest displacement.",
    .examples = "modalview traj.h5 fork.html\n"
                "modalview basis.h5 modes.html --title 'Tuning fork, 20 modes'\n"
                "modalview ring.h5 ring.html --look ring.json\n"
                "modalview response.csv response.html\n"
                "modalsim basis.h5 - --duration 0.1 --fps 1000 --initial 0=1e-4 | modalview - ring.html",
    .print_versions = print_versions,
};

typedef struct scene {
    modal_basis basis;
    modal_trajectory trajectory; /* n_frames 0: none */
    char trajectory_hash[MODAL_HASH_TEXT];
    char *basis_path;
    modal_wav wav;
    modal_viewer_play play;
    modal_error no_speeds; /* why the page has none */
    modal_response_table table; /* n_rows 0: none */
    modal_scene said;           /* --scene */
    modal_viewer_load *loads;
    tool_look look; /* --look */
    tool_look_images images;
} scene;

/* What modalsim writes of a scene with a response is a table; it is known by its name. */
static int is_table(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcasecmp(path + n - 4, ".csv") == 0;
}

/* Options that say how something moves. */
static modal_status check_table_options(const tool *t, modal_error *err)
{
    static const char *const moving[] = {"basis", "parts", "scene", "sound", "look", "any-path", "slow-motion", "up", "turntable"};
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        if (is_table(t->arguments.operands[0]) && tool_count(&t->arguments, moving[i]) > 0)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not with a response, %s", moving[i], t->arguments.operands[0]);
    return MODAL_OK;
}

static modal_status read_scene(tool *t, scene *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *path = t->arguments.operands[0], *basis_path = tool_value(&t->arguments, "basis");
    char *kind = NULL;
    if (is_table(path)) return modal_response_table_read(path, &s->table, err);
    MODAL_TRY(tool_take_hdf5(&path, err));
    MODAL_TRY(modal_h5_file_kind(path, &kind, err));
    if (strcmp(kind, "snapshots") == 0) {
        static const char *const others[] = {"basis", "scene", "sound", "look"};
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (tool_count(&t->arguments, others[i]) > 0)
                MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: is not for snapshots of a whole solid, %s", others[i], path);
        MODAL_TRY(modalview_read_snapshots(t, path, &s->basis, &s->trajectory, &s->play.column_error, err));
        s->play.n_columns = s->basis.shapes[0].modes.n_modes;
        goto done;
    }
    if (strcmp(kind, "trajectory") == 0) {
        MODAL_TRY(tool_read_trajectory(path, &s->trajectory, s->trajectory_hash, err));
        MODAL_TRY(tool_find_basis(basis_path, path, &s->trajectory, &s->basis_path, err));
    } else if (strcmp(kind, "basis") != 0) {
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: neither a trajectory, a basis nor snapshots, %s", path, kind);
    } else if (basis_path) {
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--basis: goes with a trajectory, but this is a basis, %s", path);
    } else {
        MODAL_TRY(modal_copy_text(&s->basis_path, path, SIZE_MAX, err));
    }
    if (tool_value(&t->arguments, "scene")) MODAL_TRY(modal_scene_read(tool_value(&t->arguments, "scene"), &s->said, err));
    MODAL_TRY(modal_basis_read(s->basis_path, MODAL_BASIS_DEFORM | MODAL_BASIS_MODES |
                               (modalview_loads_need_solids(&s->said) ? MODAL_BASIS_VOLUME : 0) |
                               (tool_value(&t->arguments, "look") ? MODAL_BASIS_LOOK : 0), &s->basis, err));
    if (s->trajectory.n_frames > 0 &&
        modal_trajectory_check_basis(&s->trajectory, &s->basis, err) != MODAL_OK) {
        modal_error_context(err, "%s", path);
        status = err->status;
    }
done:
    modal_free(&kind);
    return status;
}

/* --look: the materials and the images that the objects show. */
static modal_status read_look(tool *t, scene *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *path = tool_value(&t->arguments, "look");
    const int any_path = tool_count(&t->arguments, "any-path") > 0;
    if (!path && any_path) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--any-path: only with --look");
    if (!path) goto done;
    MODAL_TRY(tool_look_read(path, NULL, any_path, &s->look, NULL, err));
    MODAL_TRY(tool_look_uv(&s->look, path, &s->basis, err));
    MODAL_TRY(tool_look_images_read(&s->look, path, &s->basis, 1, &s->images, err));
done:
    return status;
}

/* The three characters of seven bits that a page cannot have are two bytes of UTF-8. */
static void put_character(uint32_t c, FILE *to)
{
    if (c == 0 || c == '\r' || c == '<') {
        putc_unlocked(0xC4, to);
        c |= 0x80;
    }
    putc_unlocked((int)c, to);
}

/* Seven bits a character, highest first, as formats/viewer_data.md says: 17 % more than the bytes, where base64
 * takes 33 %. */
static void write_characters(const unsigned char *bytes, int64_t n, FILE *to)
{
    uint32_t held = 0;
    int n_held = 0;
    for (int64_t i = 0; i < n; i++) {
        held = held << 8 | bytes[i];
        for (n_held += 8; n_held >= 7; n_held -= 7) put_character(held >> (n_held - 7) & 127, to);
    }
    if (n_held > 0) put_character(held << (7 - n_held) & 127, to);
}

/* The page's parts around its two marks, each of which is there once: the build checks that. */
static void write_page(int of_response, const modal_viewer_data *data, FILE *to)
{
    const char *begin = of_response ? modalview_response : modalview_page;
    const char *end = of_response ? modalview_response_end : modalview_page_end;
    const char *header = memmem(begin, (size_t)(end - begin), "@@HEADER@@", 10);
    const char *blob = memmem(header, (size_t)(end - header), "@@DATA@@", 8);
    fwrite(begin, 1, (size_t)(header - begin), to);
    fputs(data->header, to);
    fwrite(header + 10, 1, (size_t)(blob - header - 10), to);
    write_characters(data->bytes, data->n_bytes, to);
    fwrite(blob + 8, 1, (size_t)(end - blob - 8), to);
}

/* How the page plays a trajectory. */
static modal_status read_play(tool *t, scene *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_trajectory *q = &s->trajectory;
    const char *sound = tool_value(&t->arguments, "sound"), *input = t->arguments.operands[0];
    MODAL_TRY(tool_slow_motion(&t->arguments, &s->play.slow_motion, err));
    s->play.turntable = tool_count(&t->arguments, "turntable");
    if (q->n_frames == 0 && sound) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--sound: goes with a trajectory, but this is a basis, %s", input);
    if (q->n_frames == 0 && tool_count(&t->arguments, "slow-motion"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--slow-motion: goes with a trajectory, but this is a basis, %s", input);
    if (q->n_frames == 0 && tool_value(&t->arguments, "scene"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--scene: goes with a trajectory, but this is a basis, %s", input);
    if (q->n_frames == 0) goto done;
    MODAL_TRY(modalview_loads_make(t, tool_value(&t->arguments, "scene"), &s->said, &s->basis, q, &s->loads, &s->play.n_loads, err));
    s->play.loads = s->loads;
    s->play.no_speeds = s->play.n_columns == 0 && modal_deform_check_rates(&s->basis, q, &s->no_speeds) != MODAL_OK;
    const double seconds = q->times[q->n_frames - 1] - q->times[0];
    if (s->play.slow_motion == 0) s->play.slow_motion = tool_slow_motion_auto(q, 0, 1, q->n_frames);
    if (!sound && tool_count(&t->arguments, "slow-motion") == 0) /* sound has its own rate only */
        s->play.slow_motion = tool_slow_motion_seen(q, 0, 1, q->n_frames);
    if (!sound) goto done;
    MODAL_TRY(modal_wav_read(sound, &s->wav, err));
    if (strcmp(s->wav.motion_hash, s->trajectory_hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: the sound of another trajectory, hash %s, not %s", sound, s->wav.motion_hash, s->trajectory_hash);
    const double heard = (double)s->wav.n_samples / s->wav.rate, step = seconds / (double)(q->n_frames > 1 ? q->n_frames - 1 : 1);
    if (!(fabs(heard - seconds) <= step + 1.5 / s->wav.rate))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %.6g s of sound, the trajectory takes %.6g s", sound, heard, seconds);
    s->play.rate = s->wav.rate;
    s->play.n_channels = s->wav.n_channels;
    s->play.n_samples = s->wav.n_samples;
    s->play.samples = s->wav.samples;
done:
    return status;
}

/* Prints at which rate the page plays, if that is not its own, and which material was assumed. */
static void say_play(tool *t, const scene *s, const char *input)
{
    const modal_trajectory *q = &s->trajectory;
    const int given = tool_count(&t->arguments, "slow-motion") > 0;
    if (q->n_frames == 0) tool_say_assumed(t, input, s->basis.provenance, s->basis.n_provenance);
    if (q->n_frames == 0) return;
    const double factor = s->play.slow_motion, seconds = q->times[q->n_frames - 1] - q->times[0];
    tool_say_assumed(t, input, q->provenance, q->n_provenance);
    if (given || factor != 1)
        tool_note(t, "%s motion %g: the %g s are shown in %g s%s", factor < 1 ? "fast" : "slow", factor, seconds, factor * seconds,
                  given ? "" : " (--slow-motion 1 shows them at their own rate)");
}

int main(int argc, char **argv)
{
    tool t;
    int code;
    if (tool_start(&t, &program, argc, argv, &code)) return code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    scene s = {0};
    tool_output output = {0};
    modal_viewer_data data = {0};
    const char *input = t.arguments.operands[0], *path = t.arguments.operands[1];
    const char *title = tool_value(&t.arguments, "title"), *slash = strrchr(input, '/');
    const char *up = tool_value(&t.arguments, "up");
    double start = tool_seconds();
    json_t *given = NULL;
    if (strcmp(up, "y") != 0 && strcmp(up, "z") != 0)
        MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--up: must be y or z, %s", up);
    if (title && !(given = json_string(title))) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--title: not UTF-8, %s", title);
    MODAL_TRY(check_table_options(&t, &err));
    MODAL_TRY(tool_use_parts(&t, &err));
    MODAL_TRY(tool_output_begin(&output, path, tool_count(&t.arguments, "force"), &err));
    MODAL_TRY(read_scene(&t, &s, &err));
    MODAL_TRY(read_play(&t, &s, &err));
    MODAL_TRY(read_look(&t, &s, &err));
    tool_stage(&t, "read", tool_seconds() - start, -1);
    start = tool_seconds();
    if (!title) title = strcmp(input, "-") == 0 ? "trajectory" : slash ? slash + 1 : input;
    const int of_response = s.table.n_rows > 0;
    const modal_sequence_look look = {&s.look.look, s.images.n, s.images.list};
    if (of_response)
        MODAL_TRY(modal_viewer_response_make(&s.table, title, &data, &err));
    else
        MODAL_TRY(modal_viewer_data_make(&s.basis, s.trajectory.n_frames > 0 ? &s.trajectory : NULL, title,
                                     up[0], &s.play, tool_value(&t.arguments, "look") ? &look : NULL, &data, &err));
    tool_stage(&t, "pack", tool_seconds() - start, data.n_bytes);
    start = tool_seconds();
    FILE *to = fopen(output.temporary, "wb");
    if (!to) MODAL_FAIL(&err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    write_page(of_response, &data, to);
    const int64_t size = ftell(to);
    int failed = ferror(to);
    failed |= fclose(to) != 0;
    if (failed) MODAL_FAIL(&err, MODAL_ERROR_SYSTEM, "%s: write error, %s", path, strerror(errno));
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_stage(&t, "write", tool_seconds() - start, size);
    json_object_set_new(t.report, "page_bytes", json_integer(size));
    if (of_response) {
        tool_note(&t, "%s: %.2f MB, %d curves of %lld frequencies", path, 1e-6 * (double)size, s.table.n_curves,
                  (long long)s.table.n_rows);
    } else {
        say_play(&t, &s, input);
        json_object_set_new(t.report, "position_error_m", json_real(data.position_error));
        json_object_set_new(t.report, "displacement_error", json_real(data.displacement_error));
        tool_note(&t, "%s: %.2f MB, positions to %.2g m, every mode to %.1e of its largest displacement", path,
                  1e-6 * (double)size, data.position_error, data.displacement_error);
        if (s.play.no_speeds) tool_note(&t, "no colours by speed: %s", s.no_speeds.message);
    }
    if (size > LARGE_PAGE)
        tool_warn(&t, "%s: a large page, browsers may take long to open it, %.0f MB", path,
                  1e-6 * (double)size);
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_viewer_data_free(&data);
    modal_basis_free(&s.basis);
    modal_trajectory_free(&s.trajectory);
    modal_free(&s.basis_path);
    modal_wav_free(&s.wav);
    modal_scene_free(&s.said);
    modalview_loads_free(&s.loads, s.play.n_loads);
    modal_response_table_free(&s.table);
    tool_look_images_free(&s.images);
    tool_look_free(&s.look);
    json_decref(given);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
