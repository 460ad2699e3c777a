/* SPDX-License-Identifier: Apache-2.0 */
/* --precision: positions and displacements in fewer bits. HDF5's scaleoffset filter stores the whole
 * numbers nearest to (x - least) 10^D of a chunk, in as many bits as the largest one needs, and deflate
 * what is regular in them; every HDF5 has both. A chunk is one frame: reading a frame reads one chunk,
 * and no chunk is written twice, which would round twice.
 *
 * The error: half a step, 10^-D / 2, and what float32 loses. With M the largest |x|, the filter computes
 * x 10^D, least 10^D and their difference (each rounded to 2^-24 of itself), and back the whole number as
 * float32, its quotient by 10^D, and the sum with `least`: together at most
 * 2^-24 (M + M + 2 M + 2 M + 2 M + M) < 2^-20 M. */
#include <math.h>

#include "formats/sequence_parts.h"

int modal_sequence_is_rounded(const modal_sequence_info *info, int array)
{
    return info->precision > 0 && (array == SEQUENCE_POINTS || array == SEQUENCE_DISPLACEMENT);
}

/* The fewest decimal places whose step is not above the bound: half a step then leaves as much for
 * float32. */
static int places(double precision)
{
    int d = -30;
    while (pow(10, -d) > precision * (1 + 1e-12)) d++;
    return d;
}

hid_t modal_sequence_array_layout(const modal_sequence_info *info, int array)
{
    enum { DEFLATE = 1 }; /* more takes longer and gains little: the bits are packed already */
    const hsize_t chunk[2] = {(hsize_t)info->n_points, (hsize_t)modal_sequence_arrays[array].components};
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    int fine = plist >= 0 && H5Pset_obj_track_times(plist, 0) >= 0 &&
               H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER) >= 0;
    if (fine && modal_sequence_is_rounded(info, array))
        /* Without a fill value: the filter would round to it what lies within a whole step. */
        fine = H5Pset_chunk(plist, 2, chunk) >= 0 &&
               H5Pset_fill_value(plist, H5T_IEEE_F32LE, NULL) >= 0 &&
               H5Pset_scaleoffset(plist, H5Z_SO_FLOAT_DSCALE, places(info->precision)) >= 0 &&
               H5Pset_deflate(plist, DEFLATE) >= 0;
    else if (fine)
        fine = H5Pset_layout(plist, H5D_CONTIGUOUS) >= 0 &&
               H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY) >= 0;
    if (!fine && plist >= 0) {
        H5Pclose(plist);
        plist = H5I_INVALID_HID;
    }
    return plist;
}

modal_status modal_sequence_check_rounding(double precision, int array, const float *values, int64_t n,
                                           modal_error *err)
{
    const modal_sequence_info info = {.precision = precision};
    float most = 0;
    if (!modal_sequence_is_rounded(&info, array)) return MODAL_OK;
    for (int64_t i = 0; i < n; i++) most = fabsf(values[i]) > most ? fabsf(values[i]) : most;
    const double least = 0.5 * pow(10, -places(precision)) + ldexp((double)most, -20);
    if (!(least <= precision))
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "%s: --precision: the filter can promise %.2g m where coordinates reach %g m, "
                               "not %g m",
                               modal_sequence_arrays[array].path, least, (double)most, precision);
    return MODAL_OK;
}
