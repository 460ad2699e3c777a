/* SPDX-License-Identifier: Apache-2.0 */
/* Each pass over the triangles emits a point for every corner, at the pixel of its vertex; blending adds them. Normals, then
 * tensors, then a pass over the pixels for what users read. */
#include <string.h>

#include "lib/base/memory.h"
#include "tests/bench/opponents/gl.h"

struct gl_curvature {
    const gl_context *gl;
    int64_t n_vertices;
    int n_corners, height;
    unsigned buffers[2], array;
    unsigned programs[3], framebuffers[3], textures[4]; /* normals, sums, scalars, directions */
};

static const char COMMON[] =
    "const int WIDTH = 2048;\n"
    "uniform int height;\n"
    "uniform float scale;\n"
    "vec4 place(int i) {\n"
    "    return vec4((float(i % WIDTH) + 0.5) * 2.0 / float(WIDTH) - 1.0, (float(i / WIDTH) + 0.5) * 2.0 / float(height) - 1.0, 0.0, 1.0);\n"
    "}\n"
    "vec3 unit(vec3 n) { float s = dot(n, n); return s > 0.0 ? n * inversesqrt(s) : vec3(0.0); }\n"
    "void frame(vec3 n, out vec3 p, out vec3 q) {\n"
    "    float s = n.z < 0.0 ? -1.0 : 1.0, t = -1.0 / (s + n.z), xy = n.x * n.y * t;\n"
    "    p = vec3(1.0 + s * n.x * n.x * t, s * xy, -s * n.x);\n"
    "    q = vec3(xy, s + n.y * n.y * t, -n.y);\n"
    "}\n";

static const char OF_VERTEX[] =
    "layout(location = 0) in vec3 position;\n"
    "out vec3 at;\n"
    "flat out int id;\n"
    "void main() { at = position; id = gl_VertexID; }\n";

static const char CORNERS[] =
    "layout(triangles) in;\n"
    "layout(points, max_vertices = 3) out;\n"
    "in vec3 at[];\n"
    "flat in int id[];\n"
    "flat out vec4 value;\n"
    "void give(int i, vec4 v) { value = v; gl_Position = place(i); EmitVertex(); EndPrimitive(); }\n";

static const char OF_NORMALS[] =
    "void main() {\n"
    "    vec3 e[3];\n"
    "    for (int k = 0; k < 3; k++) e[k] = (at[(k + 1) % 3] - at[k]) * scale;\n"
    "    vec3 c = cross(e[0], e[1]);\n"
    "    for (int k = 0; k < 3; k++) {\n"
    "        float product = dot(e[k], e[k]) * dot(e[(k + 2) % 3], e[(k + 2) % 3]);\n"
    "        give(id[k], vec4(product > 0.0 ? c / product : vec3(0.0), 0.0));\n"
    "    }\n"
    "}\n";

/* As opponents/ring_patterns.cu has face_tensors; sums: a, 2 b, c and eight times the share of the area. */
static const char OF_TENSORS[] =
    "layout(binding = 0) uniform sampler2D normals;\n"
    "float share_of(float aa, float bb, float ab, float m2) {\n"
    "    float d1 = aa - ab, d2 = bb - ab;\n"
    "    if (ab <= 0.0) return 4.0 - (bb * d1 + aa * d2) / (d1 * d2);\n"
    "    if (d1 <= 0.0) return aa / ab;\n"
    "    if (d2 <= 0.0) return bb / ab;\n"
    "    return (bb * d1 + aa * d2) / m2;\n"
    "}\n"
    "void main() {\n"
    "    vec3 y[3];\n"
    "    for (int k = 0; k < 3; k++) y[k] = unit(texelFetch(normals, ivec2(id[k] % WIDTH, id[k] / WIDTH), 0).xyz);\n"
    "    vec3 a = (at[1] - at[0]) * scale, b = (at[2] - at[0]) * scale, da = y[1] - y[0], db = y[2] - y[0], f = cross(a, b);\n"
    "    float aa = dot(a, a), bb = dot(b, b), ab = dot(a, b), cc = aa + bb - 2.0 * ab, m2 = dot(f, f), t = aa + bb - ab;\n"
    "    if (!(m2 > t * t * 1e-12)) return;\n"
    "    float m = sqrt(m2), l = sqrt(aa);\n"
    "    vec3 n = f / m, e = a / l, h = cross(n, e);\n"
    "    float ax = l, bx = ab / l, by = m / l, dax = dot(da, e), day = dot(da, h), dbx = dot(db, e), dby = dot(db, h);\n"
    "    float o = day * by, u = dbx * ax - dax * bx, twist = (o - u) * 0.5 / t;\n"
    "    float g = ax * (2.0 * ax - bx) + bx * (2.0 * bx - ax), gh = by * (2.0 * bx - ax), k2 = 2.0 * by * by;\n"
    "    float A = dax * by - twist * gh, B = (u + o) * 0.5 + twist * (g - k2) * 0.5, C = dby * ax - day * bx + twist * gh;\n"
    "    vec3 side[3] = vec3[3](vec3(aa, bb, ab), vec3(cc, aa, aa - ab), vec3(bb, cc, bb - ab));\n"
    "    for (int k = 0; k < 3; k++) {\n"
    "        vec3 P, Q;\n"
    "        frame(y[k], P, Q);\n"
    "        float c = dot(y[k], n) + 1.0;\n"
    "        if (!(c > 1e-6)) continue;\n"
    "        float s = dot(P, n) / c, v = dot(P, e) - s * dot(y[k], e), w = dot(P, h) - s * dot(y[k], h);\n"
    "        float share = share_of(side[k].x, side[k].y, side[k].z, m2);\n"
    "        give(id[k], share * vec4(A * v * v + 2.0 * B * v * w + C * w * w, 2.0 * (B * (v * v - w * w) + v * w * (C - A)),\n"
    "                                 A * w * w - 2.0 * B * v * w + C * v * v, m));\n"
    "    }\n"
    "}\n";

static const char OF_POINT[] =
    "flat in vec4 value;\n"
    "layout(location = 0) out vec4 colour;\n"
    "void main() { colour = value; }\n";

static const char WHOLE[] = "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }\n";

static const char OF_PIXEL[] =
    "layout(binding = 0) uniform sampler2D normals;\n"
    "layout(binding = 1) uniform sampler2D sums;\n"
    "layout(location = 0) out vec4 scalars;\n"
    "layout(location = 1) out vec4 direction;\n"
    "void main() {\n"
    "    ivec2 i = ivec2(gl_FragCoord.xy);\n"
    "    vec3 n = unit(texelFetch(normals, i, 0).xyz), p, q;\n"
    "    vec4 s = texelFetch(sums, i, 0);\n"
    "    float w = s.w > 0.0 ? 1.0 / s.w : 0.0, a = s.x * w, b = s.y * w * 0.5, c = s.z * w;\n"
    "    float mean = (a + c) * 0.5, half_ = (a - c) * 0.5, radius = sqrt(half_ * half_ + b * b);\n"
    "    vec2 d = half_ >= 0.0 ? vec2(radius + half_, b) : vec2(b, radius - half_);\n"
    "    d = dot(d, d) > 0.0 ? normalize(d) : vec2(1.0, 0.0);\n"
    "    frame(n, p, q);\n"
    "    scalars = vec4((mean + radius) * scale, (mean - radius) * scale, mean * scale, (a * c - b * b) * scale * scale);\n"
    "    direction = vec4(d.x * p + d.y * q, 0.0);\n"
    "}\n";

static modal_status programs(gl_curvature *c, float scale, modal_error *err)
{
    modal_status status = MODAL_OK;
    const gl_context *gl = c->gl;
    char normals[sizeof CORNERS + sizeof OF_NORMALS], tensors[sizeof CORNERS + sizeof OF_TENSORS];
    snprintf(normals, sizeof normals, "%s%s", CORNERS, OF_NORMALS);
    snprintf(tensors, sizeof tensors, "%s%s", CORNERS, OF_TENSORS);
    const gl_stage stages[3][4] = {
        {{GL_VERTEX_SHADER, OF_VERTEX}, {GL_GEOMETRY_SHADER, normals}, {GL_FRAGMENT_SHADER, OF_POINT}, {0, NULL}},
        {{GL_VERTEX_SHADER, OF_VERTEX}, {GL_GEOMETRY_SHADER, tensors}, {GL_FRAGMENT_SHADER, OF_POINT}, {0, NULL}},
        {{GL_VERTEX_SHADER, WHOLE}, {GL_FRAGMENT_SHADER, OF_PIXEL}, {0, NULL}, {0, NULL}}};
    for (int i = 0; i < 3; i++) {
        MODAL_TRY(gl_program(gl, COMMON, stages[i], &c->programs[i], err));
        gl->UseProgram(c->programs[i]);
        gl->Uniform1f(gl->GetUniformLocation(c->programs[i], "scale"), scale);
        gl->Uniform1i(gl->GetUniformLocation(c->programs[i], "height"), c->height);
    }
done:
    return status;
}

modal_status gl_curvature_new(gl_curvature **curvature, const gl_context *gl, int64_t n_vertices, const float *positions,
                              int64_t n_triangles, const int32_t *triangles, float scale, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(curvature, 1, sizeof **curvature, "OpenGL", err));
    gl_curvature *c = *curvature;
    *c = (gl_curvature){.gl = gl, .n_vertices = n_vertices, .n_corners = (int)(3 * n_triangles),
                        .height = (int)((n_vertices + GL_WIDTH - 1) / GL_WIDTH)};
    MODAL_TRY(programs(c, scale, err));
    gl->GenVertexArrays(1, &c->array);
    gl->BindVertexArray(c->array);
    gl->GenBuffers(2, c->buffers);
    gl->BindBuffer(GL_ARRAY_BUFFER, c->buffers[0]);
    gl->BufferData(GL_ARRAY_BUFFER, (intptr_t)(12 * n_vertices), positions, GL_STATIC_DRAW);
    gl->VertexAttribPointer(0, 3, GL_FLOAT, 0, 12, NULL);
    gl->EnableVertexAttribArray(0);
    gl->BindBuffer(GL_ELEMENT_ARRAY_BUFFER, c->buffers[1]);
    gl->BufferData(GL_ELEMENT_ARRAY_BUFFER, (intptr_t)(12 * n_triangles), triangles, GL_STATIC_DRAW);
    MODAL_TRY(gl_targets(gl, n_vertices, 1, &c->textures[0], &c->framebuffers[0], err));
    MODAL_TRY(gl_targets(gl, n_vertices, 1, &c->textures[1], &c->framebuffers[1], err));
    MODAL_TRY(gl_targets(gl, n_vertices, 2, &c->textures[2], &c->framebuffers[2], err));
done:
    if (status != MODAL_OK) *curvature = gl_curvature_delete(*curvature);
    return status;
}

gl_curvature *gl_curvature_delete(gl_curvature *c)
{
    if (!c) return NULL;
    for (int i = 0; i < 3; i++)
        if (c->programs[i]) c->gl->DeleteProgram(c->programs[i]);
    c->gl->DeleteFramebuffers(3, c->framebuffers);
    c->gl->DeleteTextures(4, c->textures);
    c->gl->DeleteBuffers(2, c->buffers);
    c->gl->DeleteVertexArrays(1, &c->array);
    modal_free(&c);
    return NULL;
}

void gl_curvature_draw(void *curvature)
{
    static const float zero[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const gl_curvature *c = curvature;
    const gl_context *gl = c->gl;
    gl->Viewport(0, 0, GL_WIDTH, c->height);
    gl->BindVertexArray(c->array);
    gl->Enable(GL_BLEND);
    gl->BlendFunc(GL_ONE, GL_ONE);
    for (int pass = 0; pass < 2; pass++) {
        gl->BindFramebuffer(GL_FRAMEBUFFER, c->framebuffers[pass]);
        gl->ClearBufferfv(GL_COLOR, 0, zero);
        gl->ActiveTexture(GL_TEXTURE0);
        gl->BindTexture(GL_TEXTURE_2D, pass ? c->textures[0] : 0);
        gl->UseProgram(c->programs[pass]);
        gl->DrawElements(GL_TRIANGLES, c->n_corners, GL_UNSIGNED_INT, NULL);
    }
    gl->Disable(GL_BLEND);
    gl->BindFramebuffer(GL_FRAMEBUFFER, c->framebuffers[2]);
    gl->ActiveTexture(GL_TEXTURE0 + 1);
    gl->BindTexture(GL_TEXTURE_2D, c->textures[1]);
    gl->UseProgram(c->programs[2]);
    gl->DrawArrays(GL_TRIANGLES, 0, 3);
    gl->BindTexture(GL_TEXTURE_2D, 0);
}

modal_status gl_curvature_read(const gl_curvature *c, float *scalars, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *pixels = NULL;
    MODAL_TRY(modal_alloc(&pixels, 4 * (int64_t)GL_WIDTH * c->height, sizeof *pixels, "pixels", err));
    c->gl->BindTexture(GL_TEXTURE_2D, c->textures[2]);
    c->gl->GetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_FLOAT, pixels);
    MODAL_TRY(gl_check(c->gl, "reading pixels", err));
    memcpy(scalars, pixels, (size_t)(16 * c->n_vertices));
done:
    modal_free(&pixels);
    return status;
}
