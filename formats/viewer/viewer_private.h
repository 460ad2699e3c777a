/* SPDX-License-Identifier: Apache-2.0 */
/* A private header of the format. */
#ifndef MODAL_FORMATS_VIEWER_PRIVATE_H
#define MODAL_FORMATS_VIEWER_PRIVATE_H

#include <jansson.h>

#include "lib/model/trajectory.h"

/* The header's `quality`: a list of parts, empty where nothing was measured. The caller owns it. */
json_t *modal_viewer_quality(const modal_trajectory *trajectory);

#endif
