/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a sequence: which frames one of N processes makes, and which bytes of a file it owns in which every frame has
 * its place (formats/sequences/README.md, "Shards"). What a format can do for that, modal_sequence_format says. */
#ifndef MODAL_FORMATS_SEQUENCE_SHARE_H
#define MODAL_FORMATS_SEQUENCE_SHARE_H

#include "formats/sequences/sequence.h"
#include "lib/base/hash.h"

enum { MODAL_SHARE_BLOCK = 1 << 20 }; /* bytes of a file that have one writer */

/* Which share of how many: 0 <= index < n. */
typedef struct modal_share {
    int64_t index, n;
} modal_share;

/* An array in a file that a share writes to: the ranges of the file that it owns, the first in the block before the
 * array's own ones; empty where from == to. */
typedef struct modal_share_part {
    modal_sequence_place at;
    int64_t from[2], to[2];
} modal_share_part;

/* Frames [first, end). */
typedef struct modal_share_run {
    int64_t first, end;
} modal_share_run;

enum { MODAL_SHARE_RUNS = 4 * MODAL_MOST_ARRAYS + 2 };

/* The first frame of share `index` where frames are divided evenly; index == n: n_frames. */
int64_t modal_share_first(int64_t n_frames, int64_t index, int64_t n);

/* What the share owns of n arrays of a file, 1 <= n <= MODAL_MOST_ARRAYS, which overlap nowhere: parts [n], in the order of the file. */
void modal_share_divide(const modal_sequence_place *places, int n, int64_t n_frames, modal_share share, modal_share_part *parts);

/* Adds the frames that the parts are made of to disjoint runs in increasing order: runs [MODAL_SHARE_RUNS], *n_runs of them. */
void modal_share_add_run(modal_share_run *runs, int *n_runs, modal_share_run run);
void modal_share_add_parts(modal_share_run *runs, int *n_runs, const modal_share_part *parts, int n);

/* A file in which frames have places, and what of it a share owns. */
typedef struct modal_share_file modal_share_file;

/* Opens a file that format->lay_out has made. MODAL_ERROR_SYSTEM, and what format->places says; *file is NULL then. The format
 * is borrowed. */
modal_status modal_share_file_open(modal_share_file **file, const modal_sequence_format *format, const char *path,
                                   const modal_sequence_info *info, modal_share share, modal_error *err);
const modal_share_part *modal_share_file_parts(const modal_share_file *file, int *n);
/* Writes what the share owns of frames [first, first + frames->n_frames), and appends it to the hash. */
modal_status modal_share_file_write(modal_share_file *file, int64_t first, const modal_frames *frames, modal_hash *hash, modal_error *err);
/* Appends what is in the file instead. What is behind its end counts as zeros. */
modal_status modal_share_file_read(modal_share_file *file, int64_t first, int64_t n_frames, modal_hash *hash, modal_error *err);
/* Brings what was written to the disk. */
modal_status modal_share_file_sync(modal_share_file *file, modal_error *err);
modal_share_file *modal_share_file_close(modal_share_file *file); /* NULL is fine; returns NULL */

#endif
