/* SPDX-License-Identifier: Apache-2.0 */
/* Private to modalplace. */
#ifndef TOOLS_MODALPLACE_H
#define TOOLS_MODALPLACE_H

#include "lib/model/basis.h"

/* The shapes of the basis that was read from `path` get the file that each lies in, as the assembly `out` has to name it.
 * MODAL_ERROR_USAGE: it does not lie below the folder of `out`. */
modal_status modalplace_link(const char *out, const char *path, modal_basis *basis, modal_error *err);

/* Whether the assembly can be read. */
modal_status modalplace_check_links(const char *path, modal_error *err);

#endif
