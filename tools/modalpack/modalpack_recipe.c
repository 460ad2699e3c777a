/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: the hash of what a basis is made from. */
#include <stdio.h>
#include <string.h>

#include "formats/json/materials.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/modalpack/modalpack.h"

/* The version of the method: raised by one when the same files and options begin to give another basis, but for
 * rounding. */
enum { METHOD = 2 };

static void add_text(modal_hash *hash, const char *name, const char *text)
{
    modal_hash_array(hash, name, text, (int64_t)strlen(text), 1);
}

static void add_integer(modal_hash *hash, const char *name, int64_t value) { modal_hash_array(hash, name, &value, 1, 8); }
static void add_number(modal_hash *hash, const char *name, double value) { modal_hash_array(hash, name, &value, 1, 8); }

/* A file counts by its bytes, not by its name. */
static modal_status add_file(modal_hash *hash, const char *name, const char *path, modal_error *err)
{
    char text[MODAL_HASH_TEXT];
    const modal_status status = modal_hash_file(path, text, err);
    if (status == MODAL_OK) add_text(hash, name, text);
    return status;
}

static int is_file(const char *path)
{
    FILE *file = modal_disk_stream(path);
    if (!file) return 0;
    fclose(file);
    return 1;
}

/* A mesh, of TetGen with the files beside it. */
static modal_status add_mesh(modal_hash *hash, const char *path, modal_error *err)
{
    static const char *const beside[] = {".node", ".ele", ".face"};
    modal_status status = MODAL_OK;
    char *other = NULL;
    const char *dot = strrchr(path, '.');
    int is_tetgen = 0;
    for (int i = 0; i < 3 && dot; i++) is_tetgen |= strcmp(dot, beside[i]) == 0;
    if (!is_tetgen) return add_file(hash, "mesh", path, err);
    const size_t stem = (size_t)(dot - path);
    MODAL_TRY(modal_alloc(&other, (int64_t)stem + 6, 1, "path", err));
    for (int i = 0; i < 3; i++) {
        snprintf(other, stem + 6, "%.*s%s", (int)stem, path, beside[i]);
        if (is_file(other)) MODAL_TRY(add_file(hash, beside[i], other, err));
    }
done:
    modal_free(&other);
    return status;
}

/* What --fixed names: of a file its bytes, and the components after it; else the text itself. */
static modal_status add_fixed(modal_hash *hash, const char *text, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *path = NULL;
    const char *at = strrchr(text, '@');
    if (is_file(text)) return add_file(hash, "fixed file", text, err);
    if (at) MODAL_TRY(modal_copy_text(&path, text, (size_t)(at - text), err));
    if (path && is_file(path)) MODAL_TRY(add_file(hash, "fixed file", path, err));
    add_text(hash, "fixed", path && is_file(path) ? at : text);
done:
    modal_free(&path);
    return status;
}

/* The directions of fibres that a file of materials names. */
static modal_status add_fibres(modal_hash *hash, const char *materials, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_material_file file = {0};
    MODAL_TRY(modal_materials_read(materials, &file, err));
    for (int32_t i = 0; i < file.n_materials; i++)
        if (file.fibre_files[i]) MODAL_TRY(add_file(hash, "fibres", file.fibre_files[i], err));
done:
    modal_material_file_free(&file);
    return status;
}

modal_status modalpack_find_recipe(const tool *t, const modalpack_request *r, char recipe[MODAL_HASH_TEXT], modal_error *err)
{
    static const char *const files[] = {"surface", "materials", "snapshots", "import"};
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    const tool_arguments *a = &t->arguments;
    MODAL_TRY(modal_hash_new(&hash, err));
    add_integer(hash, "method", METHOD);
    for (int i = 0; i < r->n_meshes; i++) MODAL_TRY(add_mesh(hash, r->mesh_paths[i], err));
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        for (int i = 0; i < tool_count(a, files[k]); i++)
            MODAL_TRY(add_file(hash, files[k], tool_value_at(a, files[k], i), err));
    if (r->input.materials_path) MODAL_TRY(add_fibres(hash, r->input.materials_path, err));
    for (int i = 0; i < tool_count(a, "fixed"); i++) MODAL_TRY(add_fixed(hash, tool_value_at(a, "fixed", i), err));
    for (int i = 0; i < tool_count(a, "material"); i++) add_text(hash, "material", tool_value_at(a, "material", i));
    if (t->assumed_material) add_text(hash, "material", t->assumed_material); /* the same basis as with --material */
    add_integer(hash, "shapes", r->shapes);
    add_integer(hash, "modes", r->import_path && r->import_all ? -1 : r->n_modes);
    add_integer(hash, "derivatives", r->n_linear);
    add_number(hash, "energy", r->snapshots_path ? r->energy : 0);
    add_number(hash, "young", r->input.has_material ? r->input.young : 0);
    add_number(hash, "poisson", r->input.has_material ? r->input.poisson : 0);
    add_number(hash, "density", r->input.has_material ? r->input.density : 0);
    add_text(hash, "unit", r->input.units.unit->name);
    add_text(hash, "surface unit", r->surface_units.unit->name);
    add_number(hash, "scale", r->input.units.scale);
    add_integer(hash, "free", tool_count(a, "free"));
    add_integer(hash, "mass", r->mass_rule);
    add_integer(hash, "hex8", r->hex8);
    add_integer(hash, "reduced forces", r->reduced_forces);
    add_integer(hash, "sturm", r->sturm);
    add_integer(hash, "factor", r->factor);
    add_integer(hash, "volume modes", r->volume_modes);
    modal_hash_text(hash, recipe);
done:
    modal_hash_delete(hash);
    return status;
}
