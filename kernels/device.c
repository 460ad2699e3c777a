/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/device.h"
#include "kernels/device_held.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernels/device_interface.h"
#include "lib/base/cores.h"
#include "lib/base/memory.h"

/* ---- main memory: everything is done when the call returns ---- */

static modal_status host_select(const modal_device *device, modal_error *err)
{
    (void)err;
#ifdef _OPENMP
    omp_set_num_threads(modal_free_threads(device->n_threads));
#else
    (void)device;
#endif
    return MODAL_OK;
}

static modal_status host_free_bytes(const modal_device *device, int64_t *bytes, modal_error *err)
{
    (void)device, (void)err;
    *bytes = INT64_MAX;
    return MODAL_OK;
}

static modal_status host_alloc(void **pointer, int64_t bytes, const char *what, modal_error *err)
{
    return modal_alloc(pointer, bytes, 1, what, err);
}

static void host_free(void *memory) { modal_free(&memory); }

static modal_status host_copy(void *to, const void *from, int64_t bytes, modal_stream *stream,
                              modal_error *err)
{
    (void)stream, (void)err;
    if (bytes > 0 && to != from) memcpy(to, from, (size_t)bytes);
    return MODAL_OK;
}

static modal_status host_fill(void *to, unsigned char byte, int64_t bytes, modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    if (bytes > 0) memset(to, byte, (size_t)bytes);
    return MODAL_OK;
}

static modal_status host_stream_new(modal_stream **stream, modal_error *err)
{
    (void)err;
    *stream = NULL;
    return MODAL_OK;
}

static void host_stream_delete(modal_stream *stream) { (void)stream; }

static modal_status host_stream_wait(modal_stream *stream, modal_error *err)
{
    (void)stream, (void)err;
    return MODAL_OK;
}

static modal_status host_event_new(modal_event **event, modal_error *err)
{
    (void)err;
    *event = NULL;
    return MODAL_OK;
}

static void host_event_delete(modal_event *event) { (void)event; }

static modal_status host_event_record(modal_event *event, modal_stream *stream, modal_error *err)
{
    (void)event, (void)stream, (void)err;
    return MODAL_OK;
}

static modal_status host_stream_wait_event(modal_stream *stream, modal_event *event,
                                           modal_error *err)
{
    return host_event_record(event, stream, err);
}

static modal_status host_event_wait(modal_event *event, modal_error *err)
{
    return host_event_record(event, NULL, err);
}

const modal_device_interface modal_host_interface = {
    .select = host_select,
    .free_bytes = host_free_bytes,
    .alloc = host_alloc,
    .free = host_free,
    .alloc_host = host_alloc,
    .free_host = host_free,
    .copy_in = host_copy,
    .copy_out = host_copy,
    .copy = host_copy,
    .fill = host_fill,
    .stream_new = host_stream_new,
    .stream_delete = host_stream_delete,
    .stream_wait = host_stream_wait,
    .event_new = host_event_new,
    .event_delete = host_event_delete,
    .event_record = host_event_record,
    .stream_wait_event = host_stream_wait_event,
    .event_wait = host_event_wait,
};

/* ---- the interface ---- */

modal_status modal_device_select(const modal_device *device, modal_error *err)
{
    return device->interface->select(device, err);
}

modal_status modal_device_free_bytes(const modal_device *device, int64_t *bytes, modal_error *err)
{
    return device->interface->free_bytes(device, bytes, err);
}

static modal_status checked_alloc(modal_status (*alloc)(void **, int64_t, const char *,
                                                        modal_error *),
                                  void *pointer, int64_t count, size_t item_bytes,
                                  const char *what, modal_error *err)
{
    void *memory = NULL;
    int64_t bytes = 0;
    modal_status status = MODAL_OK;
    if (!modal_size_multiply(count, (int64_t)item_bytes, &bytes))
        status = modal_error_set(err, MODAL_ERROR_MEMORY,
                                 "%s: size overflow, %lld items of %zu bytes", what,
                                 (long long)count, item_bytes);
    else
        status = alloc(&memory, bytes, what, err);
    memcpy(pointer, &memory, sizeof memory);
    return status;
}

static void take_and_free(void (*release)(void *), void *pointer)
{
    void *memory = NULL, *nothing = NULL;
    memcpy(&memory, pointer, sizeof memory);
    memcpy(pointer, &nothing, sizeof nothing);
    if (memory) release(memory);
}

modal_status modal_device_alloc(const modal_device *device, void *pointer, int64_t count,
                                size_t item_bytes, const char *what, modal_error *err)
{
    void *memory = NULL;
    modal_status status = checked_alloc(device->interface->alloc, pointer, count, item_bytes, what, err);
    if (status != MODAL_OK || device->shares_memory) return status;
    memcpy(&memory, pointer, sizeof memory);
    status = modal_device_note_alloc(memory, count * (int64_t)item_bytes, err);
    if (status != MODAL_OK) take_and_free(device->interface->free, pointer);
    return status;
}

void modal_device_free(const modal_device *device, void *pointer)
{
    void *memory = NULL;
    memcpy(&memory, pointer, sizeof memory);
    if (!device->shares_memory) modal_device_note_free(memory);
    take_and_free(device->interface->free, pointer);
}

modal_status modal_device_alloc_host(const modal_device *device, void *pointer, int64_t count,
                                     size_t item_bytes, const char *what, modal_error *err)
{
    return checked_alloc(device->interface->alloc_host, pointer, count, item_bytes, what, err);
}

void modal_device_free_host(const modal_device *device, void *pointer)
{
    take_and_free(device->interface->free_host, pointer);
}

modal_status modal_device_copy_in(const modal_device *device, void *to, const void *from,
                                  int64_t bytes, modal_stream *stream, modal_error *err)
{
    return device->interface->copy_in(to, from, bytes, stream, err);
}

modal_status modal_device_copy_out(const modal_device *device, void *to, const void *from,
                                   int64_t bytes, modal_stream *stream, modal_error *err)
{
    return device->interface->copy_out(to, from, bytes, stream, err);
}

modal_status modal_device_copy(const modal_device *device, void *to, const void *from, int64_t bytes,
                               modal_stream *stream, modal_error *err)
{
    return device->interface->copy(to, from, bytes, stream, err);
}

modal_status modal_device_fill(const modal_device *device, void *to, unsigned char byte, int64_t bytes,
                               modal_stream *stream, modal_error *err)
{
    return device->interface->fill(to, byte, bytes, stream, err);
}

modal_status modal_device_stream_new(const modal_device *device, modal_stream **stream,
                                     modal_error *err)
{
    return device->interface->stream_new(stream, err);
}

void modal_device_stream_delete(const modal_device *device, modal_stream **stream)
{
    if (*stream) device->interface->stream_delete(*stream);
    *stream = NULL;
}

modal_status modal_device_stream_wait(const modal_device *device, modal_stream *stream,
                                      modal_error *err)
{
    return device->interface->stream_wait(stream, err);
}

modal_status modal_device_event_new(const modal_device *device, modal_event **event,
                                    modal_error *err)
{
    return device->interface->event_new(event, err);
}

void modal_device_event_delete(const modal_device *device, modal_event **event)
{
    if (*event) device->interface->event_delete(*event);
    *event = NULL;
}

modal_status modal_device_event_record(const modal_device *device, modal_event *event,
                                       modal_stream *stream, modal_error *err)
{
    return device->interface->event_record(event, stream, err);
}

modal_status modal_device_stream_wait_event(const modal_device *device, modal_stream *stream,
                                            modal_event *event, modal_error *err)
{
    return device->interface->stream_wait_event(stream, event, err);
}

modal_status modal_device_event_wait(const modal_device *device, modal_event *event,
                                     modal_error *err)
{
    return device->interface->event_wait(event, err);
}
