/* SPDX-License-Identifier: Apache-2.0 */
/* Bases whose shapes lie in other files, through the library; tests/python/check_assembly.py has the tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/basis/basis_h5.h"
#include "formats/basis/basis_tiles.h"
#include "lib/base/memory.h"
#include "tests/unit/file_samples.h"

#define OK(call)                                                            \
    do {                                                                    \
        modal_error failure = {0};                                          \
        modal_error *err = &failure;                                        \
        if ((call) != MODAL_OK) fail_msg("%s: %s", #call, failure.message); \
    } while (0)

static modal_basis sample; /* what part.h5 holds */

static void link_shape(modal_basis *b, int32_t shape, const char *file)
{
    OK(modal_copy_text(&b->shapes[shape].file, file, SIZE_MAX, err));
    b->shapes[shape].file_shape = shape;
}

/* part.h5, and beside it `name`, of which both shapes are in that, or, with `own`, the second one only. */
static const char *write_assembly(const char *name, int own)
{
    const char *path = sample_path(name);
    modal_basis b = sample_basis(1);
    OK(modal_basis_hash(&b, err));
    OK(modal_basis_write(sample_path("part.h5"), &b, err));
    if (own) {
        static const char *const groups[] = {"surface", "tables", "modes", "volume", "reduced_forces"};
        char where[64];
        OK(modal_basis_write(path, &b, err));
        for (int i = 0; i < 5; i++) {
            snprintf(where, sizeof where, "/shapes/0001/%s", groups[i]);
            if (i < 4 || b.shapes[1].modes.reduced_forces.linear)
                sample_damage(path, &(damage_case){DELETE_LINK, where, 0, 0, NULL, NULL, 0});
        }
        sample_damage(path, &(damage_case){SET_TEXT, "/shapes/0001@file", 0, 0, "part.h5", NULL, 0});
        sample_damage(path, &(damage_case){SET_INTEGER, "/shapes/0001@file_shape", 0, 1, NULL, NULL, 0});
    } else {
        for (int i = 0; i < 2; i++) link_shape(&b, i, "part.h5");
        OK(modal_basis_write_assembly(path, &b, err));
    }
    modal_basis_free(&b);
    assert_no_ids();
    return path;
}

static int set_up(void **state)
{
    (void)state;
    sample = sample_basis(1);
    return modal_basis_hash(&sample, NULL) != MODAL_OK;
}

static int tear_down(void **state)
{
    (void)state;
    modal_basis_free(&sample);
    return 0;
}

static void test_is_the_same(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        const char *path = write_assembly("assembly.h5", own);
        modal_basis b;
        modal_findings findings = {0};
        for (unsigned parts = 0; parts <= MODAL_BASIS_ALL; parts++) {
            OK(modal_basis_read(path, parts, &b, err));
            assert_bases_equal(&sample, &b, parts);
            assert_string_equal(b.shapes[1].file, "part.h5");
            assert_true(own ? b.shapes[0].file == NULL : b.shapes[0].file_shape == 0);
            modal_basis_free(&b);
        }
        OK(modal_basis_read_found(path, MODAL_BASIS_ALL, &b, err));
        assert_bases_equal(&sample, &b, MODAL_BASIS_ALL);
        modal_basis_free(&b);
        OK(modal_basis_check(path, &findings, err));
        if (findings.n) fail_msg("%s", findings.texts[0]);
        modal_findings_free(&findings);
        assert_no_ids();
    }
}

static void test_tiles(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        const char *path = write_assembly("tiles.h5", own);
        modal_basis b;
        modal_basis_tiles *tiles = NULL;
        OK(modal_basis_read(path, MODAL_BASIS_SURFACE, &b, err));
        OK(modal_basis_tiles_open(&tiles, path, &b, NULL, err));
        for (int32_t i = 0; i < b.n_shapes; i++) {
            const int64_t n = modal_tile_count(b.shapes[i].surface.n_vertices);
            const size_t bytes = (size_t)(n * b.shapes[i].modes.n_modes * 3 * MODAL_TILE) * sizeof(float);
            float *to = malloc(bytes);
            OK(modal_basis_tiles_read(tiles, i, 0, n, to, err));
            assert_memory_equal(to, sample.shapes[i].modes.modal_matrix, bytes);
            free(to);
        }
        modal_basis_tiles_close(tiles);
        modal_basis_free(&b);
        assert_no_ids();
    }
}

/* A part that is another file when its matrix is read, or when it is opened for that. */
static void test_changed_while_read(void **state)
{
    (void)state;
    const char *path = write_assembly("changed.h5", 0);
    modal_basis b, other = sample_basis(1);
    modal_basis_tiles *tiles = NULL;
    modal_error said = {0};
    OK(modal_basis_read(path, MODAL_BASIS_SURFACE, &b, err));
    other.shapes[1].surface.rest_positions[0] += 1;
    OK(modal_basis_write(sample_path("part.h5"), &other, err));
    assert_int_equal(modal_basis_tiles_open(&tiles, path, &b, NULL, &said), MODAL_ERROR_INPUT);
    assert_non_null(strstr(said.message, "changed.h5: /shapes/0000: part.h5: shape 1 is another one"));
    assert_null(tiles);
    modal_basis_free(&other);
    modal_basis_free(&b);
    assert_no_ids();
}

/* More parts than are kept open: each is opened again when it is read, and must be what it was. */
static void test_opened_again(void **state)
{
    enum { PARTS = 40 };
    (void)state;
    modal_basis a = sample_basis(1), many = {.n_shapes = PARTS, .n_objects = a.n_objects, .objects = a.objects}, b;
    modal_basis_tiles *tiles = NULL;
    modal_error said = {0};
    char name[32], path[160];
    const int64_t tiles_of_one = modal_tile_count(a.shapes[1].surface.n_vertices);
    const size_t bytes = (size_t)(tiles_of_one * a.shapes[1].modes.n_modes * 3 * MODAL_TILE) * sizeof(float);
    float *to = malloc(bytes);
    OK(modal_basis_hash(&a, err));
    OK(modal_alloc_zero(&many.shapes, PARTS, sizeof *many.shapes, "shapes", err));
    for (int32_t i = 0; i < PARTS; i++) {
        modal_shape *s = &many.shapes[i];
        snprintf(name, sizeof name, "many-%d.h5", i);
        OK(modal_basis_write(sample_path(name), &a, err));
        OK(modal_copy_text(&s->name, name, SIZE_MAX, err));
        OK(modal_copy_text(&s->file, name, SIZE_MAX, err));
        s->file_shape = 1;
        memcpy(s->hash, a.shapes[1].hash, sizeof s->hash);
    }
    strcpy(path, sample_path("many.h5"));
    OK(modal_basis_write_assembly(path, &many, err));
    OK(modal_basis_read(path, MODAL_BASIS_SURFACE, &b, err));
    OK(modal_basis_tiles_open(&tiles, path, &b, NULL, err));
    for (int32_t i = PARTS - 1; i >= 0; i--) {
        memset(to, 0xff, bytes);
        OK(modal_basis_tiles_read(tiles, i, 0, tiles_of_one, to, err));
        assert_memory_equal(to, a.shapes[1].modes.modal_matrix, bytes);
    }
    OK(modal_basis_write(sample_path("many-39.h5"), &a, err)); /* the same bytes, but written since */
    assert_int_equal(modal_basis_tiles_read(tiles, 39, 0, 1, to, &said), MODAL_ERROR_INPUT);
    assert_non_null(strstr(said.message, "many-39.h5: changed while it was read"));
    modal_basis_tiles_close(tiles);
    many.objects = NULL;
    many.n_objects = 0;
    modal_basis_free(&many);
    modal_basis_free(&a);
    modal_basis_free(&b);
    free(to);
    assert_no_ids();
}

/* Bytes in memory have no folder, until one is named. */
static void test_image(void **state)
{
    (void)state;
    size_t length;
    const char *path = write_assembly("image.h5", 0);
    unsigned char *bytes = sample_bytes(path, &length);
    modal_basis b;
    modal_error said = {0};
    modal_findings findings = {0};
    assert_int_equal(modal_basis_read_image(bytes, length, "image", 0, &b, &said), MODAL_ERROR_INPUT);
    assert_string_equal(said.message, "image: /shapes/0000: part.h5: a basis from a pipe has no folder to look in");
    OK(modal_basis_check_image(bytes, length, "image", &findings, err));
    assert_int_equal(findings.n, 1);
    modal_findings_free(&findings);
    char *folder = NULL;
    OK(modal_copy_text(&folder, path, strlen(path) - strlen("/image.h5"), err));
    modal_basis_parts_folder(folder);
    OK(modal_basis_read_image(bytes, length, "image", MODAL_BASIS_ALL, &b, err));
    assert_bases_equal(&sample, &b, MODAL_BASIS_ALL);
    modal_basis_free(&b);
    modal_basis_parts_folder("/no/such/folder");
    said = (modal_error){0};
    assert_int_equal(modal_basis_read(path, 0, &b, &said), MODAL_ERROR_INPUT);
    assert_non_null(strstr(said.message, "the folder /no/such/folder cannot be opened"));
    modal_basis_parts_folder(NULL);
    modal_free(&folder);
    free(bytes);
    assert_no_ids();
}

/* A basis without its part: what is there is read, and it is said what is not. */
static void test_found(void **state)
{
    (void)state;
    const char *path = write_assembly("found.h5", 1);
    modal_basis b;
    assert_int_equal(unlink(sample_path("part.h5")), 0);
    OK(modal_basis_read_found(path, MODAL_BASIS_ALL, &b, err));
    assert_null(b.shapes[0].file_problem);
    assert_memory_equal(b.shapes[0].surface.rest_positions, sample.shapes[0].surface.rest_positions, 24);
    assert_string_equal(b.shapes[1].file_problem, "cannot open, No such file or directory");
    assert_string_equal(b.shapes[1].name, sample.shapes[1].name);
    assert_null(b.shapes[1].surface.rest_positions);
    assert_int_equal(b.shapes[1].surface.n_vertices, 0);
    modal_basis_free(&b);
    assert_int_equal(modal_basis_read(path, 0, &b, NULL), MODAL_ERROR_INPUT);
    assert_no_ids();
}

static void test_budget(void **state)
{
    (void)state;
    const char *path = write_assembly("budget.h5", 0), *part = sample_path("part.h5");
    modal_basis b;
    modal_error said = {0};
    int64_t used[2] = {0};
    OK(modal_basis_read_chosen(path, NULL, NULL, 0, &used[0], &b, err));
    modal_basis_free(&b);
    OK(modal_basis_read_chosen(part, NULL, NULL, 0, &used[1], &b, err));
    modal_basis_free(&b);
    assert_true(used[0] >= used[1] && used[1] > 0); /* the hashes of both files are read */
    assert_int_equal(modal_basis_read_chosen(path, NULL, NULL, 16, &used[0], &b, &said), MODAL_ERROR_MEMORY);
    assert_no_ids();
}

/* Damage in the assembly, and in its part. */
static void test_flipped_bytes(void **state)
{
    (void)state;
    uint64_t random = 20261122;
    for (int in_part = 0; in_part < 2; in_part++) {
        size_t length;
        const char *path = write_assembly("flip.h5", 1), *damaged = in_part ? sample_path("part.h5") : path;
        unsigned char *good = sample_bytes(damaged, &length), *bad = malloc(length);
        int64_t refusals = 0;
        const int draws = sample_all() ? 300 : 60;
        alarm(300);
        for (int i = 0; i < draws; i++) {
            modal_basis b;
            modal_findings findings = {0};
            sample_flip(&random, good, bad, length);
            sample_put(damaged, bad, length);
            const modal_status status = modal_basis_read(path, MODAL_BASIS_ALL, &b, NULL);
            assert_true(status == MODAL_OK || status == MODAL_ERROR_INPUT);
            refusals += status == MODAL_ERROR_INPUT;
            modal_basis_free(&b);
            const modal_status checked = modal_basis_check(path, &findings, NULL);
            if (status == MODAL_ERROR_INPUT && checked == MODAL_OK && findings.n == 0) fail_msg("draw %d", i);
            modal_findings_free(&findings);
            if (modal_basis_read_found(path, MODAL_BASIS_ALL, &b, NULL) == MODAL_OK)
                assert_true((status == MODAL_OK) == !b.shapes[1].file_problem);
            modal_basis_free(&b);
        }
        alarm(0);
        assert_true(refusals > draws / 10);
        assert_no_ids();
        free(good);
        free(bad);
    }
}

static void test_failing_allocations(void **state)
{
    (void)state;
    modal_basis a = sample_basis(1), b;
    char out[160];
    OK(modal_basis_hash(&a, err));
    strcpy(out, sample_path("memory-out.h5"));
    for (int i = 0; i < 2; i++) link_shape(&a, i, "part.h5");
    for (int own = 0; own < 2; own++) {
        const char *path = write_assembly("memory.h5", own);
        for (int kind = 0; kind < 5; kind++)
            for (int64_t n = 1;; n = sample_next(n, INT64_MAX)) {
                modal_error said = {0};
                modal_findings findings = {0};
                modal_basis_tiles *tiles = NULL;
                modal_status status;
                memset(&b, 0, sizeof b);
                if (kind == 4) OK(modal_basis_read(path, MODAL_BASIS_SURFACE, &b, err));
                modal_alloc_fail_at(n);
                if (kind == 0)
                    status = modal_basis_write_assembly(out, &a, &said);
                else if (kind == 1)
                    status = modal_basis_read(path, MODAL_BASIS_ALL, &b, &said);
                else if (kind == 2)
                    status = modal_basis_check(path, &findings, &said);
                else if (kind == 3)
                    status = modal_basis_read_found(path, MODAL_BASIS_ALL, &b, &said);
                else
                    status = modal_basis_tiles_open(&tiles, path, &b, NULL, &said);
                const int fired = modal_alloc_fired();
                modal_alloc_fail_at(0);
                assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
                assert_int_equal(said.status, status);
                modal_basis_tiles_close(tiles);
                modal_basis_free(&b);
                modal_findings_free(&findings);
                assert_no_ids();
                if (!fired) {
                    assert_true(n > 2);
                    break;
                }
            }
    }
    modal_basis_free(&a);
}

static void test_writer_refuses(void **state)
{
    (void)state;
    modal_basis a = sample_basis(1);
    modal_error err = {0};
    link_shape(&a, 0, "part.h5");
    assert_int_equal(modal_basis_write_assembly(sample_path("never.h5"), &a, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "/shapes: shape 1 has no name or no file"));
    modal_basis_free(&a);
    assert_no_ids();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_the_same),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_changed_while_read),
        cmocka_unit_test(test_opened_again),
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_writer_refuses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
