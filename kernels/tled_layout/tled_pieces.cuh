// SPDX-License-Identifier: Apache-2.0
// A solid on several devices (Pieces of tled_tables.cuh). Part of tled_layout_cuda.cu, after its functions. No include guard: it is
// included once.

// What all pieces are cut by, in main memory.
struct Cut {
    Array<uint8_t> pieces;     // [n_nodes] bit k: piece k has the node; the patches' order
    Array<uint8_t> wanted;     // [n_nodes] bit k: piece k does not have it, but another corner of a face that it is in
    Array<int32_t> nodes_before; // [n_patches + 1] nodes whose first patch is an earlier one
    int32_t first_patch[MOST_PIECES + 1];
};

modal_status cut(const modal_tled_patches *p, int n, Cut *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(c->pieces.make(p->n_nodes, err));
    MODAL_TRY(c->nodes_before.make(p->n_patches + 1, err));
    for (int k = 0; k <= n; k++) c->first_patch[k] = (int32_t)((int64_t)p->n_patches * k / n);
    for (int32_t i = 0, k = 0; i < p->n_patches; i++) {
        int32_t seen = c->nodes_before.at[i]; // numbers go by first patch
        while (i >= c->first_patch[k + 1]) k++;
        for (int32_t j = 0; j < p->patches[i].n_places; j++) {
            const int32_t node = p->places[p->patches[i].first_place + j].node;
            c->pieces.at[node] |= (uint8_t)(1 << k);
            if (node >= seen) seen = node + 1;
        }
        c->nodes_before.at[i + 1] = seen;
    }
done:
    return status;
}

modal_status find_wanted(const modal_tled_solid *s, const modal_tled_patches *p, Cut *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    Array<int32_t> own;
    MODAL_TRY(c->wanted.make(p->n_nodes, err));
    if (s->n_faces == 0) goto done;
    MODAL_TRY(own.make(p->n_nodes, err));
    for (int64_t i = 0; i < p->n_nodes; i++) own.at[p->nodes[i]] = (int32_t)i;
    for (int64_t f = 0; f < s->n_faces; f++) {
        const int n = s->faces[4 * f + 3] < 0 ? 3 : 4;
        uint8_t any = 0;
        for (int a = 0; a < n; a++) any |= c->pieces.at[own.at[s->faces[4 * f + a]]];
        for (int a = 0; a < n; a++) {
            const int32_t i = own.at[s->faces[4 * f + a]];
            c->wanted.at[i] |= (uint8_t)(any & ~c->pieces.at[i]);
        }
    }
done:
    return status;
}

// Every device can write into every other one's memory.
modal_status enable_peers(const modal_device *devices, int n, modal_error *err)
{
    modal_status status = MODAL_OK;
    int numbers[MOST_PIECES];
    for (int k = 0; k < n; k++) {
        MODAL_TRY(modal_device_select(&devices[k], err));
        MODAL_TRY(modal_cuda_status(cudaGetDevice(&numbers[k]), "which device", err));
    }
    for (int k = 0; k < n; k++)
        for (int other = 0; other < n; other++) {
            int can = 1;
            if (numbers[k] == numbers[other]) continue;
            MODAL_TRY(modal_device_select(&devices[k], err));
            MODAL_TRY(modal_cuda_status(cudaDeviceCanAccessPeer(&can, numbers[k], numbers[other]), "several devices", err));
            if (!can)
                MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s and %s: neither can write into the other one's memory", devices[k].name,
                           devices[other].name);
            const cudaError_t code = cudaDeviceEnablePeerAccess(numbers[other], 0);
            if (code == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
            else MODAL_TRY(modal_cuda_status(code, "several devices", err));
        }
done:
    return status;
}

// Places where the first patch of a node is that of the piece's own patches: it writes where the node is.
modal_status own_places(const modal_tled_patches *p, const Cut *c, int k, Array<modal_tled_place> *places, modal_error *err)
{
    modal_status status = MODAL_OK;
    Array<uint8_t> written;
    MODAL_TRY(written.make(p->n_nodes, err));
    MODAL_TRY(places->make(p->n_places, err));
    memcpy(places->at, p->places, (size_t)p->n_places * sizeof *p->places);
    for (int32_t i = c->first_patch[k]; i < c->first_patch[k + 1]; i++)
        for (int32_t j = 0; j < p->patches[i].n_places; j++) {
            modal_tled_place *place = &places->at[p->patches[i].first_place + j];
            place->counts = (place->counts & 0x7fffffffu) | (written.at[place->node] ? 0 : 1u << 31);
            written.at[place->node] = 1;
        }
done:
    return status;
}

// All patches, those of piece k with the ones on its border first. numbers: [its patches] which they were.
modal_status own_patches(const modal_tled_patches *p, const Cut *c, int k, Array<modal_tled_patch> *patches, Array<int32_t> *numbers, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t next = c->first_patch[k];
    MODAL_TRY(patches->make(p->n_patches, err));
    MODAL_TRY(numbers->make(c->first_patch[k + 1] - c->first_patch[k], err));
    memcpy(patches->at, p->patches, (size_t)p->n_patches * sizeof *p->patches);
    for (int inner = 0; inner < 2; inner++) {
        for (int32_t i = c->first_patch[k]; i < c->first_patch[k + 1]; i++) {
            bool is_inner = true;
            for (int32_t j = 0; j < p->patches[i].n_places; j++) {
                const int32_t node = p->places[p->patches[i].first_place + j].node;
                is_inner = is_inner && !(c->pieces.at[node] & ~(1 << k));
            }
            if (is_inner != inner) continue;
            numbers->at[next - c->first_patch[k]] = i;
            patches->at[next++] = p->patches[i];
        }
    }
done:
    return status;
}

// What piece k's patches wait for and what they give other pieces, in their own order, by their numbers among all.
template <class R>
modal_status put_borders(Piece<R> *piece, int k, bool flow, const modal_tled_patches *p, const Cut *c, const modal_tled_near *near,
                         const Array<int32_t> &numbers, modal_error *err)
{
    modal_status status = MODAL_OK;
    Layout<R> *own = piece->layout;
    Tables<R> *t = &own->tables;
    const int32_t n = c->first_patch[k + 1] - c->first_patch[k];
    Array<int32_t> lists, first, sums;
    Array<uint8_t> to;
    int64_t n_sums = 0;
    MODAL_TRY(lists.make((int64_t)near->most * n, err));
    MODAL_TRY(first.make((int64_t)n + 1, err));
    for (int pass = 0; pass < 2; pass++) { // counted, written
        if (pass == 1) MODAL_TRY(sums.make(n_sums, err));
        if (pass == 1) MODAL_TRY(to.make(n_sums, err));
        n_sums = 0;
        for (int32_t i = 0; i < n; i++) {
            const modal_tled_patch *patch = &p->patches[numbers.at[i]];
            first.at[i] = (int32_t)n_sums;
            for (int32_t j = 0; j < patch->n_places; j++) {
                const modal_tled_place *place = &p->places[patch->first_place + j];
                const uint8_t others = (uint8_t)(c->pieces.at[place->node] & ~(1 << k));
                if (others && pass == 1) sums.at[n_sums] = place->own_sum, to.at[n_sums] = others;
                n_sums += others != 0;
            }
        }
        first.at[n] = (int32_t)n_sums;
    }
    for (int64_t i = 0; i < n; i++)
        for (int32_t j = 0; j < near->most; j++) {
            const int32_t other = near->lists[(int64_t)near->most * numbers.at[i] + j];
            const bool here = other >= c->first_patch[k] && other < c->first_patch[k + 1];
            lists.at[near->most * i + j] = here && !flow ? -1 : other;
        }
    MODAL_TRY(put_marks(own, lists.at, near->most, n, p->n_patches, piece->stream, err));
    MODAL_TRY(put(own, &t->numbers, numbers.at, n, "neighbours of patches", piece->stream, err));
    MODAL_TRY(put(own, &t->border_first, first.at, (int64_t)n + 1, "borders of pieces", piece->stream, err));
    MODAL_TRY(put(own, &t->border_sums, sums.at, n_sums, "borders of pieces", piece->stream, err));
    MODAL_TRY(put(own, &t->border_to, to.at, n_sums, "borders of pieces", piece->stream, err));
done:
    return status;
}

// Every piece's sums and marks, for every other one. Marks are 0 before anybody may give one.
template <class R> modal_status put_peers(Pieces<R> *all, modal_error *err)
{
    modal_status status = MODAL_OK;
    Peer<R> peers[MOST_PIECES];
    for (int k = 0; k < all->n; k++) {
        const Layout<R> *own = all->all[k].layout;
        peers[k] = {{own->partial[0], own->partial[1]}, own->tables.marks};
    }
    for (int k = 0; k < all->n; k++) {
        Layout<R> *own = all->all[k].layout;
        MODAL_TRY(modal_device_select(&own->device, err));
        MODAL_TRY(put(own, &own->tables.peers, peers, all->n, "borders of pieces", all->all[k].stream, err));
        MODAL_TRY(modal_device_stream_wait(&own->device, all->all[k].stream, err));
    }
done:
    return status;
}

// The lists that piece k sends by, its special nodes, and nodes that it takes beside its own.
template <class R>
modal_status put_lists(Pieces<R> *pieces, int k, const modal_tled_patches *p, const Cut *c, const int32_t *special_of, modal_error *err)
{
    modal_status status = MODAL_OK;
    Piece<R> *piece = &pieces->all[k];
    Array<int32_t> list;
    int64_t n = 0;
    MODAL_TRY(list.make(p->n_places > p->n_nodes ? p->n_places : p->n_nodes, err));
    for (int64_t i = 0; i < p->n_nodes; i++)
        if (special_of[p->nodes[i]] >= 0 && c->pieces.at[i] >> k & 1) list.at[n++] = (int32_t)i;
    MODAL_TRY(put(piece->layout, &piece->layout->tables.special_nodes, list.at, n, "special nodes", piece->stream, err));
    piece->layout->tables.n_specials = (int32_t)n;
    for (int to = 0; to < pieces->n; to++) {
        n = 0;
        for (int32_t i = c->first_patch[k]; i < c->first_patch[k + 1] && to != k; i++)
            for (int32_t j = 0; j < p->patches[i].n_places; j++) {
                const modal_tled_place *place = &p->places[p->patches[i].first_place + j];
                if (c->pieces.at[place->node] >> to & 1) list.at[n++] = place->own_sum;
            }
        MODAL_TRY(put(piece->layout, &piece->sends[to].sums, list.at, n, "borders of pieces", piece->stream, err));
        piece->sends[to].n_sums = (int32_t)n;
        n = 0;
        for (int64_t i = 0; i < p->n_nodes; i++) { // the first piece that has a node sends where it is
            const int first = c->pieces.at[i] & -c->pieces.at[i];
            if (first == 1 << k && c->wanted.at[i] >> to & 1) list.at[n++] = (int32_t)(2 * i);
        }
        MODAL_TRY(put(piece->layout, &piece->sends[to].states, list.at, n, "borders of pieces", piece->stream, err));
        piece->sends[to].n_states = (int32_t)n;
    }
    n = 0;
    for (int64_t i = 0; i < p->n_nodes; i++)
        if ((c->pieces.at[i] | c->wanted.at[i]) >> k & 1 && (i < piece->first_node || i >= piece->end_node)) list.at[n++] = (int32_t)i;
    MODAL_TRY(put(piece->layout, &piece->others, list.at, n, "borders of pieces", piece->stream, err));
    piece->n_others = (int32_t)n;
done:
    return status;
}

template <class R>
modal_status new_piece(Layout<R> *l, int k, const modal_device *device, const Cut *c, const modal_tled_near *near, const int32_t *special_of,
                       int32_t n_special, modal_error *err)
{
    modal_status status = MODAL_OK;
    Piece<R> *piece = &l->pieces->all[k];
    const modal_tled_patches *p = &l->patches;
    const int32_t first = c->first_patch[k], end = c->first_patch[k + 1];
    Array<modal_tled_place> places;
    Array<modal_tled_patch> patches;
    Array<int32_t> numbers;
    Layout<R> *own = nullptr;
    MODAL_TRY(modal_alloc_zero(&own, 1, sizeof *own, "a piece of a solid", err));
    piece->layout = own;
    piece->first_node = c->nodes_before.at[first];
    piece->end_node = c->nodes_before.at[end];
    own->device = *device;
    own->head = l->head;
    own->head.bytes = 0;
    own->law = l->law;
    own->elements = l->elements;
    own->way = EACH_STEP;
    MODAL_TRY(own_places(p, c, k, &places, err));
    MODAL_TRY(own_patches(p, c, k, &patches, &numbers, err));
    MODAL_TRY(modal_device_select(device, err));
    for (int other = 0; other < k; other++)
        if (l->pieces->all[other].layout->device.ordinal == device->ordinal) piece->stream = l->pieces->all[other].stream;
    piece->owns_stream = !piece->stream;
    if (piece->owns_stream) MODAL_TRY(modal_device_stream_new(device, &piece->stream, err));
    MODAL_TRY(modal_device_event_new(device, &piece->done, err));
    own->patches = *p; // borrowed while the tables are put there
    own->patches.places = places.at;
    own->patches.patches = patches.at;
    status = put_all(own, special_of, n_special, piece->stream, err);
    own->patches = modal_tled_patches{};
    MODAL_TRY(status);
    MODAL_TRY(put_lists(l->pieces, k, p, c, special_of, err));
    MODAL_TRY(take(own, &piece->gravity, 3 * PIECE_STEPS, "gravity", err));
    MODAL_TRY(take(own, &piece->signals, (PIECE_STEPS + 1) * (int64_t)own->tables.n_signals, "signals", err));
    MODAL_TRY(take(own, &piece->watch, 1, "a flag", err));
    MODAL_TRY(take(own, &piece->viscous, own->head.viscous_bytes / (int64_t)sizeof(R), "Prony terms", err));
    own->tables.patches += first;
    own->tables.places += (int64_t)first * own->tables.most_places;
    own->tables.n_patches = end - first;
    if (l->pieces->by_marks) MODAL_TRY(put_borders(piece, k, l->pieces->flow, p, c, near, numbers, err));
    piece->first_element = p->patches[first].first_element;
    piece->end_element = end < p->n_patches ? p->patches[end].first_element : p->n_elements;
done:
    return status;
}

template <class R>
modal_status new_pieces(Layout<R> *l, const modal_tled_layout_task *task, const int32_t *special_of, int32_t n_special, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_error ignored = {};
    modal_tled_near near = {};
    Cut c;
    if (task->n_devices > MOST_PIECES) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%d devices are too many, %d", task->n_devices, (int)MOST_PIECES);
    if (l->patches.n_patches < task->n_devices) goto done; // nothing to share
    if (l->patches.n_nodes > INT32_MAX / 2)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%lld nodes are too many for several devices", (long long)l->patches.n_nodes);
    MODAL_TRY(enable_peers(task->devices, task->n_devices, err));
    MODAL_TRY(cut(&l->patches, task->n_devices, &c, err));
    MODAL_TRY(find_wanted(l->head.solid, &l->patches, &c, err));
    MODAL_TRY(modal_alloc_zero(&l->pieces, 1, sizeof *l->pieces, "pieces of a solid", err));
    l->pieces->n = task->n_devices;
    MODAL_TRY(modal_device_select(&l->device, err));
    MODAL_TRY(modal_device_event_new(&l->device, &l->pieces->begun, err));
    if (n_special == 0 && !l->tables.pressure_factors) {
        MODAL_TRY(modal_tled_near_make(&near, &l->patches, err));
        l->pieces->by_marks = near.most <= MOST_NEAR;
        l->pieces->flow = l->pieces->by_marks && l->patches.n_patches <= FLOW_PATCHES_OF_PIECE * task->n_devices;
    }
    for (int k = 0; k < task->n_devices; k++) MODAL_TRY(new_piece(l, k, &task->devices[k], &c, &near, special_of, n_special, err));
    if (l->pieces->by_marks) MODAL_TRY(put_peers(l->pieces, err));
    for (int k = 0; k < task->n_devices; k++) l->head.bytes += l->pieces->all[k].layout->head.bytes;
done:
    modal_tled_near_free(&near);
    if (modal_device_select(&l->device, &ignored) != MODAL_OK && status == MODAL_OK)
        status = modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be selected", l->device.name);
    return status;
}
