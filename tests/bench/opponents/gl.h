/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL 4.5 without a window, for opponents that draw: libEGL is looked for when a benchmark runs, so that neither headers
 * nor libraries of it are needed to build. */
#ifndef MODAL_TESTS_GL_H
#define MODAL_TESTS_GL_H

#include <stdint.h>

#include "tests/bench/bench.h"

enum {
    GL_POINTS = 0, GL_TRIANGLES = 4, GL_PATCHES = 0xE, GL_ONE = 1, GL_BLEND = 0x0BE2, GL_TEXTURE_2D = 0x0DE1,
    GL_UNSIGNED_INT = 0x1405, GL_FLOAT = 0x1406, GL_COLOR = 0x1800, GL_RGBA = 0x1908, GL_RENDERER = 0x1F01,
    GL_TEXTURE0 = 0x84C0, GL_RGBA32F = 0x8814, GL_ARRAY_BUFFER = 0x8892, GL_ELEMENT_ARRAY_BUFFER = 0x8893,
    GL_STATIC_DRAW = 0x88E4, GL_FRAGMENT_SHADER = 0x8B30, GL_VERTEX_SHADER = 0x8B31, GL_COMPILE_STATUS = 0x8B81,
    GL_LINK_STATUS = 0x8B82, GL_FRAMEBUFFER_COMPLETE = 0x8CD5, GL_COLOR_ATTACHMENT0 = 0x8CE0, GL_FRAMEBUFFER = 0x8D40,
    GL_GREATER = 0x0204, GL_CW = 0x0900, GL_CULL_FACE = 0x0B44, GL_DEPTH_TEST = 0x0B71, GL_UNSIGNED_BYTE = 0x1401, GL_DEPTH = 0x1801,
    GL_NEAREST = 0x2600, GL_LINEAR = 0x2601, GL_TEXTURE_MAG_FILTER = 0x2800, GL_TEXTURE_MIN_FILTER = 0x2801, GL_TEXTURE_WRAP_S = 0x2802,
    GL_TEXTURE_WRAP_T = 0x2803, GL_COLOR_BUFFER_BIT = 0x4000, GL_CLAMP_TO_EDGE = 0x812F, GL_RG32F = 0x8230, GL_R32UI = 0x8236,
    GL_RGBA8 = 0x8058, GL_LOWER_LEFT = 0x8CA1, GL_READ_FRAMEBUFFER = 0x8CA8, GL_DRAW_FRAMEBUFFER = 0x8CA9,
    GL_DEPTH_COMPONENT32F = 0x8CAC, GL_DEPTH_ATTACHMENT = 0x8D00, GL_RENDERBUFFER = 0x8D41,
    GL_ZERO_TO_ONE = 0x935F, GL_GEOMETRY_SHADER = 0x8DD9, GL_PATCH_VERTICES = 0x8E72, GL_PATCH_DEFAULT_INNER_LEVEL = 0x8E73,
    GL_PATCH_DEFAULT_OUTER_LEVEL = 0x8E74, GL_TESS_EVALUATION_SHADER = 0x8E87, GL_SHADER_STORAGE_BUFFER = 0x90D2
};

/* Result, name after "gl", arguments. */
#define GL_FUNCTIONS(F)                                                                                               \
    F(const unsigned char *, GetString, (unsigned))                                                                   \
    F(unsigned, GetError, (void))                                                                                     \
    F(void, Finish, (void))                                                                                           \
    F(void, Enable, (unsigned))                                                                                       \
    F(void, Disable, (unsigned))                                                                                      \
    F(void, BlendFunc, (unsigned, unsigned))                                                                          \
    F(void, Viewport, (int, int, int, int))                                                                           \
    F(unsigned, CreateShader, (unsigned))                                                                             \
    F(void, ShaderSource, (unsigned, int, const char *const *, const int *))                                          \
    F(void, CompileShader, (unsigned))                                                                                \
    F(void, GetShaderiv, (unsigned, unsigned, int *))                                                                 \
    F(void, GetShaderInfoLog, (unsigned, int, int *, char *))                                                         \
    F(void, DeleteShader, (unsigned))                                                                                 \
    F(unsigned, CreateProgram, (void))                                                                                \
    F(void, AttachShader, (unsigned, unsigned))                                                                       \
    F(void, LinkProgram, (unsigned))                                                                                  \
    F(void, GetProgramiv, (unsigned, unsigned, int *))                                                                \
    F(void, GetProgramInfoLog, (unsigned, int, int *, char *))                                                        \
    F(void, DeleteProgram, (unsigned))                                                                                \
    F(void, UseProgram, (unsigned))                                                                                   \
    F(int, GetUniformLocation, (unsigned, const char *))                                                              \
    F(void, Uniform1f, (int, float))                                                                                  \
    F(void, Uniform1i, (int, int))                                                                                    \
    F(void, Uniform2i, (int, int, int))                                                                               \
    F(void, GenBuffers, (int, unsigned *))                                                                            \
    F(void, DeleteBuffers, (int, const unsigned *))                                                                   \
    F(void, BindBuffer, (unsigned, unsigned))                                                                         \
    F(void, BindBufferBase, (unsigned, unsigned, unsigned))                                                           \
    F(void, BufferData, (unsigned, intptr_t, const void *, unsigned))                                                 \
    F(void, GetBufferSubData, (unsigned, intptr_t, intptr_t, void *))                                                 \
    F(void, GenVertexArrays, (int, unsigned *))                                                                       \
    F(void, DeleteVertexArrays, (int, const unsigned *))                                                              \
    F(void, BindVertexArray, (unsigned))                                                                              \
    F(void, VertexAttribPointer, (unsigned, int, unsigned, unsigned char, int, const void *))                         \
    F(void, EnableVertexAttribArray, (unsigned))                                                                      \
    F(void, GenTextures, (int, unsigned *))                                                                           \
    F(void, DeleteTextures, (int, const unsigned *))                                                                  \
    F(void, ActiveTexture, (unsigned))                                                                                \
    F(void, BindTexture, (unsigned, unsigned))                                                                        \
    F(void, TexStorage2D, (unsigned, int, unsigned, int, int))                                                        \
    F(void, GetTexImage, (unsigned, int, unsigned, unsigned, void *))                                                 \
    F(void, GenFramebuffers, (int, unsigned *))                                                                       \
    F(void, DeleteFramebuffers, (int, const unsigned *))                                                              \
    F(void, BindFramebuffer, (unsigned, unsigned))                                                                    \
    F(void, FramebufferTexture2D, (unsigned, unsigned, unsigned, unsigned, int))                                      \
    F(unsigned, CheckFramebufferStatus, (unsigned))                                                                   \
    F(void, DrawBuffers, (int, const unsigned *))                                                                     \
    F(void, ReadBuffer, (unsigned))                                                                                   \
    F(void, ClearBufferfv, (unsigned, int, const float *))                                                            \
    F(void, ClearBufferuiv, (unsigned, int, const unsigned *))                                                        \
    F(void, GenRenderbuffers, (int, unsigned *))                                                                      \
    F(void, DeleteRenderbuffers, (int, const unsigned *))                                                             \
    F(void, BindRenderbuffer, (unsigned, unsigned))                                                                   \
    F(void, RenderbufferStorageMultisample, (unsigned, int, unsigned, int, int))                                      \
    F(void, FramebufferRenderbuffer, (unsigned, unsigned, unsigned, unsigned))                                        \
    F(void, BlitFramebuffer, (int, int, int, int, int, int, int, int, unsigned, unsigned))                            \
    F(void, ReadPixels, (int, int, int, int, unsigned, unsigned, void *))                                             \
    F(void, TexParameteri, (unsigned, unsigned, int))                                                                 \
    F(void, ClipControl, (unsigned, unsigned))                                                                        \
    F(void, DepthFunc, (unsigned))                                                                                    \
    F(void, FrontFace, (unsigned))                                                                                    \
    F(void, Uniform1fv, (int, int, const float *))                                                                    \
    F(void, Uniform2f, (int, float, float))                                                                           \
    F(void, Uniform3f, (int, float, float, float))                                                                    \
    F(void, Uniform4fv, (int, int, const float *))                                                                    \
    F(void, DrawArrays, (unsigned, int, int))                                                                         \
    F(void, DrawArraysInstanced, (unsigned, int, int, int))                                                           \
    F(void, DrawElements, (unsigned, int, unsigned, const void *))                                                    \
    F(void, PatchParameteri, (unsigned, int))                                                                         \
    F(void, PatchParameterfv, (unsigned, const float *))

typedef struct gl_context {
#define GL_MEMBER(result, name, arguments) result(*name) arguments;
    GL_FUNCTIONS(GL_MEMBER)
#undef GL_MEMBER
    void *library, *display, *context;
    int (*make_current)(void *, void *, void *, void *);
    unsigned (*destroy_context)(void *, void *);
    unsigned (*terminate)(void *);
    char renderer[128];
} gl_context;

/* NULL with the reason in why [size] where there is none. */
gl_context *gl_context_new(char *why, size_t size);
gl_context *gl_context_delete(gl_context *gl);

/* The same, and what draws in the tables; where there is none bench_absent says that `what` is not measured. */
gl_context *bench_gl(modal_bench *b, const char *what);

typedef struct gl_stage {
    unsigned kind;
    const char *text; /* after the version and `common` */
} gl_stage;

/* A program of stages up to the one without text; `common`: text of all of them. */
modal_status gl_program(const gl_context *gl, const char *common, const gl_stage *stages, unsigned *program, modal_error *err);

/* Textures of four floats a pixel, rows of GL_WIDTH, as the targets of a framebuffer; both are made. */
enum { GL_WIDTH = 2048 };
modal_status gl_targets(const gl_context *gl, int64_t n, int n_targets, unsigned *textures, unsigned *framebuffer, modal_error *err);

/* MODAL_ERROR_SYSTEM where OpenGL has an error pending. */
modal_status gl_check(const gl_context *gl, const char *what, modal_error *err);

/* Medians as bench_measure has them: clock around calls until all is drawn. */
modal_status gl_measure(modal_bench *b, const gl_context *gl, void (*draw)(void *), void *context, bench_time *time,
                        modal_error *err);

/* ---- curvature by geometry shader and blending (W. Griffin and others, 2012; M. Camillo's thesis, 3.4) ---- */

typedef struct gl_curvature gl_curvature;
/* positions [n, 3] in main memory; deleted by gl_curvature_delete, which accepts NULL. */
modal_status gl_curvature_new(gl_curvature **curvature, const gl_context *gl, int64_t n_vertices, const float *positions,
                              int64_t n_triangles, const int32_t *triangles, float scale, modal_error *err);
gl_curvature *gl_curvature_delete(gl_curvature *curvature);
void gl_curvature_draw(void *curvature);
/* k_max, k_min, mean, gauss [n, 4] into main memory. */
modal_status gl_curvature_read(const gl_curvature *curvature, float *scalars, modal_error *err);

/* ---- all pairs by instances of tessellated patches of 32 bodies (the thesis, 4.4.3) ---- */

typedef struct gl_pairs gl_pairs;
/* bodies [n, 4], n a multiple of 32. */
modal_status gl_pairs_new(gl_pairs **pairs, const gl_context *gl, int64_t n, const float *bodies, float softening,
                          modal_error *err);
gl_pairs *gl_pairs_delete(gl_pairs *pairs);
void gl_pairs_draw(void *pairs);
/* sums [n, 3] into main memory. */
modal_status gl_pairs_read(const gl_pairs *pairs, float *sums, modal_error *err);

#endif
