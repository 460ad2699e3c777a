/* SPDX-License-Identifier: Apache-2.0 */
/* probes.csv: chosen points over time, a row a point and frame. */
#ifndef MODAL_FORMATS_SEQUENCE_CSV_H
#define MODAL_FORMATS_SEQUENCE_CSV_H

#include "formats/sequences/sequence.h"

extern const modal_sequence_format modal_sequence_csv;

#endif
