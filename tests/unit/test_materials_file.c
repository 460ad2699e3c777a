/* SPDX-License-Identifier: Apache-2.0 */
/* The file of materials: what it means, every prefix of it, every failing allocation. Refusals with
 * their words are in tests/python/check_solids.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/json/materials.h"
#include "lib/base/memory.h"

static const char good[] =
    "{\"materials\": {\"steel\": {\"young\": 2.1e11, \"poisson\": 0.3, \"density\": 7850},\n"
    " \"wood\": {\"young\": [11e9, 9e8, 6e8], \"poisson\": [0.35, 0.4, 0.45], \"density\": 420,\n"
    "  \"shear\": [8e8, 7e8, 5e7], \"axes\": [[0, 2, 0], [1, 5, 0]]},\n"
    " \"turned\": {\"young\": [3, 2, 1], \"poisson\": [0, 0, 0], \"shear\": [1, 1, 1], \"density\": 1,\n"
    "  \"rotation\": {\"axis\": [0, 0, 3], \"angle\": 0.5}}},\n"
    " \"groups\": {\"top\": \"wood\", \"bottom\": \"steel\"}, \"default\": \"turned\"}\n";

static void test_contents(void **state)
{
    (void)state;
    modal_material_file file;
    modal_error err = {0};
    if (modal_materials_parse(good, sizeof good - 1, "m", &file, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_int_equal(file.n_materials, 3);
    assert_string_equal(file.materials[0].name, "steel");
    assert_true(file.materials[0].kind == MODAL_MATERIAL_ISOTROPIC && file.materials[0].young == 2.1e11 &&
                file.materials[0].poisson == 0.3 && file.materials[0].density == 7850);
    const modal_material *wood = &file.materials[1], *turned = &file.materials[2];
    static const double constants[9] = {11e9, 9e8, 6e8, 0.35, 0.4, 0.45, 8e8, 7e8, 5e7};
    static const double axes[9] = {0, 1, 0, 1, 0, 0, 0, 0, -1};
    assert_true(wood->kind == MODAL_MATERIAL_ORTHOTROPIC && wood->density == 420);
    assert_memory_equal(wood->orthotropic, constants, sizeof constants);
    for (int k = 0; k < 9; k++) assert_true(wood->axes[k] == axes[k]);
    /* z up, turned from x towards y */
    const double c = cos(0.5), s = sin(0.5), expected[9] = {c, s, 0, -s, c, 0, 0, 0, 1};
    for (int k = 0; k < 9; k++) assert_true(fabs(turned->axes[k] - expected[k]) <= 1e-15);
    assert_int_equal(file.n_groups, 2);
    assert_string_equal(file.group_names[0], "top");
    assert_string_equal(file.group_names[1], "bottom");
    assert_true(file.group_materials[0] == 1 && file.group_materials[1] == 0 && file.default_material == 2);
    modal_material_file_free(&file);
    modal_material_file_free(&file);
}

static void test_every_prefix(void **state)
{
    (void)state;
    for (size_t n = 0; n + 2 < sizeof good; n++) {
        modal_material_file file;
        modal_error err = {0};
        assert_int_equal(modal_materials_parse(good, n, "m", &file, &err), MODAL_ERROR_INPUT);
        assert_true(strncmp(err.message, "m:", 2) == 0 && !file.materials && !file.group_names);
    }
}

static void test_failing_allocations(void **state)
{
    (void)state;
    int64_t n = 1;
    for (int fired = 1; fired; n++) {
        modal_material_file file;
        modal_alloc_fail_at(n);
        const modal_status status = modal_materials_parse(good, sizeof good - 1, "m", &file, NULL);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        modal_material_file_free(&file);
    }
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
