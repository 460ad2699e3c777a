/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/mode_swing.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/deform/reach.h"

/* The first and last mode of a part of the list, "4" or "4-7"; *text moves past it and its comma. */
static modal_status read_part(const char **text, int32_t n_modes, int64_t part[2], modal_error *err)
{
    const char *start = *text, *c = start;
    for (int i = 0; i < 2; i++) {
        char *end = NULL;
        if (i == 1 && *c != '-') {
            part[1] = part[0];
            break;
        }
        c += i;
        if (!isdigit((unsigned char)*c)) return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: not a list such as 0,2,5-8, %s", start);
        part[i] = strtoll(c, &end, 10); /* of too many digits the largest number */
        c = end;
    }
    if (*c && *c != ',') return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: not a list such as 0,2,5-8, %s", start);
    if (part[1] < part[0]) return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: descends, %s", start);
    if (part[1] >= n_modes)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: the basis has modes 0 .. %d, %s", n_modes - 1, start);
    *text = c + (*c == ',');
    if (*c == ',' && !c[1]) return modal_error_set(err, MODAL_ERROR_USAGE, "--modes: not a list such as 0,2,5-8, %s", start);
    return MODAL_OK;
}

modal_status tool_swing_list(const char *text, const modal_basis *basis, int32_t **list, int32_t *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t n_modes = 0;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (basis->shapes[basis->objects[i].shape].modes.n_modes > n_modes) n_modes = basis->shapes[basis->objects[i].shape].modes.n_modes;
    uint8_t *taken = NULL;
    MODAL_TRY(modal_alloc_zero(&taken, n_modes, 1, "modes", err));
    MODAL_TRY(modal_alloc(list, n_modes, sizeof **list, "modes", err));
    *n = 0;
    for (int32_t k = 0; !text && k < n_modes; k++) (*list)[(*n)++] = k;
    if (text)
        do {
            int64_t part[2];
            MODAL_TRY(read_part(&text, n_modes, part, err));
            for (int64_t k = part[0]; k <= part[1]; k++) {
                if (taken[k]++) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--modes: twice, %" PRId64, k);
                (*list)[(*n)++] = (int32_t)k;
            }
        } while (*text);
done:
    modal_free(&taken);
    return status;
}

/* [shapes][modes, as many as each has]: q_k at which the largest displacement is the share of the box's diagonal. */
static modal_status find_amplitudes(const tool_swing *swing, const modal_basis *basis, double **amplitudes, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_shape *s = &basis->shapes[i];
        const double wanted = swing->amplitude * modal_reach_diagonal(&s->surface);
        MODAL_TRY(modal_alloc(&amplitudes[i], s->modes.n_modes, sizeof **amplitudes, "amplitudes", err));
        MODAL_TRY(modal_reach_modes(s, i, &swing->source, amplitudes[i], err));
        for (int32_t k = 0; k < s->modes.n_modes; k++) {
            const double most = amplitudes[i][k];
            amplitudes[i][k] = wanted / most;
            if (!isfinite(amplitudes[i][k]))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: shape %s: mode %d moves nothing, its largest displacement is %g m", swing->path,
                           s->name ? s->name : "", k, most);
        }
    }
done:
    return status;
}

modal_status tool_swing_make(const tool_swing *swing, const modal_basis *basis, modal_trajectory *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t total = 0, n_values = 0;
    double **amplitudes = NULL;
    MODAL_TRY(modal_alloc_zero(&amplitudes, basis->n_shapes, sizeof *amplitudes, "amplitudes", err));
    MODAL_TRY(find_amplitudes(swing, basis, amplitudes, err));
    q->n_frames = swing->n_frames;
    q->n_objects = basis->n_objects;
    MODAL_TRY(modal_alloc(&q->mode_offsets, (int64_t)basis->n_objects + 1, sizeof *q->mode_offsets, "modes", err));
    total = modal_basis_mode_offsets(basis, q->mode_offsets);
    if (!modal_size_multiply(q->n_frames, total, &n_values)) n_values = -1;
    MODAL_TRY(modal_alloc(&q->times, q->n_frames, sizeof *q->times, "times", err));
    MODAL_TRY(modal_alloc_zero(&q->q, n_values, sizeof *q->q, "frames of the modes", err));
    for (int64_t f = 0; f < q->n_frames && f < (int64_t)swing->n * TOOL_SWING_FRAMES; f++) {
        const int32_t k = swing->list[f / TOOL_SWING_FRAMES];
        q->times[f] = (double)f / TOOL_SWING_FRAMES;
        for (int32_t i = 0; i < basis->n_objects; i++) {
            const int32_t shape = basis->objects[i].shape;
            if (k < basis->shapes[shape].modes.n_modes)
                q->q[f * total + q->mode_offsets[i] + k] =
                    amplitudes[shape][k] * sin(2 * M_PI * (double)(f % TOOL_SWING_FRAMES) / TOOL_SWING_FRAMES);
        }
    }
    memcpy(q->basis_hash, basis->hash, sizeof q->basis_hash);
    memcpy(q->basis_recipe, basis->recipe_hash, sizeof q->basis_recipe);
done:
    for (int32_t i = 0; amplitudes && i < basis->n_shapes; i++) modal_free(&amplitudes[i]);
    modal_free(&amplitudes);
    return status;
}
