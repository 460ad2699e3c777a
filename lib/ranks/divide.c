/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0 cuts the solid into pieces and hands them over, one at a time. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/measure.h"
#include "lib/model/material.h"
#include "lib/ranks/private.h"

void ranks_piece_free(ranks_piece *piece)
{
    modal_volume_mesh_free(&piece->mesh);
    modal_free(&piece->rows);
    modal_free(&piece->part);
    modal_free(&piece->fixed_nodes);
    modal_free(&piece->fixed_components);
    modal_free(&piece->own_nodes);
    memset(piece, 0, sizeof *piece);
}

/* ---- on rank 0 ---- */

typedef struct cutter {
    const ranks_problem *problem;
    modal_fem_system numbers;
    modal_rigid_space rigid;
    int32_t *owners;  /* [n_free] */
    int32_t *row;     /* [n_free] */
    int32_t *order;   /* [n_free] node of each row */
    int32_t *held;    /* [mesh nodes] components that are fixed */
    int32_t *local;   /* [mesh nodes] place in the piece, -1: not there */
    int64_t *offsets; /* [n_ranks + 1] */
    int32_t *elements;
    int64_t *first_row; /* [n_ranks + 1] */
} cutter;

modal_status ranks_check_solid(const modal_solid *solid, double *total_mass, double *volume, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &solid->mesh;
    modal_rule_table rules = {0};
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const long long tag = (long long)mesh->element_tags[e];
        const int32_t m = mesh->element_material[e];
        if (mesh->element_type[e] >= MODAL_ELEMENT_TYPES)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: no type of number %d", tag, mesh->element_type[e]);
        if (m < 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: no material", tag);
        if (m >= mesh->n_materials)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: material %d of %d", tag, m, mesh->n_materials);
        MODAL_TRY(modal_material_check(&mesh->materials[m], err));
        for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++)
            if (modal_mesh_nodes(mesh, e)[a] < 0 || modal_mesh_nodes(mesh, e)[a] >= mesh->n_nodes)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: node index %d, the mesh has %" PRId64, tag,
                           modal_mesh_nodes(mesh, e)[a], mesh->n_nodes);
    }
    MODAL_TRY(modal_rule_table_init(mesh, &rules, err));
    *total_mass = *volume = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_measure found = modal_element_measure(mesh, e, &rules);
        if (found.sign <= 0 && mesh->element_type[e] != MODAL_ELEMENT_TET4) { /* those: by their rank */
            status = modal_element_refuse(mesh, e, &found, 1, err);
            goto done;
        }
        *volume += fabs(found.volume);
        *total_mass += mesh->materials[mesh->element_material[e]].density * fabs(found.volume);
    }
done:
    modal_rule_table_free(&rules);
    return status;
}

/* The largest Young's modulus of an element beside the least. */
static double find_contrast(const modal_volume_mesh *mesh)
{
    double least = INFINITY, most = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const modal_material *m = &mesh->materials[mesh->element_material[e]];
        const int orthotropic = m->kind == MODAL_MATERIAL_ORTHOTROPIC;
        const double young = orthotropic ? fmax(fmax(m->orthotropic[0], m->orthotropic[1]), m->orthotropic[2]) : m->young;
        least = fmin(least, young);
        most = fmax(most, young);
    }
    return most / least;
}

/* auto: direct where a rank can hold it, for it proves that no mode is missing, and where materials are too far apart for
 * multigrid. */
static modal_status choose_route(ranks_problem *problem, modal_error *err)
{
    static const double most_contrast = 2e6, mebibyte = 1048576; /* at 1e7 rounding may leave more in multigrid's residuals than is let pass */
    const modal_modes_route asked = problem->options.route;
    modal_ranks_report *report = &problem->report;
    const double limit = problem->options.memory_limit, of_direct = ceil(report->estimate.direct_bytes / mebibyte),
                 of_multigrid = ceil(report->estimate.multigrid_bytes / mebibyte);
    const int direct_fits = !(limit > 0) || report->estimate.direct_bytes <= limit;
    const int multigrid_fits = !(limit > 0) || report->estimate.multigrid_bytes <= limit;
    report->memory_limit = limit;
    report->contrast = find_contrast(&problem->solid->mesh);
    report->only_direct = asked == MODAL_ROUTE_AUTO && report->contrast > most_contrast;
    report->route = asked != MODAL_ROUTE_AUTO ? asked : direct_fits || report->only_direct ? MODAL_ROUTE_DIRECT : MODAL_ROUTE_MULTIGRID;
    if (report->route == MODAL_ROUTE_DIRECT ? direct_fits : multigrid_fits) return MODAL_OK;
    if (report->only_direct)
        return modal_error_set(err, MODAL_ERROR_MEMORY,
                               "modes: %.0f MiB needed by a rank (--route direct; multigrid does not do with moduli %.3g apart), the limit is %.0f MiB; "
                               "more ranks (--plan)",
                               of_direct, report->contrast, limit / mebibyte);
    if (asked == MODAL_ROUTE_AUTO)
        return modal_error_set(err, MODAL_ERROR_MEMORY,
                               "modes: %.0f MiB needed by a rank (--route direct), or %.0f MiB (--route multigrid), the limit is %.0f MiB; more ranks (--plan)",
                               of_direct, of_multigrid, limit / mebibyte);
    if (asked == MODAL_ROUTE_DIRECT && !(report->contrast > most_contrast))
        return modal_error_set(err, MODAL_ERROR_MEMORY,
                               "modes: %.0f MiB needed by a rank, the limit is %.0f MiB; more ranks (--plan), or --route multigrid: %.0f MiB",
                               of_direct, limit / mebibyte, of_multigrid);
    return modal_error_set(err, MODAL_ERROR_MEMORY, "modes: %.0f MiB needed by a rank, the limit is %.0f MiB; more ranks (--plan)",
                           asked == MODAL_ROUTE_DIRECT ? of_direct : of_multigrid, limit / mebibyte);
}

/* Numbers, rigid motions, and whether so many ranks and these indices will do. */
static modal_status survey(ranks_problem *problem, cutter *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_solid *solid = problem->solid;
    ranks_whole *whole = &problem->whole;
    ranks_size size;
    double volume = 0;
    c->problem = problem;
    MODAL_TRY(modal_fem_number(&solid->mesh, solid->fixed_nodes, solid->fixed_components, solid->n_fixed_nodes, &c->numbers, err));
    MODAL_TRY(ranks_check_solid(solid, &whole->total_mass, &volume, err));
    whole->n_rows = c->numbers.n_free;
    whole->n_held = c->numbers.n_held;
    if (problem->n_ranks > whole->n_rows)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--eigensolver slepc: more ranks than free nodes, %d for %" PRId64, problem->n_ranks,
                   whole->n_rows);
    if (3 * whole->n_rows > ranks_most_index())
        MODAL_FAIL(err, MODAL_ERROR_MEMORY,
                   "--eigensolver slepc: %" PRId64 " degrees of freedom, this PETSc's indices reach %" PRId64 " (libpetsc64-real-dev)",
                   3 * whole->n_rows, ranks_most_index());
    MODAL_TRY(ranks_measure_size(solid, &c->numbers, volume, &size, err));
    ranks_estimate(&size, problem->options.n_modes, problem->n_ranks, &problem->report.estimate);
    MODAL_TRY(choose_route(problem, err));
    MODAL_TRY(modal_rigid_parts_find(&solid->mesh, &c->numbers, &c->rigid, &problem->parts, err));
    whole->n_parts = c->rigid.n_parts;
    whole->n_rigid = c->rigid.n_rigid;
    problem->part_size = c->rigid.part_size;
    problem->n_motions = c->rigid.n_motions;
    c->rigid.part_size = NULL;
    c->rigid.n_motions = NULL;
    const int64_t n_elastic = 3 * whole->n_rows - whole->n_rigid - whole->n_held;
    if (problem->options.n_modes > n_elastic)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "modes: %d asked for, %" PRId64 " degrees of freedom%s", problem->options.n_modes, n_elastic,
                   whole->n_rigid ? " besides the rigid ones" : "");
    MODAL_TRY(modal_alloc_zero(&c->owners, whole->n_rows, sizeof *c->owners, "partition", err));
done:
    return status;
}

/* From owners to rows: those of rank 0 first, in the user's order, and so on. */
static modal_status number_rows(ranks_problem *problem, cutter *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_solid *solid = problem->solid;
    const int64_t n = problem->whole.n_rows, n_nodes = solid->mesh.n_nodes;
    int64_t *next = NULL;
    MODAL_TRY(modal_alloc(&c->row, n, sizeof *c->row, "partition", err));
    MODAL_TRY(modal_alloc(&c->order, n, sizeof *c->order, "partition", err));
    MODAL_TRY(modal_alloc_zero(&c->first_row, (int64_t)problem->n_ranks + 1, sizeof *c->first_row, "partition", err));
    MODAL_TRY(modal_alloc(&next, problem->n_ranks, sizeof *next, "partition", err));
    MODAL_TRY(modal_alloc_zero(&c->held, n_nodes, sizeof *c->held, "partition", err));
    MODAL_TRY(modal_alloc(&c->local, n_nodes, sizeof *c->local, "partition", err));
    for (int64_t i = 0; i < n; i++) c->first_row[c->owners[i] + 1]++;
    for (int r = 0; r < problem->n_ranks; r++) {
        next[r] = c->first_row[r];
        c->first_row[r + 1] += c->first_row[r];
    }
    for (int64_t i = 0; i < n; i++) {
        c->row[i] = (int32_t)next[c->owners[i]]++;
        c->order[c->row[i]] = c->numbers.free_nodes[i];
    }
    for (int64_t k = 0; k < solid->n_fixed_nodes; k++)
        c->held[solid->fixed_nodes[k]] |= solid->fixed_components ? solid->fixed_components[k] : MODAL_FIXED_ALL;
    memset(c->local, 0xff, (size_t)n_nodes * sizeof *c->local);
    MODAL_TRY(ranks_list_elements(&solid->mesh, &c->numbers, c->owners, problem->n_ranks, &c->offsets, &c->elements, err));
done:
    modal_free(&next);
    return status;
}

/* The nodes of a rank and of the elements that touch them get places in the piece, ascending. */
static modal_status place_nodes(cutter *c, int rank, ranks_piece *piece, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &c->problem->solid->mesh;
    const int32_t *order = c->order;
    int64_t n_fixed = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++) c->local[i] = -1;
    for (int64_t i = c->first_row[rank]; i < c->first_row[rank + 1]; i++) c->local[order[i]] = 0;
    for (int64_t k = c->offsets[rank]; k < c->offsets[rank + 1]; k++)
        for (int a = 0; a < modal_mesh_kind(mesh, c->elements[k])->n_nodes; a++)
            c->local[modal_mesh_nodes(mesh, c->elements[k])[a]] = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (c->local[i] == 0) {
            c->local[i] = (int32_t)piece->mesh.n_nodes++;
            n_fixed += c->held[i] != 0;
        }
    MODAL_TRY(modal_alloc(&piece->mesh.nodes, piece->mesh.n_nodes, 3 * sizeof(double), "piece", err));
    MODAL_TRY(modal_alloc(&piece->mesh.node_tags, piece->mesh.n_nodes, sizeof(int64_t), "piece", err));
    MODAL_TRY(modal_alloc(&piece->rows, piece->mesh.n_nodes, sizeof *piece->rows, "piece", err));
    MODAL_TRY(modal_alloc(&piece->part, piece->mesh.n_nodes, sizeof *piece->part, "piece", err));
    MODAL_TRY(modal_alloc(&piece->fixed_nodes, n_fixed, sizeof *piece->fixed_nodes, "piece", err));
    MODAL_TRY(modal_alloc(&piece->fixed_components, n_fixed, 1, "piece", err));
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        const int32_t at = c->local[i], free = c->numbers.free_index[i];
        if (at < 0) continue;
        memcpy(piece->mesh.nodes + 3 * (int64_t)at, mesh->nodes + 3 * i, 3 * sizeof(double));
        piece->mesh.node_tags[at] = mesh->node_tags[i];
        piece->rows[at] = free < 0 ? -1 : c->row[free];
        piece->part[at] = free < 0 ? -1 : c->rigid.part[free];
        if (!c->held[i]) continue;
        piece->fixed_nodes[piece->n_fixed] = at;
        piece->fixed_components[piece->n_fixed++] = (uint8_t)c->held[i];
    }
done:
    return status;
}

static modal_status cut_piece(cutter *c, int rank, ranks_piece *piece, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &c->problem->solid->mesh;
    const int64_t n = c->offsets[rank + 1] - c->offsets[rank];
    const int32_t *elements = c->elements + c->offsets[rank];
    int64_t n_values = 0;
    modal_volume_mesh *own = &piece->mesh;
    memset(piece, 0, sizeof *piece);
    MODAL_TRY(place_nodes(c, rank, piece, err));
    piece->first_row = c->first_row[rank];
    piece->n_own = c->first_row[rank + 1] - c->first_row[rank];
    MODAL_TRY(modal_alloc(&piece->own_nodes, piece->n_own, sizeof *piece->own_nodes, "piece", err));
    memcpy(piece->own_nodes, c->order + piece->first_row, (size_t)piece->n_own * sizeof *piece->own_nodes);
    own->stiffness_rule = mesh->stiffness_rule;
    own->n_elements = n;
    for (int64_t k = 0; k < n; k++) n_values += modal_mesh_kind(mesh, elements[k])->n_nodes;
    MODAL_TRY(modal_alloc(&own->element_type, n, 1, "piece", err));
    MODAL_TRY(modal_alloc(&own->element_offsets, n + 1, sizeof(int64_t), "piece", err));
    MODAL_TRY(modal_alloc(&own->element_nodes, n_values, sizeof(int32_t), "piece", err));
    MODAL_TRY(modal_alloc(&own->element_tags, n, sizeof(int64_t), "piece", err));
    MODAL_TRY(modal_alloc(&own->element_material, n, sizeof(int32_t), "piece", err));
    own->element_offsets[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        const int32_t e = elements[k];
        const int n_nodes = modal_mesh_kind(mesh, e)->n_nodes;
        own->element_type[k] = mesh->element_type[e];
        own->element_offsets[k + 1] = own->element_offsets[k] + n_nodes;
        for (int a = 0; a < n_nodes; a++)
            own->element_nodes[own->element_offsets[k] + a] = c->local[modal_mesh_nodes(mesh, e)[a]];
        own->element_tags[k] = mesh->element_tags[e];
        own->element_material[k] = mesh->element_material[e];
    }
    MODAL_TRY(modal_alloc_zero(&own->materials, mesh->n_materials, sizeof *own->materials, "materials", err));
    own->n_materials = mesh->n_materials;
    for (int32_t m = 0; m < mesh->n_materials; m++) {
        own->materials[m] = mesh->materials[m];
        own->materials[m].name = NULL; /* the cutter has looked at them: nobody will name one */
    }
done:
    if (status != MODAL_OK) ranks_piece_free(piece);
    return status;
}

/* ---- from rank to rank ---- */

/* An array of `n` items goes out, or comes in and is allocated. */
static modal_status hand_over(const ranks_problem *problem, int peer, void *array, int64_t n, size_t size, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *bytes = NULL;
    if (problem->rank > 0) RANKS_OWN(modal_alloc(array, n, size, "piece", err));
    memcpy(&bytes, array, sizeof bytes);
    MODAL_TRY(ranks_pass(problem, 0, problem->rank > 0 ? problem->rank : peer, bytes, n * (int64_t)size, err));
done:
    return status;
}

static modal_status hand_over_piece(const ranks_problem *problem, int peer, ranks_piece *piece, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *m = &piece->mesh;
    int64_t head[8] = {m->n_nodes, m->n_elements, m->n_materials, (int64_t)m->stiffness_rule, piece->n_fixed, piece->first_row,
                       piece->n_own, m->element_offsets ? m->element_offsets[m->n_elements] : 0};
    if (problem->rank == 0) RANKS_TRY(MPI_Send(head, 8, MPI_INT64_T, peer, 0, problem->comm));
    else RANKS_TRY(MPI_Recv(head, 8, MPI_INT64_T, 0, 0, problem->comm, MPI_STATUS_IGNORE));
    m->n_nodes = head[0];
    m->n_elements = head[1];
    m->stiffness_rule = (modal_stiffness_rule)head[3];
    piece->n_fixed = head[4];
    piece->first_row = head[5];
    piece->n_own = head[6];
    MODAL_TRY(hand_over(problem, peer, &m->nodes, head[0], 3 * sizeof(double), err));
    MODAL_TRY(hand_over(problem, peer, &m->node_tags, head[0], sizeof(int64_t), err));
    MODAL_TRY(hand_over(problem, peer, &piece->rows, head[0], sizeof(int32_t), err));
    MODAL_TRY(hand_over(problem, peer, &piece->part, head[0], sizeof(int32_t), err));
    MODAL_TRY(hand_over(problem, peer, &piece->fixed_nodes, head[4], sizeof(int32_t), err));
    MODAL_TRY(hand_over(problem, peer, &piece->fixed_components, head[4], 1, err));
    MODAL_TRY(hand_over(problem, peer, &piece->own_nodes, head[6], sizeof(int32_t), err));
    MODAL_TRY(hand_over(problem, peer, &m->element_type, head[1], 1, err));
    MODAL_TRY(hand_over(problem, peer, &m->element_offsets, head[1] + 1, sizeof(int64_t), err));
    MODAL_TRY(hand_over(problem, peer, &m->element_nodes, head[7], sizeof(int32_t), err));
    MODAL_TRY(hand_over(problem, peer, &m->element_tags, head[1], sizeof(int64_t), err));
    MODAL_TRY(hand_over(problem, peer, &m->element_material, head[1], sizeof(int32_t), err));
    MODAL_TRY(hand_over(problem, peer, &m->materials, head[2], sizeof *m->materials, err));
    m->n_materials = (int32_t)head[2];
done:
    return status;
}

/* Rank 0's numbers and parts of the whole, to all. */
static modal_status share_whole(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    RANKS_TRY(MPI_Bcast(&problem->whole, (int)sizeof problem->whole, MPI_BYTE, 0, problem->comm));
    RANKS_TRY(MPI_Bcast(&problem->report, (int)sizeof problem->report, MPI_BYTE, 0, problem->comm));
    const int64_t n = problem->whole.n_parts;
    if (problem->rank > 0) {
        RANKS_OWN(modal_alloc(&problem->parts, n, sizeof *problem->parts, "parts", err));
        RANKS_OWN(modal_alloc(&problem->part_size, n, sizeof *problem->part_size, "parts", err));
        RANKS_OWN(modal_alloc(&problem->n_motions, n, sizeof *problem->n_motions, "parts", err));
    }
    MODAL_TRY(ranks_share(problem, problem->parts, n * (int64_t)sizeof *problem->parts, err));
    MODAL_TRY(ranks_share(problem, problem->part_size, n * (int64_t)sizeof *problem->part_size, err));
    MODAL_TRY(ranks_share(problem, problem->n_motions, n * (int64_t)sizeof *problem->n_motions, err));
done:
    return status;
}

modal_status ranks_divide(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    cutter c = {0};
    if (problem->rank == 0) status = survey(problem, &c, err);
    MODAL_TRY(ranks_agree(problem, status, err));
    MODAL_TRY(share_whole(problem, err));
    if (problem->n_ranks > 1) MODAL_TRY(ranks_partition(problem, &c.numbers, c.owners, err));
    if (problem->rank == 0) status = number_rows(problem, &c, err);
    MODAL_TRY(ranks_agree(problem, status, err));
    if (problem->rank > 0) {
        MODAL_TRY(hand_over_piece(problem, 0, &problem->piece, err));
    } else {
        for (int r = 1; r < problem->n_ranks; r++) {
            ranks_piece piece;
            RANKS_OWN(cut_piece(&c, r, &piece, err));
            status = hand_over_piece(problem, r, &piece, err);
            ranks_piece_free(&piece);
            if (status != MODAL_OK) goto done;
        }
        modal_store_use(0); /* it computes with this one */
        RANKS_OWN(cut_piece(&c, 0, &problem->piece, err));
    }
done:
    modal_fem_system_free(&c.numbers);
    modal_rigid_space_free(&c.rigid);
    modal_free(&c.owners);
    modal_free(&c.row);
    modal_free(&c.order);
    modal_free(&c.held);
    modal_free(&c.local);
    modal_free(&c.offsets);
    modal_free(&c.elements);
    modal_free(&c.first_row);
    return status;
}
