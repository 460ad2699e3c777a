/* SPDX-License-Identifier: Apache-2.0 */
/* Looks and .mtl files: what they mean, what is refused with which words, every prefix, every failing allocation; which triangle
 * has which material. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/json/look.h"
#include "formats/meshes/mtl.h"
#include "lib/base/memory.h"

static const char good[] =
    "{\"look\": 1, \"comment\": \"of a tree\",\n"
    " \"materials\": {\"old\": {\"like\": \"leaf\", \"diffuse\": [0.5, 0.25, 0], \"image\": \"\"},\n"
    "  \"leaf\": {\"image\": \"i/leaf.png\", \"alpha\": \"cutout\", \"cutoff\": 0.25, \"two_sided\": true, \"wrap\": \"clamp\"},\n"
    "  \"bark\": {\"diffuse\": [0.4, 0.3, 0.2], \"ambient\": [1, 0, 0], \"specular\": [0, 0, 1], \"shininess\": 7, \"opacity\": 0.5,\n"
    "   \"normal_image\": \"n.jpg\"}},\n"
    " \"default\": \"bark\",\n"
    " \"shapes\": [{\"shape\": \"crown\", \"names\": {\"green\": \"leaf\"}},\n"
    "  {\"shape\": 1, \"material\": \"old\", \"ranges\": [{\"first\": 4, \"count\": 2, \"material\": \"leaf\"},\n"
    "   {\"first\": 0, \"count\": 1, \"material\": \"bark\"}]}],\n"
    " \"objects\": [{\"object\": 2, \"tint\": [1, 2, 3]}, {\"object\": 1, \"material\": \"leaf\"}],\n"
    " \"lights\": [{\"direction\": [0, 0, -2], \"shadow\": false}], \"ambient\": [0, 0, 0], \"background\": [0, 0, 1],\n"
    " \"cameras\": [{\"name\": \"a\", \"eye\": [0, 0, 0], \"target\": [3, 0, 0], \"keys\": [[0, 0, 0, 0, 1, 0, 0], [2, 0, 1, 0, 1, 0, 0]]},\n"
    "  {\"direction\": [0, 2, 0], \"fov\": 1}],\n"
    " \"ground\": {\"material\": \"bark\", \"height\": -1.5, \"size\": 4, \"tile\": 0.5}}\n";

static void read_good(modal_look *look)
{
    modal_error err = {0};
    if (modal_look_parse(good, sizeof good - 1, "l.json", 0, look, &err) != MODAL_OK) fail_msg("%s", err.message);
}

static void test_contents(void **state)
{
    (void)state;
    modal_look look;
    read_good(&look);
    assert_int_equal(look.n_materials, 3);
    const modal_look_material *old = &look.materials[0], *leaf = &look.materials[1], *bark = &look.materials[2];
    assert_string_equal(old->name, "old");
    assert_true(!old->image && old->alpha == MODAL_ALPHA_CUTOUT && old->cutoff == 0.25 && old->two_sided && old->wrap == MODAL_WRAP_CLAMP);
    assert_true(old->diffuse[0] == 0.5 && old->ambient[1] == 0.25 && old->ambient[2] == 0);
    assert_string_equal(leaf->image, "i/leaf.png");
    assert_true(leaf->diffuse[0] == 1 && leaf->ambient[2] == 1 && leaf->shininess == 20 && leaf->opacity == 1);
    assert_true(bark->diffuse[0] == 0.4 && bark->ambient[0] == 1 && bark->ambient[1] == 0 && bark->specular[2] == 1);
    assert_true(bark->shininess == 7 && bark->opacity == 0.5 && bark->alpha == MODAL_ALPHA_OPAQUE && bark->wrap == MODAL_WRAP_REPEAT);
    assert_string_equal(bark->normal_image, "n.jpg");
    assert_true(look.n_lights == 1 && look.lights[0].direction[2] == -1 && !look.lights[0].shadow && look.lights[0].colour[1] == 1);
    assert_true(look.n_cameras == 2 && !look.cameras[0].fitted && look.cameras[0].direction[0] == 1 && look.cameras[0].n_keys == 2);
    assert_true(look.cameras[1].fitted && look.cameras[1].direction[1] == 1 && look.cameras[1].fov == 1);
    assert_true(look.ground_material == 2 && !look.ground_fitted && look.ground_height == -1.5 && look.ground_size == 4 && look.ground_tile == 0.5);
    modal_look_free(&look);
    modal_look_free(&look);
}

/* Two shapes of eight triangles, stored backwards; the names of shape 0 are green, red, green ... */
static void test_resolved(void **state)
{
    (void)state;
    enum { N = 8 };
    int32_t user[N], names[N], of[N];
    char bytes[] = "green\nred\n", text[] = "crown";
    double tint[3];
    modal_error err = {0};
    modal_look look;
    for (int32_t t = 0; t < N; t++) {
        user[t] = N - 1 - t;
        names[t] = user[t] == 7 ? -1 : user[t] % 2;
    }
    modal_shape shapes[2] = {{.name = text}, {.name = NULL}};
    for (int i = 0; i < 2; i++) {
        shapes[i].surface.n_triangles = N;
        shapes[i].surface.user_triangle = user;
    }
    shapes[0].look = (modal_shape_look){names, sizeof bytes - 1, (uint8_t *)bytes};
    modal_object objects[3] = {{0, -1, {0}}, {1, -1, {0}}, {1, -1, {0}}};
    const modal_basis basis = {.n_shapes = 2, .shapes = shapes, .n_objects = 3, .objects = objects};
    read_good(&look);
    assert_int_equal(modal_look_check_basis(&look, &basis, &err), MODAL_OK);
    assert_int_equal(modal_look_resolve(&look, &basis, 0, of, tint, &err), MODAL_OK);
    for (int32_t t = 0; t < N; t++) assert_int_equal(of[t], user[t] != 7 && user[t] % 2 == 0 ? 1 : 2); /* red, none: the default */
    assert_true(tint[0] == 1 && tint[2] == 1);
    assert_int_equal(modal_look_resolve(&look, &basis, 1, of, tint, &err), MODAL_OK);
    for (int32_t t = 0; t < N; t++) assert_int_equal(of[t], 1); /* the object's own */
    assert_int_equal(modal_look_resolve(&look, &basis, 2, of, tint, &err), MODAL_OK);
    for (int32_t t = 0; t < N; t++) assert_int_equal(of[t], user[t] == 0 ? 2 : user[t] == 4 || user[t] == 5 ? 1 : 0);
    assert_true(tint[0] == 1 && tint[2] == 3);
    look.default_material = -1;
    assert_int_equal(modal_look_resolve(&look, &basis, 0, of, tint, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "object 0: triangle 7: has no material"));
    names[0] = 1;
    err = (modal_error){0};
    assert_int_equal(modal_look_resolve(&look, &basis, 0, of, tint, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "object 0: triangle 7: no material for the name red, and no default"));
    look.shapes[1].runs[1].count = 5;
    err = (modal_error){0};
    assert_int_equal(modal_look_check_basis(&look, &basis, &err), MODAL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "shape 1 has 8 triangles, 9"));
    look.shapes[1].runs[1].count = 2;
    look.objects[1].object = 3;
    err = (modal_error){0};
    assert_int_equal(modal_look_check_basis(&look, &basis, &err), MODAL_ERROR_INPUT);
    modal_look_free(&look);
}

static void test_refused(void **state)
{
    (void)state;
#define M "{\"look\": 1, \"materials\": {\"a\": {}},\n "
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"materials\": {\"a\": {}}}", "l.json:1: /: \"look\" is missing"},
        {"{\"look\": 2, \"materials\": {\"a\": {}}}", "l.json:1: /look: must be in 1 .. 1, 2"},
        {"{\"look\": 1}", "\"materials\" is missing"},
        {"{\"look\": 1, \"materials\": {}}", "/materials: needs an object of 1 to 4096 materials"},
        {"{\"look\": 1, \"materials\": {\"a\": {},\n \"a\": {}}}", "l.json:2: duplicate object key"},
        {"{\"look\": 1, \"materials\": {\"a\":\n {\"colour\": 1}}}", "l.json:2: /materials/a/colour: unknown key"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"diffuse\": [NaN, 0, 0]}}}", "l.json:1: invalid token"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"diffuse\": [1e999, 0, 0]}}}", "l.json:1: real number overflow"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"diffuse\": [-1, 0, 0]}}}", "/materials/a/diffuse: a colour has numbers in"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"opacity\": 1.5}}}", "/materials/a/opacity: must be in 0 .. 1, 1.5"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"alpha\": \"maybe\"}}}", "/materials/a/alpha: none of"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"wrap\": 3}}}", "/materials/a/wrap: not a text, 3"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"like\": \"b\"}}}", "/materials/a/like: no material of that name, \"b\""},
        {"{\"look\": 1, \"materials\": {\"a\": {\"like\": \"a\"}}}", "/materials/a/like: a material that is like itself"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"like\": \"b\"},\n \"b\": {\"like\": \"a\"}}}", "round a circle"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"image\": \"/etc/x.png\"}}}", "/materials/a/image: a path inside of the look's folder"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"image\": \"b/../../x.png\"}}}", "/materials/a/image: a path inside"},
        {"{\"look\": 1, \"materials\": {\"a\": {\"normal_image\": \"b//x.png\"}}}", "/materials/a/normal_image: a path inside"},
        {M "\"default\": \"b\"}", "l.json:2: /default: no material of that name, \"b\""},
        {M "\"shapes\": [{\"material\": \"a\"}]}", "\"shape\" is missing"},
        {M "\"shapes\": [{\"shape\": 0}, {\"shape\": 0}]}", "/shapes/1: the shape is there twice, in /shapes/0"},
        {M "\"shapes\": [{\"shape\": 0, \"ranges\": [{\"first\": 3, \"count\": 2, \"material\": \"a\"},\n{\"first\": 0, \"count\": 4, "
           "\"material\": \"a\"}]}]}", "/shapes/0/ranges: two ranges have triangle 3"},
        {M "\"objects\": [{\"object\": 1}, {\"object\": 1}]}", "/objects: object 1 is there twice"},
        {M "\"objects\": [{\"object\": -1}]}", "/objects/0/object: must be in 0 .."},
        {M "\"lights\": [{\"direction\": [0, 0, 0]}]}", "/lights/0/direction: has no direction"},
        {M "\"cameras\": []}", "/cameras: too few items"},
        {M "\"cameras\": [{\"eye\": [0, 0, 1]}]}", "/cameras/0: eye and target: both or neither"},
        {M "\"cameras\": [{\"eye\": [0, 0, 1], \"target\": [0, 0, 1]}]}", "/cameras/0: eye and target are one point"},
        {M "\"cameras\": [{\"direction\": [0, 0, 1]}]}", "`up` lies along the view"},
        {M "\"cameras\": [{\"keys\": [[0, 1, 0, 0, 0, 0, 0]]}]}", "/cameras/0/keys: only with eye and target"},
        {M "\"cameras\": [{\"eye\": [0, 1, 0], \"target\": [0, 0, 0], \"keys\": [[1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0]]}]}",
         "/cameras/0/keys/1: times must increase"},
        {M "\"ground\": {\"height\": 0}}", "/ground: \"material\" is missing"},
        {M "\"ground\": {\"material\": \"a\", \"tile\": 0}}", "/ground/tile"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        modal_look look;
        modal_error err = {0};
        assert_int_equal(modal_look_parse(cases[i].text, strlen(cases[i].text), "l.json", 0, &look, &err), MODAL_ERROR_INPUT);
        if (!strstr(err.message, cases[i].says)) fail_msg("%s instead of %s", err.message, cases[i].says);
        assert_true(!look.materials && !look.shapes && !look.cameras);
    }
    static const char far[] = "{\"look\": 1, \"materials\": {\"a\": {\"image\": \"/far/../x.png\"}}}";
    modal_look look;
    assert_int_equal(modal_look_parse(far, sizeof far - 1, "l.json", 1, &look, NULL), MODAL_OK); /* told so */
    assert_string_equal(look.materials[0].image, "/far/../x.png");
    modal_look_free(&look);
}

static const char mtl[] =
    "# made by hand\nnewmtl red paint\nKa 0.1 0.2 0.3\nKd 0.8 0 0\nKs 0.5\nNs 250\nNi 1.45\nd 0.5\nillum 2\n\n"
    "newmtl leaf # cut\nmap_Kd -s 1 1 1 -o 0 0 0 -clamp on my leaf.png\nmap_d my leaf.png\nbump -bm 0.3 sub\\n.png\nTr 0\n"
    "newmtl plain\nKd 0.25 0.5 1\nmap_Kd ./a.jpg\n";

static void test_mtl(void **state)
{
    (void)state;
    modal_look look = {0};
    modal_error err = {0};
    if (modal_mtl_parse(mtl, sizeof mtl - 1, "a.mtl", "", 0, &look, &err) != MODAL_OK) fail_msg("%s", err.message);
    assert_int_equal(look.n_materials, 3);
    const modal_look_material *m = look.materials;
    assert_string_equal(m[0].name, "red paint");
    assert_true(m[0].ambient[1] == 0.2 && m[0].diffuse[0] == 0.8 && m[0].specular[2] == 0.5 && m[0].shininess == 250);
    assert_true(m[0].opacity == 0.5 && m[0].alpha == MODAL_ALPHA_BLEND && !m[0].image);
    assert_string_equal(m[1].image, "my leaf.png");
    assert_string_equal(m[1].normal_image, "sub/n.png");
    assert_true(m[1].alpha == MODAL_ALPHA_BLEND && m[1].opacity == 1 && m[1].wrap == MODAL_WRAP_CLAMP);
    assert_string_equal(m[2].image, "a.jpg");
    assert_true(m[2].ambient[1] == 0.5 && m[2].alpha == MODAL_ALPHA_OPAQUE && m[2].wrap == MODAL_WRAP_REPEAT);
    modal_look_free(&look);
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"Kd 1 1 1\n", "a.mtl:1: newmtl expected first"},
        {"newmtl\n", "a.mtl:1: newmtl: a name"},
        {"newmtl a\nnewmtl b\nnewmtl a\n", "a.mtl:3: newmtl: the material is there twice, 'a'"},
        {"newmtl a\nKd 1 x 1\n", "a.mtl:2: "},
        {"newmtl a\nKd 1 nan 1\n", "a.mtl:2: "},
        {"newmtl a\nKd -1 0 0\n", "a.mtl:2: Kd: must be in 0 .. 1e+06, -1"},
        {"newmtl a\nKd 1 0\n", "a.mtl:2: "},
        {"newmtl a\nKd spectral x.rfl\n", "a.mtl:2: Kd: spectral colours are not supported"},
        {"newmtl a\nd 2\n", "a.mtl:2: d: must be in 0 .. 1, 2"},
        {"newmtl a\nmap_Kd\n", "a.mtl:2: map_Kd: a file name"},
        {"newmtl a\nmap_Kd -q x.png\n", "a.mtl:2: map_Kd: unknown option, '-q'"},
        {"newmtl a\nmap_Kd -s 2 2 1 x.png\n", "a.mtl:2: map_Kd: -s that changes something is not supported, 2"},
        {"newmtl a\nmap_Kd ../x.png\n", "a.mtl:2: map_Kd: the image is not in the look's folder or below it, '../x.png'"},
        {"newmtl a\nmap_Kd ..\\x.png\n", "not in the look's folder"},
        {"newmtl a\nnorm /etc/x.png\n", "a.mtl:2: norm: the image is not in"},
        {"newmtl a\nmap_Kd x.png\nmap_d y.png\nnewmtl b\n", "a.mtl:3: map_d: only the image of map_Kd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err = (modal_error){0};
        assert_int_equal(modal_mtl_parse(cases[i].text, (int64_t)strlen(cases[i].text), "a.mtl", "", 0, &look, &err), MODAL_ERROR_INPUT);
        if (!strstr(err.message, cases[i].says)) fail_msg("%s instead of %s", err.message, cases[i].says);
        modal_look_free(&look);
    }
}

/* Every prefix of a look is refused, no prefix of a .mtl does harm. */
static void test_prefixes(void **state)
{
    (void)state;
    for (size_t n = 0; n + 2 < sizeof good; n++) {
        modal_look look;
        modal_error err = {0};
        assert_int_equal(modal_look_parse(good, n, "l.json", 0, &look, &err), MODAL_ERROR_INPUT);
        assert_true(strncmp(err.message, "l.json:", 7) == 0 && !look.materials);
    }
    for (size_t n = 0; n < sizeof mtl; n++) {
        modal_look look = {0};
        modal_error err = {0};
        const modal_status status = modal_mtl_parse(mtl, (int64_t)n, "a.mtl", "", 0, &look, &err);
        assert_true(status == MODAL_OK || (status == MODAL_ERROR_INPUT && strncmp(err.message, "a.mtl:", 6) == 0));
        modal_look_free(&look);
    }
}

static void test_allocations(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int64_t n = 1;; n++) {
            modal_look look = {0};
            modal_error err = {0};
            modal_alloc_fail_at(n);
            const modal_status status = kind ? modal_mtl_parse(mtl, sizeof mtl - 1, "a.mtl", "", 0, &look, &err)
                                             : modal_look_parse(good, sizeof good - 1, "l.json", 0, &look, &err);
            const int fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
            modal_look_free(&look);
            if (!fired) break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contents), cmocka_unit_test(test_resolved), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_mtl),      cmocka_unit_test(test_prefixes), cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
