/* SPDX-License-Identifier: Apache-2.0 */
/* modalsim's command line. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/modalsim/modalsim.h"

int modalsim_parse_index(const char *text, const char **end, int64_t *value)
{
    char *behind = NULL;
    if (!(isdigit((unsigned char)*text) || (*text == '-' && isdigit((unsigned char)text[1])))) return 0;
    errno = 0;
    *value = strtoll(text, &behind, 10);
    *end = behind;
    return errno == 0;
}

/* WHERE:X,Y,Z[@T] */
static modal_status parse_impulse(const char *text, modalsim_impulse *impulse, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *where = NULL, *vector = NULL;
    const char *colon = strchr(text, ':'), *at = strchr(text, '@'), *end = NULL;
    *impulse = (modalsim_impulse){.text = text, .vertex = -1};
    if (!colon || (at && at < colon))
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "--impulse: not VERTEX:X,Y,Z[@T] or x,y,z:X,Y,Z[@T], %s", text);
    MODAL_TRY(modal_copy_text(&where, text, (size_t)(colon - text), err));
    MODAL_TRY(modal_copy_text(&vector, colon + 1, at ? (size_t)(at - colon - 1) : SIZE_MAX, err));
    if (strchr(where, ',')) {
        MODAL_TRY(tool_parse_numbers(where, 3, impulse->point, "--impulse: point", err));
    } else if (!modalsim_parse_index(where, &end, &impulse->vertex) || *end || impulse->vertex < 0) {
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--impulse: not a vertex number or a point x,y,z, %s",
                   where);
    }
    MODAL_TRY(tool_parse_numbers(vector, 3, impulse->impulse, "--impulse", err));
    if (at) MODAL_TRY(tool_parse_numbers(at + 1, 1, &impulse->time, "--impulse: time", err));
    if (!(impulse->time >= 0))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--impulse: the time must be >= 0, %s", text);
done:
    modal_free(&where);
    modal_free(&vector);
    return status;
}

modal_status modalsim_count_frames(modalsim_request *r, modal_error *err)
{
    r->n_frames = modal_scene_frame_count(r->duration, r->fps);
    if (r->n_frames < 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--duration: more than 2^31 frames, %g s at %g a second", r->duration, r->fps);
    r->last_time = (double)(r->n_frames - 1) / r->fps;
    return MODAL_OK;
}

static modal_status read_frames(const tool_arguments *a, modalsim_request *r, modal_error *err)
{
    static const char *const moving[] = {"gravity", "impulse", "base-acceleration", "initial", "static"};
    modal_status status = MODAL_OK;
    const char *given = tool_value(a, "duration"), *fps = tool_value(a, "fps");
    r->start_static = tool_count(a, "static") > 0;
    r->n_frames = 1;
    r->plucks = 1;
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++) r->plucks &= tool_count(a, moving[i]) == 0;
    if (!given && fps && !r->plucks) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fps: needs --duration, %s", fps);
    if (given && !fps && !r->plucks) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--duration: needs --fps, %s", given);
    if (!given && !r->start_static && !r->plucks)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--duration and --fps: needed with loads unless --static is given");
    MODAL_TRY(tool_number(a, "duration", -DBL_MAX, DBL_MAX, &r->duration, err));
    MODAL_TRY(tool_number(a, "fps", -DBL_MAX, DBL_MAX, &r->fps, err));
    if (given && !(r->duration > 0 && r->duration <= MODAL_SCENE_DURATION))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--duration: must be > 0 and at most %g s, %s", MODAL_SCENE_DURATION, given);
    if (fps && !(r->fps >= MODAL_SCENE_LEAST_FPS && r->fps <= MODAL_SCENE_MOST_FPS))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fps: must be in %g .. %g, %s", MODAL_SCENE_LEAST_FPS, MODAL_SCENE_MOST_FPS, fps);
    if (given && fps) MODAL_TRY(modalsim_count_frames(r, err));
done:
    return status;
}

static modal_status read_damping(const tool_arguments *a, modalsim_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    double rayleigh[2] = {0, 0};
    const char *damping = tool_value(a, "damping"), *ratio = tool_value(a, "damping-ratio");
    if (damping && ratio)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--damping and --damping-ratio: give one of them, %s and %s",
                   damping, ratio);
    r->ratio = -1;
    if (ratio) {
        MODAL_TRY(tool_number(a, "damping-ratio", 0, MODAL_SCENE_RATIO, &r->ratio, err));
    }
    if (damping) MODAL_TRY(tool_parse_numbers(damping, 2, rayleigh, "--damping", err));
    if (!(rayleigh[0] >= 0 && rayleigh[0] <= MODAL_SCENE_DAMPING && rayleigh[1] >= 0 && rayleigh[1] <= MODAL_SCENE_DAMPING))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--damping: must be in 0 .. %g, %s", MODAL_SCENE_DAMPING, damping);
    r->alpha = rayleigh[0];
    r->beta = rayleigh[1];
done:
    return status;
}

/* --scene says all about the motion; the flags of the simple cases have no place beside it. */
static modal_status read_scene_options(const tool_arguments *a, modalsim_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    static const char *const simple[] = {"duration", "fps", "damping", "damping-ratio", "gravity", "impulse",
                                         "base-acceleration", "initial", "static"};
    static const char *const mine[] = {"backend", "set", "checkpoint", "restart", "keep-partial", "quality"};
    for (size_t i = 0; !r->scene_path && i < sizeof mine / sizeof *mine; i++)
        if (tool_count(a, mine[i]) > 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: needs --scene", mine[i]);
    static const char *const continued[] = {"checkpoint", "restart"}; /* neither the factor nor velocities are in a checkpoint */
    for (int i = 0; i < 2; i++) {
        if (tool_count(a, "amplitude") > 0 && tool_count(a, continued[i]) > 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--amplitude: not with --%s, %s", continued[i], tool_value(a, "amplitude"));
        if (tool_count(a, "velocities") > 0 && tool_count(a, continued[i]) > 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--velocities: not with --%s, whose checkpoints have none", continued[i]);
    }
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (tool_count(a, simple[i]) > 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: belongs into the scene when there is one, %s", simple[i],
                       r->scene_path);
    r->n_sets = tool_count(a, "set");
    MODAL_TRY(modal_alloc(&r->sets, r->n_sets, sizeof *r->sets, "--set", err));
    for (int i = 0; i < r->n_sets; i++) r->sets[i] = tool_value_at(a, "set", i);
    r->back_end = tool_value(a, "backend");
    r->checkpoint_path = tool_value(a, "checkpoint");
    r->restart_path = tool_value(a, "restart");
    r->keep_partial = tool_count(a, "keep-partial") > 0;
    if (tool_count(a, "checkpoint-every") > 0 && !r->checkpoint_path)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--checkpoint-every: needs --checkpoint");
    MODAL_TRY(tool_integer(a, "checkpoint-every", 1, INT32_MAX, &r->checkpoint_every, err));
    if (r->restart_path && r->checkpoint_path) tool_files_continue(r->restart_path, r->checkpoint_path);
done:
    return status;
}

static modal_status read_quality(const tool_arguments *a, modalsim_request *r, modal_error *err)
{
    static const char *const levels[] = {"steps", "auto", "full"};
    const char *level = tool_value(a, "quality");
    r->require_sound = tool_count(a, "require-ok") > 0;
    for (int i = 0; i < 3; i++) {
        if (strcmp(level, levels[i]) != 0) continue;
        r->quality = (modalsim_quality)i;
        return MODAL_OK;
    }
    return modal_error_set(err, MODAL_ERROR_USAGE, "--quality: must be steps, auto or full, %s", level);
}

/* --rebase and --project have the motion already. */
static modal_status check_made(const tool_arguments *a, const modalsim_request *r, modal_error *err)
{
    static const char *const others[] = {"duration", "fps", "damping", "damping-ratio", "gravity", "impulse",
                                         "base-acceleration", "initial", "static", "amplitude", "scene", "set", "backend", "checkpoint",
                                         "checkpoint-every", "restart", "keep-partial", "quality", "allow-inversion", "velocities"};
    const char *option = r->rebase_path ? "rebase" : "project", *path = r->rebase_path ? r->rebase_path : r->project_path;
    if (r->old_basis_path && !r->rebase_path)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--basis: needs --rebase, %s", r->old_basis_path);
    if (r->rebase_path && r->project_path)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--project: not with --rebase, %s", r->project_path);
    for (size_t i = 0; path && i < sizeof others / sizeof *others; i++)
        if (tool_count(a, others[i]) > 0)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not with --%s, %s", others[i], option, path);
    return MODAL_OK;
}

modal_status modalsim_read_request(const tool *t, modalsim_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    const char *gravity = tool_value(a, "gravity");
    r->basis_path = a->operands[0];
    r->trajectory_path = a->operands[1];
    r->base_path = tool_value(a, "base-acceleration");
    r->to_stdout = strcmp(r->trajectory_path, "-") == 0;
    r->force = tool_count(a, "force") > 0;
    r->scene_path = tool_value(a, "scene");
    r->checkpoint_every = 100;
    r->allow_inversion = tool_count(a, "allow-inversion") > 0;
    r->velocities = tool_count(a, "velocities") > 0;
    r->rebase_path = tool_value(a, "rebase");
    r->old_basis_path = tool_value(a, "basis");
    r->project_path = tool_value(a, "project");
    const int made = r->rebase_path || r->project_path;
    MODAL_TRY(check_made(a, r, err));
    MODAL_TRY(read_quality(a, r, err));
    MODAL_TRY(tool_size(a, "memory-limit", &r->memory_limit, err));
    if (tool_value(a, "memory-limit") && r->memory_limit <= 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--memory-limit: must be positive, %s", tool_value(a, "memory-limit"));
    MODAL_TRY(tool_threads(t, &r->n_threads, err));
    if (!made && (r->scene_path || tool_count(a, "backend") || tool_count(a, "checkpoint") || tool_count(a, "restart") ||
        tool_count(a, "keep-partial") || tool_count(a, "set")))
        MODAL_TRY(read_scene_options(a, r, err));
    else if (!made)
        MODAL_TRY(read_frames(a, r, err));
    MODAL_TRY(read_damping(a, r, err));
    MODAL_TRY(tool_percent(a, "amplitude", &r->amplitude, err));
    if (gravity) MODAL_TRY(tool_parse_numbers(gravity, 3, r->gravity, "--gravity", err));
    if (r->start_static && tool_count(a, "initial") > 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--static and --initial: give one of them, %s",
                   tool_value(a, "initial"));
    MODAL_TRY(modal_alloc(&r->impulses, tool_count(a, "impulse"), sizeof *r->impulses, "impulses",
                          err));
    for (int i = 0; i < tool_count(a, "impulse"); i++) {
        MODAL_TRY(parse_impulse(tool_value_at(a, "impulse", i), &r->impulses[i], err));
        r->n_impulses++;
        if (!(r->impulses[i].time < r->last_time))
            MODAL_FAIL(err, MODAL_ERROR_USAGE,
                       "--impulse: would change nothing, the last frame is at %g s, %s", r->last_time,
                       r->impulses[i].text);
    }
done:
    return status;
}
