/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices by one text: "cuda:0,1", "cuda:0,cuda:1", "cpu,cpu", "cuda:all". */
#ifndef MODAL_KERNELS_DEVICE_LIST_H
#define MODAL_KERNELS_DEVICE_LIST_H

#include "lib/base/status.h"

enum { MODAL_DEVICE_LIST = 64, MODAL_DEVICE_LABEL = 32 };
typedef char modal_device_label[MODAL_DEVICE_LABEL];

/* Whether a text names several devices, or all. */
int modal_device_is_list(const char *text);

/* Names of single devices, as modal_device_open takes them: names [MODAL_DEVICE_LIST], n of them. A number alone is a further CUDA
 * device; "cuda:all" without a device is "cuda", and opening that says why there is none. MODAL_ERROR_USAGE: no such list, or of
 * several kinds. */
modal_status modal_device_list(const char *text, modal_device_label *names, int *n, modal_error *err);

#endif
