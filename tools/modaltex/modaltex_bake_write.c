/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex bake: an image, a look that shows it, a surface with texture coordinates. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/images/png_write.h"
#include "lib/base/memory.h"
#include "tools/modaltex/modaltex_bake.h"

static modal_status write_bytes(const tool_output *output, const void *bytes, int64_t length, modal_error *err)
{
    FILE *file = fopen(output->temporary, "wb");
    int failed = !file || fwrite(bytes, 1, (size_t)length, file) != (size_t)length;
    if (file) failed |= fclose(file) != 0;
    return failed ? modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", output->path, strerror(errno)) : MODAL_OK;
}

static int is_covered(const modal_atlas *a, int64_t at)
{
    const int64_t x = at % a->width, y = at / a->width;
    return a->covered[y * ((a->width + 31) / 32) + x / 32] >> x % 32 & 1;
}

/* A texel of an atlas of numbers in 16 bits. */
static void put_wide(const modal_atlas *a, const modal_atlas_request *r, int components, int64_t at, uint16_t to[4])
{
    const double scale = 65535 / (r->range[1] - r->range[0]);
    for (int c = 0; c < 4; c++) to[c] = (uint16_t)(257 * (a->texels[at] >> 8 * c & 255));
    if (!is_covered(a, at)) return;
    for (int c = 0; c < 3; c++)
        to[c] = (uint16_t)(fmin(65535, fmax(0, ((double)a->numbers[components * at + c % components] - r->range[0]) * scale)) + 0.5);
}

modal_status modaltex_picture_make(const modal_atlas *a, const modal_atlas_request *r, int bits, modaltex_picture *p, modal_error *err)
{
    const int64_t n = (int64_t)a->width * a->height;
    *p = (modaltex_picture){.width = a->width, .height = a->height, .bits = bits};
    const modal_status status = modal_alloc(&p->texels, 4 * n, (size_t)bits / 8, "texels", err);
    if (status != MODAL_OK) return status;
    for (int64_t i = 0; i < n; i++) p->alpha |= is_covered(a, i) && a->texels[i] >> 24 != 255;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = (a->height - 1 - i / a->width) * a->width + i % a->width;
        if (bits == 16) put_wide(a, r, a->components, at, (uint16_t *)p->texels + 4 * i);
        else memcpy((uint8_t *)p->texels + 4 * i, a->texels + at, 4);
        if (bits == 8 && !p->alpha) ((uint8_t *)p->texels)[4 * i + 3] = 255;
    }
    return MODAL_OK;
}

void modaltex_picture_free(modaltex_picture *p) { modal_free(&p->texels); }

modal_status modaltex_write_png(const tool_output *output, const modaltex_picture *p, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_png_room room = {0};
    const modal_png_picture picture = {p->texels, p->bits, p->alpha ? 4 : 3, p->width, p->height};
    const uint8_t *bytes;
    int64_t length = 0;
    MODAL_TRY(modal_png_encode(&room, &picture, &bytes, &length, err));
    MODAL_TRY(write_bytes(output, bytes, length, err));
done:
    modal_png_free(&room);
    return status;
}

modal_status modaltex_write_look(const tool_output *output, const char *image, int normals, const char *charts, modal_error *err)
{
    json_t *look = json_pack("{s:i, s:{s:{s:s}}, s:s}", "look", 1, "materials", "baked", normals ? "normal_image" : "image", image, "default", "baked");
    if (look && charts) json_object_set_new(look, "uv", json_pack("[s]", charts));
    char *text = look ? json_dumps(look, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    json_decref(look);
    if (!text) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: the image's name is no UTF-8, or there is no memory", output->path);
    const size_t length = strlen(text);
    text[length] = '\n'; /* instead of the end */
    const modal_status status = write_bytes(output, text, (int64_t)length + 1, err);
    free(text);
    return status;
}

modal_status modaltex_write_obj(const tool_output *output, const modal_surface_mesh *s, modal_error *err)
{
    FILE *file = fopen(output->temporary, "w");
    for (int64_t v = 0; file && v < s->n_vertices; v++)
        fprintf(file, "v %.17g %.17g %.17g\n", s->positions[3 * v], s->positions[3 * v + 1], s->positions[3 * v + 2]);
    for (int64_t i = 0; file && i < s->n_uv; i++) fprintf(file, "vt %.17g %.17g\n", s->uv[2 * i], s->uv[2 * i + 1]);
    for (int64_t i = 0; file && i < 3 * s->n_triangles; i++)
        fprintf(file, "%s%d/%d%s", i % 3 ? " " : "f ", s->triangles[i] + 1, s->triangle_uv[i] + 1, i % 3 == 2 ? "\n" : "");
    int failed = !file || ferror(file);
    if (file) failed |= fclose(file) != 0;
    return failed ? modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error, %s", output->path, strerror(errno)) : MODAL_OK;
}
