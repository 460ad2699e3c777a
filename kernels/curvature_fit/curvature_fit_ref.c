/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/curvature_fit/curvature_fit.h"

#include <math.h>
#include <string.h>

#include "kernels/curvature_tensor/curvature_ref.h"
#include "lib/base/tile.h"

enum { UNKNOWNS = 15, POINTS = MODAL_NEIGHBOURS_MAX + 1 };

static double dot(int64_t count, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

/* Least squares of columns [unknowns][POINTS] and heights, both overwritten, by modified Gram-Schmidt, each column
 * twice. Returns the degree that was reached; coefficients [unknowns] are those of that degree. */
static int solve(int degree, int64_t n_points, double (*columns)[POINTS], double *heights, double *coefficients)
{
    double r[UNKNOWNS][UNKNOWNS] = {{0.0}}, right[UNKNOWNS];
    int reached = -1, unknowns = 0;
    for (int d = 0; d <= degree; d++) {
        const int end = (d + 1) * (d + 2) / 2;
        for (int j = d * (d + 1) / 2; j < end; j++) {
            const double before = dot(n_points, columns[j], columns[j]);
            for (int turn = 0; turn < 2; turn++)
                for (int k = 0; k < j; k++) {
                    const double share = dot(n_points, columns[k], columns[j]);
                    r[k][j] += share;
                    for (int64_t i = 0; i < n_points; i++) columns[j][i] -= share * columns[k][i];
                }
            const double left = dot(n_points, columns[j], columns[j]);
            if (!(left > 1e-6 * before)) goto found;
            r[j][j] = sqrt(left);
            for (int64_t i = 0; i < n_points; i++) columns[j][i] /= r[j][j];
        }
        reached = d, unknowns = end;
    }
found:
    for (int j = 0; j < unknowns; j++) {
        right[j] = dot(n_points, columns[j], heights);
        for (int64_t i = 0; i < n_points; i++) heights[i] -= right[j] * columns[j][i];
    }
    for (int j = unknowns - 1; j >= 0; j--) {
        coefficients[j] = right[j];
        for (int k = j + 1; k < unknowns; k++) coefficients[j] -= r[j][k] * coefficients[k];
        coefficients[j] /= r[j][j];
    }
    return reached;
}

/* The shape operator of z = f(x, y) with these coefficients, over (0, 0). With N_z = 1 / sqrt(1 + f_x^2 + f_y^2), the
 * graph's tangents are J = I + f f^T N_z / (1 + N_z) in the basis that the least rotation of z to N makes of e_x, e_y;
 * S = -J^-1 (second fundamental form) J^-1, J^-1 = I - f f^T N_z^2 / (1 + N_z). */
static void shape_of(const double *c, double tensor[3])
{
    const double x = c[1], y = c[2], up = 1.0 / sqrt(1.0 + x * x + y * y), s = up * up / (1.0 + up);
    const double inverse[2][2] = {{1.0 - s * x * x, -s * x * y}, {-s * x * y, 1.0 - s * y * y}};
    const double second[2][2] = {{2.0 * c[3] * up, c[4] * up}, {c[4] * up, 2.0 * c[5] * up}};
    double shape[2][2] = {{0.0}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++)
                for (int l = 0; l < 2; l++) shape[i][j] -= inverse[i][k] * second[k][l] * inverse[l][j];
    tensor[0] = shape[0][0], tensor[1] = shape[0][1], tensor[2] = shape[1][1];
}

/* Entry `row` of v's list, the vertex itself before the first; -1: only fills up. */
static int64_t point_of(const modal_curvature_exact *column, int64_t v, int64_t row)
{
    const int64_t tile = v / MODAL_TILE;
    return row < column->offsets[tile] ? v : column->neighbours[row * MODAL_TILE + v % MODAL_TILE];
}

/* The mean of the neighbours' squared distances from v, or 1 where all are in one place. */
static double mean_square(const modal_curvature_exact *column, int64_t v)
{
    const int64_t tile = v / MODAL_TILE;
    double sum = 0.0, count = 0.0;
    for (int64_t row = column->offsets[tile]; row < column->offsets[tile + 1]; row++) {
        const int64_t j = point_of(column, v, row);
        if (j < 0) continue;
        for (int i = 0; i < 3; i++) sum += pow(column->positions[3 * j + i] - column->positions[3 * v + i], 2.0);
        count += 1.0;
    }
    return sum > 0.0 ? sum / count : 1.0;
}

/* One vertex; work [UNKNOWNS + 1][POINTS]. A row of the least squares is a point's times the root of its weight. */
static void fit_vertex(const modal_curvature_exact *column, int64_t v, int degree, double (*work)[POINTS],
                       double *tensor, double *reached)
{
    const double *positions = column->positions, *n = column->normals + 3 * v, *own = positions + 3 * v;
    const int64_t *offsets = column->offsets;
    const int64_t tile = v / MODAL_TILE;
    const double mean = mean_square(column, v);
    double p[3], q[3], coefficients[UNKNOWNS] = {0.0}, *heights = work[UNKNOWNS];
    int64_t n_points = 0;
    memset(tensor, 0, 3 * sizeof *tensor);
    *reached = 0.0;
    if (dot(3, n, n) == 0.0) return;
    modal_curvature_frame_exact(n, p, q);
    for (int64_t row = offsets[tile] - 1; row < offsets[tile + 1]; row++) {
        const int64_t j = point_of(column, v, row);
        if (j < 0) continue;
        double edge[3];
        for (int i = 0; i < 3; i++) edge[i] = positions[3 * j + i] - own[i];
        const double x = dot(3, edge, p), y = dot(3, edge, q), root = 1.0 / (dot(3, edge, edge) / mean + 0.2);
        double power_x = root;
        for (int a = 0; a <= degree; a++, power_x *= x) {
            double value = power_x;
            for (int b = 0; a + b <= degree; b++, value *= y)
                work[(a + b) * (a + b + 1) / 2 + b][n_points] = value; /* x^a y^b */
        }
        heights[n_points++] = root * dot(3, edge, n);
    }
    const int d = solve(degree, n_points, work, heights, coefficients);
    *reached = d;
    if (d >= 2) shape_of(coefficients, tensor);
}

modal_status modal_curvature_fit_exact(const modal_curvature_exact *column, int degree, double *tensors,
                                       double *degrees, modal_error *err)
{
    modal_status status = MODAL_OK;
    double(*work)[POINTS] = NULL;
    MODAL_TRY(modal_alloc(&work, UNKNOWNS + 1, sizeof *work, "points of a fit", err));
    for (int64_t v = 0; v < column->n_vertices; v++)
        fit_vertex(column, v, degree, work, tensors + 3 * v, degrees + v);
done:
    modal_free(&work);
    return status;
}

modal_status modal_curvature_fit_ref(const modal_curvature_fit_task *task, modal_stream *stream, modal_error *err)
{
    (void)stream;
    modal_status status = MODAL_OK;
    const int64_t n = task->n_vertices;
    modal_curvature_columns columns = {0};
    if (task->degree != 2 && task->degree != 4)
        return modal_error_set(err, MODAL_ERROR_USAGE, "curvature_fit: degree %d is not 2 or 4", task->degree);
    MODAL_TRY(modal_curvature_columns_new(&columns, n, err));
    for (int64_t c = 0; c < task->n_columns; c++) {
        modal_curvature_columns_read(&columns, c, task->positions, task->normals);
        const modal_curvature_exact column = {n, task->neighbour_offsets, task->neighbours, columns.positions,
                                              columns.normals};
        MODAL_TRY(modal_curvature_fit_exact(&column, task->degree, columns.tensors, columns.areas, err));
        modal_curvature_give_exact(n, c, columns.normals, columns.tensors, NULL, &task->output);
        for (int64_t v = 0; task->degrees && v < n; v++) task->degrees[c * n + v] = (float)columns.areas[v];
    }
done:
    modal_curvature_columns_free(&columns);
    return status;
}
