/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a view (kernels/raster/raster.h) are what the vertex shader has; y is left pointing down, so that rows read from below come in the
 * picture's order. Depth is near / w, as ours is, the larger the nearer. */
#include "tests/bench/opponents/gl_pictures.h"

#include <string.h>

#include "lib/base/memory.h"

enum { SHADOW, BLUR, PHONG, IDS, PROGRAMS };
enum { MOMENTS, ACROSS, PICTURE, NUMBERS, NORMALS, TEXTURES };
enum { TO_MAP, TO_ACROSS, TO_SAMPLES, TO_PICTURE, TO_IDS, FRAMEBUFFERS };
enum { MAP_DEPTH, SAMPLES_COLOUR, SAMPLES_DEPTH, IDS_DEPTH, RENDERBUFFERS };

struct gl_pictures {
    const gl_context *gl;
    gl_picture_scene scene; /* its arrays are gone */
    unsigned buffers[3], array, programs[PROGRAMS], textures[TEXTURES], framebuffers[FRAMEBUFFERS], renderbuffers[RENDERBUFFERS];
};

static const char OF_VERTEX[] =
    "layout(location = 0) in vec3 point;\n"
    "layout(location = 1) in vec3 normal;\n"
    "uniform vec4 rows[4];\n" /* x, y, w, depth */
    "uniform vec3 origin;\n"
    "uniform vec2 size;\n"
    "uniform float nearest;\n"
    "out vec3 place, n;\n"
    "void main() {\n"
    "    vec4 d = vec4(point - origin, 1.0);\n"
    "    float w = dot(rows[2], d);\n"
    "    gl_Position = vec4(2.0 * dot(rows[0], d) / size.x - w, 2.0 * dot(rows[1], d) / size.y - w, nearest * dot(rows[3], d), w);\n"
    "    place = point, n = normal;\n"
    "}\n";

static const char OF_SHADOW[] =
    "layout(location = 0) out vec2 moments;\n"
    "void main() { float z = gl_FragCoord.z; moments = vec2(z, z * z); }\n";

static const char WHOLE[] = "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }\n";

static const char OF_BLUR[] =
    "layout(binding = 0) uniform sampler2D map;\n"
    "uniform int along, radius;\n"
    "uniform float weights[33];\n"
    "layout(location = 0) out vec2 moments;\n"
    "void main() {\n"
    "    ivec2 at = ivec2(gl_FragCoord.xy), last = textureSize(map, 0) - 1;\n"
    "    moments = vec2(0.0);\n"
    "    for (int i = -radius; i <= radius; i++)\n"
    "        moments += weights[i + radius] * texelFetch(map, clamp(at + (along == 0 ? ivec2(i, 0) : ivec2(0, i)), ivec2(0), last), 0).xy;\n"
    "}\n";

static const char OF_PHONG[] =
    "in vec3 place, n;\n"
    "layout(binding = 0) uniform sampler2D map;\n"
    "uniform vec3 eye, direction, colour, ambient, diffuse, specular, light_origin;\n"
    "uniform vec4 light_rows[4];\n"
    "uniform float shininess, bleeding, side, border;\n"
    "layout(location = 0) out vec4 c;\n"
    "float lit() {\n"
    "    vec4 d = vec4(place - light_origin, 1.0);\n"
    "    vec2 at = vec2(dot(light_rows[0], d), dot(light_rows[1], d));\n"
    "    float t = max(dot(light_rows[3], d), 0.0);\n"
    "    if (any(lessThan(at, vec2(border))) || any(greaterThanEqual(at, vec2(side - border)))) return 1.0;\n"
    "    vec2 m = texture(map, at / side).xy;\n"
    "    float v = max(m.y - m.x * m.x, 2e-6), nearer = m.x - t;\n"
    "    return clamp(((nearer > 0.0 ? v / (v + nearer * nearer) : 1.0) - bleeding) / (1.0 - bleeding), 0.0, 1.0);\n"
    "}\n"
    "void main() {\n"
    "    vec3 u = normalize(n), v = normalize(eye - place), sum = ambient;\n"
    "    float towards = dot(u, direction);\n"
    "    if (towards > 0.0) {\n"
    "        float mirrored = clamp(2.0 * towards * dot(u, v) - dot(direction, v), 0.0, 1.0);\n"
    "        sum += lit() * colour * (towards * diffuse + pow(mirrored, shininess) * specular);\n"
    "    }\n"
    "    c = vec4(min(sum, vec3(1.0)), 1.0);\n"
    "}\n";

static const char OF_IDS[] =
    "in vec3 place, n;\n"
    "uniform int first;\n"
    "layout(location = 0) out uint id;\n"
    "layout(location = 1) out vec4 of;\n"
    "void main() { id = uint(first + gl_PrimitiveID); of = vec4(normalize(n), 1.0 / gl_FragCoord.w); }\n";

static modal_status make_programs(gl_pictures *p, modal_error *err)
{
    static const gl_stage stages[PROGRAMS][3] = {
        [SHADOW] = {{GL_VERTEX_SHADER, OF_VERTEX}, {GL_FRAGMENT_SHADER, OF_SHADOW}, {0, NULL}},
        [BLUR] = {{GL_VERTEX_SHADER, WHOLE}, {GL_FRAGMENT_SHADER, OF_BLUR}, {0, NULL}},
        [PHONG] = {{GL_VERTEX_SHADER, OF_VERTEX}, {GL_FRAGMENT_SHADER, OF_PHONG}, {0, NULL}},
        [IDS] = {{GL_VERTEX_SHADER, OF_VERTEX}, {GL_FRAGMENT_SHADER, OF_IDS}, {0, NULL}}};
    modal_status status = MODAL_OK;
    for (int i = 0; i < PROGRAMS; i++) MODAL_TRY(gl_program(p->gl, "", stages[i], &p->programs[i], err));
done:
    return status;
}

static void make_arrays(gl_pictures *p, const gl_picture_scene *s)
{
    const gl_context *gl = p->gl;
    const float *values[2] = {s->points, s->normals};
    gl->GenVertexArrays(1, &p->array);
    gl->BindVertexArray(p->array);
    gl->GenBuffers(3, p->buffers);
    for (unsigned i = 0; i < 2; i++) {
        gl->BindBuffer(GL_ARRAY_BUFFER, p->buffers[i]);
        gl->BufferData(GL_ARRAY_BUFFER, (intptr_t)(12 * s->n_points), values[i], GL_STATIC_DRAW);
        gl->VertexAttribPointer(i, 3, GL_FLOAT, 0, 12, NULL);
        gl->EnableVertexAttribArray(i);
    }
    gl->BindBuffer(GL_ELEMENT_ARRAY_BUFFER, p->buffers[2]);
    gl->BufferData(GL_ELEMENT_ARRAY_BUFFER, (intptr_t)(12 * s->n_triangles), s->triangles, GL_STATIC_DRAW);
}

static void make_texture(gl_pictures *p, int which, unsigned format, int width, int height, int framebuffer, unsigned attachment)
{
    const gl_context *gl = p->gl;
    gl->BindTexture(GL_TEXTURE_2D, p->textures[which]);
    gl->TexStorage2D(GL_TEXTURE_2D, 1, format, width, height);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, which == MOMENTS ? GL_LINEAR : GL_NEAREST);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, which == MOMENTS ? GL_LINEAR : GL_NEAREST);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    gl->BindFramebuffer(GL_FRAMEBUFFER, p->framebuffers[framebuffer]);
    gl->FramebufferTexture2D(GL_FRAMEBUFFER, attachment, GL_TEXTURE_2D, p->textures[which], 0);
}

static void make_renderbuffer(gl_pictures *p, int which, unsigned format, int samples, int width, int height, int framebuffer, unsigned attachment)
{
    const gl_context *gl = p->gl;
    gl->BindRenderbuffer(GL_RENDERBUFFER, p->renderbuffers[which]);
    gl->RenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
    gl->BindFramebuffer(GL_FRAMEBUFFER, p->framebuffers[framebuffer]);
    gl->FramebufferRenderbuffer(GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, p->renderbuffers[which]);
}

static modal_status make_targets(gl_pictures *p, modal_error *err)
{
    static const unsigned both[2] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT0 + 1};
    const gl_context *gl = p->gl;
    const gl_picture_scene *s = &p->scene;
    const int w = s->width, h = s->height, n = s->shadow_size;
    gl->GenTextures(TEXTURES, p->textures);
    gl->GenFramebuffers(FRAMEBUFFERS, p->framebuffers);
    gl->GenRenderbuffers(RENDERBUFFERS, p->renderbuffers);
    make_texture(p, MOMENTS, GL_RG32F, n, n, TO_MAP, GL_COLOR_ATTACHMENT0);
    make_renderbuffer(p, MAP_DEPTH, GL_DEPTH_COMPONENT32F, 0, n, n, TO_MAP, GL_DEPTH_ATTACHMENT);
    make_texture(p, ACROSS, GL_RG32F, n, n, TO_ACROSS, GL_COLOR_ATTACHMENT0);
    make_renderbuffer(p, SAMPLES_COLOUR, GL_RGBA8, s->samples, w, h, TO_SAMPLES, GL_COLOR_ATTACHMENT0);
    make_renderbuffer(p, SAMPLES_DEPTH, GL_DEPTH_COMPONENT32F, s->samples, w, h, TO_SAMPLES, GL_DEPTH_ATTACHMENT);
    make_texture(p, PICTURE, GL_RGBA8, w, h, TO_PICTURE, GL_COLOR_ATTACHMENT0);
    make_texture(p, NUMBERS, GL_R32UI, w, h, TO_IDS, GL_COLOR_ATTACHMENT0);
    make_texture(p, NORMALS, GL_RGBA32F, w, h, TO_IDS, GL_COLOR_ATTACHMENT0 + 1);
    make_renderbuffer(p, IDS_DEPTH, GL_DEPTH_COMPONENT32F, 0, w, h, TO_IDS, GL_DEPTH_ATTACHMENT);
    for (int i = 0; i < FRAMEBUFFERS; i++) {
        gl->BindFramebuffer(GL_FRAMEBUFFER, p->framebuffers[i]);
        gl->DrawBuffers(i == TO_IDS ? 2 : 1, both); /* said for each: a driver's contexts without a surface may begin with none */
        gl->ReadBuffer(GL_COLOR_ATTACHMENT0);
        if (gl->CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
            return modal_error_set(err, MODAL_ERROR_SYSTEM, "OpenGL cannot draw to framebuffer %d", i);
    }
    return gl_check(gl, "targets", err);
}

static void set_rows(const gl_pictures *p, int program, const char *name, const modal_raster_view *v)
{
    const gl_context *gl = p->gl;
    float rows[4][4];
    memcpy(rows[0], v->x, sizeof rows[0]), memcpy(rows[1], v->y, sizeof rows[1]);
    memcpy(rows[2], v->w, sizeof rows[2]), memcpy(rows[3], v->depth, sizeof rows[3]);
    gl->Uniform4fv(gl->GetUniformLocation(p->programs[program], name), 4, rows[0]);
}

static void set_three(const gl_pictures *p, int program, const char *name, const float v[3])
{
    p->gl->Uniform3f(p->gl->GetUniformLocation(p->programs[program], name), v[0], v[1], v[2]);
}

static void set_one(const gl_pictures *p, int program, const char *name, float v)
{
    p->gl->Uniform1f(p->gl->GetUniformLocation(p->programs[program], name), v);
}

/* What does not change from frame to frame. */
static void set_uniforms(const gl_pictures *p)
{
    const gl_context *gl = p->gl;
    const gl_picture_scene *s = &p->scene;
    for (int i = 0; i < PROGRAMS; i++) {
        const modal_raster_view *view = i == SHADOW ? &s->light : &s->camera;
        gl->UseProgram(p->programs[i]);
        if (i == BLUR) {
            gl->Uniform1i(gl->GetUniformLocation(p->programs[i], "radius"), s->shadow_radius);
            gl->Uniform1fv(gl->GetUniformLocation(p->programs[i], "weights"), 2 * s->shadow_radius + 1, s->weights);
            continue;
        }
        set_rows(p, i, "rows", view);
        set_three(p, i, "origin", view->origin);
        set_one(p, i, "nearest", i == SHADOW ? 1.0f : view->near_w);
        gl->Uniform2f(gl->GetUniformLocation(p->programs[i], "size"), (float)(i == SHADOW ? s->shadow_size : s->width),
                      (float)(i == SHADOW ? s->shadow_size : s->height));
    }
    gl->UseProgram(p->programs[PHONG]);
    set_three(p, PHONG, "eye", s->camera.origin), set_three(p, PHONG, "direction", s->direction), set_three(p, PHONG, "colour", s->colour);
    set_three(p, PHONG, "light_origin", s->light.origin);
    set_rows(p, PHONG, "light_rows", &s->light);
    set_one(p, PHONG, "bleeding", s->bleeding), set_one(p, PHONG, "side", (float)s->shadow_size), set_one(p, PHONG, "border", (float)s->shadow_border);
}

modal_status gl_pictures_new(gl_pictures **pictures, const gl_context *gl, const gl_picture_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(pictures, 1, sizeof **pictures, "OpenGL", err));
    gl_pictures *p = *pictures;
    p->gl = gl;
    p->scene = *scene;
    MODAL_TRY(make_programs(p, err));
    make_arrays(p, scene);
    MODAL_TRY(make_targets(p, err));
    set_uniforms(p);
    gl->ClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
    gl->DepthFunc(GL_GREATER);
    gl->FrontFace(GL_CW); /* y points down */
    MODAL_TRY(gl_check(gl, "picture", err));
done:
    if (status != MODAL_OK) *pictures = gl_pictures_delete(*pictures);
    return status;
}

gl_pictures *gl_pictures_delete(gl_pictures *p)
{
    if (!p) return NULL;
    for (int i = 0; i < PROGRAMS; i++)
        if (p->programs[i]) p->gl->DeleteProgram(p->programs[i]);
    p->gl->DeleteFramebuffers(FRAMEBUFFERS, p->framebuffers);
    p->gl->DeleteRenderbuffers(RENDERBUFFERS, p->renderbuffers);
    p->gl->DeleteTextures(TEXTURES, p->textures);
    p->gl->DeleteBuffers(3, p->buffers);
    p->gl->DeleteVertexArrays(1, &p->array);
    modal_free(&p);
    return NULL;
}

/* ---- a frame ---- */

static void begin(const gl_pictures *p, int framebuffer, int program, int width, int height)
{
    static const float zero[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const gl_context *gl = p->gl;
    gl->BindFramebuffer(GL_FRAMEBUFFER, p->framebuffers[framebuffer]);
    gl->Viewport(0, 0, width, height);
    gl->UseProgram(p->programs[program]);
    if (program != BLUR) gl->ClearBufferfv(GL_DEPTH, 0, zero);
}

static void draw_triangles(const gl_pictures *p, int64_t first, int64_t n)
{
    p->gl->DrawElements(GL_TRIANGLES, (int)(3 * n), GL_UNSIGNED_INT, (const void *)(uintptr_t)(12 * first));
}

void gl_pictures_draw(void *pictures)
{
    static const float zero[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    static const unsigned none[4] = {~0u, ~0u, ~0u, ~0u};
    const gl_pictures *p = pictures;
    const gl_context *gl = p->gl;
    const gl_picture_scene *s = &p->scene;
    const int64_t objects = s->n_triangles - s->n_ground;
    const float background[4] = {s->background[0], s->background[1], s->background[2], 1.0f};
    gl->BindVertexArray(p->array);
    gl->ActiveTexture(GL_TEXTURE0);
    gl->Enable(GL_DEPTH_TEST), gl->Enable(GL_CULL_FACE);
    begin(p, TO_MAP, SHADOW, s->shadow_size, s->shadow_size);
    gl->ClearBufferfv(GL_COLOR, 0, zero);
    draw_triangles(p, 0, s->n_triangles);
    gl->Disable(GL_DEPTH_TEST), gl->Disable(GL_CULL_FACE);
    for (int i = 0; i < 2; i++) {
        begin(p, i == 0 ? TO_ACROSS : TO_MAP, BLUR, s->shadow_size, s->shadow_size);
        gl->BindTexture(GL_TEXTURE_2D, p->textures[i == 0 ? MOMENTS : ACROSS]);
        gl->Uniform1i(gl->GetUniformLocation(p->programs[BLUR], "along"), i);
        gl->DrawArrays(GL_TRIANGLES, 0, 3);
    }
    gl->Enable(GL_DEPTH_TEST), gl->Enable(GL_CULL_FACE);
    begin(p, TO_SAMPLES, PHONG, s->width, s->height);
    gl->ClearBufferfv(GL_COLOR, 0, background);
    gl->BindTexture(GL_TEXTURE_2D, p->textures[MOMENTS]);
    for (int i = 0; i < 2; i++) {
        const gl_picture_material *m = &s->materials[i];
        set_three(p, PHONG, "ambient", m->ambient), set_three(p, PHONG, "diffuse", m->diffuse), set_three(p, PHONG, "specular", m->specular);
        set_one(p, PHONG, "shininess", m->shininess);
        draw_triangles(p, i == 0 ? 0 : objects, i == 0 ? objects : s->n_ground);
    }
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, p->framebuffers[TO_SAMPLES]);
    gl->BindFramebuffer(GL_DRAW_FRAMEBUFFER, p->framebuffers[TO_PICTURE]);
    gl->BlitFramebuffer(0, 0, s->width, s->height, 0, 0, s->width, s->height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    begin(p, TO_IDS, IDS, s->width, s->height);
    gl->ClearBufferuiv(GL_COLOR, 0, none), gl->ClearBufferfv(GL_COLOR, 1, zero);
    gl->Uniform1i(gl->GetUniformLocation(p->programs[IDS], "first"), 0);
    draw_triangles(p, 0, s->n_triangles);
}

modal_status gl_pictures_read(const gl_pictures *p, uint8_t *picture, modal_error *err)
{
    p->gl->BindFramebuffer(GL_FRAMEBUFFER, p->framebuffers[TO_PICTURE]);
    p->gl->ReadPixels(0, 0, p->scene.width, p->scene.height, GL_RGBA, GL_UNSIGNED_BYTE, picture);
    return gl_check(p->gl, "reading a picture", err);
}
