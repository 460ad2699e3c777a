/* SPDX-License-Identifier: Apache-2.0 */
/* modaltled: probes, of frames and, with --probes, of every step. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/memory.h"
#include "tools/common/commit.h"
#include "tools/modaltled/modaltled_run.h"

modal_status modaltled_probes_name(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_solid_scene *s = &w->c->scene;
    size_t length = 1;
    for (int32_t i = 0; i < s->n_actions; i++)
        if (s->actions[i].name) w->n_probes++, length += strlen(s->actions[i].name) + 1;
    for (int32_t i = 0; i < s->n_contacts; i++) w->n_probes++, length += strlen(s->contacts[i].name) + 1;
    MODAL_TRY(modal_alloc_zero(&w->probe_names, (int64_t)length, 1, "probes", err));
    for (int32_t i = 0; i < s->n_actions; i++)
        if (s->actions[i].name)
            sprintf(w->probe_names + strlen(w->probe_names), "%s%s", w->probe_names[0] ? "\n" : "", s->actions[i].name);
    for (int32_t i = 0; i < s->n_contacts; i++)
        sprintf(w->probe_names + strlen(w->probe_names), "%s%s", w->probe_names[0] ? "\n" : "", s->contacts[i].name);
done:
    return status;
}

modal_status modaltled_probes_measure(run *w, const run_probes *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double time = modal_tled_motion_time(w->motion, modal_tled_motion_steps(w->motion)), step = modal_tled_motion_before(w->motion);
    int32_t p = 0;
    MODAL_TRY(modal_tled_motion_reactions(w->motion, w->reactions, err));
    for (int32_t i = 0; i < w->c->scene.n_actions; i++) {
        const modal_tled_nodes *nodes = &w->c->nodes[i];
        if (w->c->scene.actions[i].kind != MODAL_SOLID_PROBE) continue;
        for (int c = 0; c < 3; c++) {
            double u = 0, v = 0, f = 0;
            for (int64_t k = 0; k < nodes->n; k++) {
                const int64_t at = 3 * (int64_t)nodes->nodes[k] + c;
                u += w->u[at], v += w->v[at], f += w->reactions[at];
            }
            to->u[3 * p + c] = u / (double)nodes->n, to->v[3 * p + c] = v / (double)nodes->n, to->f[3 * p + c] = f;
        }
        p++;
    }
    /* a body: how far it has gone, how fast in the last step, and what it does to the solid */
    MODAL_TRY(modal_tled_motion_touches(w->motion, to->f + 3 * p, err));
    for (int32_t i = 0; i < w->c->scene.n_contacts; i++, p++) {
        double place[6], before[6];
        modal_tled_contact_place(&w->c->scene.contacts[i], time, place);
        modal_tled_contact_place(&w->c->scene.contacts[i], time - step, before);
        for (int c = 0; c < 3; c++) {
            to->u[3 * p + c] = place[c] - w->c->scene.contacts[i].at[c];
            to->v[3 * p + c] = step > 0 ? (place[c] - before[c]) / step : 0;
        }
    }
done:
    return status;
}

/* A text as a field of CSV. Spreadsheets run one that begins with = + - @ as a formula: it gets an apostrophe in front. */
static void put_name(FILE *file, const char *name, int length, const char *what)
{
    const int quoted = memchr(name, ',', (size_t)length) || memchr(name, '"', (size_t)length);
    fprintf(file, quoted ? ",\"" : ",");
    if (length > 0 && strchr("=+-@", name[0])) fputc('\'', file);
    for (int i = 0; i < length; i++) fprintf(file, name[i] == '"' ? "\"\"" : "%c", name[i]);
    fprintf(file, quoted ? " %s\"" : " %s", what);
}

/* The state at hand, as a line. */
static modal_status put_line(run *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double *const all[3] = {w->line.u, w->line.v, w->line.f};
    MODAL_TRY(modal_tled_motion_state(w->motion, w->u, w->v, err));
    MODAL_TRY(modaltled_probes_measure(w, &w->line, err));
    fprintf(w->probes, "%.17g", modal_tled_motion_time(w->motion, modal_tled_motion_steps(w->motion)));
    for (int32_t p = 0; p < w->n_probes; p++)
        for (int k = 0; k < 9; k++) fprintf(w->probes, ",%.17g", all[k / 3][3 * p + k % 3]);
    fputc('\n', w->probes);
    if (ferror(w->probes)) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be written, %s", w->r->probes_path, strerror(errno));
done:
    return status;
}

modal_status modaltled_probes_begin(run *w, modal_error *err)
{
    static const char *const columns[9] = {"ux_m", "uy_m", "uz_m", "vx_m/s", "vy_m/s", "vz_m/s", "fx_N", "fy_N", "fz_N"};
    modal_status status = MODAL_OK;
    if (!w->r->probes_path) return MODAL_OK;
    if (w->n_probes == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "--probes: the scene has neither probes nor contacts");
    w->probes = fopen(w->outputs->probes.temporary, "w");
    if (!w->probes) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", w->r->probes_path, strerror(errno));
    fprintf(w->probes, "time_s");
    for (const char *name = w->probe_names; *name;) {
        const int length = (int)strcspn(name, "\n");
        for (int k = 0; k < 9; k++) put_name(w->probes, name, length, columns[k]);
        name += length + (name[length] == '\n');
    }
    fputc('\n', w->probes);
    MODAL_TRY(put_line(w, err));
done:
    return status;
}

modal_status modaltled_probes_advance(run *w, int64_t n, const modal_progress *progress, int64_t *element, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!w->probes) return modal_tled_follow_advance(&w->follow, n, progress, element, err);
    *element = -1;
    while (modal_tled_motion_steps(w->motion) < n) {
        const int64_t next = modal_tled_motion_steps(w->motion) + 1;
        MODAL_TRY(modal_tled_follow_advance(&w->follow, next, progress, element, err));
        if (modal_tled_motion_steps(w->motion) < next) goto done; /* the step has shrunk, from the last line on */
        MODAL_TRY(put_line(w, err));
    }
done:
    return status;
}

modal_status modaltled_probes_end(run *w, int keeps, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (w->probes && fclose(w->probes) != 0 && keeps)
        status = modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be written, %s", w->r->probes_path, strerror(errno));
    if (w->probes && keeps && status == MODAL_OK) status = tool_output_commit(&w->outputs->probes, err);
    w->probes = NULL;
    return status;
}
