/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
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
#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "tests/unit/file_samples.h"
#include "tests/unit/processor_limit.h"

#define OK(call)                                                            \
    do {                                                                    \
        modal_error failure = {0};                                          \
        modal_error *err = &failure;                                        \
        if ((call) != MODAL_OK) fail_msg("%s: %s", #call, failure.message); \
    } while (0)

static modal_trajectory sample(int with_poses)
{
    modal_basis b = sample_basis(0);
    modal_trajectory t = sample_trajectory(&b, with_poses);
    assert_int_equal(modal_trajectory_check_basis(&t, &b, NULL), MODAL_OK);
    modal_basis_free(&b);
    return t;
}

static const char *write_sample(const char *name, int with_poses)
{
    const char *path = sample_path(name);
    modal_trajectory t = sample(with_poses);
    OK(modal_trajectory_write(path, &t, err));
    modal_trajectory_free(&t);
    assert_no_ids();
    return path;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int with_poses = 0; with_poses < 2; with_poses++) {
        modal_trajectory a = sample(with_poses), b;
        const char *path = sample_path("a.h5");
        void *image;
        size_t length, file_length;
        modal_findings findings = {0};
        OK(modal_trajectory_write(path, &a, err));
        OK(modal_trajectory_read(path, &b, err));
        assert_trajectories_equal(&a, &b);
        modal_trajectory_free(&b);
        OK(modal_trajectory_check(path, &findings, err));
        if (findings.n) fail_msg("%s", findings.texts[0]);
        modal_findings_free(&findings);
        /* through a pipe: the same bytes */
        OK(modal_trajectory_image(&a, &image, &length, err));
        unsigned char *bytes = sample_bytes(path, &file_length);
        assert_int_equal(length, file_length);
        assert_memory_equal(image, bytes, length);
        OK(modal_trajectory_read_image(image, length, "standard input", &b, err));
        assert_trajectories_equal(&a, &b);
        modal_trajectory_free(&b);
        modal_trajectory_free(&a);
        modal_free(&image);
        free(bytes);
        assert_no_ids();
    }
}

/* With the file of its basis, into a file and into a file in memory. */
static void test_carried_basis(void **state)
{
    (void)state;
    modal_trajectory a = sample(1), b;
    const char *path = sample_path("carried.h5");
    char kept[MODAL_MEMORY_FILE_PATH];
    size_t length, kept_length;
    int file;
    a.n_basis_bytes = 5001;
    OK(modal_alloc(&a.basis_bytes, a.n_basis_bytes, 1, "basis", err));
    for (int64_t i = 0; i < a.n_basis_bytes; i++) a.basis_bytes[i] = (uint8_t)(7 * i);
    OK(modal_trajectory_write(path, &a, err));
    OK(modal_memory_file(NULL, 0, "kept", &file, kept, err));
    OK(modal_trajectory_write(kept, &a, err));
    unsigned char *bytes = sample_bytes(path, &length), *same = sample_bytes(kept, &kept_length);
    assert_int_equal(length, kept_length);
    assert_memory_equal(bytes, same, length);
    OK(modal_trajectory_read(kept, &b, err));
    assert_trajectories_equal(&a, &b);
    assert_int_equal(b.n_basis_bytes, a.n_basis_bytes);
    assert_memory_equal(b.basis_bytes, a.basis_bytes, a.n_basis_bytes);
    close(file);
    modal_trajectory_free(&a);
    modal_trajectory_free(&b);
    free(bytes);
    free(same);
    assert_no_ids();
}

/* Larger than the core driver's step, and so large that its arrays are aligned. */
static void test_large_image(void **state)
{
    (void)state;
    modal_trajectory a = sample(1), b;
    int64_t n = 30000, total = a.mode_offsets[a.n_objects];
    modal_free(&a.times);
    modal_free(&a.q);
    modal_free(&a.poses);
    modal_free(&a.quality);
    a.n_frames = n;
    OK(modal_alloc(&a.times, n, 8, "times", err));
    OK(modal_alloc(&a.q, n * total, 8, "q", err));
    for (int64_t i = 0; i < n; i++) a.times[i] = (double)i * 0.01;
    for (int64_t i = 0; i < n * total; i++) a.q[i] = (double)i;
    void *image;
    size_t length, file_length;
    const char *path = sample_path("large.h5");
    OK(modal_trajectory_image(&a, &image, &length, err));
    OK(modal_trajectory_write(path, &a, err));
    unsigned char *bytes = sample_bytes(path, &file_length);
    assert_int_equal(length, file_length);
    assert_true(memcmp(image, bytes, length) == 0);
    OK(modal_trajectory_read_image(image, length, "image", &b, err));
    assert_trajectories_equal(&a, &b);
    modal_trajectory_free(&a);
    modal_trajectory_free(&b);
    modal_free(&image);
    free(bytes);
}

static void test_same_bytes_twice(void **state)
{
    (void)state;
    size_t n[2];
    unsigned char *bytes[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = sample_bytes(write_sample(i ? "twice.h5" : "once.h5", 1), &n[i]);
        if (i == 0) sleep(1); /* a time stamp would show */
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void test_basis_path(void **state)
{
    (void)state;
    const char *cases[][3] = {{"b.h5", "t.h5", "b.h5"},
                              {"b.h5", "x/y/t.h5", "x/y/b.h5"},
                              {"../b.h5", "/x/t.h5", "/x/../b.h5"},
                              {"b.h5", "/t.h5", "/b.h5"},
                              {"/abs/b.h5", "x/t.h5", "/abs/b.h5"},
                              {"x/b.h5", NULL, "x/b.h5"},
                              {"/abs/b.h5", NULL, "/abs/b.h5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32], *path = NULL;
        strcpy(name, cases[i][0]);
        modal_trajectory t = {.basis_path = name};
        OK(modal_trajectory_basis_path(&t, cases[i][1], &path, err));
        assert_string_equal(path, cases[i][2]);
        modal_free(&path);
    }
}

/* 2.0: an object without coordinates; one that stands still is in the file once. The whole and the rows have the same bytes. */
static void test_still_objects(void **state)
{
    (void)state;
    modal_trajectory a = sample(1), b;
    void *image[2];
    size_t length[2];
    const int64_t total = a.mode_offsets[a.n_objects];
    a.mode_offsets[1] = 0;
    for (int64_t f = 1; f < a.n_frames; f++) memcpy(a.poses + (f * a.n_objects + 1) * 12, a.poses + 12, 12 * sizeof(double));
    OK(modal_alloc_zero(&a.still, a.n_objects, 1, "still", err));
    a.still[1] = 1;
    OK(modal_trajectory_image(&a, &image[0], &length[0], err));
    modal_trajectory_out *out;
    OK(modal_trajectory_out_open(&out, NULL, &a, err));
    for (int64_t f = 0; f < a.n_frames; f++)
        OK(modal_trajectory_out_row(out, a.times[f], a.q + f * total, a.poses + 12 * f * a.n_objects, a.energy ? a.energy + 4 * f : NULL,
                                    a.quality ? &a.quality[f] : NULL, err));
    OK(modal_trajectory_out_close(&out, &image[1], &length[1], err));
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(image[0], image[1], length[0]);
    OK(modal_trajectory_read_image(image[0], length[0], "image", &b, err));
    assert_trajectories_equal(&a, &b);
    assert_memory_equal(a.still, b.still, (size_t)a.n_objects);
    modal_free(&image[0]);
    memset(a.still, 1, (size_t)a.n_objects);
    assert_int_equal(modal_trajectory_image(&a, &image[0], &length[0], NULL), MODAL_ERROR_INPUT);
    modal_trajectory_free(&a);
    modal_trajectory_free(&b);
    modal_free(&image[1]);
}

static void test_writer_refuses(void **state)
{
    (void)state;
    const char *path = sample_path("never.h5");
    const char *expected[] = {"/q: frame 2, coordinate 5: not finite, nan",
                              "/times: frame 1: not increasing",
                              "/@basis_hash: must be 32",
                              "missing",
                              "/@basis_path: empty",
                              "/poses: frame 3, object 1: not orthonormal",
                              "/mode_offsets: ",
                              "/quality: frame 2, strain: infinite, inf"};
    for (int i = 0; i < 8; i++) {
        modal_trajectory t = sample(1);
        modal_error err = {0}, image_err = {0};
        void *image;
        size_t length;
        if (i == 0) t.q[2 * t.mode_offsets[3] + 5] = NAN;
        if (i == 1) t.times[1] = t.times[0];
        if (i == 2) t.basis_hash[0] = '\0';
        if (i == 3) modal_free(&t.basis_path);
        if (i == 4) t.basis_path[0] = '\0';
        if (i == 5) t.poses[(3 * 3 + 1) * 12] = 2;
        if (i == 6) t.mode_offsets[1] = t.mode_offsets[2] + 1;
        if (i == 7) t.quality[2].strain = INFINITY;
        assert_int_equal(modal_trajectory_write(path, &t, &err), MODAL_ERROR_INPUT);
        assert_int_equal(modal_trajectory_image(&t, &image, &length, &image_err),
                         MODAL_ERROR_INPUT);
        if (!strstr(err.message, expected[i]) || !strstr(image_err.message, expected[i]))
            fail_msg("%d: %s", i, err.message);
        assert_null(image);
        assert_int_not_equal(access(path, F_OK), 0);
        modal_trajectory_free(&t);
    }
    modal_trajectory t = sample(0);
    assert_int_equal(modal_trajectory_write("/no/such/folder/t.h5", &t, NULL), MODAL_ERROR_SYSTEM);
    modal_trajectory_free(&t);
    assert_no_ids();
}

/* Every rule of trajectory.md, broken one at a time. Q is 11: objects of 4, 3 and 4 modes. */
static const damage_case damages[] = {
    {DELETE_ATTRIBUTE, "@basis_hash", 0, 0, NULL, "/@basis_hash: missing", 0},
    {SET_TEXT, "@basis_hash", 0, 0, "0123456789abcdef0123456789abcdef0", "/@basis_hash: must be 32",
     0},
    {SET_TEXT, "@basis_hash", 0, 0, "0123456789abcdef0123456789abcdeg", "/@basis_hash: must be 32",
     0},
    {DELETE_ATTRIBUTE, "@basis_path", 0, 0, NULL, "/@basis_path: missing", 0},
    {SET_INTEGER, "@basis_path", 0, 3, NULL, "/@basis_path: must be text", 0},
    {SET_TEXT, "@basis_path", 0, 0, "other.h5",
     "/basis: leads to \"a folder/basis.h5\", basis_path is \"other.h5\"", 0},
    {EXTERNAL_LINK, "/basis", 0, 0, NULL, "/basis: leads to \"another.h5\"", 0},
    {EXTERNAL_LINK, "/basis", 0, 0, "/shapes",
     "/basis: must lead to the root, leads to \"/shapes\"", 0},
    {MAKE_GROUP, "/basis", 0, 0, NULL, "/basis: must be an external link", 0},
    {DELETE_LINK, "/times", 0, 0, NULL, "/times: missing", 0},
    {SET_VALUE, "/times", 3, NAN, NULL, "/times: frame 3: not finite, nan", 0},
    {SET_VALUE, "/times", 6, INFINITY, NULL, "/times: frame 6: not finite, inf", 0},
    {SET_VALUE, "/times", 3, -1, NULL, "/times: frame 3: not increasing", 0},
    {SHORTEN, "/times", 0, 0, NULL, "/q: shape must be [6, any], is [7, 11]", 0},
    {RETYPE, "/times", 0, 0, NULL, "/times: type must be", 0},
    {FLATTEN, "/times", 0, 0, NULL, "/times: shape must be [any], is [7, 1]", 0},
    {DELETE_LINK, "/mode_offsets", 0, 0, NULL, "/mode_offsets: missing", 0},
    {SET_VALUE, "/mode_offsets", 0, 1, NULL, "/mode_offsets: value 0: must be 0", 0},
    {SET_VALUE, "/mode_offsets", 1, -4, NULL, "/mode_offsets: value 1: decreases", 0},
    {SET_VALUE, "/mode_offsets", 3, 12, NULL,
     "/mode_offsets: last value: must be the number of values 11, is 12", 0},
    {SHORTEN, "/mode_offsets", 0, 0, NULL, "/mode_offsets: last value", 0},
    {RETYPE, "/mode_offsets", 0, 0, NULL, "/mode_offsets: type must be", 0},
    {DELETE_LINK, "/q", 0, 0, NULL, "/q: missing", 0},
    {SET_VALUE, "/q", 25, NAN, NULL, "/q: frame 2, coordinate 3: not finite, nan", 0},
    {SET_VALUE, "/q", 76, -INFINITY, NULL, "/q: frame 6, coordinate 10: not finite, -inf", 0},
    {SHORTEN, "/q", 0, 0, NULL, "/q: shape must be [7, any], is [6, 11]", 0},
    {FLATTEN, "/q", 0, 0, NULL, "/q: shape must be [7, any], is [77]", 0},
    {RETYPE, "/q", 0, 0, NULL, "/q: type must be", 0},
    {NEVER_WRITTEN, "/q", 0, 0, NULL, "/q: 616 bytes claimed, 0 stored", 0},
    {VIRTUAL, "/q", 0, 0, NULL, "/q: a virtual dataset", 0},
    {ELSEWHERE, "/q", 0, 0, NULL, "/q: not a dataset (HDF5: stored in another file", 0},
    {SOFT_LINK, "/q", 0, 0, NULL, "/q: a soft or external link", 0},
    {HUGE_CHUNKED, "/times", 0, 0, NULL, "/times: 8796093022208 bytes claimed, 0 stored", 0},
    {SHORTEN, "/poses", 0, 0, NULL, "/poses: shape must be [7, 3, 3, 4], is [6, 3, 3, 4]", 0},
    {SET_VALUE, "/poses", 12 * 7 + 4, 3, NULL, "/poses: frame 2, object 1: not orthonormal", 0},
    {SET_VALUE, "/poses", 12 * 7 + 10, -1, NULL, "/poses: frame 2, object 1: a reflection", 0},
    {SET_VALUE, "/poses", 12 * 7 + 11, NAN, NULL, "/poses: frame 2, object 1: not finite, nan",
     0},
    {SHORTEN, "/quality", 0, 0, NULL, "/quality: shape must be [7, any], is [6, ", 0},
    {RETYPE, "/quality", 0, 0, NULL, "/quality: type must be", 0},
    {SET_VALUE, "/quality", MODAL_QUALITY_NUMBERS * 3 + 1, INFINITY, NULL, "/quality: frame 3, step_error: infinite", 0},
    {SET_VALUE, "/quality", MODAL_QUALITY_NUMBERS * 3 + 8, -1, NULL, "/quality: frame 3, force_truncation: negative", 0},
    {SET_VALUE, "/quality", MODAL_QUALITY_NUMBERS * 3 + 9, 3, NULL, "/quality: frame 3, force_truncation_object: not an object", 0},
    {SET_TEXT, "@quality_columns", 0, 0, "force_truncation", "/@quality_columns: must be ", 0},
    {DELETE_ATTRIBUTE, "@quality_columns", 0, 0, NULL, "/@quality_columns: missing", 0},
    {DELETE_ATTRIBUTE, "/provenance/0001@backend", 0, 0, NULL,
     "/provenance/0001@backend: missing", 0},
    {SET_INTEGER, "/provenance@count", 0, 3, NULL, "/provenance@count: must be 0 to 2", 0},
};

static void test_every_rule(void **state)
{
    (void)state;
    size_t length;
    unsigned char *good = sample_bytes(write_sample("good.h5", 1), &length);
    const char *path = sample_path("bad.h5");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const damage_case *d = &damages[i];
        modal_findings findings = {0};
        modal_error refusal = {0};
        modal_trajectory t;
        sample_put(path, good, length);
        sample_damage(path, d);
        OK(modal_trajectory_check(path, &findings, err));
        if (!findings_have(&findings, d->expected))
            fail_msg("%s: expected \"%s\", %lld findings, first \"%s\"", d->path, d->expected,
                     (long long)findings.n, findings.n ? findings.texts[0] : "");
        modal_findings_free(&findings);
        if (modal_trajectory_read(path, &t, &refusal) != MODAL_ERROR_INPUT)
            fail_msg("%s: %s", d->path, d->expected);
        if (strncmp(refusal.message, path, strlen(path)) != 0 || !strstr(refusal.message, ": /"))
            fail_msg("%s: \"%s\" does not name the file and the place", d->path, refusal.message);
        assert_null(t.q);
        assert_no_ids();
    }
    free(good);
}

/* As h5py writes texts: of variable length, in the global heap. */
static void set_basis_path(hid_t file, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    assert_true(H5Adelete(file, "basis_path") >= 0);
    hid_t attribute = H5Acreate2(file, "basis_path", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, &text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
}

/* What a script writes: variable-length text, no link, no provenance, chunks with filters. */
static void test_what_scripts_write(void **state)
{
    (void)state;
    modal_trajectory a = sample(0), b;
    const char *path = write_sample("script.h5", 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "/basis", H5P_DEFAULT) >= 0 &&
                H5Ldelete(file, "/provenance", H5P_DEFAULT) >= 0);
    set_basis_path(file, a.basis_path);
    hsize_t dims[2] = {7, 11}, chunk[2] = {3, 11};
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(creation, 2, chunk) >= 0 && H5Pset_shuffle(creation) >= 0 &&
                H5Pset_deflate(creation, 6) >= 0);
    assert_true(H5Ldelete(file, "/q", H5P_DEFAULT) >= 0);
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t dataset =
        H5Dcreate2(file, "/q", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.q) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(creation);
    assert_true(H5Fclose(file) >= 0);
    OK(modal_trajectory_read(path, &b, err));
    for (int i = 0; i < a.n_provenance; i++) modal_provenance_free(&a.provenance[i]);
    a.n_provenance = 0;
    assert_trajectories_equal(&a, &b);
    modal_trajectory_free(&a);
    modal_trajectory_free(&b);
    assert_no_ids();
}

/* Chunks that are not all there, and a filter that not every HDF5 has. */
static void test_chunks(void **state)
{
    (void)state;
    modal_trajectory t = sample(0), b;
    for (int kind = 0; kind < 2; kind++) {
        const char *path = write_sample("chunks.h5", 0);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hsize_t dims[2] = {7, 11}, chunk[2] = {1, 11}, start[2] = {0, 0}, count[2] = {6, 11};
        hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        assert_true(H5Pset_chunk(creation, 2, chunk) >= 0);
        if (kind == 1) assert_true(H5Pset_nbit(creation) >= 0);
        assert_true(H5Ldelete(file, "/q", H5P_DEFAULT) >= 0);
        hid_t space = H5Screate_simple(2, dims, NULL), part = H5Screate_simple(2, count, NULL);
        hid_t dataset =
            H5Dcreate2(file, "/q", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, t.q) >= 0);
        H5Dclose(dataset);
        H5Sclose(space);
        H5Sclose(part);
        H5Pclose(creation);
        assert_true(H5Fclose(file) >= 0);
        modal_error refusal = {0};
        assert_int_equal(modal_trajectory_read(path, &b, &refusal), MODAL_ERROR_INPUT);
        if (!strstr(refusal.message, kind ? "/q: filter 5: only shuffle" : "/q: 6 chunks of 7 are stored"))
            fail_msg("%s", refusal.message);
    }
    modal_trajectory_free(&t);
    assert_no_ids();
}

static void test_unreadable(void **state)
{
    (void)state;
    modal_basis basis = sample_basis(0);
    modal_trajectory t;
    modal_error refusal = {0};
    const char *path = sample_path("basis.h5");
    OK(modal_basis_write(path, &basis, err));
    modal_basis_free(&basis);
    assert_int_equal(modal_trajectory_read(path, &t, &refusal), MODAL_ERROR_INPUT);
    assert_non_null(
        strstr(refusal.message, "basis.h5: modal_format: this is a basis, expected a trajectory"));
    path = write_sample("v2.h5", 0);
    const damage_case version = {SET_TEXT, "@modal_format_version", 0, 0, "12.3", "", 0};
    sample_damage(path, &version);
    memset(&refusal, 0, sizeof refusal);
    assert_int_equal(modal_trajectory_read(path, &t, &refusal), MODAL_ERROR_INPUT);
    assert_non_null(strstr(refusal.message, "unsupported version 12.3"));
    const char *bad[] = {"", "x", "\x89HDF\r\n\x1a\n"};
    const size_t lengths[] = {0, 1, 8};
    const char *messages[] = {"pipe: empty file", "pipe: not an HDF5 file",
                              "pipe: HDF5 file: truncated, it ends in its superblock"};
    for (int i = 0; i < 3; i++) {
        memset(&refusal, 0, sizeof refusal);
        assert_int_equal(modal_trajectory_read_image(bad[i], lengths[i], "pipe", &t, &refusal),
                         MODAL_ERROR_INPUT);
        if (strncmp(refusal.message, messages[i], strlen(messages[i])) != 0)
            fail_msg("%s", refusal.message);
    }
    memset(&refusal, 0, sizeof refusal);
    assert_int_equal(modal_trajectory_read_image(NULL, 0, "pipe", &t, &refusal), MODAL_ERROR_INPUT);
    assert_string_equal(refusal.message, "pipe: empty file");
    assert_no_ids();
}

static void test_every_truncation(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = sample_bytes(write_sample("whole.h5", 1), &length);
    modal_trajectory t;
    limit_processor(300);
    for (size_t n = 0; n < length; n++) {
        unsigned char *part = malloc(n + 1);
        memcpy(part, bytes, n);
        if (modal_trajectory_read_image(part, n, "part", &t, NULL) != MODAL_ERROR_INPUT)
            fail_msg("%zu of %zu bytes are taken for a trajectory", n, length);
        free(part);
    }
    limit_processor(0);
    assert_no_ids();
    free(bytes);
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    uint64_t random = 7090921;
    size_t length;
    unsigned char *good = sample_bytes(write_sample("flip.h5", 1), &length), *bad = malloc(length);
    int64_t refusals = 0;
    limit_processor(300);
    for (int i = 0; i < 5000; i++) {
        modal_trajectory t;
        modal_findings findings = {0};
        sample_flip(&random, good, bad, length);
        modal_status status = modal_trajectory_read_image(bad, length, "flipped", &t, NULL);
        assert_true(status == MODAL_OK || status == MODAL_ERROR_INPUT);
        refusals += status == MODAL_ERROR_INPUT;
        modal_trajectory_free(&t);
        modal_status checked =
            modal_trajectory_check_image(bad, length, "flipped", &findings, NULL);
        if ((status == MODAL_OK) != (checked == MODAL_OK && findings.n == 0))
            fail_msg("draw %d", i);
        modal_findings_free(&findings);
    }
    limit_processor(0);
    assert_true(refusals > 500 && refusals < 5000);
    assert_no_ids();
    free(good);
    free(bad);
}

/* Every bit of the heads of a heap and its first object: HDF5 1.10 alone would read far outside, or never end. */
static void test_damaged_heap(void **state)
{
    (void)state;
    const char *path = write_sample("heap.h5", 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    set_basis_path(file, "basis.h5");
    H5Ldelete(file, "/basis", H5P_DEFAULT);
    assert_true(H5Fclose(file) >= 0);
    size_t length;
    unsigned char *bytes = sample_bytes(path, &length), *heap = memmem(bytes, length, "GCOL", 4);
    assert_non_null(heap);
    int refusals = 0;
    limit_processor(60);
    for (int i = 0; i < 8 * 32; i++) {
        modal_trajectory t;
        heap[i / 8] ^= (unsigned char)(1 << i % 8);
        modal_status status = modal_trajectory_read_image(bytes, length, "damaged", &t, NULL);
        assert_true(status == MODAL_OK || status == MODAL_ERROR_INPUT);
        assert_true(i / 8 < 25 || status == MODAL_ERROR_INPUT); /* larger than it is */
        refusals += status == MODAL_ERROR_INPUT;
        modal_trajectory_free(&t);
        heap[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    limit_processor(0);
    modal_trajectory whole;
    OK(modal_trajectory_read_image(bytes, length, "whole", &whole, err));
    modal_trajectory_free(&whole);
    assert_true(refusals >= 8 * 4 + 8 * 7 + 8 * 7); /* signature, both sizes */
    assert_no_ids();
    free(bytes);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    const char *path = write_sample("memory.h5", 1), *out = sample_path("memory-out.h5");
    modal_trajectory a = sample(1), b;
    for (int kind = 0; kind < 4; kind++)
        for (int64_t n = 1;; n++) {
            modal_error err = {0};
            modal_findings findings = {0};
            modal_status status;
            void *image = NULL;
            size_t length = 0;
            memset(&b, 0, sizeof b);
            modal_alloc_fail_at(n);
            if (kind == 0)
                status = modal_trajectory_write(out, &a, &err);
            else if (kind == 1)
                status = modal_trajectory_image(&a, &image, &length, &err);
            else if (kind == 2)
                status = modal_trajectory_read(path, &b, &err);
            else
                status = modal_trajectory_check(path, &findings, &err);
            int fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
            modal_trajectory_free(&b);
            modal_findings_free(&findings);
            modal_free(&image);
            assert_no_ids();
            if (!fired) {
                assert_true(n > (kind < 2 ? kind : 5));
                break;
            }
        }
    modal_trajectory_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),         cmocka_unit_test(test_carried_basis),
        cmocka_unit_test(test_large_image),
        cmocka_unit_test(test_same_bytes_twice),   cmocka_unit_test(test_basis_path),
        cmocka_unit_test(test_still_objects), cmocka_unit_test(test_writer_refuses),     cmocka_unit_test(test_every_rule),
        cmocka_unit_test(test_what_scripts_write), cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_unreadable),         cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_flipped_bytes),      cmocka_unit_test(test_damaged_heap),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
