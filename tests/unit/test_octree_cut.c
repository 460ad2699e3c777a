/* SPDX-License-Identifier: Apache-2.0 */
/* Files of octree textures, with mip levels, an atlas and neighbours: whole ones are read, those cut at any byte are refused, by reader and checker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/octree/octree_h5.h"

static const char *const names[] = {"good", "mips", "atlas", "neighbours", "float3"};

static modal_status read_it(const char *path, int64_t *n_findings)
{
    modal_octree_file file;
    modal_findings findings = {0};
    modal_error err = {0};
    const modal_status status = modal_octree_read(path, &file, &err), checked = modal_octree_check(path, &findings, NULL);
    *n_findings = findings.n + (checked != MODAL_OK);
    modal_findings_free(&findings);
    if (status == MODAL_OK) modal_octree_file_free(&file);
    else assert_true(err.message[0] != 0);
    return status;
}

static void test_cut(void **unused)
{
    (void)unused;
    char path[] = "octree_cut_XXXXXX", from[4096];
    const int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t n_findings;
        snprintf(from, sizeof from, "%s/tests/fuzz/corpus/octree/%s.h5", MODAL_SOURCE_DIR, names[i]);
        FILE *in = fopen(from, "rb"), *out = fopen(path, "wb");
        assert_true(in && out);
        for (int c; (c = getc(in)) != EOF;) putc(c, out);
        const long size = ftell(in);
        fclose(in);
        assert_int_equal(fclose(out), 0);
        assert_true(size > 5000);
        assert_int_equal(read_it(path, &n_findings), MODAL_OK);
        assert_int_equal(n_findings, 0);
        for (long length = size - 1; length >= 0; length--) {
            assert_int_equal(truncate(path, length), 0);
            if (read_it(path, &n_findings) != MODAL_ERROR_INPUT || n_findings == 0) fail_msg("%s: accepted with %ld of %ld bytes", names[i], length, size);
        }
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
