/* SPDX-License-Identifier: Apache-2.0 */
/* That readers leave no id of HDF5 open, but those of files that HDF5 cannot close. */
#ifndef MODAL_FUZZ_OPEN_IDS_H
#define MODAL_FUZZ_OPEN_IDS_H

#include <stdlib.h>

#include "formats/h5/h5_util.h"

static inline void no_open_ids(void)
{
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != modal_h5_stuck()) abort();
}

#endif
