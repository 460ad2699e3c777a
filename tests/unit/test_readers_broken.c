/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of what other programs write: good files, cut anywhere, out of memory anywhere, and a
 * hundred broken ones of each, made with a fixed seed: refused with a line or a byte, never a crash,
 * or read as something sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/memory.h"
#include "tests/unit/counted_blocks.h"
#include "tests/unit/break_text.h"
#include "tests/unit/readers_compare.h"

#define FOLDER MODAL_SOURCE_DIR "/tests/files/"

enum { N_BROKEN = 100, MOST_TRIES = 20000 };

static const char *const surface_files[] = {
    "good-pyramid.off",        "good-pyramid-colours.off", "good-pyramid.stl",
    "good-pyramid-binary.stl", "good-pyramid.ply",         "good-pyramid-little.ply",
    "good-pyramid-big.ply",    "good.obj",                 "good-pyramid.vtk",
    "good-pyramid-5.vtk",      "good-pyramid-binary.vtk", NULL};

static const char *const volume_files[] = {
    "good-mixed-1.meshb",      "good-mixed-2.meshb",       "good-curved-3.meshb",
    "good-mixed-4.meshb",      "good-mixed.mesh",          "good-curved.mesh",         "good-mixed.inp",
    "good-curved.inp",         "good-conditions.inp",     "good-mixed.vtk",           "good-curved.vtk",
    "good-mixed-5.vtk",        "good-mixed-binary.vtk",    "good-mixed-binary-5.vtk",
    "good-mixed.vtu",          "good-curved.vtu",          "good-mixed-inline.vtu",
    "good-mixed-appended.vtu", "good-mixed-raw.vtu",
#ifdef MODAL_HAVE_ZLIB
    "good-mixed-zlib.vtu",     "good-mixed-raw-zlib.vtu",
#endif
    "good-22.msh",             "good-22-binary.msh",       "good-41.msh",
    "good-41-binary.msh",      "good.veg",                 "good-no-material.veg",
    "good-pair.node",          "good-pair-10.node",        "good-pair.ele",
    "good-pair-10.ele",        "good-pair.face",          "good-pair-10.face",        NULL};

static char *load(const char *name, char path[512], int64_t *length)
{
    char *data;
    modal_error err = {0};
    snprintf(path, 512, "%s%s", FOLDER, name);
    if (modal_file_load(path, &data, length, &err) != MODAL_OK) fail_msg("%s", err.message);
    return data;
}

/* Which of TetGen's files this is, -1 = none. */
static int find_part(const char *name)
{
    static const char *const extensions[3] = {".node", ".ele", ".face"};
    for (int i = 0; i < 3; i++)
        if (strstr(name, extensions[i])) return i;
    return -1;
}

/* One of TetGen's files beside the others, whole. */
static modal_status parse_tetgen(const char *name, const char *data, int64_t length,
                                 modal_volume_mesh *mesh, modal_error *err)
{
    static const char *const extensions[3] = {"node", "ele", "face"};
    static char others[3][4096], path[512]; /* not by the allocator, which is made to fail */
    int64_t lengths[3];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%.*s.%s", (int)(strrchr(name, '.') - name), name, extensions[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        lengths[i] = (int64_t)fread(others[i], 1, sizeof others[i], file);
        assert_true(fclose(file) == 0 && lengths[i] > 0);
    }
    modal_tetgen_files files = {.node = {others[0], name, lengths[0]},
                                .ele = {others[1], name, lengths[1]},
                                .face = {others[2], name, lengths[2]}};
    const int part = find_part(name);
    if (part == 0) files.node.data = data, files.node.length = length;
    if (part == 1) files.ele.data = data, files.ele.length = length;
    if (part == 2) files.face.data = data, files.face.length = length;
    return modal_tetgen_parse(&files, mesh, err);
}

static modal_status parse_volume(const char *name, const char *data, int64_t length,
                                 modal_error *err)
{
    modal_volume_mesh mesh;
    modal_status status = find_part(name) >= 0 ? parse_tetgen(name, data, length, &mesh, err)
                                               : modal_mesh_parse(data, length, name, &mesh, err);
    if (status == MODAL_OK)
        assert_true(mesh_is_sound(&mesh));
    else
        assert_true(mesh_is_zeroed(&mesh));
    modal_volume_mesh_free(&mesh);
    return status;
}

static modal_status parse_surface(const char *name, const char *data, int64_t length,
                                  modal_error *err)
{
    static const modal_surface_mesh zeroed;
    modal_surface_mesh surface;
    int64_t n_collapsed = 0;
    modal_status status = modal_surface_parse(data, length, name, &surface, &n_collapsed, err);
    if (status == MODAL_OK)
        assert_true(surface_is_sound(&surface) && n_collapsed >= 0);
    else
        assert_memory_equal(&surface, &zeroed, sizeof zeroed);
    modal_surface_mesh_free(&surface);
    return status;
}

static int is_surface; /* what the files are, for parse() */

/* Memory of exactly this size, so that a sanitizer sees a read beyond it. The result is sound, or
 * empty and its message names the file and a place in it. */
static modal_status parse(const char *name, const char *data, int64_t length)
{
    modal_error err = {0};
    char *copy = malloc(length > 0 ? (size_t)length : 1);
    assert_non_null(copy);
    memcpy(copy, data, (size_t)length);
    modal_status status =
        (is_surface ? parse_surface : parse_volume)(name, copy, length, &err);
    assert_true(err.status == status);
    if (status != MODAL_OK) {
        const char *place = err.message + strlen(name);
        if (strncmp(err.message, name, strlen(name)) != 0) fail_msg("%s", err.message);
        if (status == MODAL_ERROR_INPUT &&
            !(place[0] == ':' && place[1] >= '1' && place[1] <= '9') &&
            strncmp(place, ": byte ", 7) != 0 && !strstr(place, "have one name") &&
            !strstr(place, "that can be read"))
            fail_msg("no line: %s", err.message);
    }
    __real_free(copy); /* not one of the reader's blocks */
    return status;
}

/* ---- broken on purpose ---- */

static void break_file(const char *name)
{
    char path[512];
    int64_t length, n_refused = 0, n_tries = 0;
    char *data = load(name, path, &length), *broken = malloc((size_t)length + 128);
    assert_non_null(broken);
    random_state = 20260101;
    for (; n_refused < N_BROKEN && n_tries < MOST_TRIES; n_tries++) {
        memcpy(broken, data, (size_t)length);
        int64_t broken_length = length;
        for (int64_t k = 1 + random_below(2); k > 0 && broken_length > 0; k--)
            broken_length = break_it(broken, broken_length);
        n_refused += parse(path, broken, broken_length) == MODAL_ERROR_INPUT;
    }
    print_message("%s: %lld of %lld refused\n", name, (long long)n_refused, (long long)n_tries);
    assert_int_equal(n_refused, N_BROKEN);
    free(broken);
    modal_free(&data);
}

static void cut_file(const char *name)
{
    char path[512];
    int64_t length;
    char *data = load(name, path, &length);
    assert_int_equal(parse(path, data, length), MODAL_OK);
    assert_int_equal(parse(path, data, 0), MODAL_ERROR_INPUT);
    for (int64_t cut = 0; cut < length; cut++) {
        modal_status status = parse(path, data, cut);
        assert_true(status == MODAL_OK || status == MODAL_ERROR_INPUT);
    }
    modal_free(&data);
}

static void starve_file(const char *name)
{
    char path[512];
    int64_t length, n = 0;
    char *data = load(name, path, &length);
    for (modal_status status = MODAL_ERROR_MEMORY; status != MODAL_OK;) {
        int64_t before = blocks_in_use;
        modal_alloc_fail_at(++n);
        status = parse(path, data, length);
        int fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_true(status == MODAL_OK ? !fired : fired && status == MODAL_ERROR_MEMORY);
        if (blocks_in_use != before) fail_msg("%s: allocation %lld leaks", name, (long long)n);
    }
    assert_true(n > 2);
    modal_free(&data);
}

static void for_all_files(void (*visit)(const char *name))
{
    is_surface = 1;
    for (int i = 0; surface_files[i]; i++) visit(surface_files[i]);
    is_surface = 0;
    for (int i = 0; volume_files[i]; i++) visit(volume_files[i]);
}

static void test_broken_files(void **state)
{
    (void)state;
    for_all_files(break_file);
}

static void test_cut_files(void **state)
{
    (void)state;
    for_all_files(cut_file);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    for_all_files(starve_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_broken_files),
                                       cmocka_unit_test(test_cut_files),
                                       cmocka_unit_test(test_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
