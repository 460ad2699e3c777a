/* SPDX-License-Identifier: Apache-2.0 */
/* The small inputs beside meshes: lists of nodes (.bou), tables over time (.csv), VegaFEM's matrices, materials and
 * scenes (JSON). Of each: cut anywhere, out of memory anywhere, and a hundred broken ones, made from a fixed seed:
 * refused with the file's name in one line, or read as something sound (the fuzz targets say what that is). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/csv.h"
#include "formats/materials.h"
#include "formats/mesh_parse.h"
#include "formats/scene.h"
#include "formats/vega_matrix.h"
#include "lib/base/memory.h"
#include "tests/unit/break_text.h"

enum { N_BROKEN = 100, MOST_TRIES = 20000, ROOM = 4096 };

static const char bou[] = "# held\n0, 4, 7,\n9,12 13\n20\n";
static const char csv[] = "time,x,y,z\n0,0,0,0\n0.5,1,-2.5e-3,0\n1,0,0,9.81\n";
static const char materials[] =
    "{\"materials\": {\"steel\": {\"young\": 2.1e11, \"poisson\": 0.3, \"density\": 7850},\n"
    " \"wood\": {\"young\": [11e9, 9e8, 6e8], \"poisson\": [0.35, 0.4, 0.45], \"density\": 420,\n"
    "  \"shear\": [8e8, 7e8, 5e7], \"axes\": [[0, 2, 0], [1, 5, 0]]}},\n"
    " \"groups\": {\"top\": \"wood\"}, \"default\": \"steel\"}\n";
static const char scene[] =
    "{\"duration\": 4, \"fps\": 60, \"step\": 0.002, \"model\": \"stvk\", \"damping\": {\"alpha\": 0.5, \"beta\": 0.001},\n"
    " \"gravity\": [0, 0, -9.81], \"wind\": {\"velocity\": [3, 0, 0], \"turbulence\": 1, \"scale\": 5, \"seed\": 7},\n"
    " \"objects\": [{\"object\": 1, \"motion\": {\"spin\": {\"axis\": [0, 0, 1], \"rate\": 3, \"centre\": [0, 0, 0]}}},\n"
    "  {\"object\": 2, \"motion\": \"free\", \"velocity\": [0, 0, 2], \"initial\": [1, 2]}],\n"
    " \"forces\": [{\"object\": 0, \"vertex\": 3, \"force\": [0, 10, 0], \"curve\": {\"keys\": [[0, 0], [1, 1]]}}]}\n";

/* Four rows and three columns. */
static struct {
    int32_t n[2];
    double values[12];
} matrix = {{4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};

static modal_status parse_bou(const char *data, int64_t length, modal_error *err)
{
    int64_t *numbers = NULL, count = 0;
    modal_status status = modal_bou_parse(data, length, "input", &numbers, &count, err);
    assert_true(status == MODAL_OK ? count > 0 : !numbers && count == 0);
    modal_free(&numbers);
    return status;
}

static modal_status parse_csv(const char *data, int64_t length, modal_error *err)
{
    modal_series series;
    modal_status status = modal_series_parse_csv(data, length, "input", 3, &series, err);
    assert_true(status == MODAL_OK ? series.n_rows > 0 : !series.values && series.n_rows == 0);
    modal_series_free(&series);
    return status;
}

static modal_status parse_matrix(const char *data, int64_t length, modal_error *err)
{
    modal_vega_matrix m;
    modal_status status = modal_vega_matrix_parse(data, length, "input", &m, err);
    assert_true(status == MODAL_OK ? m.n_rows > 0 : !m.values && m.n_rows == 0);
    modal_free(&m.values);
    return status;
}

static modal_status parse_materials(const char *data, int64_t length, modal_error *err)
{
    modal_material_file file;
    modal_status status = modal_materials_parse(data, (size_t)length, "input", &file, err);
    assert_true(status == MODAL_OK ? file.n_materials > 0 : !file.materials && !file.group_names);
    modal_material_file_free(&file);
    return status;
}

static modal_status parse_scene(const char *data, int64_t length, modal_error *err)
{
    modal_scene s;
    modal_status status = modal_scene_parse(data, (size_t)length, "input", &s, err);
    assert_true(status == MODAL_OK ? s.fps > 0 : s.n_objects == 0 && s.n_forces == 0);
    modal_scene_free(&s);
    return status;
}

static const struct {
    const char *name;
    modal_status (*parse)(const char *data, int64_t length, modal_error *err);
    const char *good;
    int64_t length;
} inputs[] = {{"bou", parse_bou, bou, sizeof bou - 1},
              {"csv", parse_csv, csv, sizeof csv - 1},
              {"matrix", parse_matrix, (const char *)&matrix, sizeof matrix},
              {"materials", parse_materials, materials, sizeof materials - 1},
              {"scene", parse_scene, scene, sizeof scene - 1}};
enum { N_INPUTS = sizeof inputs / sizeof *inputs };

/* In memory of exactly this size, so that a sanitizer sees a read beyond it. */
static modal_status parse(int i, const char *data, int64_t length)
{
    modal_error err = {0};
    char *copy = malloc(length > 0 ? (size_t)length : 1);
    assert_non_null(copy);
    memcpy(copy, data, (size_t)length);
    modal_status status = inputs[i].parse(copy, length, &err);
    assert_true(err.status == status);
    if (status == MODAL_ERROR_INPUT && (strncmp(err.message, "input", 5) != 0 || strchr(err.message, '\n')))
        fail_msg("%s: %s", inputs[i].name, err.message);
    free(copy);
    return status;
}

static void test_broken(void **state)
{
    (void)state;
    for (int i = 0; i < N_INPUTS; i++) {
        static char broken[ROOM];
        int n_refused = 0, n_tries = 0;
        random_state = 20260101;
        assert_int_equal(parse(i, inputs[i].good, inputs[i].length), MODAL_OK);
        assert_true(inputs[i].length + 128 < ROOM);
        for (; n_refused < N_BROKEN && n_tries < MOST_TRIES; n_tries++) {
            int64_t length = inputs[i].length;
            memcpy(broken, inputs[i].good, (size_t)length);
            for (int64_t k = 1 + random_below(2); k > 0 && length > 0; k--) length = break_it(broken, length);
            n_refused += parse(i, broken, length) == MODAL_ERROR_INPUT;
        }
        print_message("%s: %d of %d refused\n", inputs[i].name, n_refused, n_tries);
        assert_int_equal(n_refused, N_BROKEN);
    }
}

static void test_cut(void **state)
{
    (void)state;
    for (int i = 0; i < N_INPUTS; i++)
        for (int64_t cut = 0; cut < inputs[i].length; cut++) {
            modal_status status = parse(i, inputs[i].good, cut);
            assert_true(status == MODAL_ERROR_INPUT || (status == MODAL_OK && cut > 0));
        }
}

static void test_failing_allocations(void **state)
{
    (void)state;
    for (int i = 0; i < N_INPUTS; i++) {
        int n = 0;
        for (int fired = 1; fired;) {
            modal_alloc_fail_at(++n);
            modal_status status = parse(i, inputs[i].good, inputs[i].length);
            fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        }
        assert_true(n > 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_broken), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
