/* SPDX-License-Identifier: Apache-2.0 */
/* A private header of the format. */
#ifndef MODAL_FORMATS_VIEWER_PRIVATE_H
#define MODAL_FORMATS_VIEWER_PRIVATE_H

#include <jansson.h>

#include "formats/sequences/sequence.h"
#include "formats/viewer/viewer_sink.h"
#include "lib/model/trajectory.h"

/* The header's `quality`: a list of parts, empty where nothing was measured. The caller owns it. */
json_t *modal_viewer_quality(const modal_trajectory *trajectory);

/* The header's `look`, each shape's `uv`, and their arrays. MODAL_ERROR_INPUT as modal_look_variants_make and modal_sequence_check_uv. */
modal_status modal_viewer_put_look(modal_viewer_sink *out, const modal_sequence_look *look, const modal_basis *basis, json_t *header,
                                   modal_error *err);

#endif
