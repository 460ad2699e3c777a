/* SPDX-License-Identifier: Apache-2.0 */
/* Materials, their axes and sections of an .inp file. They are taken where every element has one that is elastic, isotropic
 * or orthotropic, and has a density; of what varies with temperature the values at the initial one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/inp_reader.h"
#include "lib/base/memory.h"
#include "lib/model/material.h"

static int64_t find_material(const inp_reader *reader, inp_word name)
{
    for (int64_t i = 0; i < reader->n_materials; i++)
        if (inp_name_is(reader->materials[i].name, name)) return i;
    return -1;
}

modal_status inp_read_material(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    const inp_word *name = inp_parameter(keyword, "NAME");
    if (!name) return inp_keyword_fail(reader, keyword, "parameter NAME missing");
    MODAL_TRY(inp_check_name(&reader->text, *name));
    if (find_material(reader, *name) >= 0)
        return inp_keyword_fail(reader, keyword, "second material of that name");
    MODAL_TRY(modal_grow(&reader->materials, &reader->material_capacity, reader->n_materials + 1,
                         sizeof *reader->materials, "materials", reader->text.err));
    inp_material *material = &reader->materials[reader->n_materials];
    memset(material, 0, sizeof *material);
    MODAL_TRY(modal_copy_text(&material->name, name->text, (size_t)name->length, reader->text.err));
    reader->n_materials++;
    if (inp_data_line(reader))
        return inp_keyword_fail(reader, keyword, "no data expected after it");
done:
    return status;
}

static modal_status last_material(inp_reader *reader, inp_keyword *keyword, inp_material **material)
{
    if (reader->n_materials == 0) return inp_keyword_fail(reader, keyword, "in front of *MATERIAL");
    *material = &reader->materials[reader->n_materials - 1];
    if (!inp_data_line(reader)) return inp_keyword_fail(reader, keyword, "without values");
    return MODAL_OK;
}

/* Rows of `n` values and a temperature (0 where it is missing), in lines of at most eight fields, up to the next keyword. */
static modal_status read_rows(inp_reader *reader, const char *const *names, int n, inp_rows *rows)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    /* Stated again, the last one counts; its rows may be wider than those that memory was made for. */
    modal_free(&rows->values);
    *rows = (inp_rows){.width = n + 1};
    while (inp_data_line(reader)) {
        MODAL_TRY(modal_grow(&rows->values, &rows->capacity, rows->n + 1, (size_t)rows->width * sizeof *rows->values,
                             "values of materials", text->err));
        double *row = rows->values + rows->width * rows->n;
        for (int k = 0; k < n; k++) {
            if (k > 0 && k % 8 == 0) {
                modal_text_skip_line(text);
                if (!inp_data_line(reader)) return modal_text_fail(text, "%s missing", names[k]);
            }
            MODAL_TRY(inp_real(text, names[k], &row[k]));
        }
        MODAL_TRY(inp_real_or_zero(text, "temperature", &row[n]));
        if (rows->n > 0 && !(row[n] > row[n - rows->width]))
            return modal_text_fail(text, "temperatures do not rise, %g", row[n]);
        modal_text_skip_line(text); /* other fields that it may depend on */
        rows->n++;
    }
done:
    return status;
}

static modal_status check_isotropic(const inp_reader *reader, const inp_rows *rows)
{
    for (int64_t i = 0; i < rows->n; i++) {
        const double young = rows->values[3 * i], poisson = rows->values[3 * i + 1];
        if (!(young > 0)) return modal_text_fail(&reader->text, "Young's modulus is not positive, %g", young);
        if (!(poisson > -1 && poisson < 0.5))
            return modal_text_fail(&reader->text, "Poisson's ratio is not between -1 and 0.5, %g", poisson);
    }
    return MODAL_OK;
}

modal_status inp_read_elastic(inp_reader *reader, inp_keyword *keyword)
{
    static const char *const isotropic[] = {"Young's modulus", "Poisson's ratio"},
                            *const stiffness[] = {"D1111", "D1122", "D2222", "D1133", "D2233", "D3333", "D1212", "D1313", "D2323"};
    modal_status status = MODAL_OK;
    inp_material *material;
    const inp_word *type = inp_parameter(keyword, "TYPE");
    const inp_place at = inp_here(reader);
    MODAL_TRY(last_material(reader, keyword, &material));
    if (!type || inp_is(*type, "ISO") || inp_is(*type, "ISOTROPIC")) {
        material->kind = INP_ISOTROPIC;
        MODAL_TRY(read_rows(reader, isotropic, 2, &material->elastic));
        const inp_place end = inp_here(reader);
        inp_tell(reader, at);
        MODAL_TRY(check_isotropic(reader, &material->elastic));
        inp_tell(reader, end);
    } else if (inp_is(*type, "ENGINEERINGCONSTANTS")) {
        material->kind = INP_CONSTANTS;
        MODAL_TRY(read_rows(reader, modal_orthotropic_names, 9, &material->elastic));
    } else if (inp_is(*type, "ORTHO") || inp_is(*type, "ORTHOTROPIC")) {
        material->kind = INP_STIFFNESS;
        MODAL_TRY(read_rows(reader, stiffness, 9, &material->elastic));
    } else {
        material->kind = INP_OTHER;
        inp_skip_data(reader);
    }
done:
    return status;
}

modal_status inp_read_density(inp_reader *reader, inp_keyword *keyword)
{
    static const char *const names[] = {"density"};
    modal_status status = MODAL_OK;
    inp_material *material;
    const inp_place at = inp_here(reader);
    MODAL_TRY(last_material(reader, keyword, &material));
    MODAL_TRY(read_rows(reader, names, 1, &material->density));
    for (int64_t i = 0; i < material->density.n; i++)
        if (!(material->density.values[2 * i] > 0)) {
            inp_tell(reader, at);
            return modal_text_fail(&reader->text, "density is not positive, %g", material->density.values[2 * i]);
        }
done:
    return status;
}

/* ---- axes ---- */

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++) c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static int normalise(double a[3])
{
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; k++) a[k] /= length;
    return length > 0 && isfinite(length);
}

/* Turns all three axes round one of them. */
static void turn(double axes[9], int round, double degrees)
{
    double *a = axes + 3 * ((round + 1) % 3), *b = axes + 3 * ((round + 2) % 3);
    const double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
    for (int k = 0; k < 3; k++) {
        const double x = a[k], y = b[k];
        a[k] = c * x + s * y;
        b[k] = c * y - s * x;
    }
}

/* RECTANGULAR: the first axis goes to the point a, the second lies in the plane of a and b; then a turn round one of them. */
modal_status inp_read_orientation(inp_reader *reader, inp_keyword *keyword)
{
    static const char *const names[6] = {"x of a", "y of a", "z of a", "x of b", "y of b", "z of b"};
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const inp_word *name = inp_parameter(keyword, "NAME"), *system = inp_parameter(keyword, "SYSTEM"),
                   *definition = inp_parameter(keyword, "DEFINITION");
    double points[6];
    int64_t round = 0;
    if (!name) return inp_keyword_fail(reader, keyword, "parameter NAME missing");
    MODAL_TRY(inp_check_name(text, *name));
    MODAL_TRY(modal_grow(&reader->orientations, &reader->orientation_capacity, reader->n_orientations + 1,
                         sizeof *reader->orientations, "orientations", text->err));
    inp_orientation *to = &reader->orientations[reader->n_orientations];
    *to = (inp_orientation){.is_other = (system && !inp_is(*system, "RECTANGULAR") && !inp_is(*system, "R")) ||
                                        (definition && !inp_is(*definition, "COORDINATES"))};
    MODAL_TRY(modal_copy_text(&to->name, name->text, (size_t)name->length, text->err));
    reader->n_orientations++;
    if (!to->is_other && inp_data_line(reader)) {
        modal_text ahead = *text;
        inp_word field;
        inp_field(&ahead, &field); /* the name of a *DISTRIBUTION: axes that differ from element to element */
        to->is_other = modal_parse_real(field.text, field.length, &points[0]) == MODAL_NUMBER_MALFORMED && field.length > 0;
    } else {
        to->is_other = 1;
    }
    if (to->is_other) {
        inp_skip_data(reader);
        goto done;
    }
    for (int k = 0; k < 6; k++) MODAL_TRY(inp_real_or_zero(text, names[k], &points[k]));
    modal_text_skip_line(text);
    memcpy(to->axes, points, 3 * sizeof *points);
    cross(points, points + 3, to->axes + 6);
    if (!normalise(to->axes) || !normalise(to->axes + 6))
        return inp_keyword_fail(reader, keyword, "its two points lie in one direction from the origin");
    cross(to->axes + 6, to->axes, to->axes + 3);
    if (inp_data_line(reader)) {
        double degrees = 0;
        MODAL_TRY(inp_integer(text, "axis to turn round", &round));
        MODAL_TRY(inp_real_or_zero(text, "angle", &degrees));
        if (round < 1 || round > 3) return modal_text_fail(text, "axis to turn round is not 1, 2 or 3, %lld", (long long)round);
        turn(to->axes, (int)round - 1, degrees);
        inp_skip_data(reader);
    }
done:
    return status;
}

/* ---- sections ---- */

modal_status inp_read_section(inp_reader *reader, inp_keyword *keyword)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    const inp_word *set = inp_parameter(keyword, "ELSET"), *material = inp_parameter(keyword, "MATERIAL"),
                   *orientation = inp_parameter(keyword, "ORIENTATION");
    if (!set || !material)
        return inp_keyword_fail(reader, keyword, "parameter ELSET or MATERIAL missing");
    MODAL_TRY(modal_grow(&reader->sections, &reader->section_capacity, reader->n_sections + 1,
                         sizeof *reader->sections, "sections", err));
    inp_section *section = &reader->sections[reader->n_sections++];
    *section = (inp_section){.at = keyword->at};
    MODAL_TRY(modal_copy_text(&section->set, set->text, (size_t)set->length, err));
    MODAL_TRY(modal_copy_text(&section->material, material->text, (size_t)material->length, err));
    if (orientation) MODAL_TRY(modal_copy_text(&section->orientation, orientation->text, (size_t)orientation->length, err));
    inp_skip_data(reader);
done:
    return status;
}

modal_status inp_read_temperatures(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    inp_word who;
    double value;
    for (; inp_data_line(reader); modal_text_skip_line(text)) {
        inp_field(text, &who);
        MODAL_TRY(inp_real_or_zero(text, "temperature", &value));
        if (reader->has_temperature && value != reader->initial_temperature) reader->has_temperatures = 1;
        reader->initial_temperature = value;
        reader->has_temperature = 1;
    }
done:
    return status;
}

/* ---- the end ---- */

/* The values at the initial temperature: linear between rows, constant beyond them. */
static void evaluate(const inp_reader *reader, const inp_rows *rows, double *values)
{
    const int w = rows->width;
    const double t = reader->initial_temperature;
    int64_t i = 0;
    while (i < rows->n - 1 && t > rows->values[w * (i + 1) + w - 1]) i++;
    const double *row = rows->values + w * i, *next = i + 1 < rows->n ? row + w : row;
    const double span = next[w - 1] - row[w - 1];
    const double s = span > 0 ? fmin(fmax((t - row[w - 1]) / span, 0), 1) : 0;
    for (int k = 0; k < w - 1; k++) values[k] = row[k] + s * (next[k] - row[k]);
}

/* E, nu, G of three axes from the nine terms of the stiffness: the inverse of its normal part. 0: there is none. */
static int invert_stiffness(const double d[9], double constants[9])
{
    const double a = d[0], b = d[1], c = d[3], e = d[2], f = d[4], g = d[5]; /* [a b c; b e f; c f g] */
    const double determinant = a * (e * g - f * f) - b * (b * g - f * c) + c * (b * f - e * c);
    const double s11 = (e * g - f * f) / determinant, s22 = (a * g - c * c) / determinant, s33 = (a * e - b * b) / determinant,
                 s12 = (c * f - b * g) / determinant, s13 = (b * f - c * e) / determinant, s23 = (b * c - a * f) / determinant;
    constants[0] = 1 / s11;
    constants[1] = 1 / s22;
    constants[2] = 1 / s33;
    constants[3] = -s12 / s11;
    constants[4] = -s13 / s11;
    constants[5] = -s23 / s22;
    for (int k = 6; k < 9; k++) constants[k] = d[k];
    return determinant > 0;
}

/* What a section gives its elements, as far as this project has it; *what says why not, NULL: it has. */
static modal_status make_material(const inp_reader *reader, const inp_section *section, const inp_material *from,
                                  modal_material *to, const char **what)
{
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double values[9];
    *to = (modal_material){.kind = from->kind == INP_ISOTROPIC ? MODAL_MATERIAL_ISOTROPIC : MODAL_MATERIAL_ORTHOTROPIC};
    *what = from->kind == INP_NO_ELASTIC ? "no *ELASTIC" : from->kind == INP_OTHER ? "another type of *ELASTIC than ISO, ORTHO and ENGINEERING CONSTANTS"
            : from->density.n == 0       ? "no *DENSITY"
            : reader->has_temperatures && (from->elastic.n > 1 || from->density.n > 1)
                ? "values that vary with temperature, and initial temperatures that differ"
                : NULL;
    if (*what) return MODAL_OK;
    evaluate(reader, &from->density, &to->density);
    evaluate(reader, &from->elastic, values);
    if (from->kind == INP_ISOTROPIC) {
        to->young = values[0];
        to->poisson = values[1];
        return MODAL_OK;
    }
    memcpy(to->orthotropic, values, sizeof values);
    if (from->kind == INP_STIFFNESS && !invert_stiffness(values, to->orthotropic)) *what = "a stiffness without an inverse";
    memcpy(to->axes, unit, sizeof unit);
    for (int64_t i = 0; section->orientation && i < reader->n_orientations; i++) {
        const inp_orientation *axes = &reader->orientations[i];
        if (!inp_name_is(axes->name, (inp_word){section->orientation, (int64_t)strlen(section->orientation)})) continue;
        memcpy(to->axes, axes->axes, sizeof to->axes);
        if (axes->is_other) *what = "axes that differ from place to place";
        return MODAL_OK;
    }
    if (!section->orientation) return MODAL_OK;
    return modal_text_fail(&reader->text, "unknown orientation, '%.100s'", section->orientation);
}

static int are_same(const modal_material *a, const modal_material *b)
{
    return strcmp(a->name, b->name) == 0 && a->kind == b->kind && memcmp(a->axes, b->axes, sizeof a->axes) == 0;
}

/* The material of a section's elements in the mesh, made where it is not there: sections of one material share it, but for
 * other axes. *index -1: it cannot be taken, as a note says. */
static modal_status add_material(inp_reader *reader, const inp_section *section, int32_t *index)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->builder.mesh;
    modal_error *err = reader->text.err;
    modal_material made;
    const char *what;
    const int64_t at = find_material(reader, (inp_word){section->material, (int64_t)strlen(section->material)});
    *index = -1;
    if (at < 0) return modal_text_fail(&reader->text, "unknown material, '%.100s'", section->material);
    const inp_material *from = &reader->materials[at];
    MODAL_TRY(make_material(reader, section, from, &made, &what));
    if (what) {
        MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_MATERIAL, section->at, "material \"%.100s\" has %s", from->name, what));
        goto done;
    }
    if (from->elastic.n > 1 || from->density.n > 1)
        MODAL_TRY(modal_notes_add(&mesh->notes, err, "material \"%.100s\" varies with temperature: its values at %g, %s, are taken",
                                  from->name, reader->initial_temperature,
                                  reader->has_temperature ? "the initial one" : "where no initial one is given"));
    made.name = from->name; /* borrowed up to here */
    MODAL_TRY(modal_material_check(&made, err));
    for (*index = 0; *index < mesh->n_materials; ++*index)
        if (are_same(&mesh->materials[*index], &made)) goto done;
    MODAL_TRY(modal_copy_text(&made.name, from->name, SIZE_MAX, err));
    mesh->materials[mesh->n_materials++] = made;
done:
    return status;
}

/* Whether an element is a truss or a plane element: with a section it is stiff, without it gives nodes to its set. */
static int is_lower(const inp_reader *reader, int64_t number)
{
    const int32_t e = modal_tag_table_find(&reader->low_table, reader->low_tags, number);
    return e >= 0 && reader->low_dimensions[e] != INP_LEFT_OUT;
}

modal_status inp_finish_materials(inp_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->builder.mesh;
    modal_error *err = reader->text.err;
    int32_t *element_material = NULL, index;
    const inp_place end = inp_here(reader);
    int64_t n_without = 0;
    if (reader->n_sections == 0) return MODAL_OK;
    MODAL_TRY(modal_alloc(&element_material, mesh->n_elements, sizeof *element_material, "materials of elements", err));
    MODAL_TRY(modal_alloc_zero(&mesh->materials, reader->n_sections, sizeof *mesh->materials, "materials", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) element_material[e] = -1;
    for (int64_t i = 0; i < reader->n_sections; i++) {
        const inp_section *section = &reader->sections[i];
        int64_t n_lower = 0;
        inp_tell(reader, section->at);
        const int64_t set = inp_look_up(reader, INP_ELEMENTS, (inp_word){section->set, (int64_t)strlen(section->set)});
        if (set < 0) MODAL_TRY(modal_text_fail(&reader->text, "unknown set, '%.100s'", section->set));
        MODAL_TRY(add_material(reader, section, &index));
        for (int64_t k = 0; k < reader->sets[set].n; k++) {
            const int32_t e = modal_tag_table_find(&reader->builder.element_table, mesh->element_tags, reader->sets[set].numbers[k]);
            if (e >= 0) element_material[e] = index;
            else n_lower += is_lower(reader, reader->sets[set].numbers[k]);
        }
        if (n_lower > 0)
            MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_ELEMENTS, section->at, "*SOLID SECTION of trusses or plane elements"));
    }
    inp_tell(reader, end);
    for (int64_t e = 0; e < mesh->n_elements; e++) n_without += element_material[e] < 0;
    if (n_without == 0) {
        mesh->materials_in_mesh_units = 1; /* the format has no units: E and the density go with the coordinates */
        mesh->element_material = element_material;
        element_material = NULL;
    } else {
        for (int32_t i = 0; i < mesh->n_materials; i++) modal_free(&mesh->materials[i].name);
        modal_free(&mesh->materials);
        mesh->n_materials = 0;
        MODAL_TRY(inp_leave_out(reader, MODAL_UNSUPPORTED_MATERIAL, reader->sections[0].at,
                                "sections of which %lld elements get no material", (long long)n_without));
    }
done:
    modal_free(&element_material);
    return status;
}

void inp_free_materials(inp_reader *reader)
{
    for (int64_t i = 0; i < reader->n_materials; i++) {
        modal_free(&reader->materials[i].name);
        modal_free(&reader->materials[i].elastic.values);
        modal_free(&reader->materials[i].density.values);
    }
    for (int64_t i = 0; i < reader->n_sections; i++) {
        modal_free(&reader->sections[i].set);
        modal_free(&reader->sections[i].material);
        modal_free(&reader->sections[i].orientation);
    }
    for (int64_t i = 0; i < reader->n_orientations; i++) modal_free(&reader->orientations[i].name);
    modal_free(&reader->materials);
    modal_free(&reader->sections);
    modal_free(&reader->orientations);
}
