/* SPDX-License-Identifier: Apache-2.0 */
/* No two threads write to one place, and every entry is the sum of its elements' parts in ascending
 * order of the elements, so that the bytes do not depend on the number of threads.
 * Linear tetrahedra of isotropic materials are gathered column by column: the thread that owns a column
 * visits the elements around its node and recomputes each one's gradients, cheaper than reading them
 * back from memory. Matrices of other elements are dear: a thread goes through all elements, computes
 * those that touch one of its columns once, and adds what belongs there. */
#include "lib/fem/assemble.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/fem/element_matrices.h"
#include "lib/fem/tetrahedron.h"
#include "lib/model/material.h"

/* Elements around each free node, CSR, ascending. */
typedef struct incidence {
    int64_t *offsets;  /* [n_free + 1] */
    int32_t *elements; /* [offsets[n_free]] */
} incidence;

/* What all steps share. */
typedef struct assembly {
    const modal_volume_mesh *mesh;
    modal_mass_rule rule;
    int linear; /* 1: nothing but linear tetrahedra */
    int fast;   /* 1: and all of isotropic materials */
    modal_rule_table rules;
    modal_elasticity *elasticities; /* [n_materials] of those that are used, where not fast */
    incidence around;
} assembly;

static const modal_material *material_of(const modal_volume_mesh *mesh, int64_t element)
{
    return &mesh->materials[mesh->element_material[element]];
}

/* Where the element's nodes begin: without a look at the offsets where all have four. */
static int64_t first_node(const assembly *in, int64_t e)
{
    return in->linear ? 4 * e : in->mesh->element_offsets[e];
}

static double gradients_of(const modal_volume_mesh *mesh, int64_t element, double gradients[4][3])
{
    const double *corners[4];
    for (int a = 0; a < 4; a++)
        corners[a] = mesh->nodes + 3 * (int64_t)mesh->element_nodes[4 * element + a];
    return modal_tetrahedron_gradients(corners, gradients);
}

modal_status modal_fem_number(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                              const uint8_t *fixed_components, int64_t n_fixed,
                              modal_fem_system *system, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(system, 0, sizeof *system);
    int32_t count = 0;
    int some_held = 0;
    if (mesh->n_nodes < 1 || mesh->n_nodes > INT32_MAX || mesh->n_elements > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "mesh: %" PRId64 " nodes, %" PRId64 " elements",
                   mesh->n_nodes, mesh->n_elements);
    MODAL_TRY(modal_alloc_zero(&system->free_index, mesh->n_nodes, sizeof *system->free_index,
                               "free nodes", err));
    /* first what is held of each node */
    for (int64_t i = 0; i < n_fixed; i++) {
        const int held = fixed_components ? fixed_components[i] : MODAL_FIXED_ALL;
        if (fixed_nodes[i] < 0 || fixed_nodes[i] >= mesh->n_nodes)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "fixed nodes: index %d, the mesh has %" PRId64,
                       fixed_nodes[i], mesh->n_nodes);
        if (held < 1 || held > MODAL_FIXED_ALL)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "fixed nodes: components %d of node %lld", held,
                       (long long)mesh->node_tags[fixed_nodes[i]]);
        system->free_index[fixed_nodes[i]] |= held;
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        count += system->free_index[i] != MODAL_FIXED_ALL;
        some_held |= system->free_index[i] != 0 && system->free_index[i] != MODAL_FIXED_ALL;
    }
    if (count == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "fixed nodes: all %" PRId64 " nodes are fixed",
                   mesh->n_nodes);
    MODAL_TRY(modal_alloc(&system->free_nodes, count, sizeof *system->free_nodes, "free nodes", err));
    if (some_held)
        MODAL_TRY(modal_alloc_zero(&system->pattern.held, count, 1, "held components", err));
    system->n_free = count;
    count = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        const int held = system->free_index[i];
        system->free_index[i] = held == MODAL_FIXED_ALL ? -1 : count;
        if (held == MODAL_FIXED_ALL) continue;
        if (some_held) system->pattern.held[count] = (uint8_t)held;
        system->n_held += (held & 1) + (held >> 1 & 1) + (held >> 2 & 1);
        system->free_nodes[count++] = (int32_t)i;
    }
done:
    if (status != MODAL_OK) modal_fem_system_free(system);
    return status;
}

/* Types, nodes and materials are there; what is needed of them is made. */
static modal_status prepare(assembly *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = in->mesh;
    uint8_t *used = NULL; /* materials; those that nobody uses may be anything */
    in->linear = modal_volume_mesh_is_all(mesh, MODAL_ELEMENT_TET4);
    in->fast = in->linear;
    MODAL_TRY(modal_alloc_zero(&used, mesh->n_materials, 1, "materials", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t m = mesh->element_material[e];
        const long long tag = (long long)mesh->element_tags[e];
        if (mesh->element_type[e] >= MODAL_ELEMENT_TYPES)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: no type of number %d", tag,
                       mesh->element_type[e]);
        if (m < 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: no material", tag);
        if (m >= mesh->n_materials)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: material %d of %d", tag, m,
                       mesh->n_materials);
        if (!used[m]) {
            MODAL_TRY(modal_material_check(&mesh->materials[m], err));
            used[m] = 1;
            if (mesh->materials[m].kind != MODAL_MATERIAL_ISOTROPIC) in->fast = 0;
        }
        const int32_t *nodes = mesh->element_nodes + first_node(in, e);
        for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++)
            if (nodes[a] < 0 || nodes[a] >= mesh->n_nodes)
                MODAL_FAIL(err, MODAL_ERROR_INPUT,
                           "element %lld: node index %d, the mesh has %" PRId64, tag, nodes[a],
                           mesh->n_nodes);
    }
    if (in->fast) goto done;
    MODAL_TRY(modal_rule_table_init(mesh, &in->rules, err));
    MODAL_TRY(modal_alloc(&in->elasticities, mesh->n_materials, sizeof *in->elasticities, "materials", err));
    for (int32_t m = 0; m < mesh->n_materials; m++)
        if (used[m]) modal_elasticity_init(&mesh->materials[m], &in->elasticities[m]);
done:
    modal_free(&used);
    return status;
}

static modal_status check_shapes(const assembly *in, modal_fem_system *system, modal_error *err)
{
    const modal_volume_mesh *mesh = in->mesh;
    double gradients[4][3];
    system->wave_scale = INFINITY;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const long long tag = (long long)mesh->element_tags[e];
        const int32_t *nodes = mesh->element_nodes + first_node(in, e);
        double volume;
        int moves = 0;
        for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++)
            moves |= system->free_index[nodes[a]] >= 0;
        if (mesh->element_type[e] == MODAL_ELEMENT_TET4) {
            const double *corners[4];
            double squares = 0;
            for (int a = 0; a < 4; a++) corners[a] = mesh->nodes + 3 * (int64_t)nodes[a];
            volume = modal_tetrahedron_gradients(corners, gradients);
            for (int k = 0; k < 12; k++) squares += gradients[k / 3][k % 3] * gradients[k / 3][k % 3];
            if (!(volume > 0 && isfinite(volume) && isfinite(squares)))
                return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: volume %g m^3", tag,
                                       volume);
        } else {
            const modal_measure found = modal_element_measure(mesh, e, &in->rules);
            if (found.sign <= 0) return modal_element_refuse(mesh, e, &found, 1, err);
            volume = found.volume;
        }
        const modal_material *material = material_of(mesh, e);
        system->total_mass += material->density * volume;
        if (moves)
            system->wave_scale = fmin(system->wave_scale,
                                      modal_material_least_young(material) / material->density);
    }
    return MODAL_OK;
}

static modal_status build_incidence(assembly *in, const modal_fem_system *system, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = in->mesh;
    const int64_t n = system->n_free, n_values = first_node(in, mesh->n_elements);
    incidence *around = &in->around;
    MODAL_TRY(modal_alloc_zero(&around->offsets, n + 2, sizeof *around->offsets, "incidence", err));
    /* counted two places up: filling moves offsets[i + 1] from the start of row i to its end */
    for (int64_t k = 0; k < n_values; k++) {
        const int32_t i = system->free_index[mesh->element_nodes[k]];
        if (i >= 0) around->offsets[i + 2]++;
    }
    for (int64_t i = 0; i < n; i++) {
        if (around->offsets[i + 2] == 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "node %lld: belongs to no element",
                       (long long)mesh->node_tags[system->free_nodes[i]]);
        around->offsets[i + 2] += around->offsets[i + 1];
    }
    MODAL_TRY(modal_alloc(&around->elements, around->offsets[n + 1], sizeof *around->elements,
                          "incidence", err));
    for (int64_t e = 0; e < mesh->n_elements; e++)
        for (int64_t k = first_node(in, e); k < first_node(in, e + 1); k++) {
            const int32_t i = system->free_index[mesh->element_nodes[k]];
            if (i >= 0) around->elements[around->offsets[i + 1]++] = (int32_t)e;
        }
done:
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort_rows(int32_t *rows, int64_t n)
{
    if (n > 64) {
        qsort(rows, (size_t)n, sizeof *rows, compare_rows);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        const int32_t row = rows[i];
        int64_t k = i;
        for (; k > 0 && rows[k - 1] > row; k--) rows[k] = rows[k - 1];
        rows[k] = row;
    }
}

/* Visits the rows of column j once each; writes them when `rows` is given. `seen` remembers the last
 * column in which a row was met. */
static int64_t collect_rows(const assembly *in, const modal_fem_system *system, int64_t j,
                            int64_t *seen, int32_t *rows)
{
    const incidence *around = &in->around;
    int64_t count = 0;
    for (int64_t k = around->offsets[j]; k < around->offsets[j + 1]; k++) {
        const int64_t e = around->elements[k], end = first_node(in, e + 1);
        for (int64_t a = first_node(in, e); a < end; a++) {
            const int32_t i = system->free_index[in->mesh->element_nodes[a]];
            if (i < j || seen[i] == j) continue;
            seen[i] = j;
            if (rows) rows[count] = i;
            count++;
        }
    }
    return count;
}

/* Linear tetrahedra of isotropic materials. */
static void gather_column(const assembly *in, modal_fem_system *system, int64_t j, int64_t *place)
{
    const modal_volume_mesh *mesh = in->mesh;
    const incidence *around = &in->around;
    for (int64_t at = system->pattern.offsets[j]; at < system->pattern.offsets[j + 1]; at++)
        place[system->pattern.rows[at]] = at;
    for (int64_t k = around->offsets[j]; k < around->offsets[j + 1]; k++) {
        const int64_t e = around->elements[k];
        const int32_t *corners = mesh->element_nodes + 4 * e;
        const modal_material *material = material_of(mesh, e);
        double gradients[4][3], block[9], lambda, mu;
        const double volume = gradients_of(mesh, e, gradients);
        const double element_mass = material->density * volume;
        modal_lame_constants(material->young, material->poisson, &lambda, &mu);
        int a = 0;
        while (corners[a] != system->free_nodes[j]) a++;
        for (int b = 0; b < 4; b++) {
            const int32_t i = system->free_index[corners[b]];
            if (i < j) continue;
            const int64_t at = place[i];
            modal_isotropic_block(gradients[b], gradients[a], volume * lambda, volume * mu, block);
            for (int c = 0; c < 9; c++) system->stiffness[9 * at + c] += block[c];
            system->mass[at] += modal_tetrahedron_mass_entry(element_mass, in->rule, a == b);
        }
        system->nodal_mass[j] += element_mass / 4;
    }
}

static int64_t find_block(const modal_block_pattern *pattern, int64_t j, int32_t row)
{
    int64_t low = pattern->offsets[j], high = pattern->offsets[j + 1] - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (pattern->rows[middle] < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Adds to the columns [begin, end) what elements of any kind have there. */
static void scatter_elements(const assembly *in, modal_fem_system *system, int64_t begin, int64_t end,
                             modal_element_matrices *matrices)
{
    const modal_volume_mesh *mesh = in->mesh;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *nodes = mesh->element_nodes + first_node(in, e);
        const int n = modal_mesh_kind(mesh, e)->n_nodes;
        int touches = 0;
        for (int a = 0; a < n; a++) {
            const int32_t j = system->free_index[nodes[a]];
            touches |= j >= begin && j < end;
        }
        if (!touches) continue;
        modal_element_matrices_compute(mesh, e, &in->rules, &in->elasticities[mesh->element_material[e]],
                                       material_of(mesh, e)->density, in->rule, matrices);
        for (int a = 0; a < n; a++) {
            const int32_t j = system->free_index[nodes[a]];
            if (j < begin || j >= end) continue;
            system->nodal_mass[j] += matrices->nodal_mass[a];
            for (int b = 0; b < n; b++) {
                const int32_t i = system->free_index[nodes[b]];
                if (i < j) continue;
                const int64_t at = find_block(&system->pattern, j, i);
                double *block = system->stiffness + 9 * at;
                /* row b, column a; the matrices have what is on and above the diagonal */
                const double *from = a < b ? matrices->stiffness[a][b] : matrices->stiffness[b][a];
                for (int c = 0; c < 9; c++)
                    block[c] += from[a < b ? 3 * (c % 3) + c / 3 : c];
                system->mass[at] += matrices->mass[a][b];
            }
        }
    }
}

/* Held components: see sparse.h. */
static void decouple(modal_fem_system *system)
{
    const modal_block_pattern *pattern = &system->pattern;
    for (int64_t j = 0; j < pattern->n_nodes; j++)
        for (int64_t at = pattern->offsets[j]; at < pattern->offsets[j + 1]; at++) {
            const int64_t i = pattern->rows[at];
            for (int c = 0; c < 9; c++) {
                const int held = (pattern->held[i] >> c / 3 | pattern->held[j] >> c % 3) & 1;
                if (!held) continue;
                const int diagonal = i == j && c / 3 == c % 3;
                system->stiffness[9 * at + c] =
                    diagonal ? system->largest_ratio * system->mass[at] : 0;
            }
        }
}

/* Pattern and values; scratch is one marker a node and thread. */
static modal_status gather(const assembly *in, int n_threads, modal_fem_system *system,
                           modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = system->n_free;
    modal_block_pattern *pattern = &system->pattern;
    modal_element_matrices *matrices = NULL; /* one a thread */
    int64_t *markers = NULL, n_markers = 0;
    if (!modal_size_multiply(n, n_threads, &n_markers)) n_markers = -1;
    MODAL_TRY(modal_alloc(&markers, n_markers, sizeof *markers, "assembly", err));
    if (!in->fast)
        MODAL_TRY(modal_alloc(&matrices, n_threads, sizeof *matrices, "element matrices", err));
    MODAL_TRY(modal_alloc_zero(&pattern->offsets, n + 1, sizeof *pattern->offsets, "pattern", err));
    pattern->n_nodes = n;
    /* a team smaller than asked for is fine: each chunk has a marker of its own */
#pragma omp parallel for schedule(static, 1) num_threads(modal_free_threads(n_threads))
    for (int t = 0; t < n_threads; t++) {
        int64_t *seen = markers + t * n;
        memset(seen, 0xff, (size_t)n * sizeof *seen);
        for (int64_t j = n * t / n_threads; j < n * (t + 1) / n_threads; j++)
            pattern->offsets[j + 1] = collect_rows(in, system, j, seen, NULL);
    }
    for (int64_t j = 0; j < n; j++) pattern->offsets[j + 1] += pattern->offsets[j];
    MODAL_TRY(modal_alloc(&pattern->rows, pattern->offsets[n], sizeof *pattern->rows, "pattern", err));
    MODAL_TRY(modal_alloc(&system->stiffness, pattern->offsets[n], 9 * sizeof *system->stiffness,
                          "stiffness matrix", err));
    MODAL_TRY(modal_alloc(&system->mass, pattern->offsets[n], sizeof *system->mass, "mass matrix",
                          err));
    MODAL_TRY(modal_alloc(&system->nodal_mass, n, sizeof *system->nodal_mass, "nodal mass", err));
#pragma omp parallel for schedule(static, 1) num_threads(modal_free_threads(n_threads))
    for (int t = 0; t < n_threads; t++) {
        int64_t *seen = markers + t * n;
        const int64_t begin = n * t / n_threads, end = n * (t + 1) / n_threads;
        memset(seen, 0xff, (size_t)n * sizeof *seen);
        for (int64_t j = begin; j < end; j++) {
            int32_t *rows = pattern->rows + pattern->offsets[j];
            sort_rows(rows, collect_rows(in, system, j, seen, rows));
        }
        const int64_t first = pattern->offsets[begin], n_blocks = pattern->offsets[end] - first;
        memset(system->stiffness + 9 * first, 0, (size_t)(9 * n_blocks) * sizeof(double));
        memset(system->mass + first, 0, (size_t)n_blocks * sizeof(double));
        memset(system->nodal_mass + begin, 0, (size_t)(end - begin) * sizeof(double));
        if (in->fast)
            for (int64_t j = begin; j < end; j++) gather_column(in, system, j, seen);
        else
            scatter_elements(in, system, begin, end, &matrices[t]);
    }
    for (int64_t j = 0; j < n; j++)
        for (int p = 0; p < 3; p++) {
            /* an estimate: the largest eigenvector is local to a few nodes, where its quotient is a
             * few times that of one node moving alone */
            const int64_t at = pattern->offsets[j];
            const double ratio = 4 * system->stiffness[9 * at + 4 * p] / system->mass[at];
            system->largest_ratio = fmax(system->largest_ratio, ratio);
        }
    if (!isfinite(system->largest_ratio) || !(system->largest_ratio > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "stiffness matrix: overflow, largest stiffness / mass %g",
                   system->largest_ratio);
    if (pattern->held) decouple(system);
done:
    modal_free(&markers);
    modal_free(&matrices);
    return status;
}

modal_status modal_fem_assemble(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                                const uint8_t *fixed_components, int64_t n_fixed,
                                modal_mass_rule rule, int n_threads, modal_fem_system *system,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    assembly in = {.mesh = mesh, .rule = rule};
    if (n_threads < 1) n_threads = 1;
    MODAL_TRY(modal_fem_number(mesh, fixed_nodes, fixed_components, n_fixed, system, err));
    MODAL_TRY(prepare(&in, err));
    MODAL_TRY(check_shapes(&in, system, err));
    MODAL_TRY(build_incidence(&in, system, err));
    MODAL_TRY(gather(&in, n_threads, system, err));
done:
    modal_free(&in.around.offsets);
    modal_free(&in.around.elements);
    modal_free(&in.elasticities);
    modal_rule_table_free(&in.rules);
    if (status != MODAL_OK) modal_fem_system_free(system);
    return status;
}

void modal_fem_system_free(modal_fem_system *system)
{
    modal_free(&system->free_nodes);
    modal_free(&system->free_index);
    modal_free(&system->pattern.offsets);
    modal_free(&system->pattern.rows);
    modal_free(&system->pattern.held);
    modal_free(&system->stiffness);
    modal_free(&system->mass);
    modal_free(&system->nodal_mass);
    memset(system, 0, sizeof *system);
}
