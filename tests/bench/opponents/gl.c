/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/opponents/gl.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/memory.h"

/* EGL's numbers: of devices, of a context's attributes. */
enum {
    EGL_PLATFORM_DEVICE = 0x313F, EGL_OPENGL = 0x30A2, EGL_NONE = 0x3038, EGL_MAJOR = 0x3098, EGL_MINOR = 0x30FB,
    EGL_PROFILE = 0x30FD, EGL_CORE = 1, MOST_DEVICES = 16
};
static const double RUN_SECONDS = 2e-3;

typedef struct egl_functions {
    void *(*get)(const char *);
    unsigned (*query_devices)(int, void **, int *);
    void *(*platform_display)(unsigned, void *, const int *);
    unsigned (*initialize)(void *, int *, int *);
    unsigned (*bind)(unsigned);
    void *(*create_context)(void *, void *, void *, const int *);
} egl_functions;

/* A function's address is an object's in POSIX alone: copied, so that ISO C allows it. */
static int find(const egl_functions *egl, const char *name, void *function)
{
    void *address = egl->get(name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static int find_all(gl_context *gl, const egl_functions *egl)
{
    int there = 1;
#define GL_FIND(result, name, arguments) there &= find(egl, "gl" #name, &gl->name);
    GL_FUNCTIONS(GL_FIND)
#undef GL_FIND
    return there;
}

/* The first device that gives a context. */
static int open_device(gl_context *gl, const egl_functions *egl)
{
    static const int attributes[] = {EGL_MAJOR, 4, EGL_MINOR, 5, EGL_PROFILE, EGL_CORE, EGL_NONE};
    void *devices[MOST_DEVICES];
    int n = 0;
    if (!egl->query_devices(MOST_DEVICES, devices, &n)) return 0;
    for (int i = 0; i < n; i++) {
        gl->display = egl->platform_display(EGL_PLATFORM_DEVICE, devices[i], NULL);
        if (!gl->display || !egl->initialize(gl->display, NULL, NULL)) continue;
        gl->context = egl->bind(EGL_OPENGL) ? egl->create_context(gl->display, NULL, NULL, attributes) : NULL;
        if (gl->context && gl->make_current(gl->display, NULL, NULL, gl->context)) return 1;
        if (gl->context) gl->destroy_context(gl->display, gl->context);
        gl->context = NULL;
        gl->terminate(gl->display);
    }
    gl->display = NULL;
    return 0;
}

gl_context *gl_context_new(char *why, size_t size)
{
    gl_context *gl = calloc(1, sizeof *gl);
    egl_functions egl = {0};
    snprintf(why, size, "no libEGL.so.1");
    if (!gl || !(gl->library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL))) return gl_context_delete(gl);
    snprintf(why, size, "libEGL.so.1 has no devices");
    void *get = dlsym(gl->library, "eglGetProcAddress");
    memcpy(&egl.get, &get, sizeof get);
    if (!get || !find(&egl, "eglQueryDevicesEXT", &egl.query_devices) ||
        !find(&egl, "eglGetPlatformDisplayEXT", &egl.platform_display) || !find(&egl, "eglInitialize", &egl.initialize) ||
        !find(&egl, "eglBindAPI", &egl.bind) || !find(&egl, "eglCreateContext", &egl.create_context) ||
        !find(&egl, "eglMakeCurrent", &gl->make_current) || !find(&egl, "eglDestroyContext", &gl->destroy_context) ||
        !find(&egl, "eglTerminate", &gl->terminate))
        return gl_context_delete(gl);
    snprintf(why, size, "no EGL device with OpenGL 4.5");
    if (!open_device(gl, &egl) || !find_all(gl, &egl)) return gl_context_delete(gl);
    const unsigned char *renderer = gl->GetString(GL_RENDERER);
    snprintf(gl->renderer, sizeof gl->renderer, "%s", renderer ? (const char *)renderer : "unknown");
    return gl;
}

gl_context *gl_context_delete(gl_context *gl)
{
    if (!gl) return NULL;
    if (gl->context) {
        gl->make_current(gl->display, NULL, NULL, NULL);
        gl->destroy_context(gl->display, gl->context);
    }
    /* the display and the library stay until the process ends: drivers leave handlers and memory behind that they reach then */
    free(gl);
    return NULL;
}

gl_context *bench_gl(modal_bench *b, const char *what)
{
    char why[128];
    gl_context *gl = gl_context_new(why, sizeof why);
    if (gl)
        bench_print(b, "\n%s: %s\n", what, gl->renderer);
    else
        bench_absent(b, what, why);
    return gl;
}

modal_status gl_check(const gl_context *gl, const char *what, modal_error *err)
{
    const unsigned error = gl->GetError();
    return error ? modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: OpenGL error 0x%x", what, error) : MODAL_OK;
}

modal_status gl_program(const gl_context *gl, const char *common, const gl_stage *stages, unsigned *program, modal_error *err)
{
    modal_status status = MODAL_OK;
    char log[400] = "";
    int there;
    *program = gl->CreateProgram();
    for (const gl_stage *s = stages; s->text; s++) {
        const unsigned shader = gl->CreateShader(s->kind);
        const char *const texts[] = {"#version 450 core\n", common, s->text};
        gl->ShaderSource(shader, 3, texts, NULL);
        gl->CompileShader(shader);
        gl->GetShaderiv(shader, GL_COMPILE_STATUS, &there);
        if (!there) gl->GetShaderInfoLog(shader, sizeof log, NULL, log);
        gl->AttachShader(*program, shader);
        gl->DeleteShader(shader);
        if (!there) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "OpenGL shader 0x%x: %s", s->kind, log);
    }
    gl->LinkProgram(*program);
    gl->GetProgramiv(*program, GL_LINK_STATUS, &there);
    if (!there) {
        gl->GetProgramInfoLog(*program, sizeof log, NULL, log);
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "OpenGL program: %s", log);
    }
done:
    return status;
}

modal_status gl_targets(const gl_context *gl, int64_t n, int n_targets, unsigned *textures, unsigned *framebuffer, modal_error *err)
{
    static const unsigned attachments[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT0 + 1};
    gl->GenTextures(n_targets, textures);
    gl->GenFramebuffers(1, framebuffer);
    gl->BindFramebuffer(GL_FRAMEBUFFER, *framebuffer);
    for (int i = 0; i < n_targets; i++) {
        gl->BindTexture(GL_TEXTURE_2D, textures[i]);
        gl->TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32F, GL_WIDTH, (int)((n + GL_WIDTH - 1) / GL_WIDTH));
        gl->FramebufferTexture2D(GL_FRAMEBUFFER, attachments[i], GL_TEXTURE_2D, textures[i], 0);
    }
    gl->DrawBuffers(n_targets, attachments);
    if (gl->CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "OpenGL cannot draw to %lld pixels of four floats", (long long)n);
    return gl_check(gl, "targets", err);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double run(const gl_context *gl, void (*draw)(void *), void *context, int calls)
{
    gl->Finish();
    const double start = now();
    for (int k = 0; k < calls; k++) draw(context);
    gl->Finish();
    return (now() - start) / calls;
}

modal_status gl_measure(modal_bench *b, const gl_context *gl, void (*draw)(void *), void *context, bench_time *time,
                        modal_error *err)
{
    double seconds[BENCH_RUNS];
    bench_settle(b);
    run(gl, draw, context, 1);
    const double one = run(gl, draw, context, 1);
    const int calls = (int)fmax(1.0, fmin(1000.0, ceil(RUN_SECONDS / fmax(one, 1e-9))));
    run(gl, draw, context, calls);
    for (int i = 0; i < b->runs; i++) seconds[i] = run(gl, draw, context, calls);
    qsort(seconds, (size_t)b->runs, sizeof *seconds, ascending);
    *time = (bench_time){seconds[b->runs / 2], seconds[0], seconds[b->runs - 1], b->runs, calls};
    return gl_check(gl, "drawing", err);
}
