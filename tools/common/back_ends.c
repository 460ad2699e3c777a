/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/back_ends.h"

#include "kernels/registry.h"

void tool_print_back_ends(FILE *to)
{
    char reason[256] = "";
    modal_device device;
    fprintf(to, "back ends:\n");
    for (int i = 0; i < modal_device_count(); i++)
        if (modal_device_describe(i, &device, NULL) == MODAL_OK) fprintf(to, "  %s: %s\n", device.name, device.hardware);
    modal_device_cuda_reason(reason, sizeof reason);
    if (reason[0]) fprintf(to, "  no cuda: %s\n", reason);
    modal_device_cuda_left_out(reason, sizeof reason);
    if (reason[0]) fprintf(to, "  left out: %s\n", reason);
}
