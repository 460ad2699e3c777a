/* SPDX-License-Identifier: Apache-2.0 */
/* --shard I/N and --join: the processes of a sequence meet in OUT/shards.part (formats/sequences/README.md, "Shards"). */
#ifndef TOOLS_MODALDEFORM_SHARE_H
#define TOOLS_MODALDEFORM_SHARE_H

#include "formats/sequences/sequence_share.h"
#include "tools/common/shares.h"
#include "tools/modaldeform/modaldeform.h"

/* What becomes of a format's frames. */
typedef enum modaldeform_sharing {
    MODALDEFORM_PLACED, /* each has its place in the one file */
    MODALDEFORM_FRAMES, /* each is a file */
    MODALDEFORM_PIECES, /* a share has a piece, and pieces are strung together in the end */
    MODALDEFORM_WHOLE,  /* there are none: who finishes writes the files */
    MODALDEFORM_DROPPED /* --format null */
} modaldeform_sharing;

/* A format, on the way. */
typedef struct modaldeform_shared {
    const modal_sequence_format *format;
    modaldeform_sharing sharing;
    char *part;             /* PLACED, FRAMES: the file or the folder that all write to */
    tool_output made;       /* PLACED: what gets that name; FRAMES, PIECES: this process's own */
    modal_share_file *file; /* PLACED */
    void *writer;           /* FRAMES, PIECES, DROPPED */
} modaldeform_shared;

struct modaldeform_share {
    const modaldeform_request *r;
    const modal_sequence_info *info;
    modal_share share; /* of --join: n alone */
    char *folder;      /* OUT/shards.part */
    char *found;       /* the head that was there when this run began; NULL: none */
    char *head;        /* as this run has it */
    int complete;      /* nothing is left to make */
    int n;
    modaldeform_shared all[MODAL_SEQUENCE_FORMATS + 2];
    tool_output made_head, made_journal, made_claim;
    char *journal_path;
    int journal, claim; /* descriptors, or -1 */
    modal_share_run own; /* the frames of the share, without those of others that it has bytes of */
    int n_runs;
    modal_share_run runs[MODAL_SHARE_RUNS]; /* all that it makes */
    uint8_t *done;                          /* [n_frames] 1: was there before */
    int64_t n_made, n_kept;                 /* frames */
};
typedef struct modaldeform_share modaldeform_share;

/* ---- modaldeform_share.c ---- */

/* Options; after --format. MODAL_ERROR_USAGE where they do not go together. */
modal_status modaldeform_check_share(const tool_arguments *a, modaldeform_request *r, modal_error *err);
/* "cuda:auto" becomes the GPU of this process; *name, which may be NULL, is for the caller to free. */
modal_status modaldeform_pick_gpu(modaldeform_request *r, char **name, modal_error *err);
/* Nothing without a share: *share is NULL then. Looks what is there: MODAL_ERROR_INPUT with --join where nothing is. *finished: OUT is
 * complete and of this run. `info` is borrowed. */
modal_status modaldeform_share_open(tool *t, const modaldeform_request *r, const modaldeform_input *in, const modal_sequence_info *info,
                                    const modaldeform_outputs *out, modaldeform_share **share, int *finished, modal_error *err);
/* The kind of back end that all shares have, where this run computes nothing; NULL: it computes. */
const char *modaldeform_share_kind(const modaldeform_share *share, char kind[32]);
/* Makes what the share lacks, and finishes if all are complete then. */
modal_status modaldeform_share_run(tool *t, modaldeform_input *in, modaldeform_share *share, const char *kind, modal_deformer *deformer,
                                   const modal_frame_plan *plan, modaldeform_outputs *out, modal_error *err);
modaldeform_share *modaldeform_share_delete(modaldeform_share *share); /* NULL is fine; returns NULL */

/* ---- modaldeform_share_journal.c ---- */

/* The head of this run, in share->head. */
modal_status modaldeform_share_describe(const modaldeform_input *in, const char *kind, modaldeform_share *share, modal_error *err);
/* Puts the head in place, or compares it with the one that is there. *finished: another process has finished meanwhile. */
modal_status modaldeform_share_meet(modaldeform_share *share, int *finished, modal_error *err);
/* Whether another process has finished the sequence and removed what shares met in. */
int modaldeform_share_is_gone(const modaldeform_share *share);
/* Whether there is a manifest. */
int modaldeform_share_is_complete(const modaldeform_share *share);
/* The same when no other process is at work on the end of the sequence any more. This one must not be. */
int modaldeform_share_was_finished(const modaldeform_share *share);
/* Opens the share's journal, made if absent with what the manifest will say; share->done has the frames whose bytes are there. */
modal_status modaldeform_share_resume(tool *t, const modaldeform_input *in, const modal_deformer *deformer, modaldeform_share *share,
                                      modal_error *err);
/* Reads the bytes of a share again. *same 0: they are not what its journal says. The files are those of that share. */
modal_status modaldeform_share_verify(const modaldeform_share *share, const char *journal, uint8_t *done, int *same, modal_error *err);
modal_status modaldeform_share_note(const modaldeform_share *share, const char *line, modal_error *err);
/* Appends the frames' own files to the hash. */
modal_status modaldeform_share_hash_files(const modaldeform_share *share, int64_t first, int64_t n, modal_hash *hash, modal_error *err);

/* ---- modaldeform_join.c ---- */

/* Finishes if all shares are complete and no other process does; says what is missing else, which --join takes for an error. */
modal_status modaldeform_share_finish(tool *t, const modaldeform_request *r, const modaldeform_input *in, modaldeform_share *share,
                                      modaldeform_outputs *out, modal_error *err);
/* Whether the manifest in OUT is of this run; *is_there: there is one. */
modal_status modaldeform_share_is_finished(const modaldeform_request *r, const modaldeform_input *in, const modal_sequence_info *info,
                                           int *is_there, int *is_ours, modal_error *err);

#endif
