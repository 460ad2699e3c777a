/* SPDX-License-Identifier: Apache-2.0 */
/* bench_writer FOLDER [GB [RUNS]]: how fast sequence.vtkhdf takes frames that lie ready in memory, beside what the folder's
 * storage takes from a plain loop. Three slots of 64 MB in turn, as the deformer hands them on; every row ends with a sync.
 * Prints a table: the median of the runs, and the least and the most. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/sequences/sequence_parts.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

enum { SLOTS = 3, MOST_RUNS = 9, POINTS = 1000000, ROW = 6 * 4 * POINTS }; /* positions and normals of a frame */

static char path[4096];
static float *slots[SLOTS]; /* [frames of a batch, POINTS, 3], positions and then normals */
static int64_t n_frames;
static const int64_t batch = 2;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void give_up(const char *what)
{
    fprintf(stderr, "bench_writer: %s: %s, %s\n", path, what, strerror(errno));
    exit(1);
}

/* Writes as large as a slot; `flags` O_DIRECT or 0, `hot`: always the same slot, as dd has one buffer. */
static void plain(int flags, int hot)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0600);
    if (file < 0) give_up("cannot be opened");
    for (int64_t f = 0; f < n_frames; f += batch)
        if (modal_disk_write(file, -1, slots[hot ? 0 : f / batch % SLOTS], batch * ROW / 4096 * 4096) != 0) give_up("write error");
    if (fsync(file) != 0) give_up("cannot be synced");
    close(file);
}

static void sequence(int64_t direct_from)
{
    modal_error err = {0};
    modal_sequence_writer *writer = NULL;
    static const int64_t triangle[3] = {0, 1, 2};
    double *times = NULL;
    modal_alloc(&times, n_frames, sizeof *times, "times", &err);
    for (int64_t i = 0; i < n_frames; i++) times[i] = (double)i;
    const modal_sequence_info info = {
        .n_points = POINTS, .n_triangles = 1, .triangles = triangle, .n_frames = n_frames, .times = times, .threads = 4,
        .arrays = {2, {modal_sequence_points, *modal_sequence_known("Normals")}},
        .source_kind = "basis", .source_hash = "00112233445566778899aabbccddeeff"};
    modal_sequence_direct_from = direct_from;
    modal_status status = modal_sequence_begin(&writer, path, &info, &err);
    for (int64_t f = 0; f < n_frames && status == MODAL_OK; f += batch) {
        const float *slot = slots[f / batch % SLOTS];
        const modal_frames frames = {batch, {slot, slot + batch * 3 * POINTS}};
        status = modal_sequence_append(writer, &frames, &err);
    }
    if (status == MODAL_OK) status = modal_sequence_end(&writer, &err);
    if (status != MODAL_OK) {
        fprintf(stderr, "bench_writer: %s\n", err.message);
        exit(1);
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fsync(file) != 0) give_up("cannot be synced");
    close(file);
    modal_free(&times);
}

static void dd(const char *options)
{
    char command[8192];
    snprintf(command, sizeof command, "dd if=/dev/zero of='%s' bs=%d count=%lld %s conv=fsync status=none", path, 16 << 20,
             (long long)(n_frames * ROW >> 24), options);
    if (system(command) != 0) give_up("dd failed");
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    snprintf(path, sizeof path, "%s/bench_writer.%d", argv[1], (int)getpid());
    n_frames = (int64_t)((argc > 2 ? atof(argv[2]) : 4) * 1e9) / ROW / batch * batch;
    const int runs = argc > 3 ? atoi(argv[3]) : 3;
    if (n_frames < batch || runs < 1 || runs > MOST_RUNS) return 2;
    for (int i = 0; i < SLOTS; i++) {
        if (posix_memalign((void **)&slots[i], 4096, (size_t)(batch * ROW)) != 0) return 4;
        for (int64_t k = 0; k < batch * ROW / 4; k++) slots[i][k] = (float)(k % 1001);
    }
    static const char *const names[] = {"plain loop, one slot", "plain loop, three slots", "plain loop, O_DIRECT",
                                        "dd", "dd oflag=direct", "sequence, through the cache", "sequence"};
    enum { CASES = sizeof names / sizeof *names };
    double rates[CASES][MOST_RUNS];
    const int probe = open(argv[1], O_TMPFILE | O_WRONLY | O_DIRECT, 0600);
    if (probe >= 0) close(probe);
    for (int run = 0; run < runs; run++) /* in turn: a busy minute meets all of them */
        for (int i = 0; i < CASES; i++) {
            unlink(path);
            const double start = seconds();
            if (i < 2) plain(0, i == 0);
            if (i == 2 && probe >= 0) plain(O_DIRECT, 0);
            if (i == 3) dd("");
            if (i == 4 && probe >= 0) dd("oflag=direct");
            if (i == 5) sequence(INT64_MAX);
            if (i == 6) sequence(0);
            rates[i][run] = 1e-9 * (double)(n_frames * ROW) / (seconds() - start);
        }
    unlink(path);
    printf("%.2f GB in %s, GB/s with a sync: median (least, most) of %d\n", 1e-9 * (double)(n_frames * ROW), argv[1], runs);
    for (int i = 0; i < CASES; i++) {
        if (probe < 0 && (i == 2 || i == 4)) continue;
        qsort(rates[i], (size_t)runs, sizeof **rates, compare);
        printf("%-28s %.2f (%.2f, %.2f)\n", names[i], rates[i][runs / 2], rates[i][0], rates[i][runs - 1]);
    }
    return 0;
}
