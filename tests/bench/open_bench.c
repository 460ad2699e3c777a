/* SPDX-License-Identifier: Apache-2.0 */
/* open_bench TRAJ [-n]: the C interface as a program calls it, on one thread: processor time of a frame into arrays that stay, median of
 * 21, in ms; -n: with normals. measure_deformer.py compares. */
#include <modaltools/open.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

int main(int argc, char **argv)
{
    enum { RUNS = 21 };
    double ms[RUNS];
    modal_motion *motion = NULL;
    const modal_motion_options options = {.bytes = sizeof options, .threads = 1};
    modal_motion_sizes sizes = {.bytes = sizeof sizes};
    if (argc < 2) return 2;
    if (modal_motion_open(&motion, argv[1], &options) || modal_motion_get_sizes(motion, &sizes)) goto failed;
    modal_motion_arrays to = {.bytes = sizeof to, .positions = malloc((size_t)sizes.n_points * 12 + 1)};
    if (argc > 2 && strcmp(argv[2], "-n") == 0) to.normals = malloc((size_t)sizes.n_points * 12 + 1);
    for (int i = -1; i < RUNS; i++) { /* the first one reads the modal matrices */
        const double start = now();
        if (modal_motion_frame(motion, (i + 1) % sizes.n_frames, &to)) goto failed;
        if (i >= 0) ms[i] = now() - start;
    }
    qsort(ms, RUNS, sizeof *ms, ascending);
    printf("%.4f\n", ms[RUNS / 2]);
    free(to.positions), free(to.normals);
    modal_motion_close(motion);
    return 0;
failed:
    fprintf(stderr, "open_bench: %s\n", modal_motion_error());
    return 1;
}
