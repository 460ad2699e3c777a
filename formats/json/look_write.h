/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_FORMATS_LOOK_WRITE_H
#define MODAL_FORMATS_LOOK_WRITE_H

#include "lib/model/look.h"

/* The text of a look with its materials, its default, and material and runs of its shapes; the caller gives it to free(). NULL: out of
 * memory. Lights, cameras, ground and objects are not in it: what models have none of. */
char *modal_look_text(const modal_look *look);

#endif
