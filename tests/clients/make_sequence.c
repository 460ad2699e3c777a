/* SPDX-License-Identifier: Apache-2.0 */
/* make_sequence FOLDER ROWS FRAMES: writes FOLDER/sequence.vtkhdf and .xdmf of a waving sheet, for the
 * tests that open them with other programs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/memory.h"

/* Height and slope of the wave at x and time t. */
static void set_point(float *x, float *normal, float *displacement, double u, double v, double t)
{
    double height = 0.2 * u * sin(6.0 * u - 5.0 * t);
    double slope = 0.2 * sin(6.0 * u - 5.0 * t) + 1.2 * u * cos(6.0 * u - 5.0 * t);
    double length = sqrt(1.0 + slope * slope);
    x[0] = (float)u;
    x[1] = (float)v;
    x[2] = (float)height;
    normal[0] = (float)(-slope / length);
    normal[1] = 0.0f;
    normal[2] = (float)(1.0 / length);
    displacement[0] = displacement[1] = 0.0f;
    displacement[2] = (float)height;
}

static modal_status make(const char *folder, int64_t rows, int64_t frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = rows * rows, m = 2 * (rows - 1) * (rows - 1);
    int64_t *triangles = NULL, at = 0;
    double *times = NULL;
    float *positions = NULL, *normals = NULL, *displacement = NULL, *height = NULL, *tensor = NULL;
    char path[4096];
    modal_sequence_writer *writer = NULL;
    MODAL_TRY(modal_alloc(&triangles, 3 * m, sizeof *triangles, "triangles", err));
    MODAL_TRY(modal_alloc(&times, frames, sizeof *times, "times", err));
    MODAL_TRY(modal_alloc(&positions, 3 * n, sizeof *positions, "positions", err));
    MODAL_TRY(modal_alloc(&normals, 3 * n, sizeof *normals, "normals", err));
    MODAL_TRY(modal_alloc(&displacement, 3 * n, sizeof *displacement, "displacement", err));
    MODAL_TRY(modal_alloc(&height, m, sizeof *height, "cells", err));
    MODAL_TRY(modal_alloc(&tensor, 6 * m, sizeof *tensor, "cells", err));
    for (int64_t i = 0; i + 1 < rows; i++)
        for (int64_t j = 0; j + 1 < rows; j++) {
            int64_t a = i * rows + j;
            int64_t two[6] = {a, a + rows, a + 1, a + 1, a + rows, a + rows + 1};
            memcpy(triangles + at, two, sizeof two);
            at += 6;
        }
    for (int64_t f = 0; f < frames; f++) times[f] = (double)f / 30.0;
    modal_sequence_info info = {
        .n_points = n, .n_triangles = m, .triangles = triangles, .n_frames = frames, .times = times,
        .arrays = {5, {modal_sequence_points, *modal_sequence_known("Normals"), *modal_sequence_known("displacement"),
                       {.name = "cell_height", .components = 1, .of_cells = 1, .unit = "m"},
                       {.name = "cell_tensor", .components = 6, .of_cells = 1, .unit = "1"}}},
        .basis_hash = "00112233445566778899aabbccddeeff", .source_kind = "basis",
        .source_hash = "00112233445566778899aabbccddeeff"};
    snprintf(path, sizeof path, "%s/sequence.vtkhdf", folder);
    MODAL_TRY(modal_sequence_begin(&writer, path, &info, err));
    for (int64_t f = 0; f < frames; f++) {
        for (int64_t i = 0; i < n; i++)
            set_point(positions + 3 * i, normals + 3 * i, displacement + 3 * i,
                      (double)(i / rows) / (double)(rows - 1),
                      (double)(i % rows) / (double)(rows - 1), times[f]);
        for (int64_t c = 0; c < m; c++) {
            height[c] = 0.0f;
            for (int k = 0; k < 3; k++) height[c] += positions[3 * triangles[3 * c + k] + 2] / 3.0f;
            for (int k = 0; k < 6; k++) tensor[6 * c + k] = (float)(k + 1) * height[c] + (float)f;
        }
        const modal_frames frame = {1, {positions, normals, displacement, height, tensor}};
        MODAL_TRY(modal_sequence_append(writer, &frame, err));
    }
    MODAL_TRY(modal_sequence_end(&writer, err));
    snprintf(path, sizeof path, "%s/sequence.xdmf", folder);
    MODAL_TRY(modal_sequence_write_xdmf(path, "sequence.vtkhdf", &info, err));
done:
    modal_sequence_abort(writer);
    modal_free(&triangles);
    modal_free(&times);
    modal_free(&positions);
    modal_free(&normals);
    modal_free(&displacement);
    modal_free(&height);
    modal_free(&tensor);
    return status;
}

int main(int argc, char **argv)
{
    modal_error err = {0};
    if (argc != 4) return 2;
    if (mkdir(argv[1], 0777) != 0 && errno != EEXIST) {
        perror(argv[1]);
        return 4;
    }
    modal_status status = make(argv[1], atol(argv[2]), atol(argv[3]), &err);
    if (status != MODAL_OK) fprintf(stderr, "make_sequence: %s\n", err.message);
    return status == MODAL_OK ? 0 : 4;
}
