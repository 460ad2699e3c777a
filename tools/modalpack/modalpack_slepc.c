/* SPDX-License-Identifier: Apache-2.0 */
/* The module that modalpack loads for --eigensolver slepc. */
#include "lib/ranks/ranks.h"

const modal_ranks_program *modalpack_slepc(void) { return modal_ranks(); }
