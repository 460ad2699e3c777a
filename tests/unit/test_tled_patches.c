/* SPDX-License-Identifier: Apache-2.0 */
/* Patches of a solid: every element once and as it was, every force in a slot of its own and in its node's sum, within the
 * plan's limits, for any number of threads; and no allocation that fails is overlooked. */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/tled_layout/tled_fans.h"
#include "kernels/tled_layout/tled_near.h"
#include "kernels/tled_layout/tled_patches.h"
#include "kernels/tled_layout/tled_remotes.h"
#include "lib/base/memory.h"

typedef struct box {
    modal_tled_solid solid;
    double *nodes, *mass;
    int32_t *tetrahedra, *hexahedra, *material;
} box;

static uint32_t state = 1;
static int32_t pick(int32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (int32_t)((state >> 8) % (uint32_t)n);
}

static void *room(size_t count, size_t bytes)
{
    void *p = calloc(count + 1, bytes);
    assert_non_null(p);
    return p;
}

/* n^3 cells, the first `hexahedra` of them as hexahedra, the others in six tetrahedra; nodes and elements in random order,
 * three materials. */
static box new_box(int n, int hexahedra)
{
    static const int turns[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const int k = n + 1, cells = n * n * n, n_nodes = k * k * k;
    box b = {.nodes = room((size_t)n_nodes, 24), .mass = room((size_t)n_nodes, 8), .tetrahedra = room((size_t)cells * 6, 16),
             .hexahedra = room((size_t)cells, 32), .material = room((size_t)cells * 7, 4)};
    int32_t *name = room((size_t)n_nodes, 4), n_t = 0, n_h = 0;
    for (int32_t i = 0; i < n_nodes; i++) name[i] = i;
    for (int32_t i = n_nodes - 1; i > 0; i--) {
        const int32_t j = pick(i + 1), t = name[i];
        name[i] = name[j], name[j] = t;
    }
    for (int i = 0; i < n_nodes; i++)
        for (int c = 0; c < 3; c++)
            b.nodes[3 * name[i] + c] = (c == 0 ? i % k : c == 1 ? i / k % k : i / k / k) + 0.001 * pick(200);
    for (int i = 0; i < cells; i++) {
        const int at[3] = {i % n, i / n % n, i / n / n};
        if (i < hexahedra) {
            for (int c = 0; c < 8; c++)
                b.hexahedra[8 * n_h + c] = name[((at[2] + corner[c][2]) * k + at[1] + corner[c][1]) * k + at[0] + corner[c][0]];
            n_h++;
            continue;
        }
        for (int t = 0; t < 6; t++, n_t++) {
            int v[3] = {at[0], at[1], at[2]};
            int32_t *c = b.tetrahedra + 4 * n_t;
            for (int s = 0; s < 4; s++) {
                c[s] = name[(v[2] * k + v[1]) * k + v[0]];
                if (s < 3) v[turns[t][s]]++;
            }
            if (t == 1 || t == 2 || t == 5) { /* positive volumes */
                const int32_t third = c[2];
                c[2] = c[3], c[3] = third;
            }
        }
    }
    for (int32_t e = n_t - 1; e > 0; e--)
        for (int c = 0, j = pick(e + 1); c < 4; c++) {
            const int32_t t = b.tetrahedra[4 * e + c];
            b.tetrahedra[4 * e + c] = b.tetrahedra[4 * j + c], b.tetrahedra[4 * j + c] = t;
        }
    for (int32_t e = 0; e < n_t + n_h; e++) b.material[e] = pick(40) == 0 ? pick(3) : 0;
    free(name);
    b.solid = (modal_tled_solid){.n_nodes = n_nodes, .nodes = b.nodes, .mass = b.mass, .n_tetrahedra = n_t,
                                 .n_hexahedra = n_h, .tetrahedra = b.tetrahedra, .hexahedra = b.hexahedra,
                                 .material = b.material, .n_materials = 3};
    return b;
}

static void free_box(box *b)
{
    free(b->nodes), free(b->mass), free(b->tetrahedra), free(b->hexahedra), free(b->material);
}

/* Whether (a, b, c, d) is an even permutation of an element's corners. */
static int same_tetrahedron(const int32_t *element, const int32_t *corners)
{
    int order[4], swaps = 0;
    for (int i = 0; i < 4; i++) {
        order[i] = -1;
        for (int k = 0; k < 4; k++)
            if (element[k] == corners[i]) order[i] = k;
        if (order[i] < 0) return 0;
    }
    for (int i = 0; i < 4; i++)
        for (int k = i + 1; k < 4; k++) {
            if (order[i] == order[k]) return 0;
            swaps += order[i] > order[k];
        }
    return swaps % 2 == 0;
}

/* The force of an element on a node: whole numbers, so that sums are exact. */
static double force(int32_t element, int32_t node) { return (double)(element % 1009 * 31 + node % 997); }

/* Place and slot of corner k of lane l: a word for both, of hexahedra 16 bits for each. */
static void read_corner(const modal_tled_patches *p, const modal_tled_patch *patch, int32_t l, int k, int32_t *place, uint32_t *slot)
{
    const uint32_t *corners = p->corners + patch->first_corner;
    if (patch->hexahedra) {
        *place = (int32_t)(corners[4 * l + k / 2] >> (k % 2 * 16) & 0xffff);
        *slot = corners[4 * (patch->n_lanes + l) + k / 2] >> (k % 2 * 16) & 0xffff;
    } else {
        *place = (int32_t)(corners[(int64_t)k * patch->n_lanes + l] & (MODAL_TLED_MOST_PLACES - 1));
        *slot = corners[(int64_t)k * patch->n_lanes + l] >> 16;
    }
}

/* What the lanes of patch i leave in their slots, and every element counted. */
static void fill_slots(const modal_tled_solid *s, const modal_tled_patches *p, int32_t i, double *slots, int *seen)
{
    const modal_tled_patch *patch = &p->patches[i];
    for (int32_t k = 0; k < patch->n_slots; k++) slots[k] = NAN;
    for (int32_t l = 0; l < patch->n_lanes; l++) {
        const uint32_t *corners = p->corners + patch->first_corner + l;
        const int32_t *elements = p->elements + patch->first_element + l;
        const int n = patch->hexahedra ? 1 : (int)(corners[0] >> MODAL_TLED_PLACE_BITS & 31), n_corners = patch->hexahedra ? 8 : n + 3;
        int32_t nodes[MODAL_TLED_FAN + 3];
        assert_in_range(n, 1, MODAL_TLED_FAN);
        for (int k = 0; k < n_corners; k++) {
            int32_t place;
            uint32_t slot;
            double sum = 0;
            read_corner(p, patch, l, k, &place, &slot);
            assert_true(place < patch->n_places && slot < (uint32_t)patch->n_slots && isnan(slots[slot]));
            nodes[k] = p->nodes[p->places[patch->first_place + place].node];
            for (int e = 0; e < n; e++) /* c_0 and c_n of a closed fan are one node: each time its own side */
                if (patch->hexahedra || k < 2 || k - 2 == e || k - 2 == e + 1)
                    sum += force(elements[(int64_t)e * patch->n_lanes], nodes[k]);
            slots[slot] = sum;
        }
        for (int e = 0; e < n; e++) {
            const int32_t element = elements[(int64_t)e * patch->n_lanes];
            const int32_t four[4] = {nodes[0], nodes[1], nodes[2 + e], nodes[3 + e]};
            seen[element]++;
            assert_true(patch->material < 0 || patch->material == s->material[element]);
            if (patch->hexahedra) assert_memory_equal(s->hexahedra + 8 * (element - s->n_tetrahedra), nodes, 32);
            else assert_true(same_tetrahedron(s->tetrahedra + 4 * element, four));
        }
    }
}

static void check_tables(const modal_tled_solid *s, const modal_tled_patches *p, const modal_tled_patch_plan *plan)
{
    const int64_t n_elements = s->n_tetrahedra + s->n_hexahedra;
    int *seen = room((size_t)n_elements, sizeof *seen), *owners = room((size_t)s->n_nodes, sizeof *owners);
    double *slots = room((size_t)p->most_slots, 8), *sums = room((size_t)p->n_places, 8);
    double *want = room((size_t)s->n_nodes, 8);
    assert_int_equal(p->n_corners % 4, 0);
    for (int64_t k = 0; k < p->n_places; k++) sums[k] = NAN;
    for (int32_t i = 0; i < p->n_patches; i++) {
        const modal_tled_patch *patch = &p->patches[i];
        assert_in_range(patch->n_places, 1, plan->places);
        assert_int_equal(patch->first_corner % 4, 0);
        assert_in_range(patch->n_corners, 4, p->most_corners);
        fill_slots(s, p, i, slots, seen);
        for (int32_t k = 0; k < patch->n_places; k++) {
            const modal_tled_place *place = &p->places[patch->first_place + k];
            double sum = 0;
            for (uint32_t j = 0; j < (place->counts >> 16 & 0x7fff); j++)
                sum += slots[p->bases[patch->first_base + (int64_t)j] + k];
            assert_true(isnan(sums[place->own_sum]));
            sums[place->own_sum] = sum;
            owners[place->node] += (int)(place->counts >> 31);
        }
    }
    for (int64_t e = 0; e < n_elements; e++) {
        const int n = e < s->n_tetrahedra ? 4 : 8;
        const int32_t *c = n == 4 ? s->tetrahedra + 4 * e : s->hexahedra + 8 * (e - s->n_tetrahedra);
        assert_int_equal(seen[e], 1);
        for (int k = 0; k < n; k++) want[c[k]] += force((int32_t)e, c[k]);
    }
    for (int64_t k = 0; k < p->n_places; k++) {
        const modal_tled_place *place = &p->places[k];
        double sum = 0;
        assert_int_equal(owners[place->node], 1);
        for (uint32_t j = 0; j < (place->counts & 0xffff); j++) sum += sums[place->first_sum + (int32_t)j];
        assert_true(sum == want[p->nodes[place->node]]);
    }
    free(seen), free(owners), free(slots), free(sums), free(want);
}

/* Every place sends the number of its partial sum to its targets: each list then holds the sums that it names, and those are
 * the other patches' of the places whose list it is. */
static void check_remotes(const modal_tled_patches *p)
{
    modal_tled_remotes r;
    modal_error err = {0};
    assert_int_equal(modal_tled_remotes_make(&r, p, &err), MODAL_OK);
    int32_t *got = room((size_t)r.n, sizeof *got);
    for (int32_t k = 0; k < r.n; k++) got[k] = -1;
    for (int32_t i = 0; i < p->n_patches; i++)
        for (int64_t k = p->patches[i].first_place; k < p->patches[i].first_place + p->patches[i].n_places; k++) {
            const modal_tled_place *place = &p->places[k];
            const int32_t n = (int32_t)(place->counts & 0xffff) - 1;
            int32_t next = place->first_sum;
            for (int32_t j = 0; j < n; j++, next++) {
                const int32_t entry = r.first[i] + r.of[k] + j;
                const uint32_t target = r.targets[entry];
                if (next == place->own_sum) next++;
                assert_int_equal(r.sums[entry], next);
                const int32_t there = r.first[target >> 16] + (int32_t)(target & 0xffff);
                assert_in_range(there, r.first[target >> 16], r.first[(target >> 16) + 1] - 1);
                assert_int_equal(got[there], -1);
                got[there] = place->own_sum;
            }
        }
    assert_memory_equal(got, r.sums, (size_t)r.n * sizeof *got);
    free(got);
    modal_tled_remotes_free(&r);
}

/* The lists are those of patches with a common node, each once and in order, and of the patch itself. */
static void check_near(const modal_tled_patches *p)
{
    modal_tled_near near;
    modal_error err = {0};
    uint8_t *has = room((size_t)(p->n_patches * p->n_nodes), 1);
    int32_t most = 0;
    assert_int_equal(modal_tled_near_make(&near, p, &err), MODAL_OK);
    for (int32_t i = 0; i < p->n_patches; i++)
        for (int32_t k = 0; k < p->patches[i].n_places; k++) has[i * p->n_nodes + p->places[p->patches[i].first_place + k].node] = 1;
    for (int32_t i = 0; i < p->n_patches; i++) {
        int32_t n = 0;
        for (int32_t j = 0; j < p->n_patches; j++) {
            int common = 0;
            for (int64_t k = 0; k < p->n_nodes; k++) common |= has[i * p->n_nodes + k] && has[j * p->n_nodes + k];
            if (common) {
                assert_true(n < near.most);
                assert_int_equal(near.lists[i * near.most + n++], j);
            }
        }
        most = n > most ? n : most;
        for (; n < near.most; n++) assert_int_equal(near.lists[i * near.most + n], -1);
    }
    assert_int_equal(near.most, most);
    free(has);
    modal_tled_near_free(&near);
}

static void every_force_in_its_sum(void **unused)
{
    (void)unused;
    static const modal_tled_patch_plan plans[] = {{1000, 192, 512, MODAL_TLED_FAN}, {80, 20, 60, 3}, {7, 3, 16, 1}, {300, 64, 40, 5},
                                                  {300, 64, 512, MODAL_TLED_FAN, 1}, {20, 6, 60, 4, 1}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (int hexahedra = 0; hexahedra <= 512; hexahedra += 256) {
            box b = new_box(8, hexahedra);
            modal_tled_patches p;
            modal_error err = {0};
            assert_int_equal(modal_tled_patches_make(&p, &b.solid, &plans[i], &err), MODAL_OK);
            check_tables(&b.solid, &p, &plans[i]);
            check_remotes(&p);
            if (p.n_patches < 200) check_near(&p);
            if (hexahedra == 0 && plans[i].fan == MODAL_TLED_FAN && plans[i].tetrahedra == 1000)
                assert_true(p.n_fans * 4 < b.solid.n_tetrahedra); /* more than four tetrahedra a fan */
            modal_tled_patches_free(&p);
            free_box(&b);
        }
}

/* A box of 11 cells an edge whose nodes are off the grid is cut between layers of cells: every patch is a box of cells, and a tetrahedron's
 * patch has its whole cell, so that all fans are of six. Without layers patches have more nodes. */
static void cuts_between_layers(void **unused)
{
    (void)unused;
    enum { CELLS = 11 };
    for (int hexahedra = 0; hexahedra < 2; hexahedra++) {
        box b = new_box(CELLS, hexahedra ? CELLS * CELLS * CELLS : 0);
        int64_t n_places[2];
        for (int layers = 0; layers < 2; layers++) {
            const modal_tled_patch_plan plan = {6 * 150, 150, 512, MODAL_TLED_FAN, layers};
            modal_tled_patches p;
            modal_error err = {0};
            assert_int_equal(modal_tled_patches_make(&p, &b.solid, &plan, &err), MODAL_OK);
            check_tables(&b.solid, &p, &plan);
            n_places[layers] = p.n_places;
            for (int32_t i = 0; i < p.n_patches && layers; i++) {
                const modal_tled_patch *patch = &p.patches[i];
                int is_box = 0;
                for (int x = 1; x <= CELLS; x++)
                    for (int y = 1; y <= CELLS; y++) {
                        const int z = patch->n_lanes / (x * y);
                        is_box |= x * y * z == patch->n_lanes && (x + 1) * (y + 1) * (z + 1) == patch->n_places;
                    }
                assert_true(is_box);
            }
            if (layers && !hexahedra) assert_int_equal(6 * p.n_fans, b.solid.n_tetrahedra);
            modal_tled_patches_free(&p);
        }
        assert_true(n_places[1] < n_places[0]);
        free_box(&b);
    }
}

/* The wavefronts of lanes' reads of 16 bytes, eight lanes at once, over what they would be without conflicts: places in the order in which
 * they are met have 2.5. */
static void reads_meet_few_conflicts(void **unused)
{
    (void)unused;
    static const modal_tled_patch_plan plan = {1000, 192, 512, MODAL_TLED_FAN, 1};
    for (int hexahedra = 0; hexahedra < 2; hexahedra++) {
        box b = new_box(12, hexahedra ? 12 * 12 * 12 : 0);
        modal_tled_patches p;
        modal_error err = {0};
        int64_t n = 0, worst_sum = 0;
        assert_int_equal(modal_tled_patches_make(&p, &b.solid, &plan, &err), MODAL_OK);
        for (int32_t i = 0; i < p.n_patches; i++) {
            const modal_tled_patch *patch = &p.patches[i];
            for (int32_t first = 0; first + 8 <= patch->n_lanes; first += 8)
                for (int k = 0; k < (hexahedra ? 8 : 4); k++) {
                    int32_t place[8], worst = 0;
                    uint32_t slot;
                    int used[8] = {0};
                    for (int l = 0; l < 8; l++) {
                        int is_new = 1;
                        read_corner(&p, patch, first + l, k, &place[l], &slot);
                        for (int m = 0; m < l; m++) is_new &= place[m] != place[l];
                        used[place[l] % 8] += is_new;
                    }
                    for (int w = 0; w < 8; w++) worst = used[w] > worst ? used[w] : worst;
                    worst_sum += worst, n++;
                }
        }
        assert_true(n > 0 && (double)worst_sum < 1.9 * (double)n);
        modal_tled_patches_free(&p);
        free_box(&b);
    }
}

static void same_for_any_number_of_threads(void **unused)
{
    (void)unused;
    static const modal_tled_patch_plan plan = {100, 30, 100, MODAL_TLED_FAN, 1};
    box b = new_box(28, 40); /* enough elements for tasks of their own */
    modal_tled_patches p[2];
    for (int i = 0; i < 2; i++) {
        modal_error err = {0};
        omp_set_num_threads(i == 0 ? 1 : 5);
        assert_int_equal(modal_tled_patches_make(&p[i], &b.solid, &plan, &err), MODAL_OK);
    }
    assert_int_equal(p[0].n_patches, p[1].n_patches);
    assert_memory_equal(p[0].patches, p[1].patches, (size_t)p[0].n_patches * sizeof *p[0].patches);
    assert_memory_equal(p[0].places, p[1].places, (size_t)p[0].n_places * sizeof *p[0].places);
    assert_memory_equal(p[0].corners, p[1].corners, (size_t)p[0].n_corners * sizeof *p[0].corners);
    assert_memory_equal(p[0].elements, p[1].elements, (size_t)p[0].n_elements * sizeof *p[0].elements);
    assert_memory_equal(p[0].nodes, p[1].nodes, (size_t)p[0].n_nodes * sizeof *p[0].nodes);
    assert_memory_equal(p[0].bases, p[1].bases, (size_t)p[0].n_bases * sizeof *p[0].bases);
    for (int i = 0; i < 2; i++) modal_tled_patches_free(&p[i]);
    free_box(&b);
}

static void a_node_of_no_element(void **unused)
{
    (void)unused;
    static const modal_tled_patch_plan plan = {100, 30, 60, 4};
    box b = new_box(2, 0);
    modal_tled_patches p;
    modal_error err = {0};
    for (int64_t k = 0; k < 4 * b.solid.n_tetrahedra; k++)
        if (b.tetrahedra[k] == 3) b.tetrahedra[k] = 4;
    assert_int_equal(modal_tled_patches_make(&p, &b.solid, &plan, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "node 3 is in no element"));
    assert_null(p.places);
    free_box(&b);
}

static void memory_that_fails(void **unused)
{
    (void)unused;
    static const modal_tled_patch_plan plan = {100, 30, 60, 4};
    box b = new_box(4, 10);
    omp_set_num_threads(1);
    for (int64_t n = 1;; n++) {
        modal_tled_patches p;
        modal_error err = {0};
        modal_alloc_fail_at(n);
        modal_tled_near near = {0};
        modal_status status = modal_tled_patches_make(&p, &b.solid, &plan, &err);
        if (status != MODAL_OK) assert_null(p.places);
        else status = modal_tled_near_make(&near, &p, &err);
        const int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        if (fired) assert_null(near.lists);
        modal_tled_near_free(&near);
        modal_tled_patches_free(&p);
        if (!fired) break;
        assert_in_range(n, 1, 1000);
    }
    free_box(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_force_in_its_sum),
        cmocka_unit_test(cuts_between_layers),
        cmocka_unit_test(reads_meet_few_conflicts),
        cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(a_node_of_no_element),
        cmocka_unit_test(memory_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
