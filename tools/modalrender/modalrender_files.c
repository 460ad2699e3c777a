/* SPDX-License-Identifier: Apache-2.0 */
/* Files of frames, each written by one of some threads, which take the next one as soon as they are free. A batch of frames is let go when nobody reads
 * its pictures any more: of a PNG that is so once its rows are filtered, a fifth of its time. So nobody waits for the slowest picture of a batch. */
#include <omp.h>
#include <pthread.h>
#include <string.h>

#include "formats/images/exr_write.h"
#include "formats/images/npy.h"
#include "formats/images/png_write.h"
#include "formats/sequences/file_out.h"
#include "lib/base/clock.h"
#include "lib/base/memory.h"
#include "tools/modalrender/modalrender.h"

/* A frame whose files are not all complete, or one after such a frame. */
typedef struct unfinished {
    int64_t number;
    int left;                       /* files */
    char (*hashes)[MODAL_HASH_TEXT]; /* [n_files] of --resume */
    struct unfinished *next;
} unfinished;

struct modalrender_files {
    const modalrender_request *r;
    modalrender_outputs *out;
    int n_files; /* of a frame */
    modal_png_room *rooms; /* [r->threads] */
    pthread_t thread; /* leads the team */
    int made, runs;
    pthread_mutex_t lock; /* of all that follows, and of what the journal and the outputs count */
    pthread_cond_t begun, changed;
    float *arrays[MODAL_RENDER_BUFFERS]; /* of the batch */
    int64_t frame, next, end; /* file i is i % n_files of the batch's frame `frame` + i / n_files; those before `next` have been begun */
    int64_t reading, writing; /* files whose arrays are still needed; that are not complete */
    unfinished *first, *last, *of_next; /* frames in their order; that of file `next` */
    int stop;
    modal_status status; /* of the first file that failed */
    modal_error err;
};

/* A file of a frame. */
typedef struct frame_file {
    modalrender_files *files;
    int reads;      /* its arrays */
    int64_t number; /* of the frame */
    int64_t bytes;  /* that it has */
    char *hash;     /* of them, [MODAL_HASH_TEXT]; NULL: not wanted */
} frame_file;

/* The arrays are not needed any more. */
static void let_go(frame_file *file)
{
    modalrender_files *w = file->files;
    if (!file->reads) return;
    pthread_mutex_lock(&w->lock);
    file->reads = 0;
    if (--w->reading == 0) pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static modal_status write_file(const modalrender_output *o, frame_file *to, const void *head, int64_t head_bytes, const void *bytes, int64_t length,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_file_out file = {.file = -1};
    modal_hash *hash = NULL;
    MODAL_TRY(o->extension ? modal_file_out_open_frame(&file, o->file.temporary, to->number, o->extension, err)
                           : modal_file_out_open(&file, o->file.temporary, err));
    if (head) MODAL_TRY(modal_file_out_write(&file, head, head_bytes, err));
    MODAL_TRY(modal_file_out_write(&file, bytes, length, err));
    MODAL_TRY(modal_file_out_close(&file, err));
    to->bytes = head_bytes + length;
    if (to->hash) {
        MODAL_TRY(modal_hash_new(&hash, err));
        modal_hash_more(hash, head, (size_t)head_bytes);
        modal_hash_more(hash, bytes, (size_t)length);
        modal_hash_text(hash, to->hash);
    }
done:
    modal_hash_delete(hash);
    modal_file_out_free(&file);
    return status;
}

/* One frame of one output. */
static modal_status write_frame(const modalrender_request *r, const modalrender_output *o, const float *values, modal_png_room *room, frame_file *to,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t length = 0;
    if (o->buffer <= MODAL_RENDER_DEEP) {
        const modal_png_picture picture = {values, r->deep ? 16 : 8, 3, r->width, r->height};
        const uint8_t *bytes;
        MODAL_TRY(modal_png_filter(room, &picture, err));
        let_go(to);
        MODAL_TRY(modal_png_pack(room, &picture, &bytes, &length, err));
        MODAL_TRY(write_file(o, to, NULL, 0, bytes, length, err));
    } else {
        char head[MODAL_NPY_HEAD];
        const int components = modal_render_arrays[o->buffer].components;
        const int whole = o->buffer == MODAL_RENDER_TRIANGLE || o->buffer == MODAL_RENDER_OBJECT;
        modal_npy_head(head, whole ? "<i4" : "<f4", r->height, r->width, components);
        length = 4 * (int64_t)components * r->width * r->height;
        MODAL_TRY(write_file(o, to, head, MODAL_NPY_HEAD, values, length, err));
    }
done:
    return status;
}

/* A frame as one file: colours, depths and what else was asked for. */
static modal_status write_exr(const modalrender_request *r, const modalrender_output *o, int64_t f, float *const arrays[MODAL_RENDER_BUFFERS],
                              frame_file *to, modal_error *err)
{
    static const char *const names[MODAL_RENDER_BUFFERS][3] = {
        [MODAL_RENDER_COLOUR] = {"R", "G", "B"}, [MODAL_RENDER_TRIANGLE] = {"triangle"}, [MODAL_RENDER_OBJECT] = {"object"},
        [MODAL_RENDER_DEPTH] = {"Z"}, [MODAL_RENDER_NORMAL] = {"N.X", "N.Y", "N.Z"}, [MODAL_RENDER_POSITION] = {"P.X", "P.Y", "P.Z"},
        [MODAL_RENDER_MOTION] = {"motion.X", "motion.Y"}};
    modal_status status = MODAL_OK;
    modal_exr_channel channels[3 * MODAL_RENDER_BUFFERS];
    uint8_t *bytes = NULL;
    int64_t length = 0;
    int n = 0;
    for (int i = MODAL_RENDER_COLOUR; i < MODAL_RENDER_BUFFERS; i++) {
        const int components = modal_render_arrays[i].components;
        const float *values = r->buffers[i] ? arrays[i] + f * components * (int64_t)r->width * r->height : NULL;
        const int whole = i == MODAL_RENDER_TRIANGLE || i == MODAL_RENDER_OBJECT;
        for (int k = 0; values && k < components; k++)
            channels[n++] = (modal_exr_channel){names[i][k], whole                                             ? MODAL_EXR_UINT
                                                             : i == MODAL_RENDER_COLOUR && !r->exr_floats ? MODAL_EXR_HALF
                                                                                                          : MODAL_EXR_FLOAT,
                                                values + k, 4 * components};
    }
    MODAL_TRY(modal_exr_encode(channels, n, r->width, r->height, &bytes, &length, err));
    MODAL_TRY(write_file(o, to, NULL, 0, bytes, length, err));
done:
    modal_free(&bytes);
    return status;
}

/* ---- threads ---- */

/* Frames that are complete, and those before them, are noted and forgotten. Locked. */
static modal_status note_complete(modalrender_files *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    while (w->first && w->first->left == 0 && w->status == MODAL_OK) {
        unfinished *frame = w->first;
        MODAL_TRY(modalrender_journal_add(w->out, frame->number, (const char(*)[MODAL_HASH_TEXT])frame->hashes, err));
        w->first = frame->next;
        if (!w->first) w->last = NULL;
        modal_free(&frame->hashes);
        modal_free(&frame);
    }
done:
    return status;
}

/* Writes file `next`, locked before and after. */
static void write_next(modalrender_files *w, modal_png_room *room)
{
    const modalrender_request *r = w->r;
    const int64_t i = w->next++, f = w->frame + i / w->n_files, pixels = (int64_t)r->width * r->height;
    const modalrender_output *o = &w->out->all[i % w->n_files];
    unfinished *frame = w->of_next;
    frame_file to = {.files = w, .reads = 1, .number = frame->number, .hash = frame->hashes ? frame->hashes[i % w->n_files] : NULL};
    modal_error err = {0};
    if (w->next % w->n_files == 0) w->of_next = frame->next;
    pthread_mutex_unlock(&w->lock);
    const double processor = modal_clock(CLOCK_THREAD_CPUTIME_ID);
    modal_status status = r->format == MODALRENDER_EXR
                              ? write_exr(r, o, f, w->arrays, &to, &err)
                              : write_frame(r, o, w->arrays[o->buffer] + f * pixels * modal_render_arrays[o->buffer].components, room, &to, &err);
    let_go(&to);
    const double took = modal_clock(CLOCK_THREAD_CPUTIME_ID) - processor;
    pthread_mutex_lock(&w->lock);
    frame->left--;
    w->writing--;
    w->out->bytes += to.bytes, w->out->processor += took;
    if (status == MODAL_OK && w->status == MODAL_OK) status = note_complete(w, &err);
    if (status != MODAL_OK && w->status == MODAL_OK) {
        w->status = status, w->err = err;
        w->reading -= w->end - w->next, w->writing -= w->end - w->next; /* the others are not begun */
        w->next = w->end;
    }
    pthread_cond_broadcast(&w->changed);
}

/* A team of OpenMP's, which then knows of these threads, too: where they and those that draw are more than there are cores, nobody waits awake. */
static void *work(void *argument)
{
    modalrender_files *w = argument;
#pragma omp parallel num_threads(w->r->threads)
    {
        modal_png_room *room = &w->rooms[omp_get_thread_num()];
        pthread_mutex_lock(&w->lock);
        while (!w->stop) {
            if (w->next < w->end) write_next(w, room);
            else pthread_cond_wait(&w->begun, &w->lock);
        }
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

modal_status modalrender_files_new(modalrender_files **files, const modalrender_request *r, modalrender_outputs *out, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalrender_files *w = NULL;
    *files = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "pictures", err));
    w->r = r, w->out = out, w->n_files = out->n_pictures;
    MODAL_TRY(modal_alloc_zero(&w->rooms, r->threads, sizeof *w->rooms, "pictures", err));
    if (pthread_mutex_init(&w->lock, NULL) != 0 || pthread_cond_init(&w->begun, NULL) != 0 || pthread_cond_init(&w->changed, NULL) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "pictures: no mutex");
    w->made = 1;
    if (pthread_create(&w->thread, NULL, work, w) != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "pictures: cannot start a thread");
    w->runs = 1;
    *files = w;
    w = NULL;
done:
    modalrender_files_delete(w);
    return status;
}

/* Adds frames to those that are not complete. */
static modal_status add_frames(modalrender_files *w, int64_t number, int64_t n, modal_error *err)
{
    modal_status status = MODAL_OK;
    unfinished *frame = NULL, *first = NULL, *last = NULL;
    for (int64_t f = 0; f < n; f++) {
        MODAL_TRY(modal_alloc_zero(&frame, 1, sizeof *frame, "pictures", err));
        frame->number = number + f, frame->left = w->n_files;
        if (last) last->next = frame;
        else first = frame;
        last = frame;
        if (w->out->journal.file >= 0) MODAL_TRY(modal_alloc(&frame->hashes, w->n_files, sizeof *frame->hashes, "hashes", err));
    }
    pthread_mutex_lock(&w->lock);
    if (w->last) w->last->next = first;
    else w->first = first;
    w->last = last, w->of_next = first;
    pthread_mutex_unlock(&w->lock);
    return MODAL_OK;
done:
    while (first) {
        frame = first, first = frame->next;
        modal_free(&frame->hashes);
        modal_free(&frame);
    }
    return status;
}

static modal_status wait_for(modalrender_files *w, const int64_t *none, modal_error *err)
{
    modal_status status = MODAL_OK;
    pthread_mutex_lock(&w->lock);
    while (*none > 0) pthread_cond_wait(&w->changed, &w->lock);
    if (w->status != MODAL_OK) status = modal_error_set(err, w->status, "%s", w->err.message);
    pthread_mutex_unlock(&w->lock);
    return status;
}

modal_status modalrender_files_write(modalrender_files *w, int64_t number, int64_t from, int64_t n, float *const arrays[MODAL_RENDER_BUFFERS],
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(wait_for(w, &w->reading, err)); /* also what failed since */
    MODAL_TRY(add_frames(w, number + from, n - from, err));
    pthread_mutex_lock(&w->lock);
    memcpy(w->arrays, arrays, sizeof w->arrays);
    w->frame = from, w->next = 0, w->end = w->reading = (n - from) * w->n_files;
    w->writing += w->end;
    pthread_cond_broadcast(&w->begun);
    pthread_mutex_unlock(&w->lock);
    status = wait_for(w, &w->reading, err);
done:
    return status;
}

modal_status modalrender_files_finish(modalrender_files *w, modal_error *err) { return wait_for(w, &w->writing, err); }

modalrender_files *modalrender_files_delete(modalrender_files *w)
{
    modal_error ignored = {0};
    if (!w) return NULL;
    if (w->made) {
        (void)modalrender_files_finish(w, &ignored);
        pthread_mutex_lock(&w->lock);
        w->stop = 1;
        pthread_cond_broadcast(&w->begun);
        pthread_mutex_unlock(&w->lock);
        if (w->runs) pthread_join(w->thread, NULL);
        pthread_cond_destroy(&w->changed);
        pthread_cond_destroy(&w->begun);
        pthread_mutex_destroy(&w->lock);
    }
    while (w->first) {
        unfinished *frame = w->first;
        w->first = frame->next;
        modal_free(&frame->hashes);
        modal_free(&frame);
    }
    for (int i = 0; w->rooms && i < w->r->threads; i++) modal_png_free(&w->rooms[i]);
    modal_free(&w->rooms);
    modal_free(&w);
    return NULL;
}
