/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/hash.h"
#include "lib/base/memory.h"
#include "lib/trajectory/trajectory.h"

static void test_error_keeps_the_first(void **state)
{
    (void)state;
    modal_error err = {0};
    assert_int_equal(modal_error_set(&err, MODAL_ERROR_INPUT, "line %d", 3), MODAL_ERROR_INPUT);
    modal_error_set(&err, MODAL_ERROR_SYSTEM, "later");
    modal_error_context(&err, "%s", "a.msh");
    assert_string_equal(err.message, "a.msh: line 3");
    assert_int_equal(err.status, MODAL_ERROR_INPUT);
}

static void test_error_text_is_bounded(void **state)
{
    (void)state;
    modal_error err = {0};
    char longer[3 * MODAL_ERROR_TEXT];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    modal_error_set(&err, MODAL_ERROR_INPUT, "%s", longer);
    modal_error_context(&err, "%s", longer);
    assert_int_equal(strlen(err.message), MODAL_ERROR_TEXT - 1);
}

static void test_alloc(void **state)
{
    (void)state;
    double *items = NULL;
    modal_error err = {0};
    assert_int_equal(modal_alloc_zero(&items, 5, sizeof *items, "items", &err), MODAL_OK);
    assert_int_equal((uintptr_t)items % MODAL_ALIGNMENT, 0);
    assert_true(items[4] == 0.0);
    modal_free(&items);
    assert_null(items);
    modal_free(&items);
    assert_int_equal(modal_alloc(&items, INT64_MAX / 4, sizeof *items, "items", &err),
                     MODAL_ERROR_MEMORY);
    assert_null(items);
    assert_int_equal(modal_alloc(&items, -1, sizeof *items, "items", NULL), MODAL_ERROR_MEMORY);
}

static void test_alloc_fails_on_purpose(void **state)
{
    (void)state;
    int *a = NULL, *b = NULL;
    modal_alloc_fail_at(2);
    assert_int_equal(modal_alloc(&a, 1, sizeof *a, "a", NULL), MODAL_OK);
    assert_int_equal(modal_alloc(&b, 1, sizeof *b, "b", NULL), MODAL_ERROR_MEMORY);
    assert_true(modal_alloc_fired());
    modal_alloc_fail_at(0);
    assert_int_equal(modal_alloc(&b, 1, sizeof *b, "b", NULL), MODAL_OK);
    modal_free(&a);
    modal_free(&b);
}

static void test_grow_keeps_items(void **state)
{
    (void)state;
    int64_t *items = NULL, capacity = 0;
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(modal_grow(&items, &capacity, i + 1, sizeof *items, "items", NULL), MODAL_OK);
        items[i] = i;
    }
    for (int64_t i = 0; i < 1000; i++) assert_int_equal(items[i], i);
    modal_free(&items);
}

static void test_hash_sees_name_order_and_bytes(void **state)
{
    (void)state;
    char text[4][MODAL_HASH_TEXT];
    const int values[2][3] = {{1, 2, 3}, {1, 2, 4}};
    const char *names[2] = {"a", "b"};
    for (int i = 0; i < 4; i++) {
        modal_hash *hash = NULL;
        assert_int_equal(modal_hash_new(&hash, NULL), MODAL_OK);
        modal_hash_array(hash, names[i / 2], values[i % 2], 3, sizeof(int));
        modal_hash_text(hash, text[i]);
        modal_hash_delete(hash);
        assert_int_equal(strlen(text[i]), MODAL_HASH_TEXT - 1);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) assert_string_not_equal(text[i], text[j]);
}

static void test_trajectory_of_another_basis(void **state)
{
    (void)state;
    modal_shape shape = {.n_modes = 3};
    modal_object object = {.shape = 0, .parent = -1};
    modal_basis basis = {.n_shapes = 1, .shapes = &shape, .n_objects = 1, .objects = &object};
    int64_t offsets[2] = {0, 3};
    modal_trajectory trajectory = {.n_objects = 1, .mode_offsets = offsets};
    strcpy(basis.hash, "aa");
    strcpy(trajectory.basis_hash, "aa");
    assert_int_equal(modal_trajectory_check_basis(&trajectory, &basis, NULL), MODAL_OK);
    offsets[1] = 4;
    assert_int_equal(modal_trajectory_check_basis(&trajectory, &basis, NULL), MODAL_ERROR_INPUT);
    offsets[1] = 3;
    strcpy(trajectory.basis_hash, "ab");
    modal_error err = {0};
    assert_int_equal(modal_trajectory_check_basis(&trajectory, &basis, &err), MODAL_ERROR_INPUT);
    assert_string_equal(err.message, "made for another basis: hash ab, this basis has aa");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_keeps_the_first),
        cmocka_unit_test(test_error_text_is_bounded),
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_alloc_fails_on_purpose),
        cmocka_unit_test(test_grow_keeps_items),
        cmocka_unit_test(test_hash_sees_name_order_and_bytes),
        cmocka_unit_test(test_trajectory_of_another_basis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
