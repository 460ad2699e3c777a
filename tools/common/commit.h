/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs get their names. One by one rename: it is there, or the old one is. Several of a folder get theirs together,
 * the last one of them, which speaks for all, in the end: while that goes on, LAST.commit in the folder lists them. Signals
 * wait until it is over. A run that is killed in between leaves the list, without its lock; the next one puts back
 * what was there before, or, where the last one is in place, removes what was left over. */
#ifndef TOOLS_COMMON_COMMIT_H
#define TOOLS_COMMON_COMMIT_H

#include "lib/base/status.h"
#include "tools/common/output.h"

/* Syncs the temporary file and renames it to its path. Without force a file that has come into being meanwhile stays. */
modal_status tool_output_commit(tool_output *output, modal_error *err);

/* The same, and the run's output is then complete: tool_signals_ignore. */
modal_status tool_output_complete(tool_output *output, modal_error *err);

/* The same for n outputs, which then are complete. Either all have their
 * names or none has, and each still has its temporary one. An output in another folder than the last one's gets its name
 * first, and keeps it. `doomed` (or NULL), a file of the last one's folder, goes with success. */
modal_status tool_outputs_commit(tool_output *const *outputs, int n, const char *doomed, modal_error *err);

/* What a killed run has left of committing to `last`, if anything: undone, or brought to its end. Called before the
 * outputs are begun. MODAL_ERROR_SYSTEM: another process is at it now. */
modal_status tool_outputs_recover(const char *last, modal_error *err);

#endif
