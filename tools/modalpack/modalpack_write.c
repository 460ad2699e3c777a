/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: the basis file, written while the shapes that come next are still being solved: HDF5 takes
 * longer for the arrays of a small shape than half a core takes for its modes. */
#include <pthread.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/provenance_h5.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "tools/common/inputs.h"
#include "tools/modalpack/modalpack.h"

modal_status modalpack_add_provenance(const tool *t, const modalpack_request *r, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    static const char *const options[] = {"surface", "materials", "snapshots", "import"};
    const int n_options = (int)(sizeof options / sizeof *options);
    char *inputs = NULL;
    int64_t used = 0, room = 0;
    for (int i = 0; i < r->n_meshes; i++) MODAL_TRY(tool_add_input(r->mesh_paths[i], &inputs, &used, &room, err));
    for (int k = 0; k < n_options; k++)
        for (int i = 0; i < tool_count(&t->arguments, options[k]); i++) {
            const char *path = tool_value_at(&t->arguments, options[k], i);
            MODAL_TRY(k == 1 ? tool_add_material_inputs(path, &inputs, &used, &room, err)
                             : tool_add_input(path, &inputs, &used, &room, err));
        }
    MODAL_TRY(modal_provenance_append(&basis->provenance, &basis->n_provenance, t->program->name,
                                      tool_build(), t->command_line, inputs, r->device->name, err));
    if (t->assumed_material)
        MODAL_TRY(modal_copy_text(&basis->provenance[basis->n_provenance - 1].assumed_material, t->assumed_material, SIZE_MAX, err));
    MODAL_TRY(modalpack_find_recipe(t, r, basis->recipe_hash, err));
done:
    modal_free(&inputs);
    return status;
}

modal_status modalpack_write(tool *t, const modalpack_request *r, const tool_output *output, modal_basis *basis,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = tool_seconds();
    modalpack_writer *writer = NULL;
    MODAL_TRY(modalpack_writer_new(output->temporary, basis, r->ranks ? 1 : r->threads, &writer, err));
    for (int32_t i = 0; i < basis->n_shapes; i++) MODAL_TRY(modalpack_writer_ready(writer, i, err));
    /* while the arrays are written: room in memory, and the hashes of the inputs */
    tool_output_uncache(output);
    MODAL_TRY(modalpack_add_provenance(t, r, basis, err));
    MODAL_TRY(modalpack_writer_ready(writer, basis->n_shapes, err));
done:
    status = modalpack_writer_finish(writer, status, err);
    if (status == MODAL_OK) tool_stage(t, "write basis", tool_seconds() - start, -1);
    return status;
}

struct modalpack_writer {
    const char *path;
    const modal_basis *basis;
    pthread_t thread;
    int running;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    uint8_t *ready; /* [n_shapes + 1], the last one is the provenance */
    int given_up;   /* no more shapes will come */
    modal_status status;
    modal_error err;
};

static modal_status wait_for(void *context, int32_t index, modal_error *err)
{
    modalpack_writer *w = context;
    pthread_mutex_lock(&w->mutex);
    while (!w->ready[index] && !w->given_up) pthread_cond_wait(&w->changed, &w->mutex);
    const int ready = w->ready[index];
    pthread_mutex_unlock(&w->mutex);
    return ready ? MODAL_OK : modal_error_set(err, MODAL_ERROR_INTERRUPTED, "part %d: not made", index);
}

static void *write_all(void *context)
{
    modalpack_writer *w = context;
    modal_error err = {0};
    const modal_status status = modal_basis_write_shapes(w->path, w->basis, wait_for, w, &err);
    pthread_mutex_lock(&w->mutex);
    w->status = status;
    w->err = err;
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

modal_status modalpack_writer_new(const char *path, const modal_basis *basis, int n_threads, modalpack_writer **writer,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    modalpack_writer *w = NULL;
    MODAL_TRY(modal_alloc_zero(&w, 1, sizeof *w, "writer", err));
    w->path = path;
    w->basis = basis;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    *writer = w;
    MODAL_TRY(modal_alloc_zero(&w->ready, (int64_t)basis->n_shapes + 1, sizeof *w->ready, "writer", err));
    /* without a thread of its own, or with one thread for all, everything is written in the end */
    w->running = n_threads > 1 && pthread_create(&w->thread, NULL, write_all, w) == 0;
done:
    return status;
}

modal_status modalpack_writer_ready(modalpack_writer *w, int64_t index, modal_error *err)
{
    pthread_mutex_lock(&w->mutex);
    w->ready[index] = 1;
    const int failed = w->status != MODAL_OK;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    return failed ? modal_error_set(err, MODAL_ERROR_INTERRUPTED, "the file cannot be written") : MODAL_OK;
}

modal_status modalpack_writer_finish(modalpack_writer *w, modal_status status, modal_error *err)
{
    if (!w) return status;
    if (w->running) {
        pthread_mutex_lock(&w->mutex);
        w->given_up = status != MODAL_OK;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->mutex);
        pthread_join(w->thread, NULL);
    } else if (status == MODAL_OK) {
        write_all(w);
    }
    /* a failure of the writer is the reason why its shapes were not wanted any more */
    if (w->status != MODAL_OK && (status == MODAL_OK || w->status != MODAL_ERROR_INTERRUPTED)) {
        status = w->status;
        if (err) *err = w->err;
    }
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->changed);
    modal_free(&w->ready);
    modal_free(&w);
    return status;
}
