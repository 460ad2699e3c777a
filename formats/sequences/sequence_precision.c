/* SPDX-License-Identifier: Apache-2.0 */
/* --precision: arrays of lengths, positions and displacements, in fewer bits. HDF5's scaleoffset filter has the whole numbers
 * nearest to (x - least) 10^D of a chunk, in as many bits as the largest one needs; every HDF5 has it. A
 * chunk is one frame: reading a frame reads one chunk. Deflate behind it would save 1 to 15 % of the bytes
 * and cost ten times the time: then a sequence would be written faster as it is.
 *
 * The chunks come encoded (lib/model/encoding.h), or are encoded here, on all threads and in float64, and are handed to
 * HDF5 as they lie in the file: its own filters would do one after the other, in float32.
 *
 * The error: half a step, 10^-D / 2, and what a reader loses, whose filter computes k / 10^D + least in
 * float32: the whole number as float32, the power, the quotient and the sum are each off by 2^-24 of
 * themselves, with M the largest |x| at most 2^-24 (2 M + 2 M + 2 M + M) < 2^-21 M. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sequences/sequence_parts.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/model/encoding.h"

typedef struct chunk {
    unsigned char *bytes;
    modal_encoded as;
} chunk;

struct modal_rounder {
    double precision;
    modal_array_list list;
    int n_rounded, rounded[MODAL_MOST_ARRAYS]; /* arrays of the list */
    int64_t rows[MODAL_MOST_ARRAYS];           /* of a frame, of every array */
    int n_chunks; /* that are encoded at a time */
    chunk *chunks;
};

int modal_sequence_is_rounded(double precision, const modal_array *array)
{
    return precision > 0 && strcmp(array->unit, modal_sequence_points.unit) == 0;
}

/* The fewest decimal places whose step is not above the bound: half a step then leaves as much for
 * float32. */
static int places(double precision)
{
    int d = -30;
    while (pow(10, -d) > precision * (1 + 1e-12)) d++;
    return d;
}

double modal_sequence_scale(double precision) { return pow(10, places(precision)); }

hid_t modal_sequence_array_layout(const modal_sequence_info *info, int array)
{
    const modal_array *a = &info->arrays.all[array];
    const hsize_t shape[2] = {(hsize_t)modal_sequence_rows(info, array), (hsize_t)a->components};
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    int fine = plist >= 0 && H5Pset_obj_track_times(plist, 0) >= 0 &&
               H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER) >= 0;
    if (fine && modal_sequence_is_rounded(info->precision, a))
        /* Without a fill value, for which the filter would keep a number aside. */
        fine = H5Pset_chunk(plist, a->components > 1 ? 2 : 1, shape) >= 0 &&
               H5Pset_fill_value(plist, H5T_IEEE_F32LE, NULL) >= 0 &&
               H5Pset_scaleoffset(plist, H5Z_SO_FLOAT_DSCALE, places(info->precision)) >= 0;
    else if (fine)
        fine = H5Pset_layout(plist, H5D_CONTIGUOUS) >= 0 &&
               H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY) >= 0;
    if (!fine && plist >= 0) {
        H5Pclose(plist);
        plist = H5I_INVALID_HID;
    }
    return plist;
}

/* ---- the encoding ---- */

/* Of the largest frame of a rounded array. */
static int64_t most_chunk_bytes(const modal_sequence_info *info)
{
    int64_t most = 0;
    for (int i = 0; i < info->arrays.n; i++)
        if (modal_sequence_is_rounded(info->precision, &info->arrays.all[i]) &&
            modal_encoded_room(modal_sequence_floats(info, i)) > most)
            most = modal_encoded_room(modal_sequence_floats(info, i));
    return most;
}

int64_t modal_rounder_bytes(const modal_sequence_info *info) { return info->threads * most_chunk_bytes(info); }

modal_rounder *modal_rounder_delete(modal_rounder *r)
{
    for (int i = 0; r && r->chunks && i < r->n_chunks; i++) modal_free(&r->chunks[i].bytes);
    if (r) modal_free(&r->chunks);
    modal_free(&r);
    return NULL;
}

modal_status modal_rounder_new(modal_rounder **rounder, const modal_sequence_info *info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_rounder *r = NULL;
    *rounder = NULL;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "encoder", err));
    r->precision = info->precision;
    r->list = info->arrays;
    for (int i = 0; i < r->list.n; i++) {
        r->rows[i] = modal_sequence_rows(info, i);
        if (modal_sequence_is_rounded(r->precision, &r->list.all[i])) r->rounded[r->n_rounded++] = i;
    }
    r->n_chunks = info->threads > 1 ? info->threads : 1;
    MODAL_TRY(modal_alloc_zero(&r->chunks, r->n_chunks, sizeof *r->chunks, "encoder", err));
    for (int i = 0; i < r->n_chunks; i++)
        MODAL_TRY(modal_alloc(&r->chunks[i].bytes, most_chunk_bytes(info), 1, "encoded frame", err));
    *rounder = r;
    r = NULL;
done:
    modal_rounder_delete(r);
    return status;
}

static modal_status check_bound(const modal_rounder *r, int array, float most, modal_error *err)
{
    const double error = 0.5 * pow(10, -places(r->precision)) + ldexp((double)most, -21);
    char path[MODAL_SEQUENCE_PATH];
    if (error <= r->precision) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "%s: --precision: the filter can promise %.2g m where coordinates reach %g m, not "
                           "%g m",
                           modal_sequence_path(&r->list, array, path), error, (double)most, r->precision);
}

/* Job i: which array, and which of the frames. */
static int array_of(const modal_rounder *r, int64_t job) { return r->rounded[job % r->n_rounded]; }
static int64_t frame_of(const modal_rounder *r, int64_t job) { return job / r->n_rounded; }

modal_status modal_rounder_write(modal_rounder *r, const hid_t arrays[MODAL_MOST_ARRAYS], int64_t first,
                                 const modal_frames *frames, modal_error *err)
{
    const int64_t n_jobs = r->n_rounded * frames->n_frames;
    const double scale = modal_sequence_scale(r->precision);
    for (int64_t done = 0; done < n_jobs; done += r->n_chunks) {
        const int n_now = n_jobs - done < r->n_chunks ? (int)(n_jobs - done) : r->n_chunks;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(r->n_chunks))
        for (int i = 0; i < n_now; i++) {
            const int array = array_of(r, done + i);
            const int64_t n = r->list.all[array].components * r->rows[array];
            chunk *c = &r->chunks[i];
            if (!frames->encoded[array].bytes)
                c->as = modal_encode(frames->arrays[array] + frame_of(r, done + i) * n, n, scale, c->bytes);
        }
        /* Chunks come to lie in the file as they are written: frame by frame, so that the bytes depend
         * neither on the size of the batches nor on the threads. */
        for (int i = 0; i < n_now; i++) {
            const int array = array_of(r, done + i);
            const int64_t frame = frame_of(r, done + i);
            const modal_encoded_array *e = &frames->encoded[array];
            const modal_encoded as = e->bytes ? e->of[frame] : r->chunks[i].as;
            const hsize_t place[2] = {(hsize_t)((first + frame) * r->rows[array]), 0};
            char path[MODAL_SEQUENCE_PATH];
            modal_status status = check_bound(r, array, as.most, err);
            if (status != MODAL_OK) return status;
            if (H5Dwrite_chunk(arrays[array], H5P_DEFAULT, 0, place, (size_t)as.n_bytes,
                               e->bytes ? e->bytes + frame * e->stride : r->chunks[i].bytes) < 0)
                return modal_h5_failed(err, MODAL_ERROR_SYSTEM, modal_sequence_path(&r->list, array, path),
                                       "write error");
        }
    }
    return MODAL_OK;
}
