/* SPDX-License-Identifier: Apache-2.0 */
/* The columns: snapshots S [frames, 3 vertices] are read three times. First Y = sum over frames of a random row times the snapshot,
 * whose span holds all that matters of S but for little (N. Halko, P. G. Martinsson, J. A. Tropp, "Finding Structure with
 * Randomness", 2011, section 4); then the coordinates in Y made orthonormal, whose Gram matrix turns them to principal axes; last
 * what is left of every frame after one column, two, and so on. */
#include "tools/modalview/modalview_snapshots.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "formats/snapshots/snapshots_check.h"
#include "formats/snapshots/snapshots_h5.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/shape/shape_surface.h"

enum { SPARE = 20, WIDTH = MODALVIEW_COLUMNS + SPARE };
static const double ASKED = 1e-3;

typedef struct job {
    tool *t;
    modal_snapshots_contents contents;
    modal_snapshots *file;
    int64_t n_frames, n; /* n: 3 times the vertices */
    int32_t *node_of;    /* [vertices] */
    double *u;           /* [nodes, 3] of a frame */
    double *v;           /* [n] of the vertices */
    double *columns;     /* [width, n] */
    double *q;           /* [n_frames, width] */
    int width;           /* of them that are independent */
} job;

static void release(job *j)
{
    modal_snapshots_close(j->file);
    modal_snapshots_contents_free(&j->contents);
    modal_free(&j->node_of);
    modal_free(&j->u);
    modal_free(&j->v);
    modal_free(&j->columns);
    modal_free(&j->q);
}

/* Frame f, at the vertices. */
static modal_status read_frame(job *j, int64_t f, modal_error *err)
{
    const modal_status status = modal_snapshots_read(j->file, f, 1, j->u, err);
    for (int64_t i = 0; status == MODAL_OK && i < j->n; i++) j->v[i] = j->u[3 * (int64_t)j->node_of[i / 3] + i % 3];
    return status;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* +1 or -1 for a frame and a column: D. Steele, G. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
static double sign_of(int64_t frame, int column)
{
    uint64_t z = ((uint64_t)frame * WIDTH + (uint64_t)column + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) & 1 ? 1 : -1;
}

/* Y, made orthonormal: Gram and Schmidt, twice. Columns that depend on others go. */
static modal_status find_span(job *j, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = j->n;
    int width = j->n_frames < WIDTH ? (int)j->n_frames : WIDTH;
    double largest = 0;
    for (int64_t f = 0; f < j->n_frames; f++) {
        MODAL_TRY(modal_progress_report(&j->t->progress, "decompose", (double)f / (double)j->n_frames / 3, err));
        MODAL_TRY(read_frame(j, f, err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
        for (int k = 0; k < width; k++) {
            const double s = width < WIDTH ? (f == k) : sign_of(f, k); /* so few frames are the span themselves */
            for (int64_t i = 0; s != 0 && i < n; i++) j->columns[k * n + i] += s * j->v[i];
        }
    }
    j->width = 0;
    for (int k = 0; k < width; k++) {
        double *y = j->columns + j->width * n;
        if (j->width < k) memcpy(y, j->columns + k * n, (size_t)n * sizeof *y);
        const double before = sqrt(dot(n, y, y));
        for (int pass = 0; pass < 2; pass++)
            for (int l = 0; l < j->width; l++) {
                const double *x = j->columns + l * n, product = dot(n, x, y);
                for (int64_t i = 0; i < n; i++) y[i] -= product * x[i];
            }
        const double length = sqrt(dot(n, y, y));
        largest = fmax(largest, before);
        if (!(length > 1e-10 * largest)) continue;
        for (int64_t i = 0; i < n; i++) y[i] /= length;
        j->width++;
    }
done:
    return status;
}

/* Eigenvectors, as rows, of the symmetric a [n, n], by descending eigenvalue: Jacobi's rotations. a is destroyed. */
static void principal_axes(int n, double a[WIDTH][WIDTH], double axes[WIDTH][WIDTH])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) axes[i][k] = i == k;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;
        for (int p = 0; p < n; p++)
            for (int q = 0; q < n; q++) {
                all += a[p][q] * a[p][q];
                off += p == q ? 0 : a[p][q] * a[p][q];
            }
        if (!(off > 1e-30 * all)) break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (a[p][q] == 0) continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    const double x = a[p][k], y = a[q][k], v = axes[p][k], w = axes[q][k];
                    a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
                    axes[p][k] = c * v - s * w, axes[q][k] = s * v + c * w;
                }
            }
    }
    for (int i = 0; i < n; i++) { /* largest first */
        int best = i;
        for (int k = i + 1; k < n; k++)
            if (a[k][k] > a[best][best]) best = k;
        if (best == i) continue;
        double row[WIDTH];
        const double value = a[i][i];
        a[i][i] = a[best][best], a[best][best] = value;
        memcpy(row, axes[i], sizeof row), memcpy(axes[i], axes[best], sizeof row), memcpy(axes[best], row, sizeof row);
    }
}

/* Coordinates in the span, then columns and coordinates by principal axes. */
static modal_status turn_to_axes(job *j, modal_error *err)
{
    modal_status status = MODAL_OK;
    double(*gram)[WIDTH] = NULL, (*axes)[WIDTH] = NULL;
    MODAL_TRY(modal_alloc_zero(&gram, WIDTH, sizeof *gram, "columns", err));
    MODAL_TRY(modal_alloc(&axes, WIDTH, sizeof *axes, "columns", err));
    for (int64_t f = 0; f < j->n_frames; f++) {
        double *c = j->q + f * WIDTH;
        MODAL_TRY(modal_progress_report(&j->t->progress, "decompose", (1 + (double)f / (double)j->n_frames) / 3, err));
        MODAL_TRY(read_frame(j, f, err));
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
        for (int k = 0; k < j->width; k++) c[k] = dot(j->n, j->columns + k * j->n, j->v);
        for (int k = 0; k < j->width; k++)
            for (int l = 0; l < j->width; l++) gram[k][l] += c[k] * c[l];
    }
    principal_axes(j->width, gram, axes);
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
    for (int64_t i = 0; i < j->n; i++) {
        double row[WIDTH];
        for (int k = 0; k < j->width; k++) {
            row[k] = 0;
            for (int l = 0; l < j->width; l++) row[k] += axes[k][l] * j->columns[l * j->n + i];
        }
        for (int k = 0; k < j->width; k++) j->columns[k * j->n + i] = row[k];
    }
    for (int64_t f = 0; f < j->n_frames; f++) {
        double row[WIDTH], *c = j->q + f * WIDTH;
        for (int k = 0; k < j->width; k++) {
            row[k] = 0;
            for (int l = 0; l < j->width; l++) row[k] += axes[k][l] * c[l];
        }
        memcpy(c, row, (size_t)j->width * sizeof *c);
    }
done:
    modal_free(&gram);
    modal_free(&axes);
    return status;
}

/* The largest square of a length in rows of three. */
static double longest(int64_t n, const double *v)
{
    double most = 0;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static) reduction(max : most)
    for (int64_t i = 0; i < n; i += 3) most = fmax(most, v[i] * v[i] + v[i + 1] * v[i + 1] + v[i + 2] * v[i + 2]);
    return most;
}

/* errors[r]: what r columns leave of a vertex at most, m; errors[0]: the largest displacement. */
static modal_status measure(job *j, double errors[MODALVIEW_COLUMNS + 1], modal_error *err)
{
    modal_status status = MODAL_OK;
    const int most = j->width < MODALVIEW_COLUMNS ? j->width : MODALVIEW_COLUMNS;
    for (int r = 0; r <= MODALVIEW_COLUMNS; r++) errors[r] = 0;
    for (int64_t f = 0; f < j->n_frames; f++) {
        MODAL_TRY(modal_progress_report(&j->t->progress, "decompose", (2 + (double)f / (double)j->n_frames) / 3, err));
        MODAL_TRY(read_frame(j, f, err));
        for (int r = 0; r <= most; r++) {
            const double *x = j->columns + (r - 1) * j->n, c = r > 0 ? j->q[f * WIDTH + r - 1] : 0;
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(static)
            for (int64_t i = 0; i < (r > 0 ? j->n : 0); i++) j->v[i] -= c * x[i];
            errors[r] = fmax(errors[r], sqrt(longest(j->n, j->v)));
        }
    }
    for (int r = most + 1; r <= MODALVIEW_COLUMNS; r++) errors[r] = errors[most];
done:
    return status;
}

/* The boundary; its vertices are nodes, ascending. */
static modal_status take_surface(job *j, modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_snapshots_solid *s = &j->contents.solid;
    int32_t *vertex = NULL;
    MODAL_TRY(modal_alloc(&vertex, j->contents.n_nodes, sizeof *vertex, "surface", err));
    for (int64_t i = 0; i < j->contents.n_nodes; i++) vertex[i] = -1;
    for (int64_t k = 0; k < 3 * s->n_triangles; k++) vertex[s->triangles[k]] = 0;
    for (int64_t i = 0; i < j->contents.n_nodes; i++)
        if (vertex[i] == 0) vertex[i] = (int32_t)surface->n_vertices++;
    j->n = 3 * surface->n_vertices;
    surface->n_triangles = s->n_triangles;
    MODAL_TRY(modal_alloc(&j->node_of, surface->n_vertices, sizeof *j->node_of, "surface", err));
    MODAL_TRY(modal_alloc(&surface->positions, j->n, sizeof(double), "surface", err));
    MODAL_TRY(modal_alloc(&surface->triangles, 3 * s->n_triangles, sizeof(int32_t), "surface", err));
    for (int64_t i = 0; i < j->contents.n_nodes; i++)
        if (vertex[i] >= 0) j->node_of[vertex[i]] = (int32_t)i;
    for (int64_t i = 0; i < j->n; i++) surface->positions[i] = s->mesh.nodes[3 * (int64_t)j->node_of[i / 3] + i % 3];
    for (int64_t k = 0; k < 3 * s->n_triangles; k++) surface->triangles[k] = vertex[s->triangles[k]];
done:
    modal_free(&vertex);
    return status;
}

/* The object and its motion in the first r columns. */
static modal_status give(job *j, int r, const modal_surface_mesh *surface, modal_basis *basis, modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&basis->shapes, 1, sizeof *basis->shapes, "shape", err));
    MODAL_TRY(modal_alloc_zero(&basis->objects, 1, sizeof *basis->objects, "object", err));
    basis->n_shapes = basis->n_objects = 1;
    basis->objects[0].parent = -1;
    for (int k = 0; k < 3; k++) basis->objects[0].rest_pose[5 * k] = 1;
    MODAL_TRY(modal_shape_surface_alone(surface, r, j->columns, &basis->shapes[0], err));
    MODAL_TRY(modal_alloc_zero(&basis->shapes[0].modes.frequencies, r, sizeof(double), "columns", err));
    MODAL_TRY(modal_copy_text(&basis->shapes[0].name, "solid", SIZE_MAX, err));
    MODAL_TRY(modal_alloc_zero(&trajectory->mode_offsets, 2, sizeof *trajectory->mode_offsets, "coordinates", err));
    MODAL_TRY(modal_alloc(&trajectory->q, j->n_frames * r, sizeof *trajectory->q, "coordinates", err));
    trajectory->n_objects = 1;
    trajectory->n_frames = j->n_frames;
    trajectory->mode_offsets[1] = r;
    trajectory->times = j->contents.times;
    trajectory->quality = j->contents.quality;
    trajectory->provenance = j->contents.provenance;
    trajectory->n_provenance = j->contents.n_provenance;
    j->contents.times = NULL;
    j->contents.quality = NULL;
    j->contents.provenance = NULL;
    j->contents.n_provenance = 0;
    for (int64_t f = 0; f < j->n_frames; f++) memcpy(trajectory->q + f * r, j->q + f * WIDTH, (size_t)r * sizeof *trajectory->q);
done:
    return status;
}

modal_status modalview_read_snapshots(tool *t, const char *path, modal_basis *basis, modal_trajectory *trajectory, double *error,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    job j = {.t = t};
    modal_surface_mesh surface = {0};
    double errors[MODALVIEW_COLUMNS + 1];
    int single, r = 1;
    MODAL_TRY(modal_snapshots_describe(path, &j.contents, err));
    if (!j.contents.has_solid || j.contents.solid.n_triangles == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: /solid: missing (modaltled --fields solid writes it)", path);
    if (!j.contents.times) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: /times: missing, which a page needs", path);
    MODAL_TRY(take_surface(&j, &surface, err));
    MODAL_TRY(modal_snapshots_open(&j.file, path, j.contents.n_nodes, j.contents.solid.mesh.nodes, &j.n_frames, &single, err));
    MODAL_TRY(modal_alloc(&j.u, 3 * j.contents.n_nodes, sizeof *j.u, "snapshot", err));
    MODAL_TRY(modal_alloc(&j.v, j.n, sizeof *j.v, "snapshot", err));
    MODAL_TRY(modal_alloc_zero(&j.columns, WIDTH * j.n, sizeof *j.columns, "columns", err));
    MODAL_TRY(modal_alloc_zero(&j.q, j.n_frames * WIDTH, sizeof *j.q, "coordinates", err));
    MODAL_TRY(find_span(&j, err));
    MODAL_TRY(turn_to_axes(&j, err));
    MODAL_TRY(measure(&j, errors, err));
    if (!(errors[0] > 0)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: nothing moves", path);
    while (r < MODALVIEW_COLUMNS && !(errors[r] <= ASKED * errors[0])) r++;
    *error = errors[r] / errors[0];
    if (!(*error <= ASKED))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %d columns leave %.2g of the largest displacement, %g asked for: too many motions for a page",
                   path, MODALVIEW_COLUMNS, *error, ASKED);
    MODAL_TRY(give(&j, r, &surface, basis, trajectory, err));
    tool_note(t, "%" PRId64 " snapshots in %d columns, no vertex off by more than %.2g of the largest displacement, %.4g m", j.n_frames, r,
              *error, errors[0]);
    json_object_set_new(t->report, "reduced", json_pack("{s:i, s:f, s:f}", "columns", r, "error", *error, "largest_displacement_m", errors[0]));
done:
    modal_surface_mesh_free(&surface);
    release(&j);
    return status;
}
