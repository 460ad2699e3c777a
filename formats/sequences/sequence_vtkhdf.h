/* SPDX-License-Identifier: Apache-2.0 */
/* The deformed sequence: sequence.vtkhdf (all frames, what VTK and ParaView play) and its sidecar
 * sequence.xdmf (for programs that know VTKHDF not yet). formats/sequence.md is the specification.
 *
 * Writing: begin -> append ... append -> end, or abort. All frames are announced in the beginning:
 * every byte of the file then has its place, and an append is one large write an array.
 * Going on with a file that was not ended: reopen -> read_back ... -> keep -> append ... -> end. */
#ifndef MODAL_FORMATS_SEQUENCE_VTKHDF_H
#define MODAL_FORMATS_SEQUENCE_VTKHDF_H

#include <stdint.h>

#include "formats/h5/findings.h"
#include "formats/sequences/sequence.h"

typedef struct modal_sequence_writer modal_sequence_writer;

/* Creates (or truncates) the file and writes all but the frames. MODAL_ERROR_INPUT for an info that
 * breaks its rules, MODAL_ERROR_SYSTEM when the file cannot be written: the caller removes what is
 * there. *writer is NULL then. */
modal_status modal_sequence_begin(modal_sequence_writer **writer, const char *path,
                                  const modal_sequence_info *info, modal_error *err);

/* Writes the next frames; the arrays are borrowed for the call, and must be there exactly when they
 * were announced. MODAL_ERROR_USAGE for more frames than announced. After an error only abort makes
 * sense. */
modal_status modal_sequence_append(modal_sequence_writer *writer,
                                   const modal_frames *frames, modal_error *err);

/* Opens a file that begin has made for the same info and that was not ended. The arrays are as
 * announced, or the file is refused: MODAL_ERROR_INPUT, and for one that is damaged; *writer is NULL
 * then. Which frames are in it, the caller must know. */
modal_status modal_sequence_reopen(modal_sequence_writer **writer, const char *path,
                                   const modal_sequence_info *info, modal_error *err);

/* Reads frame `frame` of a reopened file; arrays[i] is a frame of the list's array i. */
modal_status modal_sequence_read_back(modal_sequence_writer *writer, int64_t frame,
                                      float *const arrays[MODAL_MOST_ARRAYS], modal_error *err);

/* The first n_frames of a reopened file stay; the next append writes the frame behind them. */
void modal_sequence_keep(modal_sequence_writer *writer, int64_t n_frames);

/* Flushes, closes and frees the writer (*writer becomes NULL, whatever comes); the file's bytes are
 * with the system then, not yet synced. MODAL_ERROR_USAGE when frames are missing. */
modal_status modal_sequence_end(modal_sequence_writer **writer, modal_error *err);

/* Frees without caring for the file, which is not to be used; NULL is fine; returns NULL. */
modal_sequence_writer *modal_sequence_abort(modal_sequence_writer *writer);

/* Writes the sidecar; `vtkhdf_name` is the final name of the other file as seen from the sidecar's
 * folder. MODAL_ERROR_INPUT for a name that XML or an XDMF reader cannot hold (control characters,
 * a colon), MODAL_ERROR_SYSTEM when the file cannot be written. */
modal_status modal_sequence_write_xdmf(const char *path, const char *vtkhdf_name,
                                       const modal_sequence_info *info, modal_error *err);

/* Appends to the findings every rule of formats/sequence.md that the file, or the sidecar beside it
 * (same name, ending .xdmf; it may be absent), breaks, and returns MODAL_OK; MODAL_ERROR_INPUT for a
 * file that is no sequence or cannot be read at all. Reads the moving arrays in pieces of 3 MB. The
 * caller frees the findings. */
modal_status modal_sequence_check(const char *path, modal_findings *findings, modal_error *err);

/* As one of the formats: sequence.vtkhdf and sequence.xdmf. */
extern const modal_sequence_format modal_sequence_vtkhdf;

#endif
