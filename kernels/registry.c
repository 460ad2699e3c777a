/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/registry.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernels/cpu.h"
#include "kernels/cuda_machine.h"
#include "kernels/device_interface.h"

enum { REF, CPU, CUDA };

#define WHERE_1(function) function
#define WHERE_0(function) NULL
#define ON_REF(folder, name, cpu, cuda) .folder = name##_ref,
#define ON_CPU(folder, name, cpu, cuda) .folder = WHERE_##cpu(name##_cpu),
#define ON_CUDA(folder, name, cpu, cuda) .folder = WHERE_##cuda(name##_cuda),

static const modal_kernels table[] = {
    [REF] = {.back_end = "ref", MODAL_OPERATIONS(ON_REF)},
    [CPU] = {.back_end = "cpu", MODAL_OPERATIONS(ON_CPU)},
#ifdef MODAL_HAVE_CUDA
    [CUDA] = {.back_end = "cuda", .normals_ring = 1, .packs_objects = 1, MODAL_OPERATIONS(ON_CUDA)},
#endif
};

static int cuda_devices(char *reason, size_t reason_bytes)
{
    snprintf(reason, reason_bytes, "%s", "");
#ifdef MODAL_HAVE_CUDA
    return modal_cuda_device_count(reason, reason_bytes);
#else
    snprintf(reason, reason_bytes, "built without CUDA");
    return 0;
#endif
}

void modal_device_cuda_reason(char *reason, size_t reason_bytes)
{
    if (cuda_devices(reason, reason_bytes) > 0) reason[0] = '\0';
}

void modal_device_cuda_left_out(char *reason, size_t reason_bytes)
{
    if (cuda_devices(reason, reason_bytes) == 0) reason[0] = '\0';
}

static void host_hardware(modal_device *device, int with_threads)
{
    char model[64] = "processor", line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(model, sizeof model, "%.60s", colon + 1 + strspn(colon + 1, " \t"));
        model[strcspn(model, "\n")] = '\0';
        break;
    }
    if (file) fclose(file);
    if (with_threads)
        snprintf(device->hardware, sizeof device->hardware, "%s, %d thread%s, %s", model,
                 device->n_threads, device->n_threads == 1 ? "" : "s",
                 modal_cpu_simd_name(modal_cpu_simd()));
    else
        snprintf(device->hardware, sizeof device->hardware, "%s, 1 thread, no SIMD", model);
}

static void open_host(modal_device *device, int which)
{
    memset(device, 0, sizeof *device);
    snprintf(device->name, sizeof device->name, "%s", table[which].back_end);
    device->n_threads = 1;
#ifdef _OPENMP
    device->n_threads = omp_get_max_threads();
#endif
    device->shares_memory = 1;
    device->kernels = &table[which];
    device->interface = &modal_host_interface;
    host_hardware(device, which == CPU);
}

#ifdef MODAL_HAVE_CUDA
static modal_status open_cuda(modal_device *device, int index, modal_error *err)
{
    const int ordinal = modal_cuda_device_ordinal(index);
    memset(device, 0, sizeof *device);
    snprintf(device->name, sizeof device->name, "cuda:%d", index);
    device->ordinal = ordinal;
    device->n_threads = 1;
    device->kernels = &table[CUDA];
    device->interface = &modal_cuda_interface;
    modal_cuda_device_hardware(ordinal, device->hardware);
    modal_cuda_machine machine = {0};
    modal_status status = modal_device_select(device, err);
    if (status == MODAL_OK) status = modal_cuda_machine_of(&machine, err);
    device->shared_bytes = machine.shared_block;
    return status;
}
#endif

modal_status modal_device_open(modal_device *device, const char *name, modal_error *err)
{
    char reason[256];
    memset(device, 0, sizeof *device);
    if (strcmp(name, "ref") == 0 || strcmp(name, "cpu") == 0) {
        open_host(device, strcmp(name, "ref") == 0 ? REF : CPU);
        return MODAL_OK;
    }
    int automatic = strcmp(name, "auto") == 0;
    long ordinal = 0;
    if (strncmp(name, "cuda:", 5) == 0 && isdigit((unsigned char)name[5])) {
        char *end = NULL;
        ordinal = strtol(name + 5, &end, 10);
        if (*end != '\0') ordinal = -1;
        if (ordinal > INT_MAX) ordinal = INT_MAX;
    } else if (!automatic && strcmp(name, "cuda") != 0) {
        ordinal = -1;
    }
    if (ordinal < 0)
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "back end: '%s' is none of auto, ref, cpu, cuda, cuda:N", name);
    int count = cuda_devices(reason, sizeof reason);
    if (automatic && count == 0) {
        open_host(device, CPU);
        return MODAL_OK;
    }
    if (count == 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM,
                               "back end %s: not available (%s); available: ref, cpu", name,
                               reason);
    if (ordinal >= count)
        return modal_error_set(err, MODAL_ERROR_SYSTEM,
                               "back end %s: no such device; available: ref, cpu, cuda:0 to "
                               "cuda:%d",
                               name, count - 1);
#ifdef MODAL_HAVE_CUDA
    return open_cuda(device, (int)ordinal, err);
#else
    return MODAL_ERROR_SYSTEM; /* not reached: count is 0 */
#endif
}

int modal_device_count(void)
{
    char reason[256];
    return 2 + cuda_devices(reason, sizeof reason);
}

modal_status modal_device_describe(int index, modal_device *device, modal_error *err)
{
    char name[MODAL_DEVICE_NAME];
    if (index < 2) return modal_device_open(device, index == 0 ? "ref" : "cpu", err);
    snprintf(name, sizeof name, "cuda:%d", index - 2);
    return modal_device_open(device, name, err);
}
