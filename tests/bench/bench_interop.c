/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/bench_interop.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/memory.h"
#include "tests/bench/opponents/gl.h"

/* cuda_gl_interop.h, which needs OpenGL's headers */
cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t *resource, unsigned buffer, unsigned flags);
enum { WRITE_DISCARD = 2 };

typedef struct interop {
    const interop_frame *frame;
    const gl_context *gl;
    cudaGraphicsResource_t resources[2];
    unsigned buffers[2];
    int maps, computes;
    modal_error *err;
    modal_status status; /* of the first call that failed */
} interop;

static modal_status checked(cudaError_t code, modal_error *err)
{
    return code == cudaSuccess ? MODAL_OK : modal_error_set(err, MODAL_ERROR_SYSTEM, "CUDA-OpenGL: %s", cudaGetErrorString(code));
}

static modal_status mapped(interop *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    float **const pointers[2] = {s->frame->positions, s->frame->normals};
    cudaStream_t stream = (cudaStream_t)s->frame->side->stream;
    if (s->maps) {
        MODAL_TRY(checked(cudaGraphicsMapResources(2, s->resources, stream), err));
        for (int i = 0; i < 2; i++) {
            size_t bytes;
            MODAL_TRY(checked(cudaGraphicsResourceGetMappedPointer((void **)pointers[i], &bytes, s->resources[i]), err));
        }
    }
    if (s->computes) MODAL_TRY(s->frame->call(s->frame->context, 0, err));
    if (s->maps) MODAL_TRY(checked(cudaGraphicsUnmapResources(2, s->resources, stream), err));
    MODAL_TRY(checked(cudaStreamSynchronize(stream), err));
done:
    return status;
}

static void draw(void *context)
{
    interop *s = context;
    float *const own[2] = {*s->frame->positions, *s->frame->normals};
    if (s->status == MODAL_OK) s->status = mapped(s, s->err);
    *s->frame->positions = own[0];
    *s->frame->normals = own[1];
}

static modal_status measure(modal_bench *b, interop *s, const char *name, int maps, int computes, modal_error *err)
{
    modal_status status = MODAL_OK;
    bench_row row = {.name = name, .ours = !maps, .side = s->frame->side, .n_vertices = s->frame->n_vertices, .n_columns = 1, .n_objects = 1,
                     .n_modes = s->frame->n_modes, .bytes = computes ? s->frame->bytes : 0.0, .error = -1.0};
    s->maps = maps;
    s->computes = computes;
    MODAL_TRY(gl_measure(b, s->gl, draw, s, &row.time, err));
    status = s->status;
    if (status == MODAL_OK) status = bench_row_add(b, &row, err);
done:
    return status;
}

/* What OpenGL holds is what CUDA computes into its own memory, byte for byte. */
static modal_status compare(interop *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t bytes = 12 * s->frame->n_vertices;
    float *own = NULL, *theirs = NULL;
    void (*read)(unsigned, intptr_t, intptr_t, void *) = s->gl->GetBufferSubData;
    MODAL_TRY(modal_alloc(&own, bytes, 1, "check", err));
    MODAL_TRY(modal_alloc(&theirs, bytes, 1, "check", err));
    s->computes = 1;
    for (s->maps = 0; s->maps < 2; s->maps++) draw(s);
    status = s->status;
    for (int i = 0; i < 2 && status == MODAL_OK; i++) {
        MODAL_TRY(bench_from_device(s->frame->side, own, i ? *s->frame->normals : *s->frame->positions, bytes, err));
        s->gl->BindBuffer(GL_ARRAY_BUFFER, s->buffers[i]);
        read(GL_ARRAY_BUFFER, 0, (intptr_t)bytes, theirs);
        MODAL_TRY(gl_check(s->gl, "reading a buffer", err));
        if (memcmp(own, theirs, (size_t)bytes) != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "CUDA-OpenGL: array %d is not that of CUDA's memory", i);
    }
done:
    modal_free(&own);
    modal_free(&theirs);
    return status;
}

modal_status bench_interop(modal_bench *b, const interop_frame *frame, modal_error *err)
{
    modal_status status = MODAL_OK;
    gl_context *gl = bench_gl(b, "frames into buffers of OpenGL");
    interop s = {.frame = frame, .gl = gl, .err = err};
    if (!gl) return MODAL_OK;
    gl->GenBuffers(2, s.buffers);
    bench_row once = {.name = "registering both buffers, once", .side = frame->side, .n_vertices = frame->n_vertices, .n_columns = 1,
                      .n_objects = 1, .error = -1.0};
    for (int i = 0; i < 2; i++) {
        gl->BindBuffer(GL_ARRAY_BUFFER, s.buffers[i]);
        gl->BufferData(GL_ARRAY_BUFFER, (intptr_t)(12 * frame->n_vertices), NULL, GL_STATIC_DRAW);
    }
    gl->Finish();
    const double start = modal_seconds();
    for (int i = 0; i < 2; i++) MODAL_TRY(checked(cudaGraphicsGLRegisterBuffer(&s.resources[i], s.buffers[i], WRITE_DISCARD), err));
    once.time.median = once.time.least = once.time.most = modal_seconds() - start;
    once.time.runs = once.time.calls = 1;
    MODAL_TRY(compare(&s, err));
    bench_table(b, "interop", "A frame into buffers of OpenGL, and waited for");
    bench_headings(b);
    MODAL_TRY(measure(b, &s, "frame in CUDA's memory", 0, 1, err));
    MODAL_TRY(measure(b, &s, "frame in OpenGL's buffers: map, compute, unmap", 1, 1, err));
    MODAL_TRY(measure(b, &s, "map and unmap alone", 1, 0, err));
    MODAL_TRY(bench_row_add(b, &once, err));
done:
    for (int i = 0; i < 2; i++)
        if (s.resources[i]) cudaGraphicsUnregisterResource(s.resources[i]);
    gl->DeleteBuffers(2, s.buffers);
    gl = gl_context_delete(gl);
    return status;
}
