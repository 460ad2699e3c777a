/* SPDX-License-Identifier: Apache-2.0 */
/* --resume: frames are written to folders OUT/NAME.part, and OUT/frames.journal tells which are complete. Lines of text: first what
 * the pictures follow from, then one a frame in their order, after its files were written: "frame NUMBER HASH ...", a hash
 * a file. A line without its end, or one whose files have other bytes, stands for a frame that was not complete; it is
 * drawn again with all that follow. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/memory.h"
#include "tools/common/files.h"
#include "tools/modalrender/modalrender.h"

enum { MOST_TEXT = 2048, MOST_LINE = 64 + MODAL_RENDER_BUFFERS * MODAL_HASH_TEXT };

static modal_status name_part(const modalrender_request *r, const char *name, char path[4096], modal_error *err)
{
    if (snprintf(path, 4096, "%s/%s.part", r->folder, name) < 4096) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: name too long", r->folder);
}

/* What an earlier run has left goes. Which pictures those were is not known. */
static void remove_parts(const modalrender_request *r)
{
    static const char *const pictures[] = {"png", "exr"};
    char path[4096];
    modal_error ignored = {0};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (name_part(r, pictures[i], path, &ignored) == MODAL_OK) tool_numbered_remove(path, pictures[i]);
    for (int i = MODAL_RENDER_COLOUR; i < MODAL_RENDER_BUFFERS; i++)
        if (name_part(r, modal_render_arrays[i].name, path, &ignored) == MODAL_OK) tool_numbered_remove(path, "npy");
}

modal_status modalrender_journal_open(const modalrender_request *r, modalrender_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[4096];
    int there = 0;
    if (snprintf(path, sizeof path, "%s/frames.journal", r->folder) >= (int)sizeof path)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: name too long", r->folder);
    MODAL_TRY(tool_files_write(path, TOOL_FILES_ONE, NULL, &out->journal, err));
    MODAL_TRY(tool_journal_open(&out->journal, path, r->resume, "these pictures", &there, err));
    if (there && !r->resume && !r->force)
        MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists, holds unfinished pictures (--resume goes on with them, --force discards them)", r->folder);
    for (int i = 0; r->resume && i < out->n; i++) { /* they could be made: the folders that stay take their places, the manifest comes in the end */
        modalrender_output *o = &out->all[i];
        tool_output_discard(&o->file);
        if (i == out->n - 1) break;
        o->file = (tool_output){.extension = o->extension, .force = r->force};
        MODAL_TRY(name_part(r, o->name, path, err));
        MODAL_TRY(modal_copy_text(&o->file.path, o->path, SIZE_MAX, err));
        MODAL_TRY(modal_copy_text(&o->file.temporary, path, SIZE_MAX, err));
    }
done:
    return status;
}

/* All that a picture follows from but for positions, normals and what the command line says. */
static modal_status hash_scene(const modalrender_input *in, char text[MODAL_HASH_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_render_scene *s = &in->scene;
    modal_hash *h = NULL;
    MODAL_TRY(modal_hash_new(&h, err));
    modal_hash_array(h, "triangles", s->triangles, 3 * s->n_triangles, sizeof *s->triangles);
    modal_hash_array(h, "flags", s->flags, s->n_triangles, sizeof *s->flags);
    modal_hash_array(h, "triangle materials", s->triangle_materials, s->n_triangles, sizeof *s->triangle_materials);
    modal_hash_array(h, "materials", s->materials, MODAL_SHADE_MATERIAL * (int64_t)s->n_materials, sizeof *s->materials);
    modal_hash_array(h, "tints", s->tints, 3 * (int64_t)s->n_objects, sizeof *s->tints);
    modal_hash_array(h, "uv", s->uv, 2 * s->n_uv, sizeof *s->uv);
    modal_hash_array(h, "triangle uv", s->triangle_uv, s->triangle_uv ? 3 * s->n_triangles : 0, sizeof *s->triangle_uv);
    modal_hash_array(h, "lights", s->lights, s->n_lights, sizeof *s->lights);
    modal_hash_array(h, "ambient", s->ambient, 3, sizeof *s->ambient);
    modal_hash_array(h, "background", s->background, 3, sizeof *s->background);
    modal_hash_array(h, "ground", s->ground, s->has_ground ? 12 : 0, sizeof *s->ground);
    modal_hash_array(h, "views", in->views, in->n_views, sizeof *in->views);
    modal_hash_array(h, "images", s->images.images, s->images.n_images, sizeof *s->images.images);
    modal_hash_array(h, "levels", s->images.levels, s->images.n_levels, sizeof *s->images.levels);
    if (s->images.of_material) modal_hash_array(h, "of materials", s->images.of_material, s->n_materials, sizeof *s->images.of_material);
    for (int32_t i = 0; i < s->images.n_parts; i++) modal_hash_array(h, "texels", s->images.parts[i], 4 * s->images.part_texels[i], 1);
    for (int32_t i = 0; i < s->images.n_solids; i++) {
        const modal_octree_pyramid *p = s->images.solids[i].pyramid;
        for (int k = 0; k <= p->n_mips; k++) {
            const modal_octree_tables *tables = k ? &p->tables[k - 1] : &p->finest;
            modal_hash_array(h, "cells", tables->masks, tables->n_masks, sizeof *tables->masks);
            modal_hash_array(h, "corners", tables->records, tables->n_records, 8 * modal_octree_value_bytes(tables->grid.channels));
        }
    }
    if (s->images.n_solids) modal_hash_array(h, "solids of materials", s->images.solids_of_material, s->n_materials, sizeof *s->images.solids_of_material);
    modal_hash_text(h, text);
done:
    modal_hash_delete(h);
    return status;
}

/* Which edges are hard by numbers of a basis, which its hash does not cover. */
static modal_status hash_creases(const modalrender_request *r, const modalrender_input *in, char text[MODAL_HASH_TEXT], modal_error *err)
{
    const modal_creases *c = &in->scene.wedges.creases;
    modal_hash *h = NULL;
    const modal_status status = modal_hash_new(&h, err);
    if (status != MODAL_OK) return status;
    modal_hash_array(h, "corners", c->corners, r->creases.by_normals && c->corners ? 3 * c->n_triangles : 0, sizeof *c->corners);
    modal_hash_text(h, text);
    modal_hash_delete(h);
    return MODAL_OK;
}

static modal_status describe(const modalrender_request *r, const modalrender_input *in, const modalrender_outputs *out, const char *back_end,
                             char text[MOST_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    char scene[MODAL_HASH_TEXT], creases[MODAL_HASH_TEXT];
    MODAL_TRY(hash_scene(in, scene, err));
    MODAL_TRY(hash_creases(r, in, creases, err));
    snprintf(text, MOST_TEXT,
             "modalrender %s journal 1\ntrajectory %s\nbasis %s\nscene %s\nbackend %s\npictures %d x %d, %d samples, shadows %d %d %d %.17g, "
             "transparency %d, normals %d, crease %.17g %s, colours %d %d\nframes %" PRId64 " from %" PRId64 " by %" PRId64 ", number %" PRId64 "\nfiles",
             tool_build(), in->trajectory_hash, in->basis.hash, scene, back_end, r->width, r->height, r->samples, (int)r->shadows,
             r->shadow_size, r->shadow_radius, r->shadow_alpha, (int)r->transparency, (int)r->normals, r->creases.degrees, creases, r->exr_floats,
             r->deep, in->n, in->start, in->step, in->number);
    for (int i = 0; i < out->n - 1; i++) snprintf(text + strlen(text), MOST_TEXT - strlen(text), " %s", out->all[i].name);
    for (int i = 0; r->format == MODALRENDER_EXR && i < MODAL_RENDER_BUFFERS; i++) /* its channels */
        if (r->buffers[i]) snprintf(text + strlen(text), MOST_TEXT - strlen(text), " %s", modal_render_arrays[i].name);
    snprintf(text + strlen(text), MOST_TEXT - strlen(text), "\n");
done:
    return status;
}

/* Where the journal begins otherwise, says in what. */
static modal_status refuse_other(const modalrender_request *r, const char *found, const char *wanted, modal_error *err)
{
    static const char *const what[] = {"version of this program", "trajectory", "basis", "look", "back end", "options", "frames", "files"};
    size_t line = 0;
    for (size_t i = 0; found[i] && found[i] == wanted[i]; i++) line += found[i] == '\n';
    if (line > 7) line = 7;
    return modal_error_set(err, MODAL_ERROR_INPUT,
                           "%s: --resume: the unfinished pictures were begun with another %s; --force without --resume starts anew", r->folder, what[line]);
}

/* Whether the files of a frame have these hashes. One that is not there has not. */
static int is_complete(const modalrender_outputs *out, int64_t number, const char *hashes)
{
    char path[4096], found[MODAL_HASH_TEXT];
    modal_error ignored = {0};
    for (int i = 0; i < out->n - 1; i++, hashes += MODAL_HASH_TEXT) {
        const modalrender_output *o = &out->all[i];
        if (snprintf(path, sizeof path, "%s/%06" PRId64 ".%s", o->file.temporary, number, o->extension) >= (int)sizeof path) return 0;
        if (modal_hash_file(path, found, &ignored) != MODAL_OK || hashes[0] != ' ' || strncmp(hashes + 1, found, MODAL_HASH_TEXT - 1) != 0) return 0;
    }
    return *hashes == '\n';
}

/* Follows the lines from `place` on, as far as they and their files are good; cuts the rest off. */
static modal_status verify(const modalrender_input *in, modalrender_outputs *out, int64_t place, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (out->n_kept = in->lead; out->n_kept < in->n; out->n_kept++) {
        char line[MOST_LINE + 1], head[64];
        size_t got;
        MODAL_TRY(tool_journal_read(&out->journal, place, line, MOST_LINE, &got, err));
        const int length = snprintf(head, sizeof head, "frame %" PRId64, in->number + out->n_kept);
        if (strncmp(line, head, (size_t)length) != 0 || !is_complete(out, in->number + out->n_kept, line + length)) break;
        place += length + (out->n - 1) * MODAL_HASH_TEXT + 1;
    }
    MODAL_TRY(tool_journal_cut(&out->journal, place, err));
done:
    return status;
}

modal_status modalrender_journal_begin(tool *t, const modalrender_request *r, const modalrender_input *in, const char *back_end,
                                       modalrender_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    char head[MOST_TEXT], found[MOST_TEXT + 1];
    struct stat info;
    size_t got;
    const double start = tool_seconds();
    out->n_kept = in->lead;
    if (out->journal.file < 0) return MODAL_OK;
    if (!r->resume) {
        remove_parts(r);
        tool_journal_close(&out->journal, 1);
        return MODAL_OK;
    }
    MODAL_TRY(describe(r, in, out, back_end, head, err));
    const size_t length = strlen(head);
    MODAL_TRY(tool_journal_read(&out->journal, 0, found, MOST_TEXT, &got, err));
    const int begun = got >= length || strncmp(found, head, got) != 0; /* else a head that was cut off, or none */
    if (begun && strncmp(found, head, length) != 0) return refuse_other(r, found, head, err);
    for (int i = 0; i < out->n - 1; i++) {
        const char *part = out->all[i].file.temporary;
        if (mkdir(part, 0777) == 0) continue;
        if (errno != EEXIST || lstat(part, &info) != 0 || !S_ISDIR(info.st_mode))
            MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot make the folder, %s", part, strerror(errno));
    }
    out->ours = 1;
    if (begun) {
        MODAL_TRY(verify(in, out, (int64_t)length, err));
        tool_note(t, "%s: goes on after %" PRId64 " of %" PRId64 " frames", r->folder, out->n_kept - in->lead,
                  in->n - in->lead);
        tool_stage(t, "verify", tool_seconds() - start, -1);
    } else {
        MODAL_TRY(tool_journal_cut(&out->journal, 0, err));
        MODAL_TRY(tool_journal_add(&out->journal, head, err));
    }
done:
    return status;
}

modal_status modalrender_journal_add(modalrender_outputs *out, int64_t number, const char (*hashes)[MODAL_HASH_TEXT], modal_error *err)
{
    modal_status status = MODAL_OK;
    char line[MOST_LINE];
    int length;
    if (out->journal.file < 0) return MODAL_OK;
    length = snprintf(line, sizeof line, "frame %" PRId64, number);
    for (int i = 0; i < out->n - 1; i++) length += snprintf(line + length, sizeof line - (size_t)length, " %s", hashes[i]);
    snprintf(line + length, sizeof line - (size_t)length, "\n");
    MODAL_TRY(tool_journal_add(&out->journal, line, err));
    out->n_kept++;
done:
    return status;
}

void modalrender_journal_end(tool *t, const modalrender_request *r, const modalrender_input *in, modalrender_outputs *out)
{
    const int kept = r->resume && !out->complete && (!out->ours || out->n_kept > in->lead);
    for (int i = 0; kept && i < out->n - 1; i++)
        if (!out->all[i].file.lock) modal_free(&out->all[i].file.temporary); /* OUT/NAME.part, which stays; a temporary name has a lock */
    if (kept && out->ours) tool_note(t, "%s: %" PRId64 " frames are kept, --resume goes on with them", r->folder, out->n_kept - in->lead);
    tool_journal_close(&out->journal, (!kept && !out->complete && out->ours) || tool_journal_empty(&out->journal));
    tool_journal_free(&out->journal);
}
