/* SPDX-License-Identifier: Apache-2.0 */
/* K and M in rows of the ranks, and the rigid motions. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"

/* What is filled: a block for each pair of nodes in the row of the smaller number (symmetric), or in both rows. */
typedef struct filling {
    const ranks_problem *problem;
    const modal_fem_system *system; /* of the piece */
    PetscInt *rows;                 /* [n_free] row of each of its free nodes */
    int symmetric;
} filling;

static int is_own(const ranks_problem *problem, PetscInt row)
{
    return row >= problem->piece.first_row && row < problem->piece.first_row + problem->piece.n_own;
}

/* Whether block `at` of column j of the piece's pattern, or with `turned` its transpose, belongs to a row of this rank. */
static int visit(const filling *f, int64_t j, int64_t at, int turned, PetscInt *row, PetscInt *column)
{
    const PetscInt a = f->rows[f->system->pattern.rows[at]], b = f->rows[j];
    *row = turned ? b : a;
    *column = turned ? a : b;
    if (a == b && turned) return 0;
    return is_own(f->problem, *row) && !(f->symmetric && *row > *column);
}

/* Blocks a row, those with the rank's own nodes and the others. */
static modal_status count_blocks(const filling *f, PetscInt *own, PetscInt *other, modal_error *err)
{
    const modal_block_pattern *p = &f->system->pattern;
    int64_t total = 0;
    for (int64_t j = 0; j < p->n_nodes; j++)
        for (int64_t k = 2 * p->offsets[j]; k < 2 * p->offsets[j + 1]; k++) {
            PetscInt row, column;
            if (!visit(f, j, k / 2, k % 2, &row, &column)) continue;
            PetscInt *count = is_own(f->problem, column) ? own : other;
            count[row - f->problem->piece.first_row]++;
            total += 9;
        }
    if ((f->symmetric ? 2 : 1) * total > ranks_most_index())
        return modal_error_set(err, MODAL_ERROR_MEMORY,
                               "--eigensolver slepc: %lld entries of K on a rank, this PETSc's indices reach %lld (more ranks, or "
                               "libpetsc64-real-dev)", (long long)((f->symmetric ? 2 : 1) * total), (long long)ranks_most_index());
    return MODAL_OK;
}

/* Room for the counted blocks. Of M in whole rows only the diagonals of the blocks are kept: a third of the entries. */
static modal_status make_room(const filling *f, const PetscInt *own, const PetscInt *other, int thin, Mat *matrix, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = f->problem;
    const PetscInt n = (PetscInt)(3 * problem->piece.n_own), all = (PetscInt)(3 * problem->whole.n_rows);
    PetscInt *of_rows = NULL;
    RANKS_TRY(MatCreate(problem->comm, matrix));
    RANKS_TRY(MatSetSizes(*matrix, n, n, all, all));
    RANKS_TRY(MatSetBlockSize(*matrix, 3));
    RANKS_TRY(MatSetType(*matrix, f->symmetric ? MATSBAIJ : MATAIJ));
    if (thin) {
        RANKS_OWN(modal_alloc(&of_rows, 2 * (int64_t)n, sizeof *of_rows, "rows", err));
        for (PetscInt i = 0; i < n; i++) of_rows[i] = own[i / 3], of_rows[n + i] = other[i / 3];
        RANKS_TRY(MatSeqAIJSetPreallocation(*matrix, 0, of_rows));
        RANKS_TRY(MatMPIAIJSetPreallocation(*matrix, 0, of_rows, 0, of_rows + n));
    } else {
        RANKS_TRY(MatXAIJSetPreallocation(*matrix, 3, f->symmetric ? NULL : own, f->symmetric ? NULL : other, f->symmetric ? own : NULL,
                                          f->symmetric ? other : NULL));
    }
    RANKS_TRY(MatSetOption(*matrix, MAT_SYMMETRIC, PETSC_TRUE));
    RANKS_TRY(MatSetOption(*matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_TRUE));
done:
    modal_free(&of_rows);
    return status;
}

/* Block `at` of column j of the piece's pattern, or its transpose. */
static void get_block(const filling *f, int64_t j, int64_t at, int turned, int is_mass, PetscScalar block[9])
{
    const modal_fem_system *system = f->system;
    const modal_block_pattern *p = &system->pattern;
    const int64_t i = p->rows[at];
    for (int c = 0; c < 9; c++) {
        const int from = turned ? 3 * (c % 3) + c / 3 : c, diagonal = c / 3 == c % 3;
        if (is_mass) block[c] = diagonal ? modal_block_mass(p, system->mass[at], i, j, c / 3) : 0;
        else block[c] = system->stiffness[9 * at + from];
        /* a held component: its place in the spectrum is the same on all ranks */
        if (!is_mass && i == j && diagonal && p->held && (p->held[j] >> (c / 3) & 1))
            block[c] = f->problem->largest_ratio * system->mass[at];
    }
}

static modal_status fill(const filling *f, const PetscInt *own, const PetscInt *other, int is_mass, Mat *matrix, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_problem *problem = f->problem;
    const modal_block_pattern *p = &f->system->pattern;
    const int thin = is_mass && !f->symmetric;
    MODAL_TRY(make_room(f, own, other, thin, matrix, err));
    for (int64_t j = 0; j < p->n_nodes; j++)
        for (int64_t k = 2 * p->offsets[j]; k < 2 * p->offsets[j + 1]; k++) {
            PetscInt row, column;
            PetscScalar block[9];
            if (!visit(f, j, k / 2, k % 2, &row, &column)) continue;
            get_block(f, j, k / 2, k % 2, is_mass, block);
            if (!thin) RANKS_TRY(MatSetValuesBlocked(*matrix, 1, &row, 1, &column, block, INSERT_VALUES));
            for (PetscInt c = 0; c < 3 && thin; c++)
                RANKS_TRY(MatSetValue(*matrix, 3 * row + c, 3 * column + c, block[4 * c], INSERT_VALUES));
        }
    RANKS_TRY(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
    RANKS_TRY(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
done:
    return status;
}

/* What all ranks must agree on: the estimate of the largest eigenvalue, by own rows alone, which are complete; the slowest wave. */
static modal_status find_scales(ranks_problem *problem, const modal_fem_system *system, const PetscInt *rows, modal_error *err)
{
    modal_status status = MODAL_OK;
    double ratio = 0;
    for (int64_t j = 0; j < system->n_free; j++)
        for (int p = 0; p < 3 && is_own(problem, rows[j]); p++) {
            const int64_t at = system->pattern.offsets[j];
            if (system->pattern.held && (system->pattern.held[j] >> p & 1)) continue;
            ratio = fmax(ratio, 4 * system->stiffness[9 * at + 4 * p] / system->mass[at]);
        }
    RANKS_TRY(MPI_Allreduce(&ratio, &problem->largest_ratio, 1, MPI_DOUBLE, MPI_MAX, problem->comm));
    RANKS_TRY(MPI_Allreduce(&system->wave_scale, &problem->wave_scale, 1, MPI_DOUBLE, MPI_MIN, problem->comm));
done:
    return status;
}

static modal_status prepare(ranks_problem *problem, modal_fem_system *system, filling *f, PetscInt **own, PetscInt **other,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    ranks_piece *piece = &problem->piece;
    MODAL_TRY(modal_fem_assemble(&piece->mesh, piece->fixed_nodes, piece->fixed_components, piece->n_fixed,
                                 problem->options.mass_rule, 1, system, err));
    MODAL_TRY(modal_alloc(&f->rows, system->n_free, sizeof *f->rows, "rows", err));
    MODAL_TRY(modal_alloc_zero(own, piece->n_own, sizeof **own, "rows", err));
    MODAL_TRY(modal_alloc_zero(other, piece->n_own, sizeof **other, "rows", err));
    modal_free(&problem->nodal_mass);
    modal_free(&problem->held);
    MODAL_TRY(modal_alloc(&problem->nodal_mass, piece->n_own, sizeof *problem->nodal_mass, "nodal mass", err));
    MODAL_TRY(modal_alloc_zero(&problem->held, piece->n_own, 1, "held components", err));
    f->problem = problem;
    f->system = system;
    for (int64_t i = 0; i < system->n_free; i++) {
        f->rows[i] = piece->rows[system->free_nodes[i]];
        if (!is_own(problem, f->rows[i])) continue;
        problem->nodal_mass[f->rows[i] - piece->first_row] = system->nodal_mass[i];
        if (system->pattern.held) problem->held[f->rows[i] - piece->first_row] = system->pattern.held[i];
    }
    MODAL_TRY(count_blocks(f, *own, *other, err));
done:
    return status;
}

modal_status ranks_assemble(ranks_problem *problem, int symmetric, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_fem_system system = {0};
    filling f = {.symmetric = symmetric};
    PetscInt *own = NULL, *other = NULL;
    RANKS_TRY(MatDestroy(&problem->stiffness));
    RANKS_TRY(MatDestroy(&problem->mass));
    status = prepare(problem, &system, &f, &own, &other, err);
    MODAL_TRY(ranks_agree(problem, status, err));
    MODAL_TRY(find_scales(problem, &system, f.rows, err));
    MODAL_TRY(fill(&f, own, other, 0, &problem->stiffness, err));
    MODAL_TRY(fill(&f, own, other, 1, &problem->mass, err));
done:
    modal_free(&f.rows);
    modal_free(&own);
    modal_free(&other);
    modal_fem_system_free(&system);
    return status;
}

/* Motion k of a part, M-orthonormal to its earlier ones. */
static modal_status make_motion(ranks_problem *problem, int32_t part, int32_t k, Vec *motions, Vec work, modal_error *err)
{
    modal_status status = MODAL_OK;
    const ranks_piece *piece = &problem->piece;
    PetscScalar *values, product;
    RANKS_TRY(VecSet(motions[k], 0));
    RANKS_TRY(VecGetArray(motions[k], &values));
    for (int64_t i = 0; i < piece->mesh.n_nodes; i++) {
        const int64_t at = piece->rows[i] - piece->first_row;
        if (piece->part[i] != part || at < 0 || at >= piece->n_own) continue;
        modal_rigid_motion_at(&problem->parts[part], k, problem->part_size[part], piece->mesh.nodes + 3 * i, problem->held[at],
                              values + 3 * at);
    }
    RANKS_TRY(VecRestoreArray(motions[k], &values));
    for (int pass = 0; pass < 2; pass++)
        for (int32_t j = 0; j < k; j++) {
            RANKS_TRY(MatMult(problem->mass, motions[j], work));
            RANKS_TRY(VecDot(motions[k], work, &product));
            RANKS_TRY(VecAXPY(motions[k], -product, motions[j]));
        }
    RANKS_TRY(MatMult(problem->mass, motions[k], work));
    RANKS_TRY(VecDot(motions[k], work, &product));
    RANKS_TRY(VecScale(motions[k], 1 / sqrt(product)));
done:
    return status;
}

modal_status ranks_make_rigid(ranks_problem *problem, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double pi = 3.14159265358979323846;
    const int64_t n = problem->whole.n_rigid;
    Vec work = NULL;
    double size = 0;
    int64_t count = 0;
    if (n == 0) return MODAL_OK;
    if (n > PETSC_MAX_INT) return modal_error_set(err, MODAL_ERROR_INPUT, "--eigensolver slepc: rigid motions, %lld", (long long)n);
    RANKS_TRY(MatCreateVecs(problem->stiffness, &work, NULL));
    RANKS_TRY(VecDuplicateVecs(work, (PetscInt)n, &problem->rigid));
    for (int32_t part = 0; part < problem->whole.n_parts; part++) {
        if (problem->n_motions[part] > 0) size = fmax(size, problem->part_size[part]);
        for (int32_t k = 0; k < problem->n_motions[part]; k++)
            MODAL_TRY(make_motion(problem, part, k, problem->rigid + count, work, err));
        count += problem->n_motions[part];
    }
    problem->shift = -1e-4 * problem->wave_scale * (pi / size) * (pi / size); /* lib/modes/modes.h */
done:
    VecDestroy(&work);
    return status;
}
