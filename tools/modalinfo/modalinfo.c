/* SPDX-License-Identifier: Apache-2.0 */
/* modalinfo: what a basis, a trajectory or a deformed sequence holds, and whether it is valid. */
#include "tools/modalinfo/modalinfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/surface_read.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "formats/snapshots/snapshots_check.h"
#include "formats/octree/octree_h5.h"
#include "formats/textures/textures_h5.h"
#include "formats/trajectory/trajectory_h5.h"
#include "formats/json/json_text.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "lib/model/quality.h"
#include "tools/common/quality.h"
#include "tools/common/files.h"
#include "tools/common/hdf5_stdin.h"
#include "tools/common/output.h"
#include "tools/common/parts.h"
#include "tools/common/tool.h"

static const tool_option options[] = {
    {"json", 0, NULL, NULL, "Print one JSON object.", TOOL_FIRST},
    {"check", 0, NULL, NULL,
     "Check every rule of the file's specification, list all that are broken, and exit with 1 if "
     "there are any.",
     TOOL_FIRST},
    {"require-ok", 0, NULL, NULL,
     "With --check, of a trajectory: exit code 5 unless the rating of its motion is ok.", 0},
    {"compare", 0, NULL, NULL,
     "Compare two bases of the same solids, by the modal assurance criterion and frequency, or two trajectories of the same "
     "solids and times, by their distance in the norm of the mass matrix in every frame.",
     TOOL_FIRST},
    {"statistics", 0, NULL, NULL,
     "Of a sequence: also least, most and the quantiles 2 %, 50 %, 98 % of every array of one number, frame by frame.", 0},
    {"map", 0, NULL, NULL,
     "Print as JSON where the arrays of the file are, byte by byte, and in a sequence those of every frame: a range request reads one.", 0},
    {"pack", 0, NULL, NULL,
     "Write the one file that has all shapes of an assembly, with the same content hash.", TOOL_FIRST},
    TOOL_OPTIONS_UNITS("which are meshes and surfaces; lengths are printed in m."),
    TOOL_OPTION_PARTS,
    TOOL_OPTION_FORCE,
    TOOL_OPTION_THREADS,
    TOOL_OPTIONS_COMMON,
    {NULL, 0, NULL, NULL, NULL, 0},
};

static int is_divided(const tool_arguments *a) { return !tool_count(a, "pack") && !tool_count(a, "report"); }

static const tool_program program = {
    .name = "modalinfo",
    .summary = "shows what a mesh, a basis, a trajectory or a sequence holds, checks it, compares two",
    .usage = "[options] FILE\n--compare [options] A B\n--pack [options] BASIS.h5 OUT.h5",
    .options = options,
    .least_operands = 1,
    .most_operands = 2,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES,
    .is_divided = is_divided,
    .notes =
        "FILE is a mesh or a surface (formats/meshes.md), a basis.h5, a traj.h5, a sequence.vtkhdf (or its\n"
        ".xdmf), a textures.h5, an octree.h5, or the folder that modaldeform wrote (or its\n"
        "manifest.json). With --check, exit code 1 means that a rule is broken, or that the rating\n"
        "of a motion is invalid (formats/trajectory.md), 3 that the file is none of these\n"
        "or cannot be read at all.",
    .examples = "modalinfo part.inp --unit mm\nmodalinfo basis.h5\nmodalinfo --compare coarse.h5 fine.h5\n"
                "modalinfo --json traj.h5\nmodalinfo --check out/sequence.vtkhdf\nmodalinfo --check out\n"
                "modalinfo --pack scene.h5 packed.h5\n"
                "modalsim fork.h5 - --duration 1 --fps 60 --initial 1=0.01 | modalinfo -",
    .library = modal_h5_version,
};

typedef struct kind {
    const char *type;
    modal_status (*describe)(const char *path, json_t **info, modal_error *err);
    modal_status (*check)(const char *path, modal_findings *findings, modal_error *err);
    /* of a file that `check` finds nothing in; or NULL */
    modal_status (*judge)(const char *path, modal_findings *findings, json_t **quality, modal_error *err);
} kind;

static modal_status judge_trajectory(const char *path, modal_findings *findings, json_t **quality, modal_error *err)
{
    json_t *info = NULL;
    modal_status status = modalinfo_describe_trajectory(path, &info, err);
    if (status == MODAL_OK) {
        const json_t *basis = json_object_get(info, "basis");
        const modal_checker checker = {findings, err};
        const int carried = json_is_true(json_object_get(basis, "carried")); /* it is a part of the file then */
        if (json_is_false(json_object_get(basis, "matches")) || (carried && json_is_false(json_object_get(basis, "found"))))
            status = modal_broken(&checker, carried ? "/basis_file" : "/basis", "%s",
                                  json_string_value(json_object_get(basis, "problem")));
        *quality = json_incref(json_object_get(info, "quality"));
    }
    json_decref(info);
    return status;
}

/* The rating if the file has /quality. */
static modal_status judge_snapshots(const char *path, modal_findings *findings, json_t **quality, modal_error *err)
{
    json_t *info = NULL;
    (void)findings;
    const modal_status status = modalinfo_describe_snapshots(path, &info, err);
    if (status == MODAL_OK) *quality = json_incref(json_object_get(info, "quality"));
    json_decref(info);
    return status;
}

enum { KIND_BASIS, KIND_TRAJECTORY, KIND_SEQUENCE, KIND_OUTPUT, KIND_SNAPSHOTS, KIND_TEXTURES, KIND_OCTREE, KIND_SHARES, KINDS };

static const kind kinds[KINDS] = {
    [KIND_BASIS] = {"basis", modalinfo_describe_basis, modal_basis_check, NULL},
    [KIND_TRAJECTORY] = {"trajectory", modalinfo_describe_trajectory, modal_trajectory_check, judge_trajectory},
    [KIND_SEQUENCE] = {"sequence", modalinfo_describe_sequence, modal_sequence_check, NULL},
    [KIND_OUTPUT] = {"output", modalinfo_describe_output, modalinfo_check_output, NULL},
    [KIND_SNAPSHOTS] = {"snapshots", modalinfo_describe_snapshots, modal_snapshots_check, judge_snapshots},
    [KIND_TEXTURES] = {"textures", modalinfo_describe_textures, modal_textures_check, NULL},
    [KIND_OCTREE] = {"octree", modalinfo_describe_octree, modal_octree_check, NULL},
    [KIND_SHARES] = {"shards", modalinfo_describe_shares, modalinfo_check_shares, NULL},
};

/* Files of the family that are not HDF5: a folder and the manifest in it are an output, a sidecar stands
 * for the .vtkhdf beside it, which *path then names (memory in *other, for the caller to free). */
static modal_status find_plain_kind(const char **path, char **other, const kind **found,
                                    modal_error *err)
{
    struct stat info;
    const size_t length = strlen(*path);
    char start[6] = "";
    *found = NULL;
    if (modal_is_memory_file(*path) || stat(*path, &info) != 0) return MODAL_OK;
    if (S_ISREG(info.st_mode)) {
        FILE *file = modal_disk_stream(*path);
        if (!file) return MODAL_OK;
        if (fread(start, 1, 5, file) < 1) start[0] = '\0';
        fclose(file);
    }
    char manifest[4096];
    if (S_ISDIR(info.st_mode) && snprintf(manifest, sizeof manifest, "%s/manifest.json", *path) < (int)sizeof manifest &&
        stat(manifest, &info) != 0 && modalinfo_has_shares(*path)) {
        *found = &kinds[KIND_SHARES];
        return MODAL_OK;
    }
    if (stat(*path, &info) != 0) return MODAL_OK;
    if (S_ISDIR(info.st_mode) || start[0] == '{') {
        *found = &kinds[KIND_OUTPUT];
    } else if (strcmp(start, "<?xml") == 0 && length > 5 && strcmp(*path + length - 5, ".xdmf") == 0) {
        modal_status status = modal_alloc(other, (int64_t)length + 8, 1, "name", err);
        if (status != MODAL_OK) return status;
        snprintf(*other, length + 8, "%.*s.vtkhdf", (int)length - 5, *path);
        *path = *other;
        *found = &kinds[KIND_SEQUENCE];
    }
    return MODAL_OK;
}

static modal_status find_kind(const char *path, const kind **found, modal_error *err)
{
    char *type = NULL;
    modal_status status = modal_h5_file_kind(path, &type, err);
    *found = NULL;
    for (size_t i = 0; status == MODAL_OK && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].type) == 0) *found = &kinds[i];
    if (status == MODAL_OK && !*found)
        status = modal_error_set(err, MODAL_ERROR_INPUT, "%s: modal_format: unknown, \"%.64s\"", path,
                                 type);
    modal_free(&type);
    return status;
}

static modal_status print_json(tool *t, const json_t *object, modal_error *err)
{
    char *text = modal_json_dump(object, JSON_INDENT(2) | JSON_PRESERVE_ORDER, 0);
    FILE *to = tool_text_stream(t);
    if (!text) return modal_error_set(err, MODAL_ERROR_MEMORY, "JSON: out of memory");
    if (to) fprintf(to, "%s\n", text);
    free(text);
    return MODAL_OK;
}

static void print_line(FILE *to, const char *path, const char *text)
{
    tool_put_text(to, path);
    fputs(": ", to);
    tool_put_text(to, text);
    fputc('\n', to);
}

/* quality: of a trajectory or snapshots that keep all rules, or NULL. */
static void print_verdict(FILE *to, const char *path, const kind *k, const json_t *quality)
{
    const char *verdict = quality ? json_string_value(json_object_get(quality, "rating")) : NULL;
    const char *missing = json_string_value(json_object_get(quality, "missing"));
    const char *material = json_string_value(json_object_get(quality, "assumed_material"));
    char text[TOOL_QUALITY_SUMMARY];
    size_t i;
    json_t *one;
    json_array_foreach (json_object_get(quality, "indicators"), i, one) {
        const char *own = json_string_value(json_object_get(one, "rating"));
        if (strcmp(own, modal_verdicts[MODAL_SOUND]) == 0) continue;
        snprintf(text, sizeof text, "%s: %s", own, json_string_value(json_object_get(one, "text")));
        print_line(to, path, text);
    }
    if (missing) {
        snprintf(text, sizeof text, "%s: %s", modal_verdicts[MODAL_NOT_JUDGED], missing);
        print_line(to, path, text);
    }
    int used = snprintf(text, sizeof text, "valid %s%s%s", k->type, verdict ? ", rating " : "", verdict ? verdict : "");
    if (material && used > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used, " (material assumed: %.64s)", material);
    print_line(to, path, text);
}

/* --require-ok, of a file that keeps all rules; verdict: the rating of a motion; NULL: of another file. */
static modal_status check_sound(const tool *t, const kind *k, const char *shown, const char *verdict, modal_error *err)
{
    if (!tool_count(&t->arguments, "require-ok")) return MODAL_OK;
    if (!verdict) return modal_error_set(err, MODAL_ERROR_USAGE, "--require-ok: is for motions, not for %s, %s", k->type, shown);
    if (strcmp(verdict, modal_verdicts[MODAL_SOUND]) == 0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_NOT_CONVERGED, "--require-ok: %s: the motion is %s", shown, verdict);
}

static modal_status print_findings(tool *t, const char *path, const kind *k, int as_json,
                                   const modal_findings *findings, json_t *quality, modal_error *err)
{
    FILE *to = tool_text_stream(t);
    if (!as_json) {
        for (int64_t i = 0; to && i < findings->n; i++)
            print_line(to, path, findings->texts[i]);
        if (to && findings->n == 0) print_verdict(to, path, k, quality);
        return MODAL_OK;
    }
    json_t *object = json_object(), *list = json_array();
    json_object_set_new(object, "file", modal_json_string(path));
    json_object_set_new(object, "type", json_string(k->type));
    json_object_set_new(object, "valid", json_boolean(findings->n == 0));
    for (int64_t i = 0; i < findings->n; i++)
        json_array_append_new(list, modal_json_string(findings->texts[i]));
    json_object_set_new(object, "findings", list);
    if (quality) json_object_set(object, "quality", quality);
    modal_status status = print_json(t, object, err);
    json_decref(object);
    return status;
}

static modal_status print_info(tool *t, int as_json, const json_t *info, modal_error *err)
{
    FILE *to = tool_text_stream(t);
    if (as_json) return print_json(t, info, err);
    if (to && json_object_get(info, "files")) modalinfo_print_comparison(to, info);
    else if (to) modalinfo_print(to, info), modalinfo_print_statistics(to, info);
    return MODAL_OK;
}

/* `shown` is what the user calls the file. */
static modal_status print_map(tool *t, const kind *k, const char *path, const char *shown, const json_t *info, modal_error *err)
{
    json_t *map = NULL;
    if (k == &kinds[KIND_OUTPUT] || k == &kinds[KIND_SHARES]) return modal_error_set(err, MODAL_ERROR_USAGE, "--map: is for HDF5 files, not for %s", shown);
    modal_status status = modalinfo_map(path, info, &map, err);
    if (status == MODAL_OK) json_object_set_new(map, "file", modal_json_string(shown));
    if (status == MODAL_OK) status = print_json(t, map, err);
    json_decref(map);
    return status;
}

static modal_status check_units(const tool_arguments *a, modal_error *err)
{
    static const char *const names[] = {"unit", "scale"};
    for (int i = 0; i < 2; i++)
        if (tool_count(a, names[i]) > 0)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: is for meshes and surfaces, %s", names[i], a->operands[0]);
    return MODAL_OK;
}

/* OUT goes with --pack, which goes with nothing else. */
static modal_status check_request(const tool_arguments *a, modal_error *err)
{
    const int pack = tool_count(a, "pack");
    if (pack && a->n_operands != 2)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--pack: needs BASIS.h5 and OUT.h5, see --help");
    const int compare = tool_count(a, "compare");
    if (compare && a->n_operands != 2)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--compare: needs two files, see --help");
    if (tool_count(a, "require-ok") && !tool_count(a, "check"))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--require-ok: needs --check");
    if (compare && (pack || tool_count(a, "check")))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--compare: not with --pack or --check");
    if (!pack && !compare && a->n_operands != 1)
        return modal_error_set(err, MODAL_ERROR_USAGE, "only with --pack or --compare: %s", a->operands[1]);
    if (tool_count(a, "statistics") && (pack || compare || tool_count(a, "check")))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--statistics: not with --pack, --compare or --check");
    if (tool_count(a, "map") && (pack || compare || tool_count(a, "check") || tool_count(a, "statistics")))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--map: not with --pack, --compare, --check or --statistics");
    if (!pack && tool_count(a, "force")) return modal_error_set(err, MODAL_ERROR_USAGE, "--force: only with --pack");
    if (pack && (tool_count(a, "json") || tool_count(a, "check")))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--pack: not with --json or --check");
    return MODAL_OK;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code, exit_done = TOOL_EXIT_DONE;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_findings findings = {0};
    const kind *k = NULL;
    json_t *info = NULL, *quality = NULL;
    char *other = NULL;
    const char *path = t.arguments.operands[0], *shown = path;
    int as_json = tool_count(&t.arguments, "json"), piped = strcmp(path, "-") == 0;

    MODAL_TRY(check_request(&t.arguments, &err));
    MODAL_TRY(tool_use_parts(&t, &err));
    MODAL_TRY(tool_take_hdf5(&path, &err));
    if (piped) shown = "standard input";
    if (tool_count(&t.arguments, "pack")) {
        status = modalinfo_pack(&t, path, t.arguments.operands[1], &err);
        goto done;
    }
    if (tool_count(&t.arguments, "compare")) {
        const kind *second = NULL;
        tool_files_read(t.arguments.operands[1]);
        MODAL_TRY(find_kind(path, &k, &err));
        MODAL_TRY(find_kind(t.arguments.operands[1], &second, &err));
        MODAL_TRY(modalinfo_compare(&t, k->type, path, second->type, t.arguments.operands[1], &info, &err));
        MODAL_TRY(print_info(&t, as_json, info, &err));
        goto done;
    }
    if (!piped && (modal_surface_is_named(path) || modal_mesh_is_named(path))) {
        tool_units units;
        MODAL_TRY(tool_units_read(&t.arguments, &units, &err));
        if (tool_count(&t.arguments, "map")) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--map: is for HDF5 files, not for %s", path);
        if (tool_count(&t.arguments, "statistics"))
            MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--statistics: is for sequences, not for %s", path);
        if (tool_count(&t.arguments, "check"))
            MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--check: of meshes and surfaces it is modalmesh --check, %s", path);
        MODAL_TRY(modal_surface_is_named(path) ? modalinfo_describe_surface(&t, path, &units, &info, &err)
                                               : modalinfo_describe_mesh(&t, path, &units, &info, &err));
        MODAL_TRY(print_info(&t, as_json, info, &err));
        goto done;
    }
    MODAL_TRY(check_units(&t.arguments, &err));
    MODAL_TRY(find_plain_kind(&path, &other, &k, &err));
    if (!k) MODAL_TRY(find_kind(path, &k, &err));
    if (tool_count(&t.arguments, "check")) {
        MODAL_TRY(k->check(path, &findings, &err));
        if (k == &kinds[KIND_OUTPUT]) MODAL_TRY(modalinfo_check_others(&t, path, &findings, &err));
        if (k->judge && findings.n == 0) MODAL_TRY(k->judge(path, &findings, &quality, &err));
        const char *verdict = json_string_value(json_object_get(quality, "rating"));
        if (findings.n > 0 || (verdict && strcmp(verdict, modal_verdicts[MODAL_WRONG]) == 0)) exit_done = TOOL_EXIT_NO;
        MODAL_TRY(print_findings(&t, piped ? shown : path, k, as_json, &findings, quality, &err));
        if (exit_done == TOOL_EXIT_DONE) MODAL_TRY(check_sound(&t, k, shown, verdict, &err));
    } else {
        if (tool_count(&t.arguments, "statistics") && strcmp(k->type, "sequence") != 0)
            MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--statistics: is for sequences, not for %s", shown);
        MODAL_TRY(k->describe(path, &info, &err));
        if (tool_count(&t.arguments, "map")) MODAL_TRY(print_map(&t, k, path, piped ? shown : path, info, &err));
        if (tool_count(&t.arguments, "map")) goto done;
        if (tool_count(&t.arguments, "statistics")) MODAL_TRY(modalinfo_add_statistics(path, info, &err));
        if (piped) json_object_set_new(info, "file", json_string(shown));
        MODAL_TRY(print_info(&t, as_json, info, &err));
    }
done:
    modal_free(&other);
    json_decref(info);
    json_decref(quality);
    modal_findings_free(&findings);
    return tool_finish(&t, status, &err, exit_done);
}
