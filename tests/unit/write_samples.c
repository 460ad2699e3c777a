/* SPDX-License-Identifier: Apache-2.0 */
/* write_samples FOLDER: basis.h5, traj.h5 (with frames), still.h5 (without), a small sequence.vtkhdf, and the positions
 * that they stand for in expected.txt, computed here from the structs by the formula:
 * frame, object, user vertex, x, y, z. Or, write_samples --check basis|trajectory FILE: the reader's
 * verdict on a file that somebody else wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/basis/basis_h5.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "tests/unit/file_samples.h"

static void print_positions(FILE *to, const modal_basis *b, const modal_trajectory *t)
{
    for (int64_t f = 0; f < t->n_frames; f++)
        for (int32_t i = 0; i < b->n_objects; i++) {
            const modal_shape *s = &b->shapes[b->objects[i].shape];
            const double *q = t->q + f * t->mode_offsets[t->n_objects] + t->mode_offsets[i];
            const double *pose = t->poses + (f * t->n_objects + i) * 12;
            for (int64_t v = 0; v < s->surface.n_vertices; v++) {
                double x[3];
                for (int a = 0; a < 3; a++) {
                    x[a] = s->surface.rest_positions[3 * v + a];
                    for (int32_t k = 0; k < s->modes.n_modes; k++)
                        x[a] +=
                            (double)
                                s->modes.modal_matrix[((v / 32 * s->modes.n_modes + k) * 3 + a) * 32 + v % 32] *
                            q[k];
                }
                fprintf(to, "%d %d %d", (int)f, i, s->surface.user_vertex[v]);
                for (int a = 0; a < 3; a++)
                    fprintf(to, " %.17g",
                            pose[4 * a] * x[0] + pose[4 * a + 1] * x[1] +
                                pose[4 * a + 2] * x[2] + pose[4 * a + 3]);
                fprintf(to, "\n");
            }
        }
}

static int write_sequence(const char *path, const modal_basis *b)
{
    const int64_t triangles[3] = {0, 1, 2};
    const double times[2] = {0.0, 0.5};
    const float positions[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1};
    const modal_sequence_info info = {.n_points = 3,
                                      .n_triangles = 1,
                                      .triangles = triangles,
                                      .n_frames = 2,
                                      .times = times,
                                      .arrays = {2, {modal_sequence_points, *modal_sequence_known("displacement")}},
                                      .basis_hash = b->hash,
                                      .source_kind = "basis",
                                      .source_hash = b->hash,
                                      .n_provenance = b->n_provenance,
                                      .provenance = b->provenance};
    const modal_frames frames = {2, {positions, positions}};
    modal_sequence_writer *writer = NULL;
    return modal_sequence_begin(&writer, path, &info, NULL) != MODAL_OK ||
           modal_sequence_append(writer, &frames, NULL) != MODAL_OK ||
           modal_sequence_end(&writer, NULL) != MODAL_OK;
}

static int check(const char *type, const char *path)
{
    modal_error err = {0};
    modal_basis basis = {0};
    modal_trajectory trajectory = {0};
    modal_status status = strcmp(type, "basis") == 0
                              ? modal_basis_read(path, MODAL_BASIS_ALL, &basis, &err)
                              : modal_trajectory_read(path, &trajectory, &err);
    if (status != MODAL_OK) fprintf(stderr, "%s\n", err.message);
    modal_basis_free(&basis);
    modal_trajectory_free(&trajectory);
    return status != MODAL_OK;
}

int main(int argc, char **argv)
{
    char path[4096];
    int failed = 0;
    if (argc == 4 && strcmp(argv[1], "--check") == 0) return check(argv[2], argv[3]);
    if (argc != 2) return 2;
    modal_basis b = sample_basis(1);
    modal_trajectory t = sample_trajectory(&b, 1);
    modal_free(&t.basis_path);
    failed |= modal_copy_text(&t.basis_path, "basis.h5", 8, NULL) != MODAL_OK;
    snprintf(path, sizeof path, "%s/basis.h5", argv[1]);
    failed |= modal_basis_write(path, &b, NULL) != MODAL_OK;
    snprintf(path, sizeof path, "%s/traj.h5", argv[1]);
    failed |= modal_trajectory_write(path, &t, NULL) != MODAL_OK;
    snprintf(path, sizeof path, "%s/expected.txt", argv[1]);
    FILE *to = fopen(path, "w");
    if (to) print_positions(to, &b, &t);
    failed |= !to || fclose(to) != 0;
    modal_free(&t.poses);
    modal_free(&t.quality);
    snprintf(path, sizeof path, "%s/still.h5", argv[1]);
    failed |= modal_trajectory_write(path, &t, NULL) != MODAL_OK;
    snprintf(path, sizeof path, "%s/sequence.vtkhdf", argv[1]);
    failed |= write_sequence(path, &b);
    modal_trajectory_free(&t);
    modal_basis_free(&b);
    b = sample_energy_basis();
    snprintf(path, sizeof path, "%s/energy.h5", argv[1]);
    failed |= modal_basis_write(path, &b, NULL) != MODAL_OK;
    modal_basis_free(&b);
    return failed;
}
