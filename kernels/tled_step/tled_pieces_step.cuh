// SPDX-License-Identifier: Apache-2.0
// Steps of a solid on several devices (Pieces of tled_tables.cuh). Part of tled_step_cuda.cu, after its launches. No include guard: it is
// included once.
//
// Step i of a piece reads partial sums i % 2 and writes the others; then it sends what other pieces need, and waits for what they
// send. It has waited for their step i - 1 before, which was the last to read the sums that it writes into: none is overwritten
// before it is read. Likewise where nodes are: step i reads states i % 2 and writes the others.
//
// Where patches wait for one another (by_marks), their kernel sends and waits, patch by patch: nothing is between two steps (of large pieces patches
// on a border alone do, `flow` 0). Else kernels of
// their own send after a step, and events are waited for.

// Numbers `list` of one piece's array into another one's.
template <class T> __global__ void send_listed(const int32_t *list, int n, const T *from, T *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[list[i]] = from[list[i]];
}

// Where nodes `list` are, as take_state.
template <class R>
__global__ void take_listed(const __grid_constant__ Tables<R> t, const int32_t *list, int n, const Vector4<R> *u, const Vector4<R> *d, Vector4<R> *state)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) store_motion(state, list[k], Motion<R>{u[t.nodes[list[k]]], d[t.nodes[list[k]]]});
}

template <class T> modal_status send(const int32_t *list, int n, const T *from, T *to, modal_stream *stream, modal_error *err)
{
    if (n == 0) return MODAL_OK;
    return modal_cuda::launch(send_listed<T>, (n + 255) / 256, 256, (cudaStream_t)stream, "tled_step: a border", err, list, n,
                              from, to);
}

// Whether two pieces send each other anything, either way.
template <class R> bool meet(const Pieces<R> *all, int k, int other)
{
    const Sends *to = &all->all[k].sends[other], *from = &all->all[other].sends[k];
    return to->n_sums > 0 || to->n_states > 0 || from->n_sums > 0 || from->n_states > 0;
}

// The turned elements of all pieces: the first of them stays.
struct Turned {
    int n;
    const Stop *stops[MOST_PIECES];
    const modal_tled_watch *watches[MOST_PIECES];
};

__global__ void merge_turned(const Turned t, modal_tled_watch *watch)
{
    unsigned long long least = ~0ull;
    for (int k = 0; k < t.n; k++) {
        if (!t.stops[k]->armed || !(t.stops[k]->key < least)) continue;
        least = t.stops[k]->key;
        *watch = *t.watches[k];
    }
}

inline cudaStream_t stream_of(modal_stream *stream) { return (cudaStream_t)stream; }

// Each piece, for those that send it anything, which have recorded `done`.
template <class R> modal_status wait_for_others(Pieces<R> *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int k = 0; k < all->n; k++)
        for (int from = 0; from < all->n; from++)
            if (from != k && meet(all, k, from))
                MODAL_TRY(modal_device_stream_wait_event(&all->all[k].layout->device, all->all[k].stream, all->all[from].done, err));
done:
    return status;
}

// moved: where nodes are is sent, too.
template <class R, class T>
modal_status exchange(Pieces<R> *all, T *(*array)(const Layout<R> *, int), int parity, int moved, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int k = 0; k < all->n; k++) {
        const Piece<R> *piece = &all->all[k];
        MODAL_TRY(modal_device_select(&piece->layout->device, err));
        for (int to = 0; to < all->n; to++) {
            const Sends *s = &piece->sends[to];
            const Layout<R> *there = all->all[to].layout;
            MODAL_TRY(send<T>(s->sums, s->n_sums, array(piece->layout, parity), array(there, parity), piece->stream, err));
            if (moved) MODAL_TRY(send(s->states, s->n_states, piece->layout->state[parity], there->state[parity], piece->stream, err));
        }
        MODAL_TRY(modal_device_event_record(&piece->layout->device, piece->done, piece->stream, err));
    }
    MODAL_TRY(wait_for_others(all, err));
done:
    return status;
}

template <class R> Vector4<R> *partial_sums(const Layout<R> *l, int parity) { return l->partial[parity]; }
template <class R> R *volume_changes(const Layout<R> *l, int) { return l->tables.changes; }

// Of all pieces: where the nodes go, if MOVES, into states `parity`, and the forces there, into partial sums `parity` of every piece that
// needs them.
template <int MOVES, class R> modal_status pieces_forces(Pieces<R> *all, const Step<R> *steps, int parity, modal_error *err)
{
    modal_status status = MODAL_OK;
    const bool averages = all->all[0].layout->tables.pressure_factors;
    for (int k = 0; k < all->n; k++) {
        Piece<R> *piece = &all->all[k];
        MODAL_TRY(modal_device_select(&piece->layout->device, err));
        if (MOVES) MODAL_TRY(launch_specials(piece->layout, steps[k], stream_of(piece->stream), err));
        if (averages) MODAL_TRY(launch_changes<MOVES>(piece->layout, steps[k], stream_of(piece->stream), err));
        else MODAL_TRY(launch<MOVES>(piece->layout, steps[k], stream_of(piece->stream), err));
    }
    if (averages) MODAL_TRY((exchange<R, R>(all, volume_changes<R>, 0, 0, err)));
    for (int k = 0; k < all->n && averages; k++) {
        Step<R> there = steps[k];
        if (MOVES) there.from = there.to;
        MODAL_TRY(modal_device_select(&all->all[k].layout->device, err));
        MODAL_TRY(launch<0>(all->all[k].layout, there, stream_of(all->all[k].stream), err));
    }
    if (!all->by_marks) MODAL_TRY((exchange<R, Vector4<R>>(all, partial_sums<R>, parity, MOVES, err)));
done:
    return status;
}

// All pieces have what the others sent: for who goes on without marks.
template <class R> modal_status meet_all(Pieces<R> *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int k = 0; k < all->n; k++) {
        MODAL_TRY(modal_device_select(&all->all[k].layout->device, err));
        MODAL_TRY(modal_device_event_record(&all->all[k].layout->device, all->all[k].done, all->all[k].stream, err));
    }
    MODAL_TRY(wait_for_others(all, err));
done:
    return status;
}

// The Prony terms of a piece's elements, from the task's array or back.
template <class R> modal_status copy_terms(const Piece<R> *piece, void *task, int back, modal_error *err)
{
    const int64_t stride = piece->layout->tables.n_elements, n = piece->end_element - piece->first_element;
    const int64_t rows = stride > 0 ? piece->layout->head.viscous_bytes / (stride * (int64_t)sizeof(R)) : 0;
    R *there = (R *)task + piece->first_element, *here = piece->viscous + piece->first_element;
    if (!task || rows == 0 || n == 0) return MODAL_OK;
    return modal_cuda_status(cudaMemcpy2DAsync(back ? there : here, (size_t)stride * sizeof(R), back ? here : there,
                                               (size_t)stride * sizeof(R), (size_t)n * sizeof(R), (size_t)rows, cudaMemcpyDefault,
                                               stream_of(piece->stream)),
                             "tled_step: Prony terms of a piece", err);
}

// A piece's tables, of the nodes whose motion is its to give.
template <class R> Tables<R> own_nodes(const Piece<R> *piece)
{
    Tables<R> own = piece->layout->tables;
    own.first_node = piece->first_node;
    own.n_nodes = piece->end_node;
    return own;
}

// What a piece needs of the task for steps [k, k + n): the state, gravity, signals, terms.
template <class R>
modal_status piece_begin(Piece<R> *piece, const modal_tled_step_task *task, int64_t k, int64_t n, Step<R> *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    Layout<R> *own = piece->layout;
    const Tables<R> &t = own->tables;
    const cudaStream_t stream = stream_of(piece->stream);
    const Vector4<R> *u = (const Vector4<R> *)task->u, *d = (const Vector4<R> *)task->d;
    s->stop = own->stop;
    s->watch = piece->watch;
    s->from = own->state[0];
    s->viscous = piece->viscous;
    s->next_forces = own->partial[0];
    if (task->gravity)
        MODAL_TRY(modal_cuda_status(cudaMemcpyAsync(piece->gravity, task->gravity + 3 * k, 24 * (size_t)n, cudaMemcpyDefault, stream),
                                    "tled_step: gravity", err));
    if (task->signals)
        MODAL_TRY(modal_cuda_status(cudaMemcpyAsync(piece->signals, task->signals + k * t.n_signals, 8 * (size_t)(n + 1) * t.n_signals,
                                                    cudaMemcpyDefault, stream),
                                    "tled_step: signals", err));
    if (task->viscous) {
        MODAL_TRY(copy_terms(piece, task->viscous, 0, err));
        MODAL_TRY(modal_cuda::launch(set_decays<R>, (t.n_materials * MODAL_TLED_TERMS + 63) / 64, 64, stream,
                                     "tled_step: Prony terms", err, t, task->step, task->before));
    }
    MODAL_TRY(modal_cuda::launch(take_state<R>, piece->end_node > piece->first_node ? (piece->end_node - piece->first_node + REDUCE - 1) / REDUCE : 1, REDUCE,
                                 stream, "tled_step: state", err, own_nodes(piece), u, d, own->state[0], own->stop, task->watch));
    if (piece->n_others > 0)
        MODAL_TRY(modal_cuda::launch(take_listed<R>, (piece->n_others + REDUCE - 1) / REDUCE, REDUCE, stream, "tled_step: state", err, t,
                                     piece->others, piece->n_others, u, d, own->state[0]));
done:
    return status;
}

// Step i of n as a piece takes it.
template <class R> void set_step(const Piece<R> *piece, const modal_tled_step_task *task, int64_t i, Step<R> *s)
{
    const int a = (int)(i % 2);
    s->from = piece->layout->state[a];
    s->forces = piece->layout->partial[a];
    s->to = piece->layout->state[1 - a];
    s->next_forces = piece->layout->partial[1 - a];
    s->parity = 1 - a;
    s->gravity = task->gravity ? piece->gravity + 3 * i : nullptr;
    s->signals = task->signals ? piece->signals + i * piece->layout->tables.n_signals : nullptr;
    s->number = (int32_t)(i + 1);
    s->step = s->first + i;
}

// A piece's last step, into the task's arrays; forces: on the task's device, or NULL.
template <class R>
modal_status piece_end(const Piece<R> *piece, const modal_tled_step_task *task, const Step<R> &s, Vector4<R> *forces, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int n = piece->end_node - piece->first_node;
    MODAL_TRY(modal_device_select(&piece->layout->device, err));
    if (n > 0)
        MODAL_TRY(modal_cuda::launch(last_step<R>, (n + REDUCE - 1) / REDUCE, REDUCE, stream_of(piece->stream),
                                     "tled_step: last step", err, own_nodes(piece), s, (Vector4<R> *)task->u, (Vector4<R> *)task->d, forces));
    MODAL_TRY(copy_terms(piece, task->viscous, 1, err));
    MODAL_TRY(modal_device_event_record(&piece->layout->device, piece->done, piece->stream, err));
done:
    return status;
}

// Steps [k, k + n) of a task, n <= PIECE_STEPS, from the caller's arrays to the caller's arrays. s: what all pieces have alike; it becomes the
// last step of the device of the task, for what is accounted.
template <class R>
modal_status pieces_steps(Layout<R> *l, const modal_tled_step_task *task, int64_t k, int64_t n, Step<R> &s, Vector4<R> *forces,
                          modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    Pieces<R> *all = l->pieces;
    Step<R> steps[MOST_PIECES];
    Turned turned = {all->n, {}, {}};
    modal_error ignored = {};
    if (forces) { // what is accounted needs where all nodes were
        MODAL_TRY(modal_cuda::launch(take_state<R>, (l->tables.n_nodes + REDUCE - 1) / REDUCE, REDUCE, stream_of(stream),
                                     "tled_step: state", err, l->tables, (const Vector4<R> *)task->u, (const Vector4<R> *)task->d,
                                     l->state[0], l->stop, task->watch));
    }
    MODAL_TRY(modal_device_event_record(&l->device, all->begun, stream, err));
    for (int p = 0; p < all->n; p++) {
        steps[p] = s;
        steps[p].gives_marks = all->flow;
        steps[p].mark = l->tag;
        turned.stops[p] = all->all[p].layout->stop, turned.watches[p] = all->all[p].watch;
        MODAL_TRY(modal_device_select(&all->all[p].layout->device, err));
        MODAL_TRY(modal_device_stream_wait_event(&all->all[p].layout->device, all->all[p].stream, all->begun, err));
        MODAL_TRY(piece_begin(&all->all[p], task, k, n, &steps[p], err));
    }
    l->tag += (uint32_t)n;
    MODAL_TRY((pieces_forces<0, R>(all, steps, 0, err)));
    for (int64_t i = 0; i < n; i++) {
        for (int p = 0; p < all->n; p++) {
            set_step(&all->all[p], task, i, &steps[p]);
            steps[p].waits_for_marks = steps[p].gives_marks;
            steps[p].mark++;
        }
        if (i < n - 1) MODAL_TRY((pieces_forces<1, R>(all, steps, (int)(1 - i % 2), err)));
    }
    if (all->by_marks) MODAL_TRY(meet_all(all, err));
    for (int p = 0; p < all->n; p++) MODAL_TRY(piece_end(&all->all[p], task, steps[p], forces, err));
    MODAL_TRY(modal_device_select(&l->device, err));
    for (int p = 0; p < all->n; p++) MODAL_TRY(modal_device_stream_wait_event(&l->device, stream, all->all[p].done, err));
    MODAL_TRY(modal_cuda::launch(merge_turned, 1, 1, stream_of(stream), "tled_step: turned elements", err, turned, task->watch));
    s.gravity = task->gravity ? task->gravity + 3 * (k + n - 1) : nullptr;
    s.signals = task->signals ? task->signals + (k + n - 1) * l->tables.n_signals : nullptr;
done:
    if (modal_device_select(&l->device, &ignored) != MODAL_OK && status == MODAL_OK)
        status = modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be selected", l->device.name);
    return status;
}
