/* SPDX-License-Identifier: Apache-2.0 */
/* Which share of a sequence this process makes, as --shard or its launcher says, and the folder in which the processes meet
 * (formats/sequences/README.md, "Shards"). */
#ifndef TOOLS_COMMON_SHARES_H
#define TOOLS_COMMON_SHARES_H

#include "formats/sequences/sequence_share.h"
#include "tools/common/output.h"

enum { TOOL_MOST_SHARES = 1000000 };

/* "I/N"; "auto": the rank and the number of Open MPI, PMI or Slurm's tasks, or the place in a Slurm array; "auto/N": the rank of N, or
 * the index of a Slurm or PBS array. MODAL_ERROR_USAGE, with the variables, where nothing of that is set or two disagree. */
modal_status tool_share_parse(const char *text, modal_share *share, modal_error *err);

/* The rank of this process among those on its node, by the launcher's variables; MODAL_ERROR_USAGE where none is set. */
modal_status tool_local_rank(int64_t *rank, modal_error *err);

/* The temporary file gets the name, unless something has it: *first tells. It is synced before; `output`, whose own path is that or another of the
 * file system, is over in any case. MODAL_ERROR_SYSTEM: also where files can neither be linked nor renamed without replacing. */
modal_status tool_publish(tool_output *output, const char *name, int *first, modal_error *err);

/* ---- OUT/shards.part ---- */

#define TOOL_SHARES_FOLDER "shards.part"

typedef enum tool_share_state { TOOL_SHARE_MISSING, TOOL_SHARE_BEGUN, TOOL_SHARE_COMPLETE } tool_share_state;

/* The text of OUT/shards.part/head, ended by zero, which the caller frees; *head is NULL where there is none. MODAL_ERROR_INPUT where it is
 * no head; then, too, *n is 0. */
modal_status tool_shares_head(const char *out, char **head, int64_t *n, modal_error *err);
/* What the journal of a share says. MODAL_ERROR_SYSTEM where it cannot be read. */
modal_status tool_shares_state(const char *out, int64_t index, tool_share_state *state, modal_error *err);
/* A journal's line of a batch: frames [first, first + n), and the hash of their bytes. */
typedef struct tool_share_line {
    int64_t first, n;
    char hash[MODAL_HASH_TEXT];
} tool_share_line;
/* The next such line of a sequence of n_frames frames; *journal goes past it. Lines that are none are passed over, as is a last one without
 * its end. 0: there are no more. */
int tool_shares_next(const char **journal, int64_t n_frames, tool_share_line *line);
/* All of a small file and a zero; *text is NULL where it is not there. */
modal_status tool_shares_load(const char *path, char **text, modal_error *err);
/* Numbers of shares in that state, "2, 5, 7-9, ..", at most `most` bytes. */
modal_status tool_shares_list(const char *out, int64_t n, int complete, char *text, size_t most, int64_t *n_listed, modal_error *err);
/* Removes the folder and what processes of these shares put into it. */
void tool_shares_remove(const char *out);

#endif
