/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all formats. */
#include "formats/sequences/sequence_csv.h"
#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_null.h"
#include "formats/sequences/sequence_obj.h"
#include "formats/sequences/sequence_ply.h"
#include "formats/sequences/sequence_point_cache.h"
#include "formats/sequences/sequence_vtk.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "formats/sequences/sequence_wav.h"

const modal_sequence_format *const modal_sequence_formats[MODAL_SEQUENCE_FORMATS] = {
    &modal_sequence_vtkhdf, &modal_sequence_glb, &modal_sequence_pc2, &modal_sequence_mdd,
    &modal_sequence_ply, &modal_sequence_vtp, &modal_sequence_vtu, &modal_sequence_obj,
    &modal_sequence_csv, &modal_sequence_wav, &modal_sequence_null};
