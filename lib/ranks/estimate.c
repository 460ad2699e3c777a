/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank will hold, from the mesh alone: before it is divided, and for any number of ranks. The terms are what the steps
 * allocate; the factors in them that stand for PETSc's and MUMPS' own arrays are fitted to resident sets that were measured
 * (docs/results/modes_mpi.md). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "lib/ranks/lanczos.h"

enum { SAMPLES = 20000, LEAF = 32, MOST_DEPTH = 64 };

/* Fitted: MUMPS' bytes for an entry of the factor; GAMG's for a node and for a block of K, and what is kept of it, which takes more
 * while it is made. */
static const double factor_bytes = 12, grid_bytes[2] = {4000, 150}, cycle_bytes[2] = {2200, 45}, cycle_made = 1.4;
/* What libraries take once they compute, and MPI once it has sent. */
static const double started_bytes = 8e6, sending_bytes = 6e6;

/* ---- neighbours ---- */

/* The elements at every `stride`-th free node: of sample s [offsets[s] .. offsets[s + 1]). */
static modal_status list_samples(const modal_volume_mesh *mesh, const modal_fem_system *numbers, int64_t stride, int64_t **offsets,
                                 int32_t **elements, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = (numbers->n_free + stride - 1) / stride;
    MODAL_TRY(modal_alloc_zero(offsets, n + 2, sizeof **offsets, "estimate", err));
    for (int pass = 0; pass < 2; pass++) { /* counted two places up, as ranks_list_elements does */
        for (int64_t e = 0; e < mesh->n_elements; e++)
            for (int a = 0; a < modal_mesh_kind(mesh, e)->n_nodes; a++) {
                const int32_t i = numbers->free_index[modal_mesh_nodes(mesh, e)[a]];
                if (i < 0 || i % stride != 0) continue;
                if (pass == 0) (*offsets)[i / stride + 2]++;
                else (*elements)[(*offsets)[i / stride + 1]++] = (int32_t)e;
            }
        if (pass == 1) break;
        for (int64_t s = 0; s < n; s++) (*offsets)[s + 2] += (*offsets)[s + 1];
        MODAL_TRY(modal_alloc(elements, (*offsets)[n + 1], sizeof **elements, "estimate", err));
    }
done:
    return status;
}

/* Blocks in a row of K, the one on the diagonal among them: a mean over samples. */
static modal_status count_blocks(const modal_volume_mesh *mesh, const modal_fem_system *numbers, double *blocks, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t stride = (numbers->n_free + SAMPLES - 1) / SAMPLES, n = (numbers->n_free + stride - 1) / stride;
    int64_t *offsets = NULL, total = 0;
    int32_t *elements = NULL, *seen = NULL;
    MODAL_TRY(list_samples(mesh, numbers, stride, &offsets, &elements, err));
    MODAL_TRY(modal_alloc_zero(&seen, numbers->n_free, sizeof *seen, "estimate", err));
    for (int64_t s = 0; s < n; s++)
        for (int64_t k = offsets[s]; k < offsets[s + 1]; k++)
            for (int a = 0; a < modal_mesh_kind(mesh, elements[k])->n_nodes; a++) {
                const int32_t i = numbers->free_index[modal_mesh_nodes(mesh, elements[k])[a]];
                if (i < 0 || seen[i] == (int32_t)s + 1) continue;
                seen[i] = (int32_t)s + 1;
                total++;
            }
    *blocks = (double)total / (double)n;
done:
    modal_free(&offsets);
    modal_free(&elements);
    modal_free(&seen);
    return status;
}

/* ---- factor ---- */

/* Nested dissection (A. George, 1973) of the nodes by planes through their middle: a separator is the layer of nodes at such a
 * plane, as thick as nodes are apart, and its front has the layers at the planes that cut this part off, too. */
typedef struct dissection {
    const double *nodes; /* [all, 3] */
    double spacing;      /* m */
    double entries;      /* of the factor's lower triangle */
} dissection;

typedef struct planes {
    double low[3], high[3]; /* where the part was cut off; infinite: nowhere */
} planes;

static double place(const dissection *d, int32_t node, int axis) { return d->nodes[3 * (int64_t)node + axis]; }

/* Brings the middle one by its coordinate into the middle, what is below it in front of it (C. A. R. Hoare, 1961). */
static double split(const dissection *d, int32_t *part, int64_t n, int axis)
{
    int64_t low = 0, high = n - 1;
    const int64_t middle = n / 2;
    while (low < high) {
        const double pivot = place(d, part[low + (high - low) / 2], axis);
        int64_t i = low, j = high;
        while (i <= j) {
            while (place(d, part[i], axis) < pivot) i++;
            while (place(d, part[j], axis) > pivot) j--;
            if (i > j) break;
            const int32_t swap = part[i];
            part[i++] = part[j];
            part[j--] = swap;
        }
        if (middle <= j) high = j;
        else if (middle >= i) low = i;
        else break;
    }
    return place(d, part[middle], axis);
}

/* Nodes in the layers along the planes that cut the part off, and the longest axis. */
static double count_around(const dissection *d, const int32_t *part, int64_t n, const planes *cut, int *axis)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int64_t around = 0;
    for (int64_t i = 0; i < n; i++)
        for (int a = 0; a < 3; a++) {
            const double x = place(d, part[i], a);
            low[a] = fmin(low[a], x);
            high[a] = fmax(high[a], x);
            around += (x < cut->low[a] + d->spacing) + (x > cut->high[a] - d->spacing);
        }
    *axis = 0;
    for (int a = 1; a < 3; a++)
        if (high[a] - low[a] > high[*axis] - low[*axis]) *axis = a;
    return (double)around;
}

static void add_front(dissection *d, double own, double around)
{
    d->entries += 3 * own * (3 * own + 1) / 2 + 9 * own * around;
}

static void dissect(dissection *d, int32_t *part, int64_t n, planes cut, int depth)
{
    int axis;
    if (n == 0) return;
    const double around = count_around(d, part, n, &cut, &axis);
    const double middle = n <= LEAF || depth == MOST_DEPTH ? 0 : split(d, part, n, axis);
    int64_t below = 0, in = 0;
    if (n > LEAF && depth < MOST_DEPTH) { /* below the layer, in it, above it */
        for (int64_t i = 0; i < n; i++) {
            const double x = place(d, part[i], axis) - middle;
            if (x >= 0.5 * d->spacing) continue;
            const int32_t swap = part[i];
            part[i] = part[below + in];
            part[below + in] = swap;
            if (x >= -0.5 * d->spacing) {
                in++;
                continue;
            }
            part[below + in] = part[below];
            part[below++] = swap;
        }
    }
    if (below == 0 || below + in == n) { /* nothing is left to be cut */
        add_front(d, (double)n, around);
        return;
    }
    add_front(d, (double)in, around);
    planes left = cut, right = cut;
    left.high[axis] = middle - 0.5 * d->spacing;
    right.low[axis] = middle + 0.5 * d->spacing;
    dissect(d, part, below, left, depth + 1);
    dissect(d, part + below + in, n - below - in, right, depth + 1);
}

static modal_status count_factor(const modal_volume_mesh *mesh, const modal_fem_system *numbers, double volume, double *entries,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *part = NULL;
    dissection d = {.nodes = mesh->nodes, .spacing = cbrt(volume / (double)mesh->n_nodes)};
    int64_t n_thick = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) n_thick += mesh->element_type[e] == MODAL_ELEMENT_HEX20;
    if (2 * n_thick > mesh->n_elements) d.spacing *= 1.5; /* without nodes in their middle they reach farther than nodes are apart */
    const planes none = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    MODAL_TRY(modal_alloc(&part, numbers->n_free, sizeof *part, "estimate", err));
    memcpy(part, numbers->free_nodes, (size_t)numbers->n_free * sizeof *part);
    dissect(&d, part, numbers->n_free, none, 0);
    *entries = d.entries;
done:
    modal_free(&part);
    return status;
}

/* ---- the estimate ---- */

/* Bytes that this process holds now: libraries, what is small of mesh and surface. */
static double resident_now(void)
{
    long long all = 0, resident = 0;
    modal_store_let_go();
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    const int n = fscanf(file, "%lld %lld", &all, &resident);
    fclose(file);
    return n == 2 ? (double)resident * (double)sysconf(_SC_PAGESIZE) : 0;
}

static double mesh_bytes(const modal_volume_mesh *mesh)
{
    return 32.0 * (double)mesh->n_nodes + 21.0 * (double)mesh->n_elements + 4.0 * (double)mesh->element_offsets[mesh->n_elements];
}

modal_status ranks_measure_size(const modal_solid *solid, const modal_fem_system *numbers, double volume, ranks_size *size, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(size, 0, sizeof *size);
    size->n_nodes = solid->mesh.n_nodes;
    size->n_free = numbers->n_free;
    size->mesh_bytes = mesh_bytes(&solid->mesh);
    size->resident = resident_now();
    size->most_resident = (double)modal_most_resident(); /* as it read the mesh, with a window of it */
    MODAL_TRY(count_blocks(&solid->mesh, numbers, &size->blocks, err));
    MODAL_TRY(count_factor(&solid->mesh, numbers, volume, &size->factor_entries, err));
done:
    return status;
}

/* The most loaded rank's share of MUMPS' memory: the larger, the less even. Seen from 1,500 to 50,000 nodes, on 1 to 8 ranks. */
static double share_factor(double all, int n_ranks)
{
    static const double uneven = 1.6, megabyte = 1e6;
    const double even = all / n_ranks;
    if (n_ranks == 1) return all;
    return even + fmin(uneven * sqrt(all * megabyte) * pow(0.5 * n_ranks, 0.6), fmax(even, 64 * megabyte));
}

void ranks_estimate(const ranks_size *size, int32_t n_modes, int n_ranks, modal_ranks_estimate *estimate)
{
    const double own = (double)size->n_free / n_ranks;
    /* elements at the nodes of a rank are its neighbours', too */
    const double beside = n_ranks > 1 ? fmin(3 * pow(own, -1.0 / 3), 1) : 0;
    const double piece = size->mesh_bytes / n_ranks * (1 + beside);
    const double half = 0.5 * (size->blocks + 1);
    const double assembly = own * (1 + beside) * (84 * half + 40); /* lib/fem: lower triangle, M, pattern */
    const double symmetric = own * (76 * half + 16), whole = own * 108 * size->blocks;
    /* three more modes than are asked for: the basis, and the pairs */
    const double lanczos = 24 * own * (double)(ranks_lanczos_vectors(n_modes + 3) + n_modes + 3);
    const double grid = own * (grid_bytes[0] + grid_bytes[1] * size->blocks);
    /* of several ranks each keeps a range of the mesh beside its piece */
    const double base = size->resident + started_bytes + (n_ranks > 1 ? size->mesh_bytes / n_ranks + sending_bytes : 0);
    const double cycle = own * (cycle_bytes[0] + cycle_bytes[1] * size->blocks);
    /* three blocks, the pairs, and those of the Rayleigh-Ritz */
    const double lobpcg = 24 * own * (1 + beside) * 3.0 * (double)ranks_block_size(n_modes) + 48 * own * n_modes;
    /* rank 0 as it writes, after the matrices are gone, and as it divides: a window of what it goes through, and what it has then */
    const double result = 24 * own * n_modes + size->most_resident - size->resident;
    const double divide = size->most_resident + piece;
    *estimate = (modal_ranks_estimate){.n_ranks = n_ranks};
    estimate->direct_bytes = fmax(divide, base + piece +
        fmax(fmax(assembly + 2 * symmetric, 3 * symmetric + 144 * half * own + share_factor(factor_bytes * size->factor_entries, n_ranks) +
                  lanczos), result));
    estimate->multigrid_bytes = fmax(divide, base + piece +
        fmax(fmax(assembly, fmax(grid + cycle_made * cycle, cycle + lobpcg)) + 4 * whole / 3, result));
}
