/* SPDX-License-Identifier: Apache-2.0 */
/* A patch of 32 vertices is 32 bodies, and its tessellation 8 x 4 points, one for each of them. Every patch is drawn n / 32
 * times: the vertices of instance k fetch the 32 bodies of patch k, too, and a point sums their pull. Blending adds the
 * instances. */
#include <string.h>

#include "lib/base/memory.h"
#include "tests/bench/opponents/gl.h"

enum { PATCH = 32 };

struct gl_pairs {
    const gl_context *gl;
    int64_t n;
    int height;
    unsigned buffer, array, program, framebuffer, texture;
};

static const char COMMON[] = "const int WIDTH = 2048;\n"
                             "uniform int height;\n"
                             "uniform float square;\n";

static const char OF_VERTEX[] =
    "layout(location = 0) in vec4 body;\n"
    "layout(std430, binding = 0) readonly buffer All { vec4 bodies[]; };\n"
    "out vec4 own;\n"
    "out vec4 other;\n"
    "out int id;\n"
    "void main() { own = body; other = bodies[32 * gl_InstanceID + gl_VertexID % 32]; id = gl_VertexID; }\n";

static const char OF_PATCH[] =
    "layout(quads, equal_spacing, cw, point_mode) in;\n"
    "in vec4 own[];\n"
    "in vec4 other[];\n"
    "in int id[];\n"
    "flat out vec4 sum;\n"
    "void main() {\n"
    "    int k = int(24.0 * gl_TessCoord.y + 7.0 * gl_TessCoord.x + 0.5), i = id[k];\n"
    "    vec3 at = own[k].xyz, s = vec3(0.0);\n"
    "    for (int j = 0; j < 32; j++) {\n"
    "        vec3 d = other[j].xyz - at;\n"
    "        float r = inversesqrt(dot(d, d) + square);\n"
    "        s += other[j].w * r * (r * r) * d;\n"
    "    }\n"
    "    sum = vec4(s, 0.0);\n"
    "    gl_Position = vec4((float(i % WIDTH) + 0.5) * 2.0 / float(WIDTH) - 1.0,\n"
    "                       (float(i / WIDTH) + 0.5) * 2.0 / float(height) - 1.0, 0.0, 1.0);\n"
    "}\n";

static const char OF_POINT[] =
    "flat in vec4 sum;\n"
    "layout(location = 0) out vec4 colour;\n"
    "void main() { colour = sum; }\n";

modal_status gl_pairs_new(gl_pairs **pairs, const gl_context *gl, int64_t n, const float *bodies, float softening,
                          modal_error *err)
{
    static const float outer[4] = {3.0f, 7.0f, 3.0f, 7.0f}, inner[2] = {7.0f, 3.0f};
    static const gl_stage stages[] = {
        {GL_VERTEX_SHADER, OF_VERTEX}, {GL_TESS_EVALUATION_SHADER, OF_PATCH}, {GL_FRAGMENT_SHADER, OF_POINT}, {0, NULL}};
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(pairs, 1, sizeof **pairs, "OpenGL", err));
    gl_pairs *p = *pairs;
    *p = (gl_pairs){.gl = gl, .n = n, .height = (int)((n + GL_WIDTH - 1) / GL_WIDTH)};
    MODAL_TRY(gl_program(gl, COMMON, stages, &p->program, err));
    gl->UseProgram(p->program);
    gl->Uniform1f(gl->GetUniformLocation(p->program, "square"), softening * softening);
    gl->Uniform1i(gl->GetUniformLocation(p->program, "height"), p->height);
    gl->GenVertexArrays(1, &p->array);
    gl->BindVertexArray(p->array);
    gl->GenBuffers(1, &p->buffer);
    gl->BindBuffer(GL_ARRAY_BUFFER, p->buffer);
    gl->BufferData(GL_ARRAY_BUFFER, (intptr_t)(16 * n), bodies, GL_STATIC_DRAW);
    gl->VertexAttribPointer(0, 4, GL_FLOAT, 0, 16, NULL);
    gl->EnableVertexAttribArray(0);
    gl->BindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, p->buffer);
    gl->PatchParameteri(GL_PATCH_VERTICES, PATCH);
    gl->PatchParameterfv(GL_PATCH_DEFAULT_OUTER_LEVEL, outer);
    gl->PatchParameterfv(GL_PATCH_DEFAULT_INNER_LEVEL, inner);
    MODAL_TRY(gl_targets(gl, n, 1, &p->texture, &p->framebuffer, err));
done:
    if (status != MODAL_OK) *pairs = gl_pairs_delete(*pairs);
    return status;
}

gl_pairs *gl_pairs_delete(gl_pairs *p)
{
    if (!p) return NULL;
    if (p->program) p->gl->DeleteProgram(p->program);
    p->gl->DeleteFramebuffers(1, &p->framebuffer);
    p->gl->DeleteTextures(1, &p->texture);
    p->gl->DeleteBuffers(1, &p->buffer);
    p->gl->DeleteVertexArrays(1, &p->array);
    modal_free(&p);
    return NULL;
}

void gl_pairs_draw(void *pairs)
{
    static const float zero[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const gl_pairs *p = pairs;
    const gl_context *gl = p->gl;
    gl->Viewport(0, 0, GL_WIDTH, p->height);
    gl->BindVertexArray(p->array);
    gl->BindFramebuffer(GL_FRAMEBUFFER, p->framebuffer);
    gl->ClearBufferfv(GL_COLOR, 0, zero);
    gl->Enable(GL_BLEND);
    gl->BlendFunc(GL_ONE, GL_ONE);
    gl->UseProgram(p->program);
    for (int64_t first = 0; first < p->n; first += PATCH) gl->DrawArraysInstanced(GL_PATCHES, (int)first, PATCH, (int)(p->n / PATCH));
}

modal_status gl_pairs_read(const gl_pairs *p, float *sums, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *pixels = NULL;
    MODAL_TRY(modal_alloc(&pixels, 4 * (int64_t)GL_WIDTH * p->height, sizeof *pixels, "pixels", err));
    p->gl->BindTexture(GL_TEXTURE_2D, p->texture);
    p->gl->GetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_FLOAT, pixels);
    MODAL_TRY(gl_check(p->gl, "reading pixels", err));
    for (int64_t i = 0; i < 3 * p->n; i++) sums[i] = pixels[i / 3 * 4 + i % 3];
done:
    modal_free(&pixels);
    return status;
}
