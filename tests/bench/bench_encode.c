/* SPDX-License-Identifier: Apache-2.0 */
/* bench_encode [POINTS [FRAMES [PRECISION [ROUNDS]]]]: positions in fewer bits (modaldeform --precision) by our encoder
 * and by HDF5's own scaleoffset filter, in turn, one thread, into a file in main memory; for docs/results/formats.md.
 * Both files are read back through HDF5's filter: every value is within the precision. Not run by ctest but for its
 * smallest size. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/sequences/sequence_parts.h"
#include "tests/bench/worse.h"

static void need(int fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "bench_encode: %s\n", what);
    exit(1);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Writes all frames; seconds of the writes alone. The largest error of what is read back, and the bytes of the chunks. */
static double write_frames(const modal_sequence_info *info, const float *values, int ours, double *worst, double *bytes)
{
    const int64_t n = info->n_points, floats = 3 * n;
    const hsize_t shape[2] = {(hsize_t)(info->n_frames * n), 3}, count[2] = {(hsize_t)n, 3};
    modal_error err = {0};
    modal_rounder *rounder = NULL;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), layout = modal_sequence_array_layout(info, 0);
    need(access >= 0 && H5Pset_fapl_core(access, 64 << 20, 0) >= 0, "file in main memory");
    const hid_t file = H5Fcreate("bench_encode.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(2, shape, NULL), memory = H5Screate_simple(2, count, NULL);
    const hid_t array = H5Dcreate2(file, "Points", H5T_IEEE_F32LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    need(array >= 0 && modal_rounder_new(&rounder, info, &err) == MODAL_OK, "array");
    const hid_t arrays[MODAL_MOST_ARRAYS] = {array};
    const double start = processor_seconds();
    for (int64_t frame = 0; frame < info->n_frames; frame++) {
        const hsize_t at[2] = {(hsize_t)(frame * n), 0};
        const modal_frames one = {.n_frames = 1, .arrays = {values + frame * floats}};
        if (ours) {
            need(modal_rounder_write(rounder, arrays, frame, &one, &err) == MODAL_OK, err.message);
        } else {
            need(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, count, NULL) >= 0, "frame");
            need(H5Dwrite(array, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, one.arrays[0]) >= 0, "write");
        }
    }
    need(H5Dflush(array) >= 0, "flush");
    const double seconds = processor_seconds() - start;
    float *back = malloc((size_t)(info->n_frames * floats) * sizeof *back);
    need(back && H5Dread(array, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0, "read");
    *worst = 0;
    for (int64_t i = 0; i < info->n_frames * floats; i++) {
        const double error = fabs((double)back[i] - (double)values[i]);
        *worst = bench_worse(*worst, error);
    }
    *bytes = (double)H5Dget_storage_size(array);
    free(back);
    modal_rounder_delete(rounder);
    H5Dclose(array), H5Sclose(space), H5Sclose(memory), H5Pclose(layout), H5Fclose(file), H5Pclose(access);
    return seconds;
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 64000, n_frames = argc > 2 ? atoll(argv[2]) : 60;
    const double precision = argc > 3 ? atof(argv[3]) : 1e-5;
    const int rounds = argc > 4 ? atoi(argv[4]) : 7;
    modal_sequence_info info = {.n_points = n, .n_frames = n_frames, .precision = precision, .threads = 1};
    need(n > 0 && n_frames > 0 && precision > 0 && rounds > 0, "POINTS FRAMES PRECISION ROUNDS");
    need(modal_array_add(&info.arrays, &modal_sequence_points, NULL) == MODAL_OK, "list");
    float *values = malloc((size_t)(n_frames * 3 * n) * sizeof *values);
    need(values != NULL, "memory");
    for (int64_t i = 0; i < n_frames * 3 * n; i++) { /* a body of a metre that sways */
        const double place = (double)(i % (3 * n)), frame = (double)(i / (3 * n));
        values[i] = (float)(sin(0.37 * place) + 0.05 * sin(0.2 * frame + 1e-4 * place));
    }
    for (int round = 0; round < rounds; round++) {
        double worst[2], bytes[2], seconds[2];
        for (int ours = 0; ours < 2; ours++) seconds[ours] = write_frames(&info, values, ours, &worst[ours], &bytes[ours]);
        const double size = 12.0 * (double)(n * n_frames);
        printf("ours %.0f MB/s, HDF5's filter %.0f, ratio of times %.3f; %.2f and %.2f bytes a point; largest errors %.3g, %.3g m\n",
               1e-6 * size / seconds[1], 1e-6 * size / seconds[0], seconds[1] / seconds[0],
               bytes[1] / (double)(n * n_frames), bytes[0] / (double)(n * n_frames), worst[1], worst[0]);
        need(worst[0] <= precision && worst[1] <= precision && bytes[0] == bytes[1], "not within the precision, or other bytes");
        fflush(stdout);
    }
    free(values);
    return 0;
}
