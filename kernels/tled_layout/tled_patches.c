/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tled_layout/tled_patches.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/tled_layout/tled_banks.h"
#include "kernels/tled_layout/tled_bisect.h"
#include "kernels/tled_layout/tled_fans.h"
#include "lib/base/memory.h"

enum { BANKS = 32, WARP = 32, MOST_FORCES = (1 << 15) - 1, MOST_SUMS = (1 << 16) - 1 };

/* A patch before its tables are laid out. */
typedef struct draft {
    int64_t first, n_elements; /* in centres; until `expand` units are counted: macro-elements, or elements */
    int hexahedra;
    int32_t n_places, n_lanes, n_slots;
    int32_t *nodes;        /* [n_places] the solid's */
    int32_t *n_forces;     /* [n_places], falling */
    modal_tled_fan *lanes; /* [n_lanes] places in `corners`; a hexahedron has 8 of them and n = 1 */
} draft;

/* What one thread needs for one patch. */
typedef struct patch_desk {
    int32_t most;         /* elements */
    uint32_t mask, stamp; /* of the table below: place of a node */
    int32_t *key, *place;
    uint32_t *stamps;
    int32_t (*corners)[4];
    double (*positions)[3];
    modal_tled_fans *fans;
    modal_tled_banks *banks;
    modal_tled_fan *lanes, *sorted;
    modal_tled_centre *centres;
    int32_t *nodes, *n_forces, *classes, *order, *count;
    uint8_t *taken;
} patch_desk;

typedef struct maker {
    const modal_tled_solid *solid;
    const modal_tled_patch_plan *plan;
    modal_tled_patches *out;
    modal_tled_centre *centres;
    int32_t n_drafts;
    draft *drafts;
} maker;

static int n_corners(const draft *d) { return d->hexahedra ? 8 : 4; }

static int lane_corners(const draft *d, const modal_tled_fan *lane) { return d->hexahedra ? 8 : lane->n + 3; }

static const int32_t *element_corners(const modal_tled_solid *s, int64_t e)
{
    return e < s->n_tetrahedra ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
}

static patch_desk *delete_desk(patch_desk *d)
{
    if (!d) return NULL;
    modal_free(&d->key), modal_free(&d->place), modal_free(&d->stamps), modal_free(&d->corners);
    modal_free(&d->positions), modal_free(&d->lanes), modal_free(&d->sorted), modal_free(&d->centres), modal_free(&d->nodes), modal_free(&d->n_forces);
    modal_free(&d->classes), modal_free(&d->order), modal_free(&d->count), modal_free(&d->taken);
    d->fans = modal_tled_fans_delete(d->fans);
    d->banks = modal_tled_banks_delete(d->banks);
    modal_free(&d);
    return NULL;
}

static modal_status new_desk(patch_desk **result, int32_t most, modal_error *err)
{
    static const char what[] = "room to make patches";
    modal_status status = MODAL_OK;
    const int64_t n = 8 * (int64_t)most;
    int64_t size = 16;
    patch_desk *d = NULL;
    *result = NULL;
    while (size < 2 * n) size *= 2;
    MODAL_TRY(modal_alloc_zero(&d, 1, sizeof *d, what, err));
    d->most = most;
    d->mask = (uint32_t)(size - 1);
    MODAL_TRY(modal_alloc(&d->key, size, sizeof *d->key, what, err));
    MODAL_TRY(modal_alloc(&d->place, size, sizeof *d->place, what, err));
    MODAL_TRY(modal_alloc_zero(&d->stamps, size, sizeof *d->stamps, what, err));
    MODAL_TRY(modal_alloc(&d->corners, most, sizeof *d->corners, what, err));
    MODAL_TRY(modal_alloc(&d->positions, n, sizeof *d->positions, what, err));
    MODAL_TRY(modal_alloc(&d->lanes, most, sizeof *d->lanes, what, err));
    MODAL_TRY(modal_alloc(&d->sorted, most, sizeof *d->sorted, what, err));
    MODAL_TRY(modal_alloc(&d->centres, most, sizeof *d->centres, what, err));
    MODAL_TRY(modal_alloc(&d->nodes, n, sizeof *d->nodes, what, err));
    MODAL_TRY(modal_alloc(&d->n_forces, n, sizeof *d->n_forces, what, err));
    MODAL_TRY(modal_alloc(&d->classes, n, sizeof *d->classes, what, err));
    MODAL_TRY(modal_alloc(&d->order, n, sizeof *d->order, what, err));
    MODAL_TRY(modal_alloc(&d->count, n + 2, sizeof *d->count, what, err));
    MODAL_TRY(modal_alloc(&d->taken, n, 1, what, err));
    MODAL_TRY(modal_tled_fans_new(&d->fans, most, err));
    MODAL_TRY(modal_tled_banks_new(&d->banks, most, (int32_t)n, err));
    *result = d;
    d = NULL;
done:
    delete_desk(d);
    return status;
}

/* The place of a node in the patch at hand, a new one where it has none. */
static int32_t place_of(patch_desk *d, int32_t node, int32_t *n_places)
{
    uint32_t k = ((uint32_t)node * 2654435769u) >> 7 & d->mask;
    while (d->stamps[k] == d->stamp && d->key[k] != node) k = (k + 1) & d->mask;
    if (d->stamps[k] != d->stamp) {
        d->stamps[k] = d->stamp;
        d->key[k] = node;
        d->nodes[*n_places] = node;
        d->place[k] = (*n_places)++;
    }
    return d->place[k];
}

/* Elements [*first, return) of a unit of the solid: a macro-element or a hexahedron after them, or an element. */
static int64_t unit_elements(const modal_tled_solid *s, int64_t unit, int64_t *first)
{
    if (!s->macro_offsets) return *first = unit, unit + 1;
    if (unit >= s->n_macros) return *first = s->n_tetrahedra + unit - s->n_macros, *first + 1;
    *first = s->macro_offsets[unit];
    return s->macro_offsets[unit + 1];
}

static int64_t n_tetrahedral_units(const modal_tled_solid *s) { return s->macro_offsets ? s->n_macros : s->n_tetrahedra; }

/* Corners of a unit at most. */
static int unit_corners(const maker *m, const draft *d) { return m->solid->macro_offsets && !d->hexahedra ? MODAL_TLED_MACRO_CORNERS : n_corners(d); }

static int32_t count_places(const maker *m, patch_desk *desk, const draft *d)
{
    int32_t n = 0;
    desk->stamp++;
    for (int64_t i = d->first; i < d->first + d->n_elements; i++) {
        int64_t e;
        const int64_t end = unit_elements(m->solid, m->centres[i].element, &e);
        for (; e < end; e++)
            for (int k = 0; k < n_corners(d); k++) place_of(desk, element_corners(m->solid, e)[k], &n);
    }
    return n;
}

/* Fans of each macro-element of a patch alone, the longest first. */
static int32_t make_macro_lanes(const maker *m, patch_desk *desk, const draft *d)
{
    const modal_tled_solid *s = m->solid;
    int32_t made = 0, sorted = 0;
    for (int32_t i = 0, n; i < d->n_elements; i += n) {
        const int32_t macro = s->macro_of[m->centres[d->first + i].element];
        n = (int32_t)(s->macro_offsets[macro + 1] - s->macro_offsets[macro]);
        const int32_t fans = modal_tled_fans_make(desk->fans, n, (const int32_t(*)[4])(desk->corners + i), (const double(*)[3])desk->positions,
                                                  m->plan->fan, desk->lanes + made);
        for (int32_t l = made; l < made + fans; l++)
            for (int k = 0; k < desk->lanes[l].n; k++) desk->lanes[l].elements[k] += i;
        made += fans;
    }
    for (int length = MODAL_TLED_FAN; length > 0; length--)
        for (int32_t l = 0; l < made; l++)
            if (desk->lanes[l].n == length) desk->sorted[sorted++] = desk->lanes[l];
    memcpy(desk->lanes, desk->sorted, (size_t)made * sizeof *desk->lanes);
    return made;
}

/* Lanes of a patch into desk->lanes, with places in the order in which they are met. */
static void make_lanes(const maker *m, patch_desk *desk, draft *d)
{
    const modal_tled_solid *s = m->solid;
    desk->stamp++;
    for (int32_t i = 0; i < d->n_elements; i++) {
        const int32_t e = m->centres[d->first + i].element, *c = element_corners(s, e);
        if (d->hexahedra) {
            desk->lanes[i] = (modal_tled_fan){.n = 1, .elements = {e}};
            for (int k = 0; k < 8; k++) desk->lanes[i].corners[k] = place_of(desk, c[k], &d->n_places);
        } else {
            for (int k = 0; k < 4; k++) desk->corners[i][k] = place_of(desk, c[k], &d->n_places);
        }
    }
    d->n_lanes = (int32_t)d->n_elements;
    if (d->hexahedra) return;
    for (int32_t i = 0; i < d->n_places; i++)
        memcpy(desk->positions[i], s->nodes + 3 * (int64_t)desk->nodes[i], sizeof desk->positions[i]);
    if (s->macro_offsets) d->n_lanes = make_macro_lanes(m, desk, d);
    else
        d->n_lanes = modal_tled_fans_make(desk->fans, (int32_t)d->n_elements, (const int32_t(*)[4])desk->corners,
                                          (const double(*)[3])desk->positions, m->plan->fan, desk->lanes);
    for (int32_t l = 0; l < d->n_lanes; l++)
        for (int k = 0; k < desk->lanes[l].n; k++)
            desk->lanes[l].elements[k] = m->centres[d->first + desk->lanes[l].elements[k]].element;
}

/* Lanes that read at once are neighbours: so are their corners, and places for them are found in different banks. */
static void order_lanes(const maker *m, patch_desk *desk, const draft *d)
{
    for (int32_t from = 0, to; from < d->n_lanes; from = to) {
        for (to = from; to < d->n_lanes && desk->lanes[to].n == desk->lanes[from].n; to++) {
            double sum[3] = {0, 0, 0};
            const int n = lane_corners(d, &desk->lanes[to]);
            for (int k = 0; k < n; k++)
                for (int i = 0; i < 3; i++) sum[i] += m->solid->nodes[3 * (int64_t)desk->nodes[desk->lanes[to].corners[k]] + i];
            for (int i = 0; i < 3; i++) desk->centres[to].at[i] = (float)(sum[i] / n);
            desk->centres[to].element = to;
        }
        modal_tled_bisect_order(desk->centres + from, to - from, MODAL_TLED_AT_ONCE);
    }
    for (int32_t l = 0; l < d->n_lanes; l++) desk->sorted[l] = desk->lanes[desk->centres[l].element];
    memcpy(desk->lanes, desk->sorted, (size_t)d->n_lanes * sizeof *desk->lanes);
}

/* Places by falling number of forces, the same order else. */
static modal_status make_draft(const maker *m, patch_desk *desk, draft *d, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t n_classes = 0;
    make_lanes(m, desk, d);
    order_lanes(m, desk, d);
    memset(desk->n_forces, 0, (size_t)d->n_places * sizeof *desk->n_forces);
    for (int32_t l = 0; l < d->n_lanes; l++)
        for (int k = 0; k < lane_corners(d, &desk->lanes[l]); k++)
            desk->n_forces[desk->lanes[l].corners[k]]++, d->n_slots++;
    int32_t most = 0;
    for (int32_t i = 0; i < d->n_places; i++)
        if (desk->n_forces[i] > most) most = desk->n_forces[i];
    memset(desk->count, 0, (size_t)(most + 1) * sizeof *desk->count);
    for (int32_t i = 0; i < d->n_places; i++) desk->count[most - desk->n_forces[i]] = 1;
    for (int32_t k = 0, n = 0; k <= most; k++) {
        const int32_t is_there = desk->count[k];
        desk->count[k] = n;
        n += is_there;
        n_classes = n;
    }
    for (int32_t i = 0; i < d->n_places; i++) desk->classes[i] = desk->count[most - desk->n_forces[i]];
    modal_tled_banks_spread(desk->banks, desk->lanes, d->n_lanes, d->hexahedra ? 8 : 0, d->n_places, desk->classes, n_classes, desk->order);
    MODAL_TRY(modal_alloc(&d->nodes, d->n_places, sizeof *d->nodes, "nodes of a patch", err));
    MODAL_TRY(modal_alloc(&d->n_forces, d->n_places, sizeof *d->n_forces, "nodes of a patch", err));
    MODAL_TRY(modal_alloc(&d->lanes, d->n_lanes, sizeof *d->lanes, "lanes of a patch", err));
    for (int32_t i = 0; i < d->n_places; i++) {
        d->nodes[desk->order[i]] = desk->nodes[i];
        d->n_forces[desk->order[i]] = desk->n_forces[i];
    }
    memcpy(d->lanes, desk->lanes, (size_t)d->n_lanes * sizeof *d->lanes);
    for (int32_t l = 0; l < d->n_lanes; l++)
        for (int k = 0; k < lane_corners(d, &d->lanes[l]); k++)
            d->lanes[l].corners[k] = desk->order[d->lanes[l].corners[k]];
done:
    return status;
}

static modal_status find_centres(maker *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = m->solid;
    const int64_t n = n_tetrahedral_units(s) + s->n_hexahedra;
    MODAL_TRY(modal_alloc(&m->centres, n, sizeof *m->centres, "centres of elements", err));
#pragma omp parallel for schedule(static)
    for (int64_t u = 0; u < n; u++) {
        int64_t e, first;
        const int64_t end = unit_elements(s, u, &first);
        const int corners = first < s->n_tetrahedra ? 4 : 8;
        double sum[3] = {0, 0, 0};
        for (e = first; e < end; e++)
            for (int k = 0; k < corners; k++)
                for (int i = 0; i < 3; i++) sum[i] += s->nodes[3 * (int64_t)element_corners(s, e)[k] + i];
        for (int i = 0; i < 3; i++) m->centres[u].at[i] = (float)(sum[i] / (double)(corners * (end - first)));
        m->centres[u].element = (int32_t)u;
    }
done:
    return status;
}

/* From units to elements, those of a macro-element one after the other. */
static modal_status expand(maker *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_tled_solid *s = m->solid;
    modal_tled_centre *centres = NULL;
    int64_t n = 0;
    if (!s->macro_offsets) return MODAL_OK;
    MODAL_TRY(modal_alloc(&centres, s->n_tetrahedra + s->n_hexahedra, sizeof *centres, "centres of elements", err));
    for (int32_t i = 0; i < m->n_drafts; i++) {
        draft *d = &m->drafts[i];
        const int64_t begin = n;
        for (int64_t u = d->first; u < d->first + d->n_elements; u++) {
            int64_t e;
            const int64_t end = unit_elements(s, m->centres[u].element, &e);
            for (; e < end; e++) centres[n++].element = (int32_t)e;
        }
        d->first = begin, d->n_elements = n - begin;
    }
    modal_free(&m->centres);
    m->centres = centres;
done:
    return status;
}

static modal_status bisect(maker *m, int hexahedra, int64_t first, int64_t n, int32_t size, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t parts = (int32_t)((n + size - 1) / size);
    int64_t *ends = NULL;
    if (n == 0) goto done;
    MODAL_TRY(modal_alloc(&ends, parts, sizeof *ends, "patches", err));
    modal_tled_bisect(m->centres + first, n, parts, m->plan->layers, ends);
    for (int32_t p = 0; p < parts; p++) {
        const int64_t start = p > 0 ? ends[p - 1] : 0;
        m->drafts[m->n_drafts++] =
            (draft){.first = first + start, .n_elements = ends[p] - start, .hexahedra = hexahedra};
    }
done:
    modal_free(&ends);
    return status;
}

static int32_t most_elements(const maker *m)
{
    int64_t most = 1;
    for (int32_t i = 0; i < m->n_drafts; i++)
        if (m->drafts[i].n_elements > most) most = m->drafts[i].n_elements;
    return (int32_t)most;
}

/* Halves patches of too many places until none is left. */
static modal_status fit(maker *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    patch_desk *desk = NULL;
    draft *now = NULL;
    int64_t capacity = 0, n = m->n_drafts;
    int64_t ends[2];
    MODAL_TRY(new_desk(&desk, most_elements(m) * (m->solid->macro_offsets ? 2 : 1), err)); /* of 8 corners each */
    MODAL_TRY(modal_grow(&now, &capacity, n, sizeof *now, "patches", err));
    n = 0;
    for (int32_t i = 0; i < m->n_drafts; i++) {
        draft stack[40];
        int top = 0;
        stack[top++] = m->drafts[i];
        while (top > 0) {
            draft d = stack[--top];
            if (d.n_elements <= 1 || unit_corners(m, &d) * d.n_elements <= m->plan->places ||
                count_places(m, desk, &d) <= m->plan->places) {
                MODAL_TRY(modal_grow(&now, &capacity, n + 1, sizeof *now, "patches", err));
                now[n++] = d;
                continue;
            }
            modal_tled_bisect(m->centres + d.first, d.n_elements, 2, m->plan->layers, ends);
            draft second = d;
            second.first += ends[0], second.n_elements -= ends[0];
            d.n_elements = ends[0];
            stack[top++] = second;
            stack[top++] = d;
        }
    }
    if (n > INT32_MAX) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld patches are too many", (long long)n);
    modal_free(&m->drafts);
    m->drafts = now;
    m->n_drafts = (int32_t)n;
    now = NULL;
done:
    modal_free(&now);
    delete_desk(desk);
    return status;
}

static modal_status make_drafts(maker *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t most = most_elements(m);
#pragma omp parallel
    {
        modal_error mine = {0};
        patch_desk *desk = NULL;
        modal_status got = new_desk(&desk, most, &mine);
#pragma omp for schedule(dynamic, 8)
        for (int32_t i = 0; i < m->n_drafts; i++)
            if (got == MODAL_OK) got = make_draft(m, desk, &m->drafts[i], &mine);
        if (got != MODAL_OK) {
#pragma omp critical(modal_tled_drafts)
            {
                status = got;
                if (err) *err = mine;
            }
        }
        delete_desk(desk);
    }
    return status;
}

/* Numbers nodes by first patch, and lays out the tables. `sums` [n_nodes + 1]: where a node's partial sums begin, in the
 * patches' order. */
static modal_status number(maker *m, int32_t *number_of, int32_t *sums, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_patches *p = m->out;
    int64_t n_bases = 0;
    p->n_nodes = m->solid->n_nodes;
    p->n_patches = m->n_drafts;
    MODAL_TRY(modal_alloc(&p->nodes, p->n_nodes, sizeof *p->nodes, "order of nodes", err));
    MODAL_TRY(modal_alloc_zero(&p->patches, p->n_patches, sizeof *p->patches, "patches", err));
    for (int64_t i = 0; i < p->n_nodes; i++) number_of[i] = -1, sums[i] = 0;
    int32_t next = 0;
    for (int32_t i = 0; i < m->n_drafts; i++) {
        const draft *d = &m->drafts[i];
        modal_tled_patch *patch = &p->patches[i];
        *patch = (modal_tled_patch){.first_place = p->n_places, .first_corner = p->n_corners,
                                    .first_element = p->n_elements, .n_places = d->n_places, .n_lanes = d->n_lanes,
                                    .n_slots = d->n_slots, .first_base = (int32_t)n_bases,
                                    .n_bases = d->n_forces[0], .hexahedra = d->hexahedra};
        p->n_places += d->n_places;
        patch->n_corners = lane_corners(d, &d->lanes[0]) * d->n_lanes; /* the first lane is a longest one */
        p->n_corners += (patch->n_corners + 3) / 4 * 4;                /* copied by four */
        p->n_elements += (int64_t)d->lanes[0].n * d->n_lanes;
        p->n_fans += d->hexahedra ? 0 : d->n_lanes;
        n_bases += d->n_forces[0];
        if (p->n_places > INT32_MAX || n_bases > INT32_MAX)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "a solid of %lld nodes is too large for one device", (long long)p->n_nodes);
        if (d->n_slots > MODAL_TLED_MOST_SLOTS || d->n_forces[0] > MOST_FORCES)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "patch %d: %d corners at one node", i, d->n_forces[0]);
        if (d->n_lanes >= MODAL_TLED_NO_LANE) MODAL_FAIL(err, MODAL_ERROR_INPUT, "patch %d: %d lanes are too many", i, d->n_lanes);
        for (int32_t k = 0; k < d->n_places; k++) {
            if (number_of[d->nodes[k]] < 0) {
                p->nodes[next] = d->nodes[k];
                number_of[d->nodes[k]] = next++;
            }
            if (++sums[number_of[d->nodes[k]] + 1] > MOST_SUMS)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "node %d: in more than %d patches", d->nodes[k], MOST_SUMS);
        }
        if (d->n_places > p->most_places) p->most_places = d->n_places;
        if (d->n_lanes > p->most_lanes) p->most_lanes = d->n_lanes;
        if (d->n_slots > p->most_slots) p->most_slots = d->n_slots;
        if (d->n_forces[0] > p->most_bases) p->most_bases = d->n_forces[0];
        if (patch->n_corners > p->most_corners) p->most_corners = patch->n_corners;
    }
    p->n_bases = (int32_t)n_bases;
    for (int64_t i = 0; i < p->n_nodes; i++)
        if (number_of[i] < 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "node %lld is in no element", (long long)i);
    for (int64_t i = 0; i < p->n_nodes; i++) sums[i + 1] += sums[i];
    MODAL_TRY(modal_alloc(&p->places, p->n_places, sizeof *p->places, "nodes of patches", err));
    MODAL_TRY(modal_alloc_zero(&p->corners, p->n_corners, sizeof *p->corners, "corners of patches", err));
    MODAL_TRY(modal_alloc(&p->elements, p->n_elements, sizeof *p->elements, "elements of patches", err));
    MODAL_TRY(modal_alloc(&p->bases, n_bases, sizeof *p->bases, "slots of patches", err));
    if (m->solid->macro_offsets) MODAL_TRY(modal_alloc_zero(&p->rings, p->n_elements, sizeof *p->rings, "lanes of patches", err));
done:
    return status;
}

/* The writes of a warp's lanes at one corner: which slot each takes. */
typedef struct writes {
    int n;
    int32_t place[WARP], slot[WARP];
    int users[BANKS], lanes[BANKS][WARP]; /* of a bank */
} writes;

/* Whether a lane of the bank has the slot: lanes may have one place. */
static int has_slot(const writes *w, int bank, int32_t slot)
{
    for (int k = 0; k < w->users[bank]; k++)
        if (w->slot[w->lanes[bank][k]] == slot) return 1;
    return 0;
}

/* Finds lane `l` a free slot in a bank of fewer than `most` users, others moved to banks not `seen` yet where that helps; 0: there is
 * none. */
static int find_slot(writes *w, int l, int most, const draft *d, const uint16_t *bases, const uint8_t *taken, uint32_t *seen)
{
    const int32_t place = w->place[l];
    for (int32_t j = 0; j < d->n_forces[place]; j++) {
        const int32_t slot = bases[j] + place, bank = slot % BANKS;
        if (taken[slot] || *seen >> bank & 1 || w->users[bank] >= most || has_slot(w, bank, slot)) continue;
        w->lanes[bank][w->users[bank]++] = l;
        w->slot[l] = slot;
        return 1;
    }
    for (int32_t j = 0; j < d->n_forces[place]; j++) {
        const int32_t slot = bases[j] + place, bank = slot % BANKS;
        if (taken[slot] || *seen >> bank & 1 || has_slot(w, bank, slot)) continue;
        *seen |= 1u << bank;
        for (int k = 0; k < w->users[bank]; k++)
            if (find_slot(w, w->lanes[bank][k], most, d, bases, taken, seen)) {
                w->lanes[bank][k] = l;
                w->slot[l] = slot;
                return 1;
            }
    }
    return 0;
}

static void set_corner(const draft *d, uint32_t *corners, int32_t l, int k, uint32_t place, uint32_t slot)
{
    if (d->hexahedra) {
        corners[4 * l + k / 2] |= place << (k % 2 * 16);
        corners[4 * (d->n_lanes + l) + k / 2] |= slot << (k % 2 * 16);
    } else {
        corners[k * d->n_lanes + l] = place | (k == 0 ? (uint32_t)d->lanes[l].n << MODAL_TLED_PLACE_BITS : 0) | slot << 16;
    }
}

/* Corners of a patch: each gets a free slot of its place, so that as few as possible of a warp's lanes write to one bank. */
static void choose_slots(const draft *d, const uint16_t *bases, uint32_t *corners, uint8_t *taken)
{
    memset(taken, 0, (size_t)d->n_slots);
    const int columns = lane_corners(d, &d->lanes[0]);
    for (int32_t warp = 0; warp < d->n_lanes; warp += WARP)
        for (int k = 0; k < columns; k++) {
            writes w = {0};
            for (int32_t l = warp; l < d->n_lanes && l < warp + WARP && k < lane_corners(d, &d->lanes[l]); l++)
                w.place[w.n++] = d->lanes[l].corners[k];
            for (int l = 0, most = 1; l < w.n; l++) {
                uint32_t seen = 0;
                while (!find_slot(&w, l, most, d, bases, taken, &seen)) most++, seen = 0;
            }
            for (int l = 0; l < w.n; l++) {
                taken[w.slot[l]] = 1;
                set_corner(d, corners, warp + l, k, (uint32_t)w.place[l], (uint32_t)w.slot[l]);
            }
        }
}

/* Which lanes are of one macro-element. */
static void fill_rings(const modal_tled_solid *s, const draft *d, uint32_t *rings, int32_t *shares)
{
    for (int32_t l = 0; l < d->n_lanes && !d->hexahedra; l++) {
        const int32_t macro = s->macro_of[d->lanes[l].elements[0]];
        uint32_t first = (uint32_t)l, next = MODAL_TLED_NO_LANE;
        const int is_alone = d->lanes[l].n == s->macro_offsets[macro + 1] - s->macro_offsets[macro];
        for (int32_t k = 0; k < l && !is_alone && first == (uint32_t)l; k++)
            if (s->macro_of[d->lanes[k].elements[0]] == macro) first = (uint32_t)k;
        for (int32_t k = l + 1; k < d->n_lanes && !is_alone && next == MODAL_TLED_NO_LANE; k++)
            if (s->macro_of[d->lanes[k].elements[0]] == macro) next = (uint32_t)k;
        rings[l] = first | next << 16;
        *shares |= !is_alone;
    }
}

static void fill_patch(const maker *m, int32_t i, const int32_t *number_of, const int32_t *sums, uint8_t *taken)
{
    const draft *d = &m->drafts[i];
    modal_tled_patches *p = m->out;
    modal_tled_patch *patch = &p->patches[i];
    uint16_t *bases = p->bases + patch->first_base;
    int32_t base = 0, n = d->n_places;
    for (int32_t j = 0; j < patch->n_bases; j++) {
        bases[j] = (uint16_t)base;
        while (d->n_forces[n - 1] <= j) n--;
        base += n;
    }
    choose_slots(d, bases, p->corners + patch->first_corner, taken);
    for (int32_t k = 0; k < d->n_places; k++) {
        const int32_t node = number_of[d->nodes[k]];
        p->places[patch->first_place + k] = (modal_tled_place){
            .node = node, .first_sum = sums[node],
            .counts = (uint32_t)(sums[node + 1] - sums[node]) | (uint32_t)d->n_forces[k] << 16};
    }
    if (p->rings) fill_rings(m->solid, d, p->rings + patch->first_element, &patch->shares);
    patch->material = m->solid->material[d->lanes[0].elements[0]];
    for (int32_t l = 0; l < d->n_lanes; l++)
        for (int k = 0; k < d->lanes[0].n; k++) {
            const int32_t e = k < d->lanes[l].n ? d->lanes[l].elements[k] : -1;
            p->elements[patch->first_element + (int64_t)k * d->n_lanes + l] = e;
            if (e >= 0 && m->solid->material[e] != patch->material) patch->material = -1;
        }
}

static modal_status fill(maker *m, const int32_t *number_of, int32_t *sums, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_patches *p = m->out;
#pragma omp parallel
    {
        modal_error mine = {0};
        uint8_t *taken = NULL;
        const modal_status got = modal_alloc(&taken, p->most_slots, 1, "slots", &mine);
#pragma omp for schedule(dynamic, 8)
        for (int32_t i = 0; i < m->n_drafts; i++)
            if (got == MODAL_OK) fill_patch(m, i, number_of, sums, taken);
        if (got != MODAL_OK) {
#pragma omp critical(modal_tled_fill)
            {
                status = got;
                if (err) *err = mine;
            }
        }
        modal_free(&taken);
    }
    if (status != MODAL_OK) return status;
    for (int64_t k = 0; k < p->n_places; k++) { /* in order of patches: the first has the node's first sum */
        modal_tled_place *place = &p->places[k];
        place->own_sum = sums[place->node]++;
        if (place->own_sum == place->first_sum) place->counts |= 0x80000000u;
    }
    return status;
}

modal_status modal_tled_patches_make(modal_tled_patches *patches, const modal_tled_solid *solid,
                                     const modal_tled_patch_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    maker m = {.solid = solid, .plan = plan, .out = patches};
    int32_t *number_of = NULL, *sums = NULL;
    const int64_t n = solid->n_tetrahedra + solid->n_hexahedra;
    *patches = (modal_tled_patches){0};
    if (n > INT32_MAX || solid->n_nodes >= INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld elements are too many for one device", (long long)n);
    MODAL_TRY(find_centres(&m, err));
    const int64_t units = n_tetrahedral_units(solid), size = units > 0 ? plan->tetrahedra * units / solid->n_tetrahedra : 1;
    MODAL_TRY(modal_alloc(&m.drafts, (size > 0 ? units / size : units) + n / plan->hexahedra + 2, sizeof *m.drafts, "patches", err));
    MODAL_TRY(bisect(&m, 0, 0, units, size > 0 ? (int32_t)size : 1, err));
    MODAL_TRY(bisect(&m, 1, units, solid->n_hexahedra, plan->hexahedra, err));
    MODAL_TRY(fit(&m, err));
    MODAL_TRY(expand(&m, err));
    MODAL_TRY(make_drafts(&m, err));
    modal_free(&m.centres);
    MODAL_TRY(modal_alloc(&number_of, solid->n_nodes, sizeof *number_of, "order of nodes", err));
    MODAL_TRY(modal_alloc(&sums, solid->n_nodes + 1, sizeof *sums, "partial sums", err));
    sums[solid->n_nodes] = 0;
    MODAL_TRY(number(&m, number_of, sums, err));
    MODAL_TRY(fill(&m, number_of, sums, err));
done:
    for (int32_t i = 0; i < m.n_drafts; i++) {
        modal_free(&m.drafts[i].nodes);
        modal_free(&m.drafts[i].n_forces);
        modal_free(&m.drafts[i].lanes);
    }
    modal_free(&m.drafts), modal_free(&m.centres), modal_free(&number_of), modal_free(&sums);
    if (status != MODAL_OK) modal_tled_patches_free(patches);
    return status;
}

void modal_tled_patches_free(modal_tled_patches *patches)
{
    modal_free(&patches->nodes), modal_free(&patches->patches), modal_free(&patches->places);
    modal_free(&patches->corners), modal_free(&patches->elements), modal_free(&patches->bases), modal_free(&patches->rings);
    *patches = (modal_tled_patches){0};
}
