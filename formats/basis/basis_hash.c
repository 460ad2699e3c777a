/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/basis/basis_hash.h"

#include <stdio.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

static const char in_shapes[] = "shapes/*/";
static const char *const of_others[] = {"shapes/hash", "objects/shape", "objects/parent", "objects/rest_pose"};
static const char *const of_members[] = {"volume/materials/*/axes", "volume/groups/*/nodes", "volume/groups/*/elements"};
enum { N_OTHERS = sizeof of_others / sizeof *of_others, N_MEMBERS = sizeof of_members / sizeof *of_members };
_Static_assert(MODAL_BASIS_FIELDS <= sizeof ((modal_basis_list *)0)->has, "a place for each field");

/* The fields that hashes cover; of two of one name the first. */
static int is_covered(int i)
{
    const modal_h5_field *f = &modal_basis_fields[i];
    return modal_basis_field_is_hashed(f) && (i == 0 || strcmp(f->name, f[-1].name) != 0);
}

void modal_basis_hashed(char text[MODAL_BASIS_HASHED])
{
    size_t used = 0;
    for (int i = 0; i < MODAL_BASIS_FIELDS; i++)
        if (is_covered(i))
            used += (size_t)snprintf(text + used, MODAL_BASIS_HASHED - used, "%s%s/%s ", in_shapes,
                                     modal_basis_groups[modal_basis_fields[i].group], modal_basis_fields[i].name);
    for (int i = 0; i < N_MEMBERS; i++)
        used += (size_t)snprintf(text + used, MODAL_BASIS_HASHED - used, "%s%s ", in_shapes, of_members[i]);
    for (int i = 0; i < N_OTHERS; i++)
        used += (size_t)snprintf(text + used, MODAL_BASIS_HASHED - used, "%s%s", i ? " " : "", of_others[i]);
}

/* ---- in memory ---- */

static void append_field(modal_hash *hash, const modal_shape *s, const modal_h5_field *f,
                         const int64_t sizes[SIZE_COUNT])
{
    int64_t dims[MODAL_H5_RANK], count = 1;
    modal_basis_field_dims(f, sizes, dims);
    for (int k = 0; k < f->rank; k++) count *= dims[k];
    modal_hash_array(hash, f->name, modal_basis_field_array(s, f), count, modal_h5_type_bytes(f->type));
}

/* The same of an array that the shape's source makes. */
static modal_status append_streamed(modal_hash *hash, const modal_shape *s, const modal_h5_field *f, const int64_t sizes[SIZE_COUNT],
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t dims[MODAL_H5_RANK], row = (int64_t)modal_h5_type_bytes(f->type);
    char *made = NULL;
    modal_basis_field_dims(f, sizes, dims);
    for (int k = 1; k < f->rank; k++) row *= dims[k];
    const int64_t most = row < MODAL_DISK_PIECE ? MODAL_DISK_PIECE / (row > 0 ? row : 1) : 1;
    modal_hash_begin(hash, f->name, dims[0] * (row / (int64_t)modal_h5_type_bytes(f->type)), modal_h5_type_bytes(f->type));
    MODAL_TRY(modal_alloc(&made, most < dims[0] ? most : dims[0], (size_t)row, f->name, err));
    for (int64_t first = 0; first < dims[0] && row > 0; first += most) {
        const int64_t count = dims[0] - first < most ? dims[0] - first : most;
        MODAL_TRY(modal_basis_field_stream(f, s, first, count, made, err));
        modal_hash_more(hash, made, (size_t)(count * row));
    }
done:
    modal_free(&made);
    return status;
}

static void append_axes(modal_hash *hash, const modal_volume_mesh *v)
{
    for (int32_t i = 0; i < v->n_materials; i++)
        if (v->materials[i].kind == MODAL_MATERIAL_ORTHOTROPIC)
            modal_hash_array(hash, "axes", v->materials[i].axes, 9, sizeof(double));
}

static void append_group(modal_hash *hash, const modal_group *g, int elements)
{
    const int32_t *values = elements ? g->elements : g->nodes;
    const int64_t n = elements ? g->n_elements : g->n_nodes;
    if (values || n == 0) modal_hash_array(hash, elements ? "elements" : "nodes", values, n, sizeof *values);
}

modal_status modal_basis_hash_shape(modal_hash *hash, const modal_shape *s, const int64_t sizes[SIZE_COUNT],
                                    unsigned char bytes[MODAL_HASH_BYTES], modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *v = &s->solid.mesh;
    modal_hash_restart(hash);
    for (int i = 0; i < MODAL_BASIS_FIELDS; i++) {
        const modal_h5_field *f = &modal_basis_fields[i];
        if (!modal_basis_field_is_hashed(f) || (f->group == GROUP_VOLUME && v->n_nodes == 0) || !modal_basis_field_is_written(f, s)) continue;
        if (modal_basis_field_is_streamed(f, s)) MODAL_TRY(append_streamed(hash, s, f, sizes, err));
        else append_field(hash, s, f, sizes);
    }
    if (v->n_nodes > 0) {
        append_axes(hash, v);
        for (int elements = 0; elements < 2; elements++)
            for (int32_t i = 0; i < v->n_groups; i++) append_group(hash, &v->groups[i], elements);
    }
    modal_hash_bytes(hash, bytes);
done:
    return status;
}

void modal_basis_hash_content(modal_hash *hash, const modal_basis *basis, const unsigned char *hashes,
                              char text[MODAL_HASH_TEXT])
{
    const int32_t n = basis->n_objects;
    modal_hash_restart(hash);
    modal_hash_array(hash, "hash", hashes, (int64_t)MODAL_HASH_BYTES * basis->n_shapes, 1);
    modal_hash_begin(hash, "shape", n, sizeof(int32_t));
    for (int32_t i = 0; i < n; i++) modal_hash_more(hash, &basis->objects[i].shape, sizeof(int32_t));
    modal_hash_begin(hash, "parent", n, sizeof(int32_t));
    for (int32_t i = 0; i < n; i++) modal_hash_more(hash, &basis->objects[i].parent, sizeof(int32_t));
    modal_hash_begin(hash, "rest_pose", 12 * (int64_t)n, sizeof(double));
    for (int32_t i = 0; i < n; i++) modal_hash_more(hash, basis->objects[i].rest_pose, 12 * sizeof(double));
    modal_hash_text(hash, text);
}

modal_status modal_basis_hash(modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    unsigned char *hashes = NULL;
    int64_t sizes[SIZE_COUNT];
    MODAL_TRY(modal_hash_new(&hash, err));
    MODAL_TRY(modal_alloc(&hashes, basis->n_shapes, MODAL_HASH_BYTES, "hashes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        modal_shape *s = &basis->shapes[i];
        modal_basis_sizes(s, sizes);
        MODAL_TRY(modal_basis_hash_shape(hash, s, sizes, s->hash, err));
        memcpy(hashes + (int64_t)MODAL_HASH_BYTES * i, s->hash, MODAL_HASH_BYTES);
    }
    modal_basis_hash_content(hash, basis, hashes, basis->hash);
done:
    modal_free(&hashes);
    modal_hash_delete(hash);
    return status;
}

/* ---- by the list of a file ---- */

/* The length of the entry at the beginning of the text, 0 where it is not well formed. */
static size_t entry_length(const char *text)
{
    size_t length = 0;
    for (;;) {
        const size_t part = text[length] == '*' ? 1 : strspn(text + length, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (part == 0) return 0;
        length += part;
        if (text[length] != '/') /* the end, where an array has its name */
            return text[length - 1] != '*' && length < MODAL_H5_PATH && (!text[length] || text[length] == ' ') ? length : 0;
        length++;
    }
}

modal_status modal_basis_list_init(modal_basis_list *list, const char *text, const modal_checker *checker)
{
    char path[MODAL_H5_PATH];
    int others = 0;
    *list = (modal_basis_list){.text = text};
    for (const char *at = text;; at++) {
        const size_t length = entry_length(at);
        if (length == 0) {
            list->text = "";
            return modal_broken(checker, "/@hashed", "must be paths with one space between two, has \"%.64s\"", at);
        }
        for (int i = 0; i < MODAL_BASIS_FIELDS; i++) {
            const modal_h5_field *f = &modal_basis_fields[i];
            snprintf(path, sizeof path, "%s%s/%s", in_shapes, modal_basis_groups[f->group], f->name);
            if (strlen(path) == length && strncmp(at, path, length) == 0) list->has[i] = 1;
        }
        for (int i = 0; i < N_MEMBERS; i++) {
            snprintf(path, sizeof path, "%s%s", in_shapes, of_members[i]);
            if (strlen(path) == length && strncmp(at, path, length) == 0) list->has_members[i] = 1;
        }
        for (int i = 0; i < N_OTHERS; i++)
            if (strlen(of_others[i]) == length && strncmp(at, of_others[i], length) == 0) others |= 1 << i;
        at += length;
        if (!*at) break;
    }
    for (int i = 0; i < N_OTHERS; i++)
        if (!(others >> i & 1)) return modal_broken(checker, "/@hashed", "lacks %s", of_others[i]);
    return MODAL_OK;
}

/* Appends a dataset of any type and size that the page allows. */
static modal_status hash_dataset(const modal_h5_in *in, const modal_h5_place *place, const char *name, modal_hash *hash)
{
    modal_status status = MODAL_OK;
    int64_t dims[MODAL_H5_RANK] = {-1, -1, -1, -1}, count = 1;
    void *values = NULL;
    char where[MODAL_H5_PATH];
    modal_h5_type type = MODAL_H5_U8;
    snprintf(where, sizeof where, "%.160s/%.80s", place->path, name);
    const hid_t dataset = H5Dopen2(place->id, name, H5P_DEFAULT), space = dataset < 0 ? -1 : H5Dget_space(dataset);
    const hid_t of_file = dataset < 0 ? -1 : H5Dget_type(dataset);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const size_t bytes = of_file < 0 ? 0 : H5Tget_size(of_file);
    int known = bytes == 1 || bytes == 4 || bytes == 8;
    if (of_file >= 0 && H5Tget_class(of_file) == H5T_FLOAT)
        type = bytes == 8 ? MODAL_H5_F64 : MODAL_H5_F32;
    else if (of_file >= 0 && H5Tget_class(of_file) == H5T_INTEGER)
        type = bytes == 8 ? MODAL_H5_I64 : bytes == 4 ? MODAL_H5_I32 : MODAL_H5_U8;
    else
        known = 0;
    if (of_file >= 0) H5Tclose(of_file);
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    H5Eclear2(H5E_DEFAULT);
    if (!known || rank < 1 || rank > MODAL_H5_RANK) {
        status = modal_broken(&in->checker, where, "not an array that a hash can cover");
        goto done;
    }
    MODAL_TRY(modal_h5_read_array(in, place, name, type, rank, dims, MODAL_H5_REQUIRED, &values));
    for (int i = 0; values && i < rank; i++) count *= dims[i];
    if (values) modal_hash_array(hash, name, values, count, modal_h5_type_bytes(type));
done:
    modal_free(&values);
    return status;
}

/* Appends what there is of a path [length] below the place. */
static modal_status hash_path(const modal_h5_in *in, const modal_h5_place *place, const char *path, size_t length,
                              modal_hash *hash)
{
    modal_status status = MODAL_OK;
    modal_h5_place below = {H5I_INVALID_HID, ""};
    char name[MODAL_H5_PATH];
    const char *slash = memchr(path, '/', length);
    const size_t first = slash ? (size_t)(slash - path) : length;
    snprintf(name, sizeof name, "%.*s", (int)first, path);
    const int all = slash && strcmp(name, "*") == 0;
    for (int i = 0; place->id >= 0; i++) {
        if (all) snprintf(name, sizeof name, "%04d", i);
        if (H5Lexists(place->id, name, H5P_DEFAULT) <= 0) break;
        if (!slash) return hash_dataset(in, place, name, hash);
        MODAL_TRY(modal_h5_enter(in, place, name, MODAL_H5_OPTIONAL, &below));
        MODAL_TRY(hash_path(in, &below, slash + 1, length - first - 1, hash));
        modal_h5_leave(&below);
        if (!all) break;
    }
done:
    modal_h5_leave(&below);
    return status;
}

/* The field that lies in memory as it does in the file: its values need not be read again. */
static const modal_h5_field *field_in_memory(const char *path, size_t length, const modal_shape *s, int plain)
{
    char name[MODAL_H5_PATH];
    for (int i = 0; i < MODAL_BASIS_FIELDS; i++) {
        const modal_h5_field *f = &modal_basis_fields[i];
        if (!modal_basis_field_is_written(f, s) || (plain && f->part == MODAL_BASIS_MATRIX)) continue;
        snprintf(name, sizeof name, "%s/%s", modal_basis_groups[f->group], f->name);
        if (strlen(name) == length && strncmp(name, path, length) == 0) return f;
    }
    return NULL;
}

modal_status modal_basis_hash_listed(const modal_h5_in *in, const modal_h5_place *place, const modal_basis_list *list,
                                     const modal_shape *s, const int64_t sizes[SIZE_COUNT], int plain,
                                     modal_hash *hash, unsigned char bytes[MODAL_HASH_BYTES])
{
    modal_status status = MODAL_OK;
    const size_t skipped = strlen(in_shapes);
    int has[] = {0, s->solid.mesh.n_groups > 0, s->solid.mesh.n_groups > 0};
    for (int32_t i = 0; i < s->solid.mesh.n_materials; i++) has[0] |= s->solid.mesh.materials[i].kind == MODAL_MATERIAL_ORTHOTROPIC;
    modal_hash_restart(hash);
    for (int i = 0; i < N_MEMBERS; i++)
        if (has[i] && !list->has_members[i])
            MODAL_TRY(modal_broken(&in->checker, "/@hashed", "lacks %s%s, which %s has", in_shapes, of_members[i], place->path));
    for (int i = 0; i < MODAL_BASIS_FIELDS; i++)
        if (modal_basis_field_is_hashed(&modal_basis_fields[i]) && modal_basis_field_is_written(&modal_basis_fields[i], s) &&
            !list->has[i])
            MODAL_TRY(modal_broken(&in->checker, "/@hashed", "lacks %s%s/%s, which %s has", in_shapes,
                                   modal_basis_groups[modal_basis_fields[i].group], modal_basis_fields[i].name,
                                   place->path));
    for (const char *at = list->text; *at; at += *at == ' ') {
        const size_t length = strcspn(at, " ");
        if (length > skipped && strncmp(at, in_shapes, skipped) == 0) {
            const modal_h5_field *f = field_in_memory(at + skipped, length - skipped, s, plain);
            if (f)
                append_field(hash, s, f, sizes);
            else
                MODAL_TRY(hash_path(in, place, at + skipped, length - skipped, hash));
        }
        at += length;
    }
    modal_hash_bytes(hash, bytes);
done:
    return status;
}

modal_status modal_basis_hash_listed_content(const modal_h5_in *in, const modal_h5_place *root,
                                             const modal_basis_list *list, modal_hash *hash,
                                             char text[MODAL_HASH_TEXT])
{
    modal_status status = MODAL_OK;
    modal_hash_restart(hash);
    for (const char *at = list->text; *at; at += *at == ' ') {
        const size_t length = strcspn(at, " ");
        if (strncmp(at, in_shapes, strlen(in_shapes)) != 0) MODAL_TRY(hash_path(in, root, at, length, hash));
        at += length;
    }
    modal_hash_text(hash, text);
done:
    return status;
}
