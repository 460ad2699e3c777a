/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json/materials.h"

#include <math.h>
#include <string.h>

#include "formats/json/json_place.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "lib/model/material.h"

static double normalise(double v[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3 && length > 0; k++) v[k] /= length;
    return length;
}

/* "axes": [[along 1], [in the plane of 1 and 2]]. */
static modal_status read_axes(const modal_json_place *place, double axes[9])
{
    modal_status status = MODAL_OK;
    modal_json_place item;
    MODAL_TRY(modal_json_array(place, 2));
    if (json_array_size(place->value) != 2) {
        status = modal_json_wrong(place, "needs two axes, %zu", json_array_size(place->value));
        goto done;
    }
    for (size_t i = 0; i < 2; i++) {
        modal_json_item(place, i, &item);
        MODAL_TRY(modal_json_vector(&item, 3, "1", axes + 3 * i));
        if (!(normalise(axes + 3 * i) > 0)) {
            status = modal_json_wrong(&item, "has no direction");
            goto done;
        }
    }
    double along = 0, *a = axes, *b = axes + 3, *c = axes + 6;
    for (int k = 0; k < 3; k++) along += a[k] * b[k];
    for (int k = 0; k < 3; k++) b[k] -= along * a[k];
    if (!(normalise(b) > 1e-6)) {
        status = modal_json_wrong(place, "the two axes are parallel");
        goto done;
    }
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
done:
    return status;
}

/* "rotation": {"axis": [..], "angle": rad}: turns x, y, z into the axes 1, 2, 3 (O. Rodrigues). */
static modal_status read_rotation(const modal_json_place *place, double axes[9])
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    double u[3], angle = 0;
    MODAL_TRY(modal_json_object(place, "axis angle"));
    MODAL_TRY(modal_json_required(place, "axis", &member));
    MODAL_TRY(modal_json_vector(&member, 3, "1", u));
    if (!(normalise(u) > 0)) {
        status = modal_json_wrong(&member, "has no direction");
        goto done;
    }
    MODAL_TRY(modal_json_required(place, "angle", &member));
    MODAL_TRY(modal_json_number(&member, -100, 100, "rad", &angle));
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const double cross = i == k ? 0 : (k - i + 3) % 3 == 1 ? u[3 - i - k] : -u[3 - i - k];
            axes[3 * i + k] = u[i] * u[k] * (1 - c) + (i == k) * c + s * cross;
        }
done:
    return status;
}

static modal_status read_orthotropic(const modal_json_place *place, modal_material *material)
{
    static const struct {
        const char *key, *unit;
    } triples[3] = {{"young", "Pa"}, {"poisson", "1"}, {"shear", "Pa"}};
    modal_status status = MODAL_OK;
    modal_json_place member, other;
    material->kind = MODAL_MATERIAL_ORTHOTROPIC;
    for (int i = 0; i < 3; i++) {
        MODAL_TRY(modal_json_required(place, triples[i].key, &member));
        MODAL_TRY(modal_json_vector(&member, 3, triples[i].unit, material->orthotropic + 3 * i));
    }
    for (int k = 0; k < 3; k++) material->axes[4 * k] = 1;
    const int turned = modal_json_member(place, "rotation", &other);
    if (modal_json_member(place, "axes", &member)) {
        if (turned) status = modal_json_wrong(&other, "not together with axes");
        else status = read_axes(&member, material->axes);
    } else if (turned) {
        status = read_rotation(&other, material->axes);
    }
done:
    return status;
}

/* "mu" and "bulk" instead of "young" and "poisson". */
static modal_status read_moduli(const modal_json_place *place, modal_material *material)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    double mu, bulk;
    static const char *const others[] = {"young", "poisson"};
    for (int i = 0; i < 2; i++)
        if (modal_json_member(place, others[i], &member)) {
            status = modal_json_wrong(&member, "not together with mu and bulk");
            goto done;
        }
    MODAL_TRY(modal_json_required(place, "mu", &member));
    MODAL_TRY(modal_json_number(&member, -1e300, 1e300, "Pa", &mu));
    if (!(mu > 0)) {
        status = modal_json_wrong(&member, "must be > 0 Pa");
        goto done;
    }
    MODAL_TRY(modal_json_required(place, "bulk", &member));
    MODAL_TRY(modal_json_number(&member, -1e300, 1e300, "Pa", &bulk));
    if (!(bulk > 0)) {
        status = modal_json_wrong(&member, "must be > 0 Pa");
        goto done;
    }
    material->young = 9 * bulk * mu / (3 * bulk + mu);
    material->poisson = (3 * bulk - 2 * mu) / (2 * (3 * bulk + mu));
done:
    return status;
}

static modal_status read_law(const modal_json_place *place, modal_material *material)
{
    modal_json_place member;
    const char *name;
    if (!modal_json_member(place, "law", &member)) return MODAL_OK;
    modal_status status = modal_json_text(&member, &name);
    if (status != MODAL_OK) return status;
    for (int k = 1; k < MODAL_MATERIAL_LAWS; k++)
        if (strcmp(name, modal_material_law_names[k]) == 0) {
            material->law = k;
            return MODAL_OK;
        }
    return modal_json_wrong(&member, "none of \"stvk\", \"neo_hookean\", \"logarithmic\"");
}

/* "fibres": {"stiffness": eta, "direction": [x, y, z]} or {..., "file": "f.csv"}, which lies beside the file of materials. */
static modal_status read_fibres(const modal_json_place *place, modal_material *material, char **file)
{
    modal_status status = MODAL_OK;
    modal_json_place fibres, member;
    const char *name;
    if (!modal_json_member(place, "fibres", &fibres)) return MODAL_OK;
    MODAL_TRY(modal_json_object(&fibres, "stiffness direction file"));
    MODAL_TRY(modal_json_required(&fibres, "stiffness", &member));
    MODAL_TRY(modal_json_number(&member, -1e300, 1e300, "Pa", &material->fibre_stiffness));
    if (!(material->fibre_stiffness > 0)) {
        status = modal_json_wrong(&member, "must be > 0 Pa");
        goto done;
    }
    if (modal_json_member(&fibres, "file", &member)) {
        MODAL_TRY(modal_json_text(&member, &name));
        MODAL_TRY(modal_path_beside(place->source->name, name, (int64_t)strlen(name), file, place->source->err));
        if (modal_json_member(&fibres, "direction", &member)) status = modal_json_wrong(&member, "not together with file");
        goto done;
    }
    MODAL_TRY(modal_json_required(&fibres, "direction", &member));
    MODAL_TRY(modal_json_vector(&member, 3, "1", material->fibre));
    if (!(normalise(material->fibre) > 0)) status = modal_json_wrong(&member, "has no direction");
done:
    return status;
}

/* [[share, time], ...] */
static modal_status read_terms(const modal_json_place *prony, const char *key, modal_prony *terms)
{
    modal_status status = MODAL_OK;
    modal_json_place list, item;
    if (!modal_json_member(prony, key, &list)) return MODAL_OK;
    MODAL_TRY(modal_json_array(&list, 1));
    if (json_array_size(list.value) > MODAL_PRONY_TERMS) {
        status = modal_json_wrong(&list, "at most %d terms, %zu", MODAL_PRONY_TERMS, json_array_size(list.value));
        goto done;
    }
    terms->n = (int32_t)json_array_size(list.value);
    for (int i = 0; i < terms->n; i++) {
        double values[2];
        modal_json_item(&list, (size_t)i, &item);
        MODAL_TRY(modal_json_vector(&item, 2, "1 and s", values));
        terms->share[i] = values[0];
        terms->time[i] = values[1];
    }
done:
    return status;
}

static modal_status read_prony(const modal_json_place *place, modal_material *material)
{
    modal_status status = MODAL_OK;
    modal_json_place prony;
    if (!modal_json_member(place, "prony", &prony)) return MODAL_OK;
    MODAL_TRY(modal_json_object(&prony, "isochoric volumetric"));
    MODAL_TRY(read_terms(&prony, "isochoric", &material->isochoric));
    MODAL_TRY(read_terms(&prony, "volumetric", &material->volumetric));
    if (material->isochoric.n + material->volumetric.n == 0) status = modal_json_wrong(&prony, "has no terms");
done:
    return status;
}

static modal_status read_material(const modal_json_place *place, modal_material *material, char **fibre_file)
{
    modal_status status = MODAL_OK;
    modal_json_place member;
    MODAL_TRY(modal_json_object(place, "young poisson mu bulk shear density axes rotation law fibres prony"));
    MODAL_TRY(modal_json_required(place, "density", &member));
    MODAL_TRY(modal_json_number(&member, -1e300, 1e300, "kg/m^3", &material->density));
    MODAL_TRY(read_law(place, material));
    MODAL_TRY(read_fibres(place, material, fibre_file));
    MODAL_TRY(read_prony(place, material));
    const int moduli = modal_json_member(place, "mu", &member) || modal_json_member(place, "bulk", &member);
    if (!moduli) MODAL_TRY(modal_json_required(place, "young", &member));
    if (!moduli && json_is_array(member.value)) {
        MODAL_TRY(read_orthotropic(place, material));
    } else {
        if (moduli) MODAL_TRY(read_moduli(place, material));
        else {
            MODAL_TRY(modal_json_number(&member, -1e300, 1e300, "Pa", &material->young));
            MODAL_TRY(modal_json_required(place, "poisson", &member));
            MODAL_TRY(modal_json_number(&member, -1e300, 1e300, "1", &material->poisson));
        }
        static const char *const others[] = {"shear", "axes", "rotation"};
        for (int i = 0; i < 3; i++)
            if (modal_json_member(place, others[i], &member)) {
                status = modal_json_wrong(&member, "only where young has three values");
                goto done;
            }
    }
    modal_error why = {0};
    if (modal_material_check(material, &why) != MODAL_OK)
        status = modal_json_wrong(place, "%.400s", why.message);
done:
    return status;
}

static modal_status find_material(const modal_json_place *place, const modal_material_file *file,
                                  int32_t *index)
{
    modal_status status = MODAL_OK;
    const char *name;
    MODAL_TRY(modal_json_text(place, &name));
    for (*index = 0; *index < file->n_materials; ++*index)
        if (strcmp(file->materials[*index].name, name) == 0) goto done;
    status = modal_json_wrong(place, "no material of that name, %.200s", name);
done:
    return status;
}

/* The place of an object's member that is known to be there. */
static void member_at(const modal_json_place *object, const char *key, modal_json_place *member)
{
    if (!modal_json_member(object, key, member)) *member = *object;
}

static modal_status read_root(const modal_json_place *root, modal_material_file *file)
{
    modal_status status = MODAL_OK;
    modal_error *err = root->source->err;
    modal_json_place list, member;
    const char *key;
    json_t *value;
    MODAL_TRY(modal_json_object(root, "materials groups default"));
    MODAL_TRY(modal_json_required(root, "materials", &list));
    if (!json_is_object(list.value) || json_object_size(list.value) == 0) {
        status = modal_json_wrong(&list, "needs an object of at least one material");
        goto done;
    }
    MODAL_TRY(modal_alloc_zero(&file->materials, (int64_t)json_object_size(list.value),
                               sizeof *file->materials, "materials", err));
    MODAL_TRY(modal_alloc_zero(&file->fibre_files, (int64_t)json_object_size(list.value), sizeof *file->fibre_files, "materials",
                               err));
    json_object_foreach(list.value, key, value) {
        modal_material *material = &file->materials[file->n_materials];
        member_at(&list, key, &member);
        MODAL_TRY(modal_copy_text(&material->name, key, SIZE_MAX, err));
        file->n_materials++;
        MODAL_TRY(read_material(&member, material, &file->fibre_files[file->n_materials - 1]));
    }
    if (modal_json_member(root, "default", &member))
        MODAL_TRY(find_material(&member, file, &file->default_material));
    if (!modal_json_member(root, "groups", &list)) goto done;
    if (!json_is_object(list.value)) {
        status = modal_json_wrong(&list, "needs an object, group: material");
        goto done;
    }
    const int64_t n = (int64_t)json_object_size(list.value);
    MODAL_TRY(modal_alloc_zero(&file->group_names, n, sizeof *file->group_names, "groups", err));
    MODAL_TRY(modal_alloc_zero(&file->group_materials, n, sizeof(int32_t), "groups", err));
    json_object_foreach(list.value, key, value) {
        const int32_t g = file->n_groups;
        member_at(&list, key, &member);
        MODAL_TRY(modal_copy_text(&file->group_names[g], key, SIZE_MAX, err));
        file->n_groups++;
        MODAL_TRY(find_material(&member, file, &file->group_materials[g]));
    }
done:
    return status;
}

modal_status modal_materials_parse(const char *text, size_t length, const char *path,
                                   modal_material_file *file, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_json_source from = {path, NULL, err};
    modal_json_place root;
    *file = (modal_material_file){.default_material = -1};
    MODAL_TRY(modal_json_open(&from, text, length, &root));
    MODAL_TRY(read_root(&root, file));
done:
    modal_json_close(&from);
    if (status != MODAL_OK) modal_material_file_free(file);
    return status;
}

modal_status modal_materials_read(const char *path, modal_material_file *file, modal_error *err)
{
    char *data;
    int64_t length;
    memset(file, 0, sizeof *file);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_materials_parse(data, (size_t)length, path, file, err);
    modal_free(&data);
    return status;
}

void modal_material_file_free(modal_material_file *file)
{
    for (int32_t i = 0; i < file->n_materials; i++) modal_free(&file->materials[i].name);
    for (int32_t i = 0; file->fibre_files && i < file->n_materials; i++) modal_free(&file->fibre_files[i]);
    modal_free(&file->fibre_files);
    for (int32_t i = 0; i < file->n_groups; i++) modal_free(&file->group_names[i]);
    modal_free(&file->materials);
    modal_free(&file->group_names);
    modal_free(&file->group_materials);
    memset(file, 0, sizeof *file);
}
