/* SPDX-License-Identifier: Apache-2.0 */
/* The sequence's writer and checker: round trip, same bytes, refusals, full disks. */
#include "tests/unit/sequence_fixtures.h"

static const char *program;

static modal_status append(modal_sequence_writer *writer, int64_t n, const float *x, const float *nx,
                           const float *u, modal_error *err)
{
    const modal_frames frames = {n, {x, nx, u}};
    return modal_sequence_append(writer, &frames, err);
}

static void assert_no_findings(const char *path)
{
    modal_error err = {0};
    modal_findings findings = {0};
    modal_status status = modal_sequence_check(path, &findings, &err);
    if (status != MODAL_OK) fail_msg("%s", err.message);
    if (findings.n) fail_msg("%s", findings.texts[0]);
}

static void read_floats(hid_t file, const char *path, float *values, hsize_t rows, hsize_t width)
{
    hsize_t dims[2] = {0, 0};
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_dims(space, dims, NULL), 2);
    assert_int_equal(dims[0], rows);
    assert_int_equal(dims[1], width);
    memset(values, 0xff, rows * width * sizeof *values); /* NaN: what is not read differs */
    assert_true(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void test_round_trip(void **state)
{
    (void)state;
    float values[F * M * 6];
    write_both();
    assert_no_findings(file_a);
    hid_t file = H5Fopen(file_a, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const struct {
        const char *name, *path;
        const float *values;
        hsize_t rows, width;
    } arrays[] = {{"Points", "/VTKHDF/Points", positions, N, 3},
                  {"Normals", "/VTKHDF/PointData/Normals", normals, N, 3},
                  {"displacement", "/VTKHDF/PointData/displacement", displacement, N, 3},
                  {"Tangents", "/VTKHDF/PointData/Tangents", tangents, N, 4},
                  {"strain", "/VTKHDF/CellData/strain", strain, M, 6}};
    for (int i = 0; i < 5; i++) {
        const hsize_t row = arrays[i].rows * arrays[i].width;
        read_floats(file, arrays[i].path, values, F * arrays[i].rows, arrays[i].width);
        assert_memory_equal(values, arrays[i].values, F * row * sizeof *values);
        for (int f = 0; f < F; f++) { /* a view is the frame */
            char view[64];
            snprintf(view, sizeof view, "/xdmf/%06d/%s", f, arrays[i].name);
            read_floats(file, view, values, arrays[i].rows, arrays[i].width);
            assert_memory_equal(values, arrays[i].values + row * (hsize_t)f, row * sizeof *values);
        }
    }
    hid_t dataset = H5Dopen2(file, "/xdmf/000002/damage", H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_memory_equal(values, damage + 2 * M, M * sizeof *values);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void test_fields_are_optional(void **state)
{
    (void)state;
    modal_error err = {0};
    for (int i = 0; i < 8; i++) {
        modal_sequence_info info = small(i & 1, i >> 1 & 1);
        if (i & 4) info.basis_hash = NULL;
        assert_int_equal(write_file(file_a, &info, 1, &err), MODAL_OK);
        assert_int_equal(modal_sequence_write_xdmf(side_a, "a.vtkhdf", &info, &err), MODAL_OK);
        assert_no_findings(file_a);
        int64_t bytes = 0;
        struct stat a, b;
        assert_int_equal(modal_sequence_bytes(&info, &bytes, &err), MODAL_OK);
        assert_int_equal(stat(file_a, &a) + stat(side_a, &b), 0);
        assert_true(a.st_size + b.st_size <= bytes);
    }
}

static void test_same_bytes(void **state)
{
    (void)state;
    long n_a, n_b;
    modal_error err = {0};
    modal_sequence_info info = small(1, 1);
    assert_int_equal(write_file(file_a, &info, F, &err), MODAL_OK);
    for (int batch = 1; batch <= F; batch++) {
        assert_int_equal(write_file(file_b, &info, batch, &err), MODAL_OK);
        char *a = read_whole(file_a, &n_a), *b = read_whole(file_b, &n_b);
        assert_int_equal(n_a, n_b);
        assert_memory_equal(a, b, (size_t)n_a);
        free(a);
        free(b);
        if (batch == 1) sleep(1); /* a time stamp in the file would differ now */
    }
}

static void refused(const modal_sequence_info *info, const char *why)
{
    modal_error err = {0};
    modal_sequence_writer *writer = (modal_sequence_writer *)&err;
    unlink(file_b);
    assert_int_equal(modal_sequence_begin(&writer, file_b, info, &err), MODAL_ERROR_INPUT);
    assert_null(writer);
    assert_non_null(strstr(err.message, why));
    assert_int_equal(access(file_b, F_OK), -1); /* found before the file was made */
    memset(&err, 0, sizeof err);
    assert_int_equal(modal_sequence_write_xdmf(file_b, "a.vtkhdf", info, &err), MODAL_ERROR_INPUT);
}

static void test_refusals(void **state)
{
    (void)state;
    modal_sequence_info info = small(0, 0);
    info.n_triangles = 0;
    refused(&info, "needs points, triangles and frames");
    info = small(0, 0);
    info.n_frames = 0;
    refused(&info, "needs points, triangles and frames");
    info = small(0, 0);
    info.n_points = 0;
    refused(&info, "needs points, triangles and frames");
    info = small(0, 0);
    info.n_points = N - 1;
    refused(&info, "triangle 0: no such point, 4");
    info = small(0, 0);
    info.n_points = INT64_MAX / 8;
    refused(&info, "too large");
    info = small(0, 0);
    info.n_frames = 1000000;
    refused(&info, "more than 999999 frames");
    info = small(0, 0);
    info.basis_hash = "00112233445566778899AABBCCDDEEFF";
    refused(&info, "no basis hash");
    info = small(0, 0);
    info.source_kind = "trajectories";
    refused(&info, "no known kind of source, trajectories");
    info.source_kind = NULL;
    refused(&info, "no known kind of source, (none)");
    info = small(0, 0);
    info.source_hash = "00112233445566778899aabbccddeef";
    refused(&info, "no hash of its source, 0011");
    info.source_hash = NULL;
    refused(&info, "no hash of its source, (none)");
    info = small(1, 0);
    info.arrays.all[0] = info.arrays.all[1];
    refused(&info, "first of its arrays must be Points");
    info.arrays.n = 0;
    refused(&info, "first of its arrays must be Points");
    info = small(1, 0);
    info.arrays.all[info.arrays.n++] = info.arrays.all[1];
    refused(&info, "array Normals: twice");
    static const char *const names[] = {"", "1st", "a b", "a/b", "a.b", "a:b", "a\"b", "h\xc3\xa9"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        info = small(1, 0);
        strcpy(info.arrays.all[1].name, names[i]);
        refused(&info, "break the rules");
    }
    for (int i = 0; i < 4; i++) {
        info = small(1, 0);
        info.arrays.all[1].components = i < 2 ? 10 * i : 3;
        strcpy(info.arrays.all[1].unit, i < 2 ? "1" : i == 2 ? "" : "N m");
        refused(&info, "break the rules");
    }
    info = small(1, 0);
    info.arrays.all[1].of_cells = 1;
    refused(&info, "array Normals: not as");
    double bad[F] = {0, 1, 1, 2};
    info = small(0, 0);
    info.times = bad;
    refused(&info, "frame 2: time");
    bad[2] = NAN;
    refused(&info, "frame 2: time");
    bad[2] = 1.5;
    bad[3] = INFINITY;
    refused(&info, "frame 3: time");

    modal_error err = {0};
    info = small(0, 0);
    assert_int_equal(modal_sequence_write_xdmf(file_b, "c:a.vtkhdf", &info, &err), MODAL_ERROR_INPUT);
    memset(&err, 0, sizeof err);
    assert_int_equal(modal_sequence_write_xdmf(file_b, "a\n", &info, &err), MODAL_ERROR_INPUT);
}

static void test_wrong_use(void **state)
{
    (void)state;
    modal_error err = {0};
    modal_sequence_info info = small(1, 0);
    modal_sequence_writer *w = NULL;
    assert_int_equal(modal_sequence_begin(&w, file_b, &info, &err), MODAL_OK);
    assert_int_equal(append(w, F, positions, NULL, NULL, &err), MODAL_ERROR_USAGE);
    memset(&err, 0, sizeof err);
    assert_int_equal(append(w, F, positions, normals, displacement, &err),
                     MODAL_ERROR_USAGE);
    memset(&err, 0, sizeof err);
    assert_int_equal(append(w, F + 1, positions, normals, NULL, &err),
                     MODAL_ERROR_USAGE);
    memset(&err, 0, sizeof err);
    assert_int_equal(append(w, F - 1, positions, normals, NULL, &err), MODAL_OK);
    assert_int_equal(modal_sequence_end(&w, &err), MODAL_ERROR_USAGE);
    assert_null(w);
    assert_non_null(strstr(err.message, "3 of 4 frames"));
    assert_null(modal_sequence_abort(NULL));
    memset(&err, 0, sizeof err);
    assert_int_equal(write_file("/nowhere/a.vtkhdf", &info, 1, &err), MODAL_ERROR_SYSTEM);
}

static void test_xdmf_text(void **state)
{
    (void)state;
    long n;
    modal_error err = {0};
    modal_sequence_info info = small(1, 1);
    assert_int_equal(modal_sequence_write_xdmf(file_b, "a&b<c>\"d.vtkhdf", &info, &err), MODAL_OK);
    char *text = read_whole(file_b, &n);
    assert_non_null(strstr(text, ">a&amp;b&lt;c&gt;&quot;d.vtkhdf:/xdmf/000003/Normals<"));
    assert_non_null(strstr(text, "<Time Value=\"-0.1\"/>"));
    assert_non_null(strstr(text, "<Time Value=\"0.101\"/>"));
    assert_null(strstr(text, "0.10000000000000001"));
    free(text);
}

static void test_allocations(void **state)
{
    (void)state;
    modal_sequence_info info = small(1, 1);
    int fired = 1;
    for (int n = 1; fired; n++) {
        modal_error err = {0};
        modal_alloc_fail_at(n);
        modal_status status = write_file(file_b, &info, 2, &err);
        if (status == MODAL_OK) status = modal_sequence_write_xdmf(file_b, "a.vtkhdf", &info, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
    }
    write_both();
    for (int n = 1, again = 1; again; n++) {
        modal_error err = {0};
        modal_findings findings = {0};
        modal_alloc_fail_at(n);
        modal_status status = modal_sequence_check(file_a, &findings, &err);
        again = modal_alloc_fired();
        modal_alloc_fail_at(0);
        modal_findings_free(&findings);
        assert_int_equal(status, again ? MODAL_ERROR_MEMORY : MODAL_OK);
    }
}

/* ---- a full disk: in processes of their own, since HDF5 must also end well ---- */

static int write_limited(const char *path, long limit)
{
    modal_error err = {0};
    modal_sequence_info info = small(1, 1);
    struct rlimit most = {(rlim_t)limit, (rlim_t)limit};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
    modal_status status = write_file(path, &info, 1, &err);
    if (status == MODAL_OK) return 0;
    return status == MODAL_ERROR_SYSTEM && strstr(err.message, "File too large") &&
                   !strchr(err.message, '\n')
               ? 4
               : 99;
}

static void test_full_disk(void **state)
{
    (void)state;
    long size = 0;
    int n_failed = 0;
    write_both();
    free(read_whole(file_a, &size));
    for (long limit = 0; limit <= size + 512; limit += size / 40) {
        char number[32];
        snprintf(number, sizeof number, "%ld", limit);
        pid_t child = fork();
        if (child == 0) {
            execl(program, program, "write-limited", file_b, number, (char *)NULL);
            _exit(98);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        int code = WEXITSTATUS(status);
        if (code != 0 && code != 4) fail_msg("limit %ld: exit code %d", limit, code);
        if (limit < size) assert_int_equal(code, 4);
        n_failed += code == 4;
    }
    assert_true(n_failed > 30);
}

static void test_sidecar(void **state)
{
    (void)state;
    long size;
    modal_error err = {0};
    modal_findings findings = {0};
    write_both();
    char *text = read_whole(side_a, &size);
    for (int i = 0; i < 4; i++) {
        long length = i == 0 ? size - 1 : size;
        char old = text[size / 2];
        if (i == 1) text[size / 2]++;
        write_whole(side_a, text, length);
        text[size / 2] = old;
        if (i == 2) {
            FILE *file = fopen(side_a, "ab");
            fputs("\n", file);
            fclose(file);
        }
        if (i == 3) assert_int_equal(unlink(side_a), 0);
        assert_int_equal(modal_sequence_check(file_a, &findings, &err), MODAL_OK);
        assert_int_equal(findings.n, i == 3 ? 0 : 1);
        if (i < 3) assert_non_null(strstr(findings.texts[0], "does not describe a.vtkhdf"));
        modal_findings_free(&findings);
    }
    free(text);
}

static void test_manifest(void **state)
{
    (void)state;
    long size;
    modal_error err = {0};
    modal_manifest_file files[] = {{"sequence.vtkhdf", "vtkhdf", 123456789012}};
    const char *const fields[] = {"Points", "Normals"};
    modal_manifest m = {"modaldeform", "0.1.0", "modaldeform caf\xe9 \xc3\xa9", "t.h5", "ab", "b.h5",
                        "cd", "cpu", "a CPU", 2, 3, 10, -0.5, 2.5, 100, 200, 0, "user", "rigid", 2,
                        fields, NULL, "ok", 0, 1, files};
    assert_int_equal(modal_manifest_write(file_b, &m, &err), MODAL_OK);
    char *text = read_whole(file_b, &size);
    assert_non_null(strstr(text, "modaldeform caf\xef\xbf\xbd \xc3\xa9\""));
    assert_non_null(strstr(text, "\"bytes\": 123456789012"));
    assert_true(strstr(text, "\"modal_format\"") < strstr(text, "\"arguments\""));
    assert_true(strstr(text, "\"arguments\"") < strstr(text, "\"files\""));
    assert_non_null(strstr(text, "\"Normals\""));
    assert_non_null(strstr(text, "\"quality\": \"ok\""));
    free(text);
    assert_int_equal(modal_manifest_write("/nowhere/m.json", &m, &err), MODAL_ERROR_SYSTEM);
    for (int n = 1, fired = 1; fired; n++) {
        modal_alloc_fail_at(n);
        memset(&err, 0, sizeof err);
        modal_status status = modal_manifest_write(file_b, &m, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
    }
}

int main(int argc, char **argv)
{
    fill();
    if (argc == 4 && strcmp(argv[1], "write-limited") == 0)
        return write_limited(argv[2], atol(argv[3]));
    program = argv[0];
    if (!make_folder()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, tidy),
        cmocka_unit_test_teardown(test_fields_are_optional, tidy),
        cmocka_unit_test_teardown(test_same_bytes, tidy),
        cmocka_unit_test_teardown(test_refusals, tidy),
        cmocka_unit_test_teardown(test_wrong_use, tidy),
        cmocka_unit_test_teardown(test_xdmf_text, tidy),
        cmocka_unit_test_teardown(test_allocations, tidy),
        cmocka_unit_test_teardown(test_full_disk, tidy),
        cmocka_unit_test_teardown(test_sidecar, tidy),
        cmocka_unit_test_teardown(test_manifest, tidy),
    };
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
