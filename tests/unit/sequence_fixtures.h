/* SPDX-License-Identifier: Apache-2.0 */
/* A small sequence, written in a folder of its own, for test_sequence.c and test_sequence_damage.c: each includes it once. */
#ifndef TESTS_UNIT_SEQUENCE_FIXTURES_H
#define TESTS_UNIT_SEQUENCE_FIXTURES_H

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/sequences/manifest.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/memory.h"

/* HDF5 1.10 leaks when it gives up on a damaged file or fails to close one; leaks of ours are found
 * all the same. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

enum { N = 5, M = 6, F = 4 };
static const int64_t triangles[3 * M] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 0, 3, 2, 0, 2, 1};
static const double times[F] = {-0.1, 0.0, 0.1, 1e-3 + 0.1};
static float positions[F * N * 3], normals[F * N * 3], displacement[F * N * 3];
static float tangents[F * N * 4]; /* in sequences that have a displacement, as the two of cells: */
static float strain[F * M * 6], damage[F * M];
static char folder[] = "/tmp/modal-sequence-XXXXXX";
static char file_a[64], file_b[64], side_a[64];

static modal_array_list some_arrays(int with_normals, int with_displacement)
{
    const modal_array all[] = {
        modal_sequence_points, *modal_sequence_known("Normals"), *modal_sequence_known("displacement"),
        *modal_sequence_known("Tangents"), {.name = "strain", .components = 6, .of_cells = 1, .unit = "1"},
        {.name = "damage", .components = 1, .of_cells = 1, .unit = "1"}};
    modal_array_list list = {0};
    for (int i = 0; i < 6; i++)
        if (i == 0 || (i == 1 ? with_normals : with_displacement)) list.all[list.n++] = all[i];
    return list;
}

static modal_sequence_info small(int with_normals, int with_displacement)
{
    static modal_provenance step = {"modalpack", "0.1.0", "modalpack in.msh", "", "cpu"};
    return (modal_sequence_info){.n_points = N, .n_triangles = M, .triangles = triangles,
                                 .n_frames = F, .times = times,
                                 .arrays = some_arrays(with_normals, with_displacement),
                                 .basis_hash = "00112233445566778899aabbccddeeff",
                                 .source_kind = "trajectory", .source_hash = "ffeeddccbbaa99887766554433221100",
                                 .n_provenance = 1, .provenance = &step};
}

static modal_status write_file(const char *path, const modal_sequence_info *info, int64_t batch,
                               modal_error *err)
{
    modal_sequence_writer *writer = NULL;
    modal_status status = modal_sequence_begin(&writer, path, info, err);
    for (int64_t f = 0; status == MODAL_OK && f < F; f += batch) {
        const struct {
            const char *name;
            const float *values;
        } all[] = {{"Points", positions}, {"Normals", normals}, {"displacement", displacement},
                   {"Tangents", tangents}, {"strain", strain}, {"damage", damage}};
        modal_frames frames = {.n_frames = f + batch > F ? F - f : batch};
        for (int i = 0; i < info->arrays.n; i++)
            for (int k = 0; k < 6; k++)
                if (strcmp(all[k].name, info->arrays.all[i].name) == 0)
                    frames.arrays[i] = all[k].values + modal_sequence_floats(info, i) * f;
        status = modal_sequence_append(writer, &frames, err);
    }
    if (status != MODAL_OK) {
        modal_sequence_abort(writer);
        return status;
    }
    status = modal_sequence_end(&writer, err);
    assert_null(writer);
    return status;
}

static void write_both(void)
{
    modal_error err = {0};
    modal_sequence_info info = small(1, 1);
    assert_int_equal(write_file(file_a, &info, F, &err), MODAL_OK);
    assert_int_equal(modal_sequence_write_xdmf(side_a, "a.vtkhdf", &info, &err), MODAL_OK);
}

static char *read_whole(const char *path, long *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*length + 1);
    assert_int_equal(fread(bytes, 1, (size_t)*length, file), *length);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

static void write_whole(const char *path, const char *bytes, long length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)length, file), length);
    assert_int_equal(fclose(file), 0);
}

static int tidy(void **state)
{
    (void)state;
    unlink(file_a);
    unlink(file_b);
    unlink(side_a);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void fill(void)
{
    for (int i = 0; i < F * N * 3; i++) {
        positions[i] = (float)i / 7.0f;
        normals[i] = i % 3 == 2 ? 1.0f : 0.0f;
        displacement[i] = -(float)i / 11.0f;
    }
    for (int i = 0; i < F * N * 4; i++) tangents[i] = (float)i / 13.0f;
    for (int i = 0; i < F * M * 6; i++) strain[i] = (float)i / 17.0f;
    for (int i = 0; i < F * M; i++) damage[i] = (float)i / 19.0f;
}

/* 0 where it cannot be made. */
static int make_folder(void)
{
    if (!mkdtemp(folder)) return 0;
    snprintf(file_a, sizeof file_a, "%s/a.vtkhdf", folder);
    snprintf(side_a, sizeof side_a, "%s/a.xdmf", folder);
    snprintf(file_b, sizeof file_b, "%s/b.vtkhdf", folder);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return 1;
}

#endif
