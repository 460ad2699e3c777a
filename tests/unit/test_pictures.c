/* SPDX-License-Identifier: Apache-2.0 */
/* PNG that is written, unpacked by zlib: every size and kind of texel, and which filter is taken of what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "formats/images/png_write.h"

enum { NONE = 0, UP = 2 };

static uint32_t get_32(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

/* Numbers of [height, width, channels] as they are in the file, of its one IDAT, whose rows have one filter, *filter. The caller frees. */
static uint8_t *unpack(const uint8_t *file, int64_t length, size_t row, size_t height, int *filter)
{
    enum { IDAT = 8 + 12 + 13 + 12 + 1 };
    uLongf n = (uLongf)(height * (row + 1));
    uint8_t *lines = malloc(n), *values = malloc(height * row);
    assert_non_null(lines);
    assert_non_null(values);
    assert_memory_equal(file + IDAT + 4, "IDAT", 4);
    const uint32_t packed = get_32(file + IDAT);
    assert_int_equal(IDAT + 12 + packed + 12, length);
    assert_int_equal(get_32(file + IDAT + 8 + packed), crc32(0, file + IDAT + 4, packed + 4));
    assert_int_equal(uncompress(lines, &n, file + IDAT + 8, packed), Z_OK);
    assert_int_equal(n, height * (row + 1));
    *filter = lines[0];
    for (size_t y = 0; y < height; y++) {
        assert_int_equal(lines[y * (row + 1)], *filter);
        for (size_t x = 0; x < row; x++)
            values[y * row + x] = (uint8_t)(lines[y * (row + 1) + 1 + x] + (*filter == UP && y > 0 ? values[(y - 1) * row + x] : 0));
    }
    free(lines);
    return values;
}

/* Encodes an exact copy on the heap, so that a sanitizer sees a read past the end; returns the filter. */
static int check(modal_png_room *room, const void *texels, int bits, int channels, int32_t width, int32_t height)
{
    modal_error err = {0};
    const uint8_t *file = NULL;
    int64_t length = 0;
    int filter = -1;
    const size_t n = (size_t)width * (size_t)height, row = (size_t)(width * channels * bits / 8);
    uint8_t *copy = malloc(4 * n * (size_t)bits / 8);
    assert_non_null(copy);
    memcpy(copy, texels, 4 * n * (size_t)bits / 8);
    assert_int_equal(modal_png_encode(room, &(modal_png_picture){copy, bits, channels, width, height}, &file, &length, &err), MODAL_OK);
    uint8_t *values = unpack(file, length, row, (size_t)height, &filter);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < (size_t)channels; k++) {
            const uint8_t *got = values + (i * (size_t)channels + k) * (size_t)bits / 8;
            if (bits == 8) assert_int_equal(got[0], copy[4 * i + k]);
            else assert_int_equal(got[0] << 8 | got[1], ((const uint16_t *)(const void *)copy)[4 * i + k]);
        }
    free(values);
    free(copy);
    return filter;
}

static void test_sizes(void **state)
{
    enum { MOST = 300 };
    static uint16_t texels[4 * MOST * MOST];
    uint64_t seed = 7;
    modal_png_room room = {0};
    (void)state;
    for (size_t i = 0; i < sizeof texels / sizeof *texels; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        texels[i] = (uint16_t)(seed >> 48);
    }
    const int32_t heights[] = {1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 135, 136, MOST};
    for (size_t h = 0; h < sizeof heights / sizeof *heights; h++)
        for (int32_t width = 1; width < 40; width += h % 2 ? 1 : 5) {
            check(&room, texels, 8, 3, width, heights[h]);
            check(&room, texels, 8, 4, width, heights[h]);
            check(&room, texels, 8, 1, width, heights[h]);
            check(&room, texels, 16, 3, width, heights[h]);
        }
    check(&room, texels, 8, 3, MOST, MOST);
    check(&room, texels, 16, 3, MOST, MOST);
    modal_png_free(&room);
}

/* Pixels of four colours: as they are. Slopes: less what is above. */
static void test_filters(void **state)
{
    enum { WIDTH = 400, HEIGHT = 300 };
    static uint8_t four[HEIGHT][WIDTH][4], slope[HEIGHT][WIDTH][4];
    static uint16_t deep[HEIGHT][WIDTH][4];
    modal_png_room room = {0};
    (void)state;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = 0; k < 4; k++) {
                const uint32_t mixed = (uint32_t)(x + WIDTH * y) * 2654435761u;
                four[y][x][k] = (uint8_t)((mixed * (mixed >> 15 | 1) >> 30) * (37 + 61 * (uint32_t)k));
                slope[y][x][k] = (uint8_t)((x * x / 7 * (k + 1)) / 16 + y / 3);
                deep[y][x][k] = (uint16_t)(331 * x * (k + 1) + 57 * y);
            }
    assert_int_equal(check(&room, four, 8, 3, WIDTH, HEIGHT), NONE);
    assert_int_equal(check(&room, slope, 8, 3, WIDTH, HEIGHT), UP);
    assert_int_equal(check(&room, deep, 16, 3, WIDTH, HEIGHT), UP);
    modal_png_free(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_filters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
