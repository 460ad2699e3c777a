/* SPDX-License-Identifier: Apache-2.0 */
/* Writes past the page cache: ranges of every alignment, several threads, refusals; and a sequence that is written so has
 * the bytes of one that HDF5 writes. Skipped where the folder of temporary files lies in main memory. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/sequences/direct_out.h"
#include "formats/sequences/sequence_parts.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

enum { BYTES = 5 << 20, THREADS = 3 };
static char folder[] = "/tmp/modal-direct-XXXXXX";
static char path[64], other[64];

static void make_file(const char *name, int64_t bytes)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), bytes), 0);
    assert_int_equal(fclose(file), 0);
}

static char *read_whole(const char *name, long *length)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*length + 1);
    assert_int_equal(fread(bytes, 1, (size_t)*length, file), *length);
    fclose(file);
    return bytes;
}

static modal_direct_out *open_it(int n_threads)
{
    modal_error err = {0};
    modal_direct_out *out = NULL;
    make_file(path, BYTES);
    if (modal_direct_out_open(&out, path, BYTES, n_threads, &err) != MODAL_OK) fail_msg("%s", err.message);
    if (!out) skip();
    assert_true(modal_direct_out_bytes(n_threads) > 0);
    return out;
}

/* Ranges one after the other, and anywhere; what is between them stays. */
static void test_ranges(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 511, 4095, 4096, 4097, 12288, 100000, 1 << 20, (1 << 20) + 7, 2100000};
    enum { N = sizeof lengths / sizeof *lengths };
    for (int threads = 1; threads <= THREADS; threads++) {
        modal_error err = {0};
        modal_direct_out *out = open_it(threads);
        char *wanted = calloc(BYTES, 1), *source = malloc(BYTES);
        long length;
        srand(7);
        for (int i = 0; i < BYTES; i++) source[i] = (char)(rand() >> 7);
        int64_t at = 100; /* as batches of frames follow each other */
        for (int i = 0; i < 60; i++) {
            const int64_t n = lengths[i % N] < BYTES - at ? lengths[i % N] : BYTES - at;
            const int64_t place = i < 2 * N ? at : rand() % (BYTES - n), from = rand() % (BYTES - n + 1);
            assert_int_equal(modal_direct_out_write(out, place, source + from, n, &err), MODAL_OK);
            memcpy(wanted + place, source + from, (size_t)n);
            at = i < 2 * N ? at + n : 0;
        }
        assert_true(modal_direct_out_is_direct(out));
        assert_null(modal_direct_out_close(out));
        char *found = read_whole(path, &length);
        assert_int_equal(length, BYTES);
        assert_memory_equal(found, wanted, BYTES);
        free(found), free(wanted), free(source);
    }
}

/* Straight from the caller's memory: at the same place in a block as in the file, and anywhere. */
static void test_own_memory(void **state)
{
    (void)state;
    enum { BLOCK = MODAL_DISK_BLOCK };
    static const int64_t lengths[] = {0, 1, 4095, 4096, 4097, 65536, 100000, 1 << 20};
    make_file(path, BYTES);
    const int file = open(path, O_WRONLY), direct = modal_disk_open_direct(path);
    if (direct < 0) skip();
    char *wanted = calloc(BYTES, 1), *memory = malloc(BYTES + BLOCK), *source = memory + (BLOCK - (uintptr_t)memory % BLOCK) % BLOCK;
    long length;
    int refused = 0;
    srand(9);
    for (int i = 0; i < BYTES; i++) source[i] = (char)(rand() >> 7);
    for (int i = 0; i < 64; i++) {
        const int64_t n = lengths[i % 8], place = rand() % (BYTES - n);
        const int64_t from = i < 48 ? rand() % ((BYTES - n) / BLOCK) * BLOCK + place % BLOCK : rand() % (BYTES - n);
        assert_int_equal(modal_disk_write_direct(file, i % 5 ? direct : -1, place, source + from, n, &refused), 0);
        memcpy(wanted + place, source + from, (size_t)n);
    }
    assert_false(refused);
    char *found = read_whole(path, &length);
    assert_int_equal(length, BYTES);
    assert_memory_equal(found, wanted, BYTES);
    /* a descriptor that cannot be written to is an error, and what lies in main memory has no direct writes */
    const int bad = open(path, O_RDONLY | O_DIRECT);
    assert_int_equal(modal_disk_write_direct(file, bad, 0, source, BLOCK, NULL), -1);
    assert_int_equal(modal_disk_open_direct("/nowhere/a"), -1);
    close(bad), close(direct), close(file);
    free(found), free(wanted), free(memory);
}

static void test_refusals(void **state)
{
    (void)state;
    modal_error err = {0};
    modal_direct_out *out = open_it(THREADS);
    modal_direct_out_close(out);
    assert_int_equal(modal_direct_out_open(&out, "/nowhere/a", 1, 1, &err), MODAL_ERROR_SYSTEM);
    assert_null(out);
    assert_non_null(strstr(err.message, "write error, No such file"));
    for (int n = 1, fired = 1; fired; n++) {
        memset(&err, 0, sizeof err);
        modal_alloc_fail_at(n);
        const modal_status status = modal_direct_out_open(&out, path, BYTES, THREADS, &err);
        fired = modal_alloc_fired();
        modal_alloc_fail_at(0);
        assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        out = modal_direct_out_close(out);
    }
    assert_null(modal_direct_out_close(NULL));
    /* no room */
    struct rlimit before, most;
    getrlimit(RLIMIT_FSIZE, &before);
    most = before;
    most.rlim_cur = BYTES / 2;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
    memset(&err, 0, sizeof err);
    assert_int_equal(modal_direct_out_open(&out, path, BYTES / 4, THREADS, &err), MODAL_OK);
    char *source = calloc(BYTES, 1);
    assert_int_equal(modal_direct_out_write(out, 0, source, BYTES, &err), MODAL_ERROR_SYSTEM);
    assert_string_equal(err.message, "write error, File too large");
    free(source);
    modal_direct_out_close(out);
    setrlimit(RLIMIT_FSIZE, &before);
}

/* ---- a sequence ---- */

enum { POINTS = 3001, CELLS = 7000, FRAMES = 11 };

static void write_sequence(const char *name, int64_t direct_from, int64_t batch)
{
    static float values[FRAMES * CELLS * 6];
    static int64_t triangles[3 * CELLS];
    double times[FRAMES];
    modal_error err = {0};
    modal_sequence_writer *writer = NULL;
    for (int i = 0; i < FRAMES; i++) times[i] = i;
    for (int i = 0; i < 3 * CELLS; i++) triangles[i] = i % POINTS;
    for (int i = 0; i < FRAMES * CELLS * 6; i++) values[i] = (float)i / 3.0f;
    const modal_sequence_info info = {
        .n_points = POINTS, .n_triangles = CELLS, .triangles = triangles, .n_frames = FRAMES, .times = times, .threads = THREADS,
        .arrays = {4, {modal_sequence_points, *modal_sequence_known("Normals"), *modal_sequence_known("speed"),
                       {.name = "strain", .components = 6, .of_cells = 1, .unit = "1"}}},
        .source_kind = "basis", .source_hash = "00112233445566778899aabbccddeeff"};
    modal_sequence_direct_from = direct_from;
    if (modal_sequence_begin(&writer, name, &info, &err) != MODAL_OK) fail_msg("%s", err.message);
    for (int64_t f = 0; f < FRAMES; f += batch) {
        modal_frames frames = {.n_frames = f + batch > FRAMES ? FRAMES - f : batch};
        for (int i = 0; i < info.arrays.n; i++) frames.arrays[i] = values + f * modal_sequence_floats(&info, i);
        if (modal_sequence_append(writer, &frames, &err) != MODAL_OK) fail_msg("%s", err.message);
    }
    assert_int_equal(modal_sequence_end(&writer, &err), MODAL_OK);
}

static void test_same_bytes(void **state)
{
    (void)state;
    long n_a, n_b;
    modal_direct_out_close(open_it(1)); /* or skipped */
    write_sequence(path, INT64_MAX, FRAMES);
    char *a = read_whole(path, &n_a);
    for (int64_t batch = 1; batch <= FRAMES; batch += 3) {
        write_sequence(other, 0, batch);
        char *b = read_whole(other, &n_b);
        assert_int_equal(n_a, n_b);
        assert_memory_equal(a, b, (size_t)n_a);
        free(b);
    }
    free(a);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder);
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(other, sizeof other, "%s/b", folder);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges), cmocka_unit_test(test_own_memory), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
