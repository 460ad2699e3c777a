/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/model/basis.h"
#include "lib/model/material.h"
#include "tools/common/mode_table.h"
#include "tools/common/tool.h"
#include "tools/modalinfo/modalinfo.h"

static long long integer(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void put(FILE *to, const char *label, const json_t *object, const char *key)
{
    fprintf(to, "%-22s", label);
    tool_put_text(to, json_string_value(json_object_get(object, key)));
    fputc('\n', to);
}

/* One input a line. */
static void put_inputs(FILE *to, const char *inputs)
{
    const char *label = "    inputs";
    for (size_t length; *inputs; inputs += length + (inputs[length] == '\n')) {
        char line[4096];
        length = strcspn(inputs, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), inputs);
        fprintf(to, "%-22s", label);
        tool_put_text(to, line);
        fputc('\n', to);
        label = "";
    }
}

static void print_provenance(FILE *to, const json_t *info)
{
    size_t i;
    json_t *step;
    json_array_foreach (json_object_get(info, "provenance"), i, step) {
        fprintf(to, "%-22s", i == 0 ? "made by" : "  then");
        tool_put_text(to, json_string_value(json_object_get(step, "tool")));
        fputc(' ', to);
        tool_put_text(to, json_string_value(json_object_get(step, "version")));
        fputs(": ", to);
        tool_put_text(to, json_string_value(json_object_get(step, "arguments")));
        fputc('\n', to);
        if (json_string_length(json_object_get(step, "inputs")))
            put_inputs(to, json_string_value(json_object_get(step, "inputs")));
        if (json_string_length(json_object_get(step, "backend")))
            put(to, "    backend", step, "backend");
        if (json_object_get(step, "quality")) put(to, "    the motion is", step, "quality");
        if (json_object_get(step, "assumed_material")) put(to, "    material assumed", step, "assumed_material");
    }
}

/* Materials and groups. */
static void print_parts(FILE *to, const json_t *solid)
{
    size_t i, term;
    json_t *one, *terms;
    json_array_foreach (json_object_get(solid, "materials"), i, one) {
        fprintf(to, "  %-20s", i == 0 ? "materials" : "");
        tool_put_text(to, json_string_value(json_object_get(one, "name")));
        if (json_object_get(one, "young"))
            fprintf(to, ": E %.6g Pa, nu %.6g", number(one, "young"), number(one, "poisson"));
        else
            for (int k = 0; k < 9; k++)
                fprintf(to, "%s %s %.6g%s", k ? "," : ":", modal_orthotropic_names[k],
                        number(one, modal_orthotropic_names[k]), k < 3 || k > 5 ? " Pa" : "");
        fprintf(to, ", rho %.6g kg/m^3", number(one, "density"));
        if (json_object_get(one, "law")) fprintf(to, ", %s", json_string_value(json_object_get(one, "law")));
        if (json_object_get(one, "fibres")) fprintf(to, ", fibres of %.6g Pa", number(json_object_get(one, "fibres"), "stiffness"));
        for (int part = 0; part < 2; part++) {
            static const char *const parts[] = {"isochoric", "volumetric"};
            json_array_foreach (json_object_get(json_object_get(one, "prony"), parts[part]), term, terms)
                fprintf(to, ", %s %.6g in %.6g s", parts[part], json_number_value(json_array_get(terms, 0)),
                        json_number_value(json_array_get(terms, 1)));
        }
        fputc('\n', to);
    }
    json_array_foreach (json_object_get(solid, "groups"), i, one) {
        fprintf(to, "  %-20s\"", i == 0 ? "groups" : "");
        tool_put_text(to, json_string_value(json_object_get(one, "name")));
        fprintf(to, "\" of dimension %lld: %lld nodes, %lld elements\n",
                integer(one, "dimension"), integer(one, "nodes"), integer(one, "elements"));
    }
}

static void print_solid(FILE *to, const json_t *solid)
{
    json_t *one;
    const char *type;
    const long long partly = integer(solid, "partly_fixed_nodes");
    fprintf(to, "  %-20s%lld nodes (%lld fixed", "solid", integer(solid, "nodes"),
            integer(solid, "fixed_nodes"));
    if (partly > 0) fprintf(to, ", %lld of them in part", partly);
    fprintf(to, "), %lld elements", integer(solid, "elements"));
    json_object_foreach ((json_t *)json_object_get(solid, "element_types"), type, one)
        fprintf(to, ", %lld %s", (long long)json_integer_value(one), type);
    fputc('\n', to);
    const char *kind = json_string_value(json_object_get(solid, "surface"));
    fprintf(to, "  %-20s%s", "surface", kind);
    if (strcmp(kind, "embedded") == 0)
        fprintf(to, ", at most %.3g m outside the solid", number(solid, "farthest_outside"));
    fputc('\n', to);
    print_parts(to, solid);
}

/* The solid of snapshots. */
static void print_moved(FILE *to, const json_t *solid)
{
    const char *name;
    json_t *one;
    fprintf(to, "%-22s%lld elements", "solid", integer(solid, "elements"));
    json_object_foreach ((json_t *)json_object_get(solid, "element_types"), name, one)
        fprintf(to, ", %lld %s", (long long)json_integer_value(one), name);
    fprintf(to, ", %.6g kg, %lld triangles\n", number(solid, "mass"), integer(solid, "triangles"));
    json_object_foreach ((json_t *)json_object_get(solid, "laws"), name, one)
        fprintf(to, "  %-20s%s, %lld elements\n", "law", name, (long long)json_integer_value(one));
    print_parts(to, solid);
}

static void print_names(FILE *to, const char *what, const json_t *names)
{
    enum { MOST = 10 };
    fprintf(to, "  %-20s", what);
    for (size_t i = 0; i < json_array_size(names) && i < MOST; i++) {
        fputs(i ? ", " : "", to);
        tool_put_text(to, json_string_value(json_array_get(names, i)));
    }
    if (json_array_size(names) > MOST) fprintf(to, " and %zu more", json_array_size(names) - MOST);
    fputc('\n', to);
}

static void print_shape(FILE *to, const json_t *shape)
{
    json_t *box = json_object_get(shape, "bounding_box");
    fputs("\nshape \"", to);
    tool_put_text(to, json_string_value(json_object_get(shape, "name")));
    fprintf(to, "\"\n  %-20s%lld\n", "objects", integer(shape, "objects"));
    if (json_object_get(shape, "file")) {
        fprintf(to, "  %-20sshape %lld of ", "is", integer(shape, "file_shape"));
        tool_put_text(to, json_string_value(json_object_get(shape, "file")));
        fputc('\n', to);
    }
    if (json_object_get(shape, "problem")) {
        put(to, "  problem", shape, "problem");
        return;
    }
    fprintf(to, "  %-20s%lld (%lld on open edges)\n", "vertices", integer(shape, "vertices"),
            integer(shape, "boundary_vertices"));
    fprintf(to, "  %-20s%lld\n", "triangles", integer(shape, "triangles"));
    fprintf(to, "  %-20s%lld\n", "texture coordinates", integer(shape, "texture_coordinates"));
    if (json_object_get(shape, "materials")) print_names(to, "materials", json_object_get(shape, "materials"));
    fprintf(to, "  %-20s", "bounding box");
    for (size_t a = 0; a < 3; a++)
        fprintf(to, "%s[%.6g, %.6g]", a ? " x " : "",
                json_number_value(json_array_get(json_array_get(box, 0), a)),
                json_number_value(json_array_get(json_array_get(box, 1), a)));
    fprintf(to, " m\n  %-20s%.6g kg (%s mass matrix)\n", "mass", number(shape, "total_mass"),
            json_string_value(json_object_get(shape, "mass_rule")));
    if (json_object_get(shape, "solid")) print_solid(to, json_object_get(shape, "solid"));
    if (json_object_get(shape, "stiffness_rule")) fprintf(to, "  %-20sincompatible modes in HEX8, mean dilatation from nu = 0.49 on\n", "linear elements");
    fprintf(to, "  %-20s%lld left out\n", "rigid modes", integer(shape, "rigid_modes"));
    if (json_object_get(shape, "sturm_count"))
        fprintf(to, "  %-20s%lld eigenvalues below %.9g (rad/s)^2, all known\n", "Sturm count",
                integer(shape, "sturm_count"), json_real_value(json_object_get(shape, "sturm_shift")));
    if (json_object_get(shape, "eigensolver"))
        fprintf(to, "  %-20s%s, %lld ranks%s\n", "eigensolver", json_string_value(json_object_get(shape, "eigensolver")),
                integer(shape, "ranks"), json_object_get(shape, "sturm_count") ? "" : "; no Sturm count");
    if (json_object_get(shape, "factor"))
        fprintf(to, "  %-20s%s, with solves of float64's accuracy; no Sturm count\n", "factor",
                json_string_value(json_object_get(shape, "factor")));
    const char *kind = json_string_value(json_object_get(shape, "kind"));
    if (strcmp(kind, "derivatives") == 0) kind = "modes and their derivatives";
    const int64_t r = (int64_t)json_array_size(json_object_get(shape, "modes"));
    fprintf(to, "  %-20s%s\n", "basis of", strcmp(kind, "modes") == 0 ? "natural modes" : kind);
    if (strcmp(kind, "imported") == 0)
        fprintf(to, "  %-20s%.3g in the mass, %.3g in the stiffness\n", "coupling",
                number(shape, "mass_coupling"), number(shape, "stiffness_coupling"));
    if (json_object_get(shape, "energy_terms"))
        fprintf(to, "  %-20sSt. Venant-Kirchhoff, %lld linear, %lld quadratic terms, %lld of the energy's fourth degree\n",
                "reduced forces", (long long)(r * r), (long long)(r * modal_quadratic_count(r)), integer(shape, "energy_terms"));
    else if (json_is_true(json_object_get(shape, "reduced_forces")))
        fprintf(to, "  %-20sSt. Venant-Kirchhoff, %lld linear, %lld quadratic, %lld cubic terms\n",
                "reduced forces", (long long)(r * r), (long long)(r * modal_quadratic_count(r)),
                (long long)(r * modal_cubic_count(r)));
    fprintf(to, "  %-20s%lld, U takes %.1f MB\n", "modes", (long long)r,
            1e-6 * (double)integer(shape, "modal_matrix_bytes"));
    tool_put_mode_table(to, "  ", shape);
}

static void print_times(FILE *to, const json_t *info)
{
    fprintf(to, "%-22s%lld, %.6g to %.6g s, %.6g s in all\n", "frames", integer(info, "frames"),
            number(info, "first_time"), number(info, "last_time"), number(info, "duration"));
    if (!json_object_get(info, "frames_per_second")) return;
    fprintf(to, "%-22s%.6g%s\n", "frames a second", number(info, "frames_per_second"),
            json_is_true(json_object_get(info, "evenly_spaced"))
                ? ""
                : " on average (not evenly spaced)");
}

static void print_quality(FILE *to, const json_t *info)
{
    const json_t *quality = json_object_get(info, "quality");
    size_t i;
    json_t *one;
    if (!quality) return;
    put(to, "quality", quality, "rating");
    if (json_object_get(quality, "assumed_material")) put(to, "  material assumed", quality, "assumed_material");
    json_array_foreach (json_object_get(quality, "indicators"), i, one) put(to, i ? "" : "  at worst", one, "text");
    if (json_object_get(quality, "missing")) put(to, "  missing", quality, "missing");
}

static void print_trajectory(FILE *to, const json_t *info)
{
    enum { MOST_OBJECTS = 8 }; /* a crowd's ranges are for --json */
    size_t i, k;
    json_t *ranges, *range;
    const json_t *objects = json_object_get(info, "q_ranges"),
                 *basis = json_object_get(info, "basis");
    print_times(to, info);
    fprintf(to, "%-22s%zu\n%-22s%lld\n", "objects", json_array_size(objects), "reduced coordinates",
            integer(info, "reduced_coordinates"));
    fprintf(to, "%-22s%s\n", "poses",
            json_is_true(json_object_get(info, "poses")) ? "yes" : "no (rest poses)");
    put(to, "basis", basis, "path");
    const char *found = json_is_true(json_object_get(basis, "carried")) ? "yes, in the trajectory" : "yes";
    fprintf(to, "%-22s%s\n", "  found", json_is_true(json_object_get(basis, "found")) ? found : "no");
    if (json_object_get(basis, "matches"))
        fprintf(to, "%-22s%s\n", "  is the right one",
                json_is_true(json_object_get(basis, "matches")) ? "yes" : "no");
    if (json_object_get(basis, "problem")) put(to, "  problem", basis, "problem");
    put(to, "  hash quoted", basis, "hash");
    if (json_object_get(info, "models")) {
        size_t n_large = 0;
        json_array_foreach (json_object_get(info, "models"), i, range) n_large += strcmp(json_string_value(range), "stvk") == 0;
        fprintf(to, "%-22s%zu by St. Venant-Kirchhoff's model, %zu by the linear one\n", "objects moved", n_large,
                json_array_size(objects) - n_large);
    }
    const json_t *projection = json_object_get(info, "projection");
    if (projection)
        fprintf(to, "%-22sfrom snapshots, off by at most %.3g of the largest motion, %.3g m of %.6g m at a node\n", "projected",
                number(projection, "largest_norm") > 0 ? number(projection, "largest_left") / number(projection, "largest_norm") : 0.0,
                number(projection, "farthest_node_m"), number(projection, "largest_displacement_m"));
    if (json_object_get(info, "rebase_errors")) {
        double worst = 0;
        json_array_foreach (json_object_get(info, "rebase_errors"), i, range)
            worst = fmax(worst, json_number_value(range));
        fprintf(to, "%-22serror at most %.3g\n", "rebased", worst);
    }
    print_quality(to, info);
    json_array_foreach (objects, i, ranges) {
        if (i == MOST_OBJECTS) {
            fprintf(to, "\n%zu more objects: see --json\n", json_array_size(objects) - i);
            break;
        }
        fprintf(to, "\nobject %zu\n  %6s %14s %14s\n", i, "mode", "least q", "largest q");
        json_array_foreach (ranges, k, range)
            fprintf(to, "  %6zu %14.6g %14.6g\n", k, json_number_value(json_array_get(range, 0)),
                    json_number_value(json_array_get(range, 1)));
    }
}

static void print_sequence(FILE *to, const json_t *info)
{
    size_t i;
    json_t *name;
    print_times(to, info);
    const char *cells = integer(info, "cells") > 0 ? "cells" : "triangles";
    fprintf(to, "%-22s%lld\n%-22s%lld\n%-22s", "points", integer(info, "points"), cells,
            integer(info, cells), "arrays");
    json_array_foreach (json_object_get(info, "arrays"), i, name)
        fputs(i ? ", " : "", to), tool_put_text(to, json_string_value(name));
    fputc('\n', to);
    if (json_object_get(info, "basis_hash")) put(to, "hash of its basis", info, "basis_hash");
    if (json_object_get(info, "source_kind")) {
        put(to, "made of", info, "source_kind");
        put(to, "hash of that", info, "source_hash");
    }
}

static void print_textures(FILE *to, const json_t *info)
{
    size_t i;
    json_t *class;
    put(to, "layout", info, "layout");
    fprintf(to, "%-22s%zu\n%-22s%zu\n%-22s%.3f MB\n", "materials", json_array_size(json_object_get(info, "materials")), "images",
            json_array_size(json_object_get(info, "images")), "texels", 1e-6 * (double)integer(info, "texel_bytes"));
    json_array_foreach (json_object_get(info, "classes"), i, class)
        fprintf(to, "%-22s%lld x %lld, %lld layers, %lld levels\n", i == 0 ? "classes" : "", integer(class, "width"), integer(class, "height"),
                integer(class, "layers"), integer(class, "levels"));
}

static void print_octree(FILE *to, const json_t *info)
{
    put(to, "channels", info, "channels");
    fprintf(to, "%-22s%lld levels of %lld^3 cells, %lld points a side, %.6g m apart\n", "tree", integer(info, "depth"), integer(info, "n"),
            integer(info, "points_a_side"), json_real_value(json_object_get(info, "cell")));
    fprintf(to, "%-22s%lld, %lld cells meet the surface, %lld nodes%s\n", "samples", integer(info, "samples"), integer(info, "cells"),
            integer(info, "nodes"), json_is_true(json_object_get(info, "mipmaps")) ? " with mip levels" : "");
    fprintf(to, "%-22s%lld triangles, %s\n", "built around", integer(info, "triangles"), json_string_value(json_object_get(info, "source_hash")));
    if (json_object_get(info, "surface_neighbours"))
        fprintf(to, "%-22s%.2f of a sample along the surface of %.6g m^2\n", "neighbours", number(info, "surface_neighbours"), number(info, "area"));
    const json_t *flow = json_object_get(info, "flow");
    const json_t *atlas = json_object_get(info, "atlas");
    if (atlas)
        fprintf(to, "%-22s%lld x %lld texels, %lld show the surface, %lld texture coordinates, %s\n", "atlas", integer(atlas, "width"),
                integer(atlas, "height"), integer(atlas, "texels"), integer(atlas, "uv"),
                json_is_true(json_object_get(atlas, "image")) ? "with the image" : "without an image");
    if (flow) fprintf(to, "%-22s%g kg of liquid and %g kg of dirt at %g s\n", "flow", number(flow, "liquid"), number(flow, "dirt"), number(flow, "time"));
}

static void print_output(FILE *to, const json_t *manifest)
{
    size_t i;
    json_t *file;
    const json_t *frames = json_object_get(manifest, "frames");
    put(to, "made by", manifest, "arguments");
    if (json_object_get(manifest, "input")) {
        put(to, "input", json_object_get(manifest, "input"), "name");
    } else {
        put(to, "trajectory", json_object_get(manifest, "trajectory"), "name");
        put(to, "basis", json_object_get(manifest, "basis"), "name");
    }
    put(to, "device", manifest, "device");
    fprintf(to, "%-22s%lld, %g to %g s\n", "frames", integer(frames, "count"),
            number(frames, "first_time"), number(frames, "last_time"));
    const char *cells = integer(manifest, "cells") > 0 ? "cells" : "triangles";
    fprintf(to, "%-22s%lld\n%-22s%lld\n", "points", integer(manifest, "points"), cells,
            integer(manifest, cells));
    json_array_foreach (json_object_get(manifest, "files"), i, file) {
        fprintf(to, "%-22s", i == 0 ? "files" : "");
        tool_put_text(to, json_string_value(json_object_get(file, "name")));
        fprintf(to, ", %lld bytes\n", integer(file, "bytes"));
    }
}

void modalinfo_print(FILE *to, const json_t *info)
{
    size_t i;
    json_t *shape;
    const char *type = json_string_value(json_object_get(info, "type"));
    put(to, "file", info, "file");
    if (strcmp(type, "shards") == 0) {
        modalinfo_print_shares(to, info);
        return;
    }
    fprintf(to, "%-22s%s, %.3f MB\n", "type", type, 1e-6 * (double)integer(info, "bytes"));
    if (strcmp(type, "basis") == 0) {
        put(to, "content hash", info, "content_hash");
        if (json_object_get(info, "recipe_hash")) put(to, "recipe hash", info, "recipe_hash");
        fprintf(to, "%-22s%lld", "objects", integer(info, "objects"));
        if (json_object_get(info, "reduced_coordinates"))
            fprintf(to, ", %lld reduced coordinates", integer(info, "reduced_coordinates"));
        fputc('\n', to);
        if (integer(info, "shapes_in_other_files") > 0)
            fprintf(to, "%-22s%lld, %lld of them missing\n", "shapes in other files",
                    integer(info, "shapes_in_other_files"), integer(info, "shapes_missing"));
        print_provenance(to, info);
        json_array_foreach (json_object_get(info, "shapes"), i, shape) print_shape(to, shape);
    } else if (strcmp(type, "trajectory") == 0) {
        print_provenance(to, info);
        print_trajectory(to, info);
    } else if (strcmp(type, "snapshots") == 0) {
        json_t *field;
        print_provenance(to, info);
        fprintf(to, "%-22s%lld of %lld nodes, %s\n", "snapshots", integer(info, "snapshots"), integer(info, "nodes"),
                json_string_value(json_object_get(info, "stored_in")));
        if (json_object_get(info, "first_time")) print_times(to, info);
        json_array_foreach (json_object_get(info, "fields"), i, field)
            fprintf(to, "%-22s%s\n", i == 0 ? "also" : "", json_string_value(field));
        if (integer(info, "probes") > 0) fprintf(to, "%-22s%lld\n", "probes", integer(info, "probes"));
        if (json_object_get(info, "solid")) print_moved(to, json_object_get(info, "solid"));
        print_quality(to, info);
    } else if (strcmp(type, "mesh") == 0 || strcmp(type, "surface") == 0) {
        modalinfo_print_mesh(to, info);
    } else if (strcmp(type, "output") == 0) {
        print_output(to, json_object_get(info, "manifest"));
    } else if (strcmp(type, "textures") == 0) {
        print_textures(to, info);
    } else if (strcmp(type, "octree") == 0) {
        print_provenance(to, info);
        print_octree(to, info);
    } else {
        print_provenance(to, info);
        print_sequence(to, info);
    }
}
