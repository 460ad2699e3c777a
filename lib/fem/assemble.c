/* SPDX-License-Identifier: Apache-2.0 */
/* The matrices are gathered column by column: the thread that owns a column visits the elements
 * around its node in ascending order, recomputes each element's gradients (cheaper than reading them
 * back from memory) and adds. No two threads write to one place and the order of summation is fixed,
 * so the bytes do not depend on the number of threads. */
#include "lib/fem/assemble.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/tetrahedron.h"
#include "lib/mesh/material.h"

/* Elements around each free node, CSR, ascending. */
typedef struct incidence {
    int64_t *offsets;  /* [n_free + 1] */
    int32_t *elements; /* [offsets[n_free]] */
} incidence;

static const modal_material *material_of(const modal_volume_mesh *mesh, int64_t element)
{
    return &mesh->materials[mesh->element_material[element]];
}

static double gradients_of(const modal_volume_mesh *mesh, int64_t element, double gradients[4][3])
{
    const double *corners[4];
    for (int a = 0; a < 4; a++) corners[a] = mesh->nodes + 3 * (int64_t)mesh->element_nodes[4 * element + a];
    return modal_tetrahedron_gradients(corners, gradients);
}

static modal_status number_free_nodes(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                                      int64_t n_fixed, modal_fem_system *system, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t count = 0;
    if (mesh->n_nodes < 1 || mesh->n_nodes > INT32_MAX || mesh->n_elements > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "mesh: %" PRId64 " nodes, %" PRId64 " elements",
                   mesh->n_nodes, mesh->n_elements);
    MODAL_TRY(modal_alloc_zero(&system->free_index, mesh->n_nodes, sizeof *system->free_index,
                               "free nodes", err));
    for (int64_t i = 0; i < n_fixed; i++) {
        if (fixed_nodes[i] < 0 || fixed_nodes[i] >= mesh->n_nodes)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "fixed nodes: index %d, the mesh has %" PRId64,
                       fixed_nodes[i], mesh->n_nodes);
        system->free_index[fixed_nodes[i]] = -1;
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (system->free_index[i] == 0) system->free_index[i] = count++;
    if (count == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "fixed nodes: all %" PRId64 " nodes are fixed",
                   mesh->n_nodes);
    MODAL_TRY(modal_alloc(&system->free_nodes, count, sizeof *system->free_nodes, "free nodes", err));
    system->n_free = count;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (system->free_index[i] >= 0) system->free_nodes[system->free_index[i]] = (int32_t)i;
done:
    return status;
}

static modal_status check_elements(const modal_volume_mesh *mesh, modal_fem_system *system,
                                   modal_error *err)
{
    double gradients[4][3];
    int32_t checked = -1; /* materials come in runs; those that nobody uses may be anything */
    system->wave_scale = INFINITY;
    if (!modal_volume_mesh_is_all(mesh, MODAL_ELEMENT_TET4))
        return modal_error_set(err, MODAL_ERROR_INPUT, "elements other than TET4: not supported yet");
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t m = mesh->element_material[e];
        const long long tag = (long long)mesh->element_tags[e];
        int moves = 0;
        if (m < 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: no material", tag);
        if (m >= mesh->n_materials)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: material %d of %d", tag, m,
                                   mesh->n_materials);
        if (m != checked) {
            modal_status status = modal_material_check(&mesh->materials[m], err);
            if (status != MODAL_OK) return status;
            checked = m;
        }
        for (int a = 0; a < 4; a++) {
            const int32_t node = mesh->element_nodes[4 * e + a];
            if (node < 0 || node >= mesh->n_nodes)
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "element %lld: node index %d, the mesh has %" PRId64, tag,
                                       node, mesh->n_nodes);
            moves |= system->free_index[node] >= 0;
        }
        const double volume = gradients_of(mesh, e, gradients);
        double squares = 0;
        for (int a = 0; a < 4; a++)
            for (int p = 0; p < 3; p++) squares += gradients[a][p] * gradients[a][p];
        if (!(volume > 0 && isfinite(volume) && isfinite(squares)))
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: volume %g m^3", tag,
                                   volume);
        const modal_material *material = &mesh->materials[m];
        system->total_mass += material->density * volume;
        if (moves) system->wave_scale = fmin(system->wave_scale, material->young / material->density);
    }
    return MODAL_OK;
}

static modal_status build_incidence(const modal_volume_mesh *mesh, const modal_fem_system *system,
                                    incidence *around, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = system->n_free;
    MODAL_TRY(modal_alloc_zero(&around->offsets, n + 2, sizeof *around->offsets, "incidence", err));
    /* counted two places up: filling moves offsets[i + 1] from the start of row i to its end */
    for (int64_t k = 0; k < 4 * mesh->n_elements; k++) {
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
    for (int64_t k = 0; k < 4 * mesh->n_elements; k++) {
        const int32_t i = system->free_index[mesh->element_nodes[k]];
        if (i >= 0) around->elements[around->offsets[i + 1]++] = (int32_t)(k / 4);
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
static int64_t collect_rows(const modal_volume_mesh *mesh, const modal_fem_system *system,
                            const incidence *around, int64_t j, int64_t *seen, int32_t *rows)
{
    int64_t count = 0;
    for (int64_t k = around->offsets[j]; k < around->offsets[j + 1]; k++)
        for (int a = 0; a < 4; a++) {
            const int32_t i =
                system->free_index[mesh->element_nodes[4 * (int64_t)around->elements[k] + a]];
            if (i < j || seen[i] == j) continue;
            seen[i] = j;
            if (rows) rows[count] = i;
            count++;
        }
    return count;
}

static void gather_column(const modal_volume_mesh *mesh, modal_fem_system *system,
                          const incidence *around, modal_mass_rule rule, int64_t j, int64_t *place)
{
    const int64_t begin = system->pattern.offsets[j], end = system->pattern.offsets[j + 1];
    for (int64_t at = begin; at < end; at++) place[system->pattern.rows[at]] = at;
    memset(system->stiffness + 9 * begin, 0, (size_t)(9 * (end - begin)) * sizeof(double));
    memset(system->mass + begin, 0, (size_t)(end - begin) * sizeof(double));
    system->nodal_mass[j] = 0;
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
            modal_tetrahedron_stiffness_block(gradients[b], gradients[a], volume * lambda,
                                              volume * mu, block);
            for (int c = 0; c < 9; c++) system->stiffness[9 * at + c] += block[c];
            system->mass[at] += modal_tetrahedron_mass_entry(element_mass, rule, a == b);
        }
        system->nodal_mass[j] += element_mass / 4;
    }
}

/* Pattern and values; scratch is one marker a node and thread. */
static modal_status gather(const modal_volume_mesh *mesh, const incidence *around,
                           modal_mass_rule rule, int n_threads, modal_fem_system *system,
                           modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = system->n_free;
    modal_block_pattern *pattern = &system->pattern;
    int64_t *markers = NULL, n_markers = 0;
    if (!modal_size_multiply(n, n_threads, &n_markers)) n_markers = -1;
    MODAL_TRY(modal_alloc(&markers, n_markers, sizeof *markers, "assembly", err));
    MODAL_TRY(modal_alloc_zero(&pattern->offsets, n + 1, sizeof *pattern->offsets, "pattern", err));
    pattern->n_nodes = n;
    /* a team smaller than asked for is fine: each chunk has a marker of its own */
#pragma omp parallel for schedule(static, 1) num_threads(n_threads)
    for (int t = 0; t < n_threads; t++) {
        int64_t *seen = markers + t * n;
        memset(seen, 0xff, (size_t)n * sizeof *seen);
        for (int64_t j = n * t / n_threads; j < n * (t + 1) / n_threads; j++)
            pattern->offsets[j + 1] = collect_rows(mesh, system, around, j, seen, NULL);
    }
    for (int64_t j = 0; j < n; j++) pattern->offsets[j + 1] += pattern->offsets[j];
    MODAL_TRY(modal_alloc(&pattern->rows, pattern->offsets[n], sizeof *pattern->rows, "pattern", err));
    MODAL_TRY(modal_alloc(&system->stiffness, pattern->offsets[n], 9 * sizeof *system->stiffness,
                          "stiffness matrix", err));
    MODAL_TRY(modal_alloc(&system->mass, pattern->offsets[n], sizeof *system->mass, "mass matrix",
                          err));
    MODAL_TRY(modal_alloc(&system->nodal_mass, n, sizeof *system->nodal_mass, "nodal mass", err));
#pragma omp parallel for schedule(static, 1) num_threads(n_threads)
    for (int t = 0; t < n_threads; t++) {
        int64_t *seen = markers + t * n;
        const int64_t begin = n * t / n_threads, end = n * (t + 1) / n_threads;
        memset(seen, 0xff, (size_t)n * sizeof *seen);
        for (int64_t j = begin; j < end; j++) {
            int32_t *rows = pattern->rows + pattern->offsets[j];
            sort_rows(rows, collect_rows(mesh, system, around, j, seen, rows));
        }
        for (int64_t j = begin; j < end; j++) gather_column(mesh, system, around, rule, j, seen);
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
done:
    modal_free(&markers);
    return status;
}

modal_status modal_fem_assemble(const modal_volume_mesh *mesh, const int32_t *fixed_nodes,
                                int64_t n_fixed, modal_mass_rule rule, int n_threads,
                                modal_fem_system *system, modal_error *err)
{
    modal_status status = MODAL_OK;
    incidence around = {0};
    memset(system, 0, sizeof *system);
    if (n_threads < 1) n_threads = 1;
    MODAL_TRY(number_free_nodes(mesh, fixed_nodes, n_fixed, system, err));
    MODAL_TRY(check_elements(mesh, system, err));
    MODAL_TRY(build_incidence(mesh, system, &around, err));
    MODAL_TRY(gather(mesh, &around, rule, n_threads, system, err));
done:
    modal_free(&around.offsets);
    modal_free(&around.elements);
    if (status != MODAL_OK) modal_fem_system_free(system);
    return status;
}

void modal_fem_system_free(modal_fem_system *system)
{
    modal_free(&system->free_nodes);
    modal_free(&system->free_index);
    modal_free(&system->pattern.offsets);
    modal_free(&system->pattern.rows);
    modal_free(&system->stiffness);
    modal_free(&system->mass);
    modal_free(&system->nodal_mass);
    memset(system, 0, sizeof *system);
}
