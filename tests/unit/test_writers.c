/* SPDX-License-Identifier: Apache-2.0 */
/* Every writer of a sequence, and that of the viewer's data: each allocation made to fail in turn ends in an error,
 * with no file open (and, where AddressSanitizer looks, no memory lost); sizes that a format cannot hold are refused
 * before a byte is written. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "formats/viewer/viewer_data.h"
#include "lib/base/memory.h"
#include "tests/unit/file_samples.h"

enum { FRAMES = 7 };

static modal_basis basis;
static modal_trajectory trajectory;
static modal_sequence_scene scene;
static int64_t n_points, n_triangles, *triangles;
static float *values; /* of any array */

static modal_status read_tiles(void *context, int32_t shape, int64_t begin, int64_t end, float *to, modal_error *err)
{
    (void)context, (void)err;
    const modal_shape *s = &basis.shapes[shape];
    const int64_t tile = (int64_t)s->modes.n_modes * 3 * MODAL_TILE;
    memcpy(to, s->modes.modal_matrix + begin * tile, (size_t)((end - begin) * tile) * sizeof *to);
    return MODAL_OK;
}

static int set_up(void **state)
{
    (void)state;
    basis = sample_basis(0);
    trajectory = sample_trajectory(&basis, 1);
    assert_int_equal(trajectory.n_frames, FRAMES);
    for (int32_t i = 0; i < basis.n_objects; i++) n_triangles += basis.shapes[basis.objects[i].shape].surface.n_triangles;
    triangles = calloc((size_t)(3 * n_triangles), sizeof *triangles);
    assert_non_null(triangles);
    int64_t at = 0;
    for (int32_t i = 0; i < basis.n_objects; i++) {
        const modal_shape *s = &basis.shapes[basis.objects[i].shape];
        for (int64_t k = 0; k < 3 * s->surface.n_triangles; k++) triangles[at++] = n_points + s->surface.triangles[k];
        n_points += s->surface.n_vertices;
    }
    const int64_t n_values = FRAMES * (n_points + n_triangles) * MODAL_ARRAY_COMPONENTS;
    values = calloc((size_t)n_values, sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n_values; i++) values[i] = (float)(i % 101) / 7.0f;
    scene = (modal_sequence_scene){.basis = &basis, .matrix = {.read = read_tiles}, .trajectory = &trajectory, .step = 1};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    modal_basis_free(&basis);
    modal_trajectory_free(&trajectory);
    free(triangles);
    free(values);
    return 0;
}

/* Those that the project makes, and two of cells that it does not know. */
static modal_array_list all_arrays(void)
{
    modal_error err = {0};
    modal_array_list list = {0};
    const modal_array cells[2] = {{.name = "strain", .components = 6, .of_cells = 1, .unit = "1"},
                                  {.name = "von_mises", .components = 1, .of_cells = 1, .unit = "Pa"}};
    static const char *const known[] = {"Points", "Normals", "displacement", "speed", "Tangents"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(modal_array_add(&list, modal_sequence_known(known[i]), &err), MODAL_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(modal_array_add(&list, &cells[i], &err), MODAL_OK);
    return list;
}

static modal_sequence_info surface(void)
{
    static const modal_sequence_probe probes[2] = {{3, 3}, {0, 0}};
    static const modal_sequence_channel channel = {.place = {1, 2, 3}};
    static const double samples[5] = {0, 0.5, -0.5, 1, 0};
    static const modal_sequence_sound sound = {.rate = 48000, .n_channels = 1, .n_samples = 5, .channels = &channel,
                                               .samples = samples, .gain = 1, .peak = 1, .unit = "Pa"};
    return (modal_sequence_info){
        .sound = &sound, .n_points = n_points, .n_triangles = n_triangles, .triangles = triangles, .n_frames = FRAMES,
        .times = trajectory.times, .arrays = all_arrays(),
        .basis_hash = "00112233445566778899aabbccddeeff", .source_kind = "trajectory",
        .source_hash = "00112233445566778899aabbccddeeff", .scene = &scene, .threads = 2, .n_probes = 2, .probes = probes};
}

static modal_sequence_info solid(void)
{
    static const int64_t connectivity[14] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, offsets[3] = {0, 4, 14};
    static const uint8_t types[2] = {10, 24};
    static const modal_sequence_cells cells = {2, connectivity, offsets, types};
    modal_sequence_info info = surface();
    info.n_triangles = 0;
    info.triangles = NULL;
    info.arrays = (modal_array_list){4, {modal_sequence_points, *modal_sequence_known("displacement"),
                                        {.name = "stress", .components = 6, .unit = "Pa"},
                                        {.name = "energy", .components = 1, .of_cells = 1, .unit = "J"}}};
    info.volume = &cells;
    return info;
}

static int open_files(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static modal_status write_all(const modal_sequence_format *format, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    static char paths[MODAL_SEQUENCE_FILES][256], folder[256];
    modal_sequence_target target = {.folder = folder};
    void *writer = NULL;
    for (int k = 0; k < MODAL_SEQUENCE_FILES; k++) {
        char name[16];
        snprintf(name, sizeof name, "file_%d", k);
        snprintf(paths[k], sizeof paths[k], "%s", sample_path(name));
        if (format->files[k]) target.files[k] = paths[k];
    }
    snprintf(folder, sizeof folder, "%s", sample_path("file_0"));
    *strrchr(folder, '/') = '\0';
    MODAL_TRY(format->begin(&writer, &target, info, err));
    for (int64_t first = 0; first < FRAMES && format->needs_frames; first += 3) {
        modal_frames frames = {.n_frames = FRAMES - first < 3 ? FRAMES - first : 3};
        for (int i = 0; i < info->arrays.n; i++) frames.arrays[i] = values + first * modal_sequence_floats(info, i);
        MODAL_TRY(format->add(writer, &frames, err));
    }
    MODAL_TRY(format->end(&writer, &target, info, err));
    assert_null(writer);
done:
    format->abort(&writer);
    assert_null(writer);
    return status;
}

static void starve(const modal_sequence_format *format, const modal_sequence_info *info)
{
    const int before = open_files();
    int64_t n = 0;
    for (int fired = 1; fired;) {
        modal_error err = {0};
        modal_alloc_fail_at(++n);
        modal_status status = write_all(format, info, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        if (status != (fired ? MODAL_ERROR_MEMORY : MODAL_OK))
            fail_msg("%s: allocation %lld: %d, %s", format->name, (long long)n, (int)status, err.message);
        assert_int_equal(err.status, status);
        assert_no_ids();
        assert_int_equal(open_files(), before);
    }
    assert_true(n > 1); /* it allocates at all */
}

static void test_allocations(void **state)
{
    (void)state;
    for (int i = 0; i < MODAL_SEQUENCE_FORMATS; i++) {
        const modal_sequence_format *format = modal_sequence_formats[i];
        modal_sequence_info info = surface();
        if (format->holds_surface) starve(format, &info);
        if (format->holds_surface && format == &modal_sequence_vtkhdf) {
            info.precision = 1e-3;
            starve(format, &info);
        }
        if (format == &modal_sequence_glb) {
            info.target_normals = 2;
            starve(format, &info);
        }
        info = solid();
        if (format->holds_volume) starve(format, &info);
    }
    const modal_sequence_info info = surface();
    starve(&modal_sequence_rest, &info);
}

static void test_viewer_allocations(void **state)
{
    (void)state;
    const float samples[6] = {0.5f, -1, 2};
    const modal_viewer_play play = {.slow_motion = 1, .rate = 48000, .n_channels = 2, .n_samples = 3, .samples = samples};
    for (int moves = 0; moves < 2; moves++) {
        int64_t n = 0;
        for (int fired = 1; fired;) {
            modal_error err = {0};
            modal_viewer_data data;
            modal_alloc_fail_at(++n);
            modal_status status = modal_viewer_data_make(&basis, moves ? &trajectory : NULL, "title", 'y', &play, NULL, &data, &err);
            fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
            assert_true(status == MODAL_OK ? data.n_bytes > 0 : !data.header && !data.bytes);
            modal_viewer_data_free(&data);
        }
        assert_true(n > 3);
    }
}

/* A .glb counts its bytes in 32 bits; the size is known from counts alone. */
static void test_glb_size(void **state)
{
    (void)state;
    modal_sequence_info info = surface();
    modal_shape *s = &basis.shapes[0];
    const int64_t n_vertices = s->surface.n_vertices, fits = (INT64_C(1) << 32) / (12 * (s->modes.n_modes + 1)) - 100000;
    int64_t disk, memory;
    modal_error err = {0};
    s->surface.n_vertices = fits;
    assert_int_equal(modal_sequence_glb.size(&info, &disk, &memory, &err), MODAL_OK);
    assert_true(disk > 12 * fits * s->modes.n_modes && disk < INT64_C(1) << 32);
    s->surface.n_vertices = fits + 200000;
    assert_int_equal(modal_sequence_glb.size(&info, &disk, &memory, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "glb: cannot be larger than 4 GiB, this would have "));
    s->surface.n_vertices = n_vertices;
}

/* More points than any file has: refused by each format that has frames, and no count overflows. */
static void test_huge_sizes(void **state)
{
    (void)state;
    for (int i = 0; i < MODAL_SEQUENCE_FORMATS; i++) {
        const modal_sequence_format *format = modal_sequence_formats[i];
        modal_sequence_info info = format->holds_surface ? surface() : solid();
        int64_t disk = 0, memory = 0;
        modal_error err = {0};
        assert_int_equal(format->size(&info, &disk, &memory, &err), MODAL_OK);
        assert_true((disk > 0 || !(format->files[0] || format->folder)) && memory >= 0);
        info.n_points = INT64_MAX / 64;
        info.n_frames = 999999;
        if (!format->needs_frames) continue;
        modal_status status = format->size(&info, &disk, &memory, &err);
        if (strcmp(format->name, "csv") == 0) { /* rows of the probes alone */
            assert_int_equal(status, MODAL_OK);
            info.n_probes = INT64_MAX / 64;
            status = format->size(&info, &disk, &memory, &err);
        }
        if (status != MODAL_ERROR_INPUT) fail_msg("%s: not refused", format->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations), cmocka_unit_test(test_viewer_allocations),
                                       cmocka_unit_test(test_glb_size), cmocka_unit_test(test_huge_sizes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
