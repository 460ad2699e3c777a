/* SPDX-License-Identifier: Apache-2.0 */
/* What modalcurv reads: one surface, a sequence.vtkhdf, a point cache, or the .ply files of a folder, named by a .series or in the order
 * of their names. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/meshes/surface_read.h"
#include "formats/sequences/series_read.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/modalcurv/modalcurv.h"

static int ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), most = strlen(ending);
    return length > most && strcmp(name + length - most, ending) == 0;
}

int modalcurv_is_cache(const char *name, modal_cache_kind *kind)
{
    *kind = ends_with(name, ".pc2") ? MODAL_CACHE_PC2 : MODAL_CACHE_MDD;
    return *kind == MODAL_CACHE_PC2 || ends_with(name, ".mdd");
}

/* FOLDER/NAME; folder NULL: NAME. */
static modal_status join(const char *folder, const char *name, char **path, modal_error *err)
{
    const int64_t length = (folder ? (int64_t)strlen(folder) : 0) + (int64_t)strlen(name) + 2;
    modal_status status = modal_alloc(path, length, 1, "name", err);
    if (status != MODAL_OK) return status;
    snprintf(*path, (size_t)length, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    return MODAL_OK;
}

static modal_status add_file(modalcurv_input *in, int64_t *capacity, const char *folder, const char *name, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_grow(&in->files, capacity, in->n + 1, sizeof *in->files, "names of frames", err));
    MODAL_TRY(join(folder, name, &in->files[in->n], err));
    in->n++;
done:
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of a folder with that ending, in their order. */
static modal_status list_folder(const char *path, const char *ending, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    DIR *folder = opendir(path);
    if (!folder) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be listed, %s", path, strerror(errno));
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (ends_with(entry->d_name, ending)) MODAL_TRY(add_file(in, &capacity, path, entry->d_name, err));
    if (errno) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be listed, %s", path, strerror(errno));
    if (in->n > 0) qsort(in->files, (size_t)in->n, sizeof *in->files, by_name);
done:
    if (folder) closedir(folder);
    return status;
}

static void drop_files(modalcurv_input *in)
{
    for (int64_t i = 0; i < in->n; i++) modal_free(&in->files[i]);
    modal_free(&in->files);
    in->n = 0;
}

/* The files of a .series, names seen from its folder. */
static modal_status read_series(const char *path, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    char *folder = NULL;
    modal_file_series series = {0};
    const char *slash = strrchr(path, '/');
    MODAL_TRY(modal_file_series_read(path, &series, err));
    if (slash) MODAL_TRY(modal_copy_text(&folder, path, (size_t)(slash - path), err));
    for (int64_t i = 0; i < series.n; i++)
        MODAL_TRY(add_file(in, &capacity, series.files[i][0] == '/' ? NULL : folder, series.files[i], err));
    in->times = series.times;
    series.times = NULL;
done:
    modal_file_series_free(&series);
    modal_free(&folder);
    return status;
}

/* The files of a folder: its one .series, or its .ply files a second apart. */
static modal_status open_folder(const char *path, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *series = NULL;
    MODAL_TRY(list_folder(path, ".series", in, err));
    if (in->n > 1)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: more than one .series, name the one that is meant: %s, %s", path,
                   in->files[0], in->files[1]);
    if (in->n == 1) {
        series = in->files[0];
        in->files[0] = NULL;
        drop_files(in);
        MODAL_TRY(read_series(series, in, err));
        goto done;
    }
    drop_files(in);
    MODAL_TRY(list_folder(path, ".ply", in, err));
    if (in->n == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no .series and no .ply files in this folder", path);
done:
    modal_free(&series);
    return status;
}

/* A sequence: its frames are as many times the one file. */
static modal_status open_sequence(const char *path, modalcurv_input *in, modal_sequence_surface *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    MODAL_TRY(modal_sequence_reader_open(&in->sequence, path, surface, err));
    if (surface->n_points > INT32_MAX || surface->n_triangles > INT32_MAX / 3)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: too large, %" PRId64 " points", path, surface->n_points);
    for (int64_t i = 0; i < surface->n_frames; i++) MODAL_TRY(add_file(in, &capacity, NULL, path, err));
    MODAL_TRY(modal_alloc(&in->times, in->n, sizeof *in->times, "times", err));
    memcpy(in->times, surface->times, (size_t)in->n * sizeof *in->times);
    in->n_vertices = surface->n_points, in->n_triangles = surface->n_triangles;
    MODAL_TRY(modal_alloc(&in->triangles, 3 * in->n_triangles, sizeof *in->triangles, "triangles", err));
    for (int64_t i = 0; i < 3 * in->n_triangles; i++) in->triangles[i] = (int32_t)surface->triangles[i];
done:
    return status;
}

/* The connectivity that a file has. */
static modal_status take_mesh(const char *path, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh mesh = {0};
    MODAL_TRY(modal_surface_read(path, &mesh, &in->n_collapsed, err));
    if (mesh.n_triangles == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no triangles", path);
    in->n_vertices = mesh.n_vertices, in->n_triangles = mesh.n_triangles;
    in->triangles = mesh.triangles;
    mesh.triangles = NULL;
done:
    modal_surface_mesh_free(&mesh);
    return status;
}

/* A point cache: its frames are as many times the one file; --rest or rest.obj beside it has the triangles. */
static modal_status open_cache(const modalcurv_request *r, modal_cache_kind kind, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    modal_cache cache;
    char *folder = NULL;
    const char *slash = strrchr(r->input, '/');
    MODAL_TRY(modal_cache_reader_open(&in->cache, kind, r->input, &cache, err));
    for (int64_t i = 0; i < cache.n_frames; i++) MODAL_TRY(add_file(in, &capacity, NULL, r->input, err));
    MODAL_TRY(modal_alloc(&in->times, in->n, sizeof *in->times, "times", err));
    memcpy(in->times, cache.times, (size_t)in->n * sizeof *in->times);
    if (slash) MODAL_TRY(modal_copy_text(&folder, r->input, (size_t)(slash - r->input), err));
    MODAL_TRY(r->rest ? join(NULL, r->rest, &in->mesh, err) : join(folder, "rest.obj", &in->mesh, err));
    MODAL_TRY(take_mesh(in->mesh, in, err));
    if (in->n_vertices != cache.n_points)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %" PRId64 " points, but %" PRId64 " vertices in %s", r->input, cache.n_points,
                   in->n_vertices, in->mesh);
    tool_files_read(in->mesh);
done:
    modal_free(&folder);
    return status;
}

/* Keeps the frames that --frames selects. */
static modal_status select_files(const modalcurv_request *r, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t start = 0, step = 1, count = 0;
    if (!in->times) {
        MODAL_TRY(modal_alloc(&in->times, in->n, sizeof *in->times, "times", err));
        for (int64_t i = 0; i < in->n; i++) in->times[i] = (double)i;
    }
    MODAL_TRY(tool_slice_select(&r->frames, in->n, "the input", &start, &step, &count, err));
    for (int64_t i = 0, kept = 0; i < in->n; i++) {
        if (i < start || (i - start) % step != 0 || kept == count) {
            modal_free(&in->files[i]);
            continue;
        }
        char *file = in->files[i];
        in->files[i] = NULL;
        in->files[kept] = file;
        in->times[kept++] = in->times[i];
    }
    in->n = count, in->start = start, in->step = step;
done:
    return status;
}

static modal_status hash_files(const modalcurv_request *r, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_hash *hash = NULL;
    char text[MODAL_HASH_TEXT];
    MODAL_TRY(modal_hash_new(&hash, err));
    for (int64_t i = 0; i < (in->sequence || in->cache ? 1 : in->n); i++) {
        MODAL_TRY(modal_hash_file(in->files[i], text, err));
        modal_hash_array(hash, "file", text, MODAL_HASH_TEXT - 1, 1);
    }
    if (in->mesh && !r->rest) {
        MODAL_TRY(modal_hash_file(in->mesh, text, err));
        modal_hash_array(hash, "mesh", text, MODAL_HASH_TEXT - 1, 1);
    }
    if (r->rest) {
        MODAL_TRY(modal_hash_file(r->rest, text, err));
        modal_hash_array(hash, "rest", text, MODAL_HASH_TEXT - 1, 1);
    }
    modal_hash_array(hash, "times", in->times, in->n, sizeof *in->times);
    modal_hash_text(hash, in->hash);
done:
    modal_hash_delete(hash);
    return status;
}

/* The middle of its box, and the length of its edges. */
static modal_status measure_first(modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *positions = NULL, *centred = NULL;
    double extent = 0.0, farthest = 0.0;
    MODAL_TRY(modal_alloc(&positions, 3 * in->n_vertices, sizeof *positions, "positions", err));
    MODAL_TRY(modal_alloc(&centred, 3 * in->n_vertices, sizeof *centred, "positions", err));
    MODAL_TRY(modal_curvature_topology_build(in->n_vertices, in->n_triangles, in->triangles, &in->topology, err));
    MODAL_TRY(modalcurv_read(in, 0, positions, centred, err));
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < in->n_vertices; v++) {
            low = fmin(low, (double)positions[3 * v + k]);
            high = fmax(high, (double)positions[3 * v + k]);
        }
        in->centre[k] = low / 2.0 + high / 2.0;
        extent = fmax(extent, high - low);
        farthest = fmax(farthest, fabs(in->centre[k]));
    }
    /* near the origin there are no digits to save, and positions stay as they are */
    if (farthest <= extent) memset(in->centre, 0, sizeof in->centre);
    MODAL_TRY(modalcurv_read(in, 0, positions, centred, err));
    in->mean_edge = modal_curvature_mean_edge(in->n_triangles, in->triangles, centred);
    MODAL_TRY(modalcurv_oddities(in, centred, err));
    if (!(in->mean_edge > 1e-25 && in->mean_edge < 1e25))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: mean length of the edges not from 1e-25 to 1e25 m, %g", in->files[0],
                   in->mean_edge);
done:
    modal_free(&positions);
    modal_free(&centred);
    return status;
}

/* What stretch is measured against: the file of --rest, with the same triangles, or the first frame. */
static modal_status take_rest(const modalcurv_request *r, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    float *positions = NULL;
    char *file = (char *)r->rest;
    double time = 0.0;
    modalcurv_input from = *in;
    if (r->rest) from.files = &file, from.times = &time, from.n = 1, from.sequence = NULL, from.cache = NULL;
    MODAL_TRY(modal_alloc(&positions, 3 * in->n_vertices, sizeof *positions, "positions", err));
    MODAL_TRY(modal_alloc(&in->rest, 3 * in->n_vertices, sizeof *in->rest, "rest", err));
    MODAL_TRY(modalcurv_read(&from, 0, positions, in->rest, err));
done:
    modal_free(&positions);
    return status;
}

modal_status modalcurv_open(const modalcurv_request *r, modalcurv_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    struct stat info;
    int64_t capacity = 0;
    modal_sequence_surface surface;
    modal_cache_kind kind;
    if (stat(r->input, &info) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot be found, %s", r->input, strerror(errno));
    if (S_ISDIR(info.st_mode))
        MODAL_TRY(open_folder(r->input, in, err));
    else if (ends_with(r->input, ".vtkhdf"))
        MODAL_TRY(open_sequence(r->input, in, &surface, err));
    else if (modalcurv_is_cache(r->input, &kind))
        MODAL_TRY(open_cache(r, kind, in, err));
    else if (ends_with(r->input, ".series"))
        MODAL_TRY(read_series(r->input, in, err));
    else
        MODAL_TRY(add_file(in, &capacity, NULL, r->input, err));
    MODAL_TRY(select_files(r, in, err));
    in->first = in->files[0];
    if (stat(in->first, &info) == 0) in->file_bytes = in->sequence || in->cache ? 0 : (int64_t)info.st_size;
    for (int64_t i = 0; i < in->n; i++) tool_files_read(in->files[i]);
    if (!in->sequence && !in->cache) MODAL_TRY(take_mesh(in->files[0], in, err));
    MODAL_TRY(measure_first(in, err));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS && !in->rest; i++)
        if ((r->options.fields[i] || r->coloured == i) && modal_curvature_is_stretch((modal_curvature_field)i))
            MODAL_TRY(take_rest(r, in, err));
    MODAL_TRY(hash_files(r, in, err));
done:
    return status;
}

modal_status modalcurv_read(const modalcurv_input *in, int64_t i, float *positions, float *centred, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh mesh = {0};
    int64_t n_collapsed = 0;
    if (in->sequence || in->cache) {
        if (in->sequence) pthread_mutex_lock(in->hdf5);
        status = in->sequence ? modal_sequence_reader_points(in->sequence, in->start + i * in->step, positions, err)
                              : modal_cache_reader_points(in->cache, in->start + i * in->step, positions, err);
        if (in->sequence) pthread_mutex_unlock(in->hdf5);
        for (int64_t k = 0; status == MODAL_OK && k < 3 * in->n_vertices; k++)
            centred[k] = (float)((double)positions[k] - in->centre[k % 3]);
        return status;
    }
    MODAL_TRY(modal_surface_read(in->files[i], &mesh, &n_collapsed, err));
    if (mesh.n_vertices != in->n_vertices)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %" PRId64 " vertices, but %" PRId64 " in %s", in->files[i],
                   mesh.n_vertices, in->n_vertices, in->first);
    if (mesh.n_triangles != in->n_triangles ||
        memcmp(mesh.triangles, in->triangles, (size_t)(3 * in->n_triangles) * sizeof *in->triangles) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: its triangles are not those of %s", in->files[i], in->first);
    for (int64_t k = 0; k < 3 * in->n_vertices; k++) {
        positions[k] = (float)mesh.positions[k];
        centred[k] = (float)(mesh.positions[k] - in->centre[k % 3]);
        if (!isfinite(positions[k]) || !isfinite(centred[k]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: vertex %" PRId64 ": not a finite float32, %g", in->files[i], k / 3,
                       mesh.positions[k]);
    }
done:
    modal_surface_mesh_free(&mesh);
    return status;
}

void modalcurv_close(modalcurv_input *in)
{
    drop_files(in);
    modal_free(&in->times);
    modal_free(&in->triangles);
    modal_free(&in->rest);
    in->sequence = modal_sequence_reader_close(in->sequence);
    in->cache = modal_cache_reader_close(in->cache);
    modal_free(&in->mesh);
    modal_curvature_topology_free(&in->topology);
}
