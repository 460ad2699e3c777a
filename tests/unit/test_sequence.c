/* SPDX-License-Identifier: Apache-2.0 */
/* The sequence's writer and checker: round trip, same bytes, refusals, full disks, damaged files. */
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
static const char *program;

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

static modal_status append(modal_sequence_writer *writer, int64_t n, const float *x, const float *nx,
                           const float *u, modal_error *err)
{
    const modal_frames frames = {n, {x, nx, u}};
    return modal_sequence_append(writer, &frames, err);
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

/* ---- damaged files ---- */

/* Any result is fine, as long as there is one. */
static int64_t look(const char *path, modal_status *status)
{
    modal_error err = {0};
    modal_findings findings = {0};
    *status = modal_sequence_check(path, &findings, &err);
    int64_t n = findings.n;
    modal_findings_free(&findings);
    assert_true(*status == MODAL_OK || *status == MODAL_ERROR_INPUT ||
                *status == MODAL_ERROR_MEMORY);
    return n;
}

static void test_truncations(void **state)
{
    (void)state;
    long size;
    modal_status status;
    write_both();
    free(read_whole(file_a, &size));
    assert_int_equal(rename(file_a, file_b), 0);
    for (long length = size - 1; length >= 0; length--) {
        assert_int_equal(truncate(file_b, length), 0);
        int64_t n = look(file_b, &status);
        if (status == MODAL_OK && n == 0) fail_msg("accepted with %ld of %ld bytes", length, size);
    }
}

/* A few hundred of the bits, or one in every byte with MODAL_ALL_FLIPS in the environment. */
static void test_bit_flips(void **state)
{
    (void)state;
    long size, found = 0, tried = 0;
    modal_status status;
    write_both();
    char *bytes = read_whole(file_a, &size);
    long step = getenv("MODAL_ALL_FLIPS") ? 1 : size / 1500;
    for (long i = 0; i < size; i += step, tried++) {
        bytes[i] ^= (char)(1 << (i / step % 8));
        write_whole(file_b, bytes, size);
        bytes[i] ^= (char)(1 << (i / step % 8));
        found += look(file_b, &status) > 0 || status != MODAL_OK;
    }
    free(bytes);
    print_message("%ld of %ld flips noticed\n", found, tried);
    assert_true(found > tried / 20);
}

/* ---- mutations: each breaks one rule ---- */

static hid_t opened;

static void rewrite_i64(const char *path, int64_t at, int64_t value)
{
    int64_t values[64];
    hid_t dataset = H5Dopen2(opened, path, H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    values[at] = value;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
}

static void rewrite_real(const char *path, int64_t at, double value)
{
    double values[256];
    hid_t dataset = H5Dopen2(opened, path, H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    values[at] = value;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
}

static void retype(H5T_str_t pad, H5T_cset_t set, size_t length, const char *text)
{
    hid_t group = H5Gopen2(opened, "/VTKHDF", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length);
    H5Tset_strpad(type, pad);
    H5Tset_cset(type, set);
    H5Adelete(group, "Type");
    hid_t attribute = H5Acreate2(group, "Type", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    H5Gclose(group);
}

/* A view of other rows, of another source, or a copy instead of a view. */
static void review(int64_t row, const char *file, const char *source_path, int virtual)
{
    const char *path = "/xdmf/000002/Points";
    const hsize_t all[2] = {F * N, 3}, one[2] = {N, 3}, start[2] = {(hsize_t)row, 0};
    hid_t source = H5Screate_simple(2, all, NULL), space = H5Screate_simple(2, one, NULL);
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Fset_libver_bounds(opened, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Ldelete(opened, path, H5P_DEFAULT);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, start, NULL, one, NULL);
    if (virtual) H5Pset_virtual(plist, space, file, source_path, source);
    hid_t view = H5Dcreate2(opened, path, H5T_IEEE_F32LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(view >= 0);
    H5Dclose(view);
    H5Pclose(plist);
    H5Sclose(source);
    H5Sclose(space);
}

static void remove_attribute(const char *group, const char *name)
{
    assert_true(H5Adelete_by_name(opened, group, name, H5P_DEFAULT) >= 0);
}

static void set_text(const char *group, const char *name, const char *text)
{
    hid_t place = H5Gopen2(opened, group, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Adelete(place, name);
    hid_t attribute = H5Acreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    H5Gclose(place);
}

#define ALL_ARRAYS "Points Normals displacement Tangents strain damage"

enum { MUTATIONS = 52 };
static const char *mutate(int which)
{
    switch (which) {
    case 0: rewrite_i64("/VTKHDF/NumberOfPoints", 0, N - 1); return "/VTKHDF/Points: must have 16 rows";
    case 1: rewrite_i64("/VTKHDF/NumberOfPoints", 0, -1); return "/VTKHDF/NumberOfPoints: must be pos";
    case 2: rewrite_i64("/VTKHDF/Polygons/Connectivity", 7, N); return "triangle 2: no such point, 5";
    case 3: rewrite_i64("/VTKHDF/Polygons/Connectivity", 0, -1); return "triangle 0: no such point";
    case 4: rewrite_i64("/VTKHDF/Polygons/Offsets", 3, 8); return "/VTKHDF/Polygons/Offsets: value 3";
    case 5: rewrite_i64("/VTKHDF/Polygons/NumberOfCells", 0, 5); return "Connectivity: three indices";
    case 6: rewrite_i64("/VTKHDF/Polygons/NumberOfConnectivityIds", 0, 5); return "ConnectivityIds: val";
    case 7: rewrite_i64("/VTKHDF/Strips/NumberOfCells", 0, 1); return "/VTKHDF/Strips/NumberOfCells: ";
    case 8: rewrite_i64("/VTKHDF/Steps/PointOffsets", 2, 9); return "Steps/PointOffsets: value 2";
    case 9: rewrite_i64("/VTKHDF/Steps/CellOffsets", 6, 1); return "Steps/CellOffsets: value 6";
    case 10: rewrite_i64("/VTKHDF/Steps/ConnectivityIdOffsets", 0, 1); return "IdOffsets: value 0";
    case 11: rewrite_i64("/VTKHDF/Steps/NumberOfParts", 3, 2); return "NumberOfParts: value 3";
    case 12: rewrite_i64("/VTKHDF/Steps/PartOffsets", 3, 2); return "PartOffsets: value 3";
    case 13: rewrite_i64("/VTKHDF/Steps/PointDataOffsets/Normals", 1, 0); return "Offsets/Normals: val";
    case 14: rewrite_real("/VTKHDF/Steps/Values", 1, NAN); return "/VTKHDF/Steps/Values: frame 1";
    case 15: rewrite_real("/VTKHDF/Steps/Values", 1, 0.1); return "Values: frame 2: not after";
    case 16: rewrite_real("/VTKHDF/Points", 3 * (N + 2), NAN); return "frame 1, point 2: not finite";
    case 17: rewrite_real("/VTKHDF/PointData/displacement", 3 * F * N - 1, INFINITY);
        return "/VTKHDF/PointData/displacement: frame 3, point 4: not finite";
    case 18: retype(H5T_STR_NULLTERM, H5T_CSET_ASCII, 8, "PolyData"); return "/VTKHDF@Type: must be one";
    case 19: retype(H5T_STR_NULLPAD, H5T_CSET_UTF8, 8, "PolyData"); return "/VTKHDF@Type: must be one";
    case 20: retype(H5T_STR_NULLPAD, H5T_CSET_ASCII, 9, "PolyData"); return "/VTKHDF@Type: must be one";
    case 21: retype(H5T_STR_NULLPAD, H5T_CSET_ASCII, 8, "PolyDatb"); return "must be PolyData, is P";
    case 22: remove_attribute("/VTKHDF", "Version"); return "/VTKHDF@Version: missing";
    case 23: remove_attribute("/VTKHDF", "Type"); return "/VTKHDF@Type: missing";
    case 24: remove_attribute("/VTKHDF/Steps", "NSteps"); return "NSteps: missing";
    case 25: set_text("/modal", "basis_hash", "none"); return "/modal@basis_hash: must be 32";
    case 26: review(N, ".", "/VTKHDF/Points", 1); return "/xdmf/000002/Points: other rows";
    case 27: review(2 * N, "x", "/VTKHDF/Points", 1); return "/xdmf/000002/Points: source file";
    case 28: review(2 * N, ".", "/VTKHDF/PointData/Normals", 1); return "Points: another source";
    case 29: review(2 * N, ".", "/VTKHDF/Points", 0); return "Points: not a virtual dataset";
    case 30: H5Ldelete(opened, "/xdmf/000001", H5P_DEFAULT); return "/xdmf/000001: missing";
    case 31: H5Ldelete(opened, "/xdmf/000003/Normals", H5P_DEFAULT); return "000003/Normals: missing";
    case 32: H5Ldelete(opened, "/VTKHDF/Steps", H5P_DEFAULT); return "/VTKHDF/Steps: missing";
    case 33: H5Ldelete(opened, "/VTKHDF/Points", H5P_DEFAULT); return "/VTKHDF/Points: missing";
    /* of version 2 */
    case 34: remove_attribute("/modal", "source_kind"); return "source_kind: missing";
    case 35: remove_attribute("/modal", "source_hash"); return "source_hash: missing";
    case 36: set_text("/modal", "source_kind", "dream"); return "/modal@source_kind: no known kind, \"dream\"";
    case 37: set_text("/modal", "source_hash", "ab"); return "/modal@source_hash: must be 32";
    case 38: remove_attribute("/modal", "arrays"); return "arrays: missing";
    case 39: remove_attribute("/modal", "array_units"); return "array_units: missing";
    case 40: set_text("/modal", "arrays", "Normals Points"); return "/modal@arrays: must begin with Points";
    case 41: set_text("/modal", "arrays", ALL_ARRAYS " stress"); return "/modal@arrays: stress: there is no such array";
    case 42: set_text("/modal", "arrays", ALL_ARRAYS " damage"); return "/modal@arrays: array damage: twice";
    case 43: set_text("/modal", "array_units", "m 1 m 1 1"); return "/modal@arrays: array damage: its name, unit or";
    case 44: H5Ldelete(opened, "/VTKHDF/CellData/strain", H5P_DEFAULT); return "strain: there is no such array";
    case 45:
        H5Lcreate_hard(opened, "/VTKHDF/CellData/strain", opened, "/VTKHDF/PointData/strain", H5P_DEFAULT, H5P_DEFAULT);
        return "/modal@arrays: strain: both of points and of cells";
    case 46: rewrite_i64("/VTKHDF/Steps/CellDataOffsets/strain", 1, N); return "CellDataOffsets/strain: value 1 must be 6";
    case 47: rewrite_real("/VTKHDF/CellData/damage", M + 2, NAN); return "CellData/damage: frame 1, cell 2: not finite";
    case 48: set_text("/modal", "array_units", "m 1 1 1 1 1"); return "/modal@arrays: displacement: components, unit or";
    case 49: set_text("/modal", "arrays", ALL_ARRAYS " "); return "/modal@arrays: names and units have one blank";
    case 50: set_text("/modal", "array_units", "mm 1 m 1 1 1"); return "/modal@arrays: Points: components, unit or";
    default: H5Ldelete(opened, "/xdmf/000001/damage", H5P_DEFAULT); return "/xdmf/000001/damage: missing";
    }
}

static void test_mutations(void **state)
{
    (void)state;
    for (int i = 0; i < MUTATIONS; i++) {
        modal_error err = {0};
        modal_findings findings = {0};
        int seen = 0;
        write_both();
        opened = H5Fopen(file_a, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(opened >= 0);
        const char *expected = mutate(i);
        assert_true(H5Fclose(opened) >= 0);
        assert_int_equal(modal_sequence_check(file_a, &findings, &err), MODAL_OK);
        for (int64_t k = 0; k < findings.n; k++) seen |= strstr(findings.texts[k], expected) != NULL;
        if (!seen)
            fail_msg("mutation %d: no finding \"%s\", but %s", i, expected,
                     findings.n ? findings.texts[0] : "none");
        modal_findings_free(&findings);
        /* Without a list the first finding is the error. */
        assert_int_equal(modal_sequence_check(file_a, NULL, &err), MODAL_ERROR_INPUT);
        assert_non_null(strstr(err.message, file_a));
    }
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
                        fields, NULL, "sound", 0, 1, files};
    assert_int_equal(modal_manifest_write(file_b, &m, &err), MODAL_OK);
    char *text = read_whole(file_b, &size);
    assert_non_null(strstr(text, "modaldeform caf\xef\xbf\xbd \xc3\xa9\""));
    assert_non_null(strstr(text, "\"bytes\": 123456789012"));
    assert_true(strstr(text, "\"modal_type\"") < strstr(text, "\"arguments\""));
    assert_true(strstr(text, "\"arguments\"") < strstr(text, "\"files\""));
    assert_non_null(strstr(text, "\"Normals\""));
    assert_non_null(strstr(text, "\"quality\": \"sound\""));
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

int main(int argc, char **argv)
{
    for (int i = 0; i < F * N * 3; i++) {
        positions[i] = (float)i / 7.0f;
        normals[i] = i % 3 == 2 ? 1.0f : 0.0f;
        displacement[i] = -(float)i / 11.0f;
    }
    for (int i = 0; i < F * N * 4; i++) tangents[i] = (float)i / 13.0f;
    for (int i = 0; i < F * M * 6; i++) strain[i] = (float)i / 17.0f;
    for (int i = 0; i < F * M; i++) damage[i] = (float)i / 19.0f;
    if (argc == 4 && strcmp(argv[1], "write-limited") == 0)
        return write_limited(argv[2], atol(argv[3]));
    program = argv[0];
    if (!mkdtemp(folder)) return 1;
    snprintf(file_a, sizeof file_a, "%s/a.vtkhdf", folder);
    snprintf(side_a, sizeof side_a, "%s/a.xdmf", folder);
    snprintf(file_b, sizeof file_b, "%s/b.vtkhdf", folder);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_round_trip, tidy),
        cmocka_unit_test_teardown(test_fields_are_optional, tidy),
        cmocka_unit_test_teardown(test_same_bytes, tidy),
        cmocka_unit_test_teardown(test_refusals, tidy),
        cmocka_unit_test_teardown(test_wrong_use, tidy),
        cmocka_unit_test_teardown(test_xdmf_text, tidy),
        cmocka_unit_test_teardown(test_allocations, tidy),
        cmocka_unit_test_teardown(test_full_disk, tidy),
        cmocka_unit_test_teardown(test_truncations, tidy),
        cmocka_unit_test_teardown(test_bit_flips, tidy),
        cmocka_unit_test_teardown(test_mutations, tidy),
        cmocka_unit_test_teardown(test_sidecar, tidy),
        cmocka_unit_test_teardown(test_manifest, tidy),
    };
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
