/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/h5_headers.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "formats/h5/h5_bytes.h"
#include "formats/h5/h5_heap.h"

enum { NEWEST_LAYOUT = H5_VERS_MAJOR >= 2 ? 5 : 4 };
enum { PREFIX = 40, MOST_RANK = 33, MOST_DEPTH = 16, MOST_BLOCKS = 1 << 12 };
enum { FIXED, FLOAT, TIME, STRING, BITS, OPAQUE, COMPOUND, REFERENCE, ENUMERATION, VARIABLE, ARRAY }; /* of datatypes */

/* Bytes that are still to be decoded. */
typedef struct part {
    const unsigned char *at;
    uint64_t left;
    int short_of; /* 1: more were asked for than there are */
} part;

static const unsigned char *take(part *p, uint64_t bytes)
{
    static const unsigned char nothing[8];
    if (p->short_of || bytes > p->left) {
        p->short_of = 1;
        p->left = 0;
        return nothing;
    }
    p->at += bytes;
    p->left -= bytes;
    return p->at - bytes;
}

/* A little-endian number of at most 8 bytes. */
static uint64_t number(part *p, int bytes)
{
    return modal_h5_little(take(p, (uint64_t)bytes), bytes);
}

/* A text with its NUL, filled up to a multiple of `unit` bytes. */
static void take_text(part *p, uint64_t unit)
{
    const unsigned char *nul = p->left > 0 ? memchr(p->at, 0, p->left) : NULL;
    const uint64_t bytes = nul ? (uint64_t)(nul - p->at) + 1 : p->left + 1;
    take(p, (bytes + unit - 1) / unit * unit);
}

static uint64_t times(uint64_t a, uint64_t b) { return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/* ---- messages ---- */

/* A datatype, which is decoded with its parts; *size: bytes of a value, *kind, and of a variable length *of: bytes of an
 * item. */
static void take_type(part *p, int depth, uint64_t *size, unsigned *kind, uint64_t *of)
{
    const unsigned head = (unsigned)number(p, 1), version = head >> 4, bits = (unsigned)number(p, 3), n = bits & 0xffff;
    const uint64_t unit = version < 3 ? 8 : 1;
    uint64_t inner = 0, none;
    unsigned any;
    *size = number(p, 4);
    *kind = head & 15;
    *of = 0;
    if (depth == 0 || version == 0 || version > 4) p->short_of = 1;
    switch (p->short_of ? STRING : *kind) {
    case FIXED:
    case BITS:
        inner = number(p, 2); /* the first bit, and how many */
        if (inner + number(p, 2) > times(8, *size)) p->short_of = 1;
        break;
    case FLOAT: take(p, 12); break;
    case TIME: take(p, 2); break;
    case OPAQUE: take(p, bits & 0xff); break;
    case COMPOUND:
        for (unsigned i = 0; i < n && !p->short_of; i++) {
            int offset = 4;
            take_text(p, unit);
            if (version >= 3) /* as many bytes as the size needs */
                for (offset = 1; offset < 4 && *size >> 8 * offset; offset++) {}
            const uint64_t start = number(p, offset);
            if (version == 1) take(p, 28);
            take_type(p, depth - 1, &inner, &any, &none);
            if (start > *size || inner > *size - start) p->short_of = 1;
        }
        break;
    case ENUMERATION:
        take_type(p, depth - 1, &inner, &any, &none);
        for (unsigned i = 0; i < n && !p->short_of; i++) take_text(p, unit);
        take(p, times(n, inner));
        break;
    case VARIABLE:
        take_type(p, depth - 1, of, &any, &none);
        if (*size != 16) p->short_of = 1; /* length, address, index */
        break;
    case ARRAY: {
        const uint64_t rank = number(p, 1);
        if (rank >= MOST_RANK) p->short_of = 1;
        if (version < 3) take(p, 3);
        uint64_t items = 1;
        for (uint64_t i = 0; i < rank && !p->short_of; i++) items = times(items, number(p, 4));
        if (version < 3) take(p, 4 * rank); /* an order of dimensions, unused */
        take_type(p, depth - 1, &inner, &any, &none);
        if (times(items, inner) != *size) p->short_of = 1;
        break;
    }
    default: break;
    }
}

/* A dataspace; returns its number of items. */
static uint64_t take_space(part *p)
{
    const uint64_t version = number(p, 1), rank = number(p, 1), flags = number(p, 1);
    const uint64_t kind = version == 2 ? number(p, 1) : 0;
    uint64_t items = kind == 2 ? 0 : 1; /* 2: null */
    if (version == 1) take(p, 5);
    if (version < 1 || version > 2 || rank >= MOST_RANK || flags > 1) p->short_of = 1;
    for (uint64_t i = 0; i < rank && !p->short_of; i++) items = times(items, number(p, 8));
    if (flags & 1) take(p, 8 * rank);
    return items;
}

/* Each text of variable length is an object of a sound collection, of its length; HDF5 1.10 looks at neither. */
static int follows_texts(const modal_h5_unsealed *f, part values, uint64_t items, uint64_t of)
{
    for (uint64_t i = 0; i < items; i++) {
        const uint64_t length = number(&values, 4), at = number(&values, 8), index = number(&values, 4);
        uint64_t found = 0;
        if (values.short_of) return 0;
        if (at == 0 || at == UINT64_MAX) continue;
        if (!modal_h5_heap_object(f, at, index, &found) || found != times(length, of)) return 0;
    }
    return 1;
}

static uint64_t padded(uint64_t bytes, uint64_t version) { return version == 1 ? (bytes + 7) / 8 * 8 : bytes; }

static const char *attribute_damage(const modal_h5_unsealed *f, part p)
{
    static const char damaged[] = "damaged attribute";
    const uint64_t version = number(&p, 1), flags = number(&p, 1);
    const uint64_t bytes[3] = {number(&p, 2), number(&p, 2), number(&p, 2)}; /* of name, type, space */
    uint64_t size = 0, of = 0;
    unsigned kind = 0;
    if (version == 3) take(&p, 1);
    if (version < 1 || version > 3) return damaged;
    const unsigned char *parts[3];
    for (int i = 0; i < 3; i++) parts[i] = take(&p, padded(bytes[i], version));
    if (p.short_of || bytes[0] == 0 || !memchr(parts[0], 0, bytes[0])) return damaged;
    if (version > 1 && (flags & 3)) return "attribute whose type lies elsewhere";
    part type = {parts[1], bytes[1], 0}, space = {parts[2], bytes[2], 0};
    take_type(&type, MOST_DEPTH, &size, &kind, &of);
    const uint64_t items = take_space(&space);
    if (type.short_of || space.short_of || times(items, size) > p.left) return damaged;
    return kind == VARIABLE && !follows_texts(f, p, items, of) ? damaged : NULL;
}

static const char *layout_damage(const modal_h5_unsealed *f, part p)
{
    enum { COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL };
    const uint64_t version = number(&p, 1);
    uint64_t rank = version < 3 ? number(&p, 1) : 0;
    const uint64_t kind = number(&p, 1);
    if (version > NEWEST_LAYOUT) return "layout of a later HDF5, or a damaged one";
    if (version < 1 || kind > VIRTUAL) return "damaged layout";
    if (version < 3) {
        take(&p, 5);
        if (kind != COMPACT) take(&p, 8);
        take(&p, 4 * rank);
        if (kind == COMPACT) take(&p, number(&p, 4));
    } else if (kind == COMPACT) {
        take(&p, number(&p, 2));
    } else if (kind == CONTIGUOUS) {
        take(&p, 16);
    } else if (kind == VIRTUAL) {
        const uint64_t at = number(&p, 8), index = number(&p, 4);
        if (!p.short_of && at != UINT64_MAX && !modal_h5_heap_mapping(f, at, index))
            return "damaged mapping of a virtual dataset";
    } else if (version == 3) {
        rank = number(&p, 1);
        take(&p, 8 + 4 * rank);
    } /* chunks of later versions are in headers that have a checksum */
    return p.short_of || rank > MOST_RANK ? "damaged layout" : NULL;
}

static void take_pipeline(part *p)
{
    const uint64_t version = number(p, 1), n = number(p, 1);
    if (version < 1 || version > 2 || n > 32) p->short_of = 1;
    if (version == 1) take(p, 6);
    for (uint64_t i = 0; i < n && !p->short_of; i++) {
        const uint64_t id = number(p, 2), name = version == 1 || id >= 256 ? number(p, 2) : 0;
        take(p, 2); /* flags */
        const uint64_t values = number(p, 2);
        const unsigned char *text = take(p, padded(name, version));
        if (!p->short_of && name > 0 && !memchr(text, 0, name)) p->short_of = 1;
        take(p, 4 * (version == 1 ? (values + 1) / 2 * 2 : values));
    }
}

static void take_link(part *p)
{
    const uint64_t version = number(p, 1), flags = number(p, 1), kind = flags & 8 ? number(p, 1) : 0;
    if (version != 1) p->short_of = 1;
    take(p, (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    take(p, number(p, 1 << (flags & 3)));
    if (kind == 0) take(p, 8);
    else take(p, number(p, 2));
}

static void take_fill(part *p)
{
    const uint64_t version = number(p, 1);
    uint64_t has = version == 1;
    if (version < 1 || version > 3) p->short_of = 1;
    if (version < 3) {
        take(p, 2);
        has |= number(p, 1);
    } else {
        has = number(p, 1) & 0x20;
    }
    const int64_t bytes = has ? (int32_t)number(p, 4) : 0; /* below 0: none */
    if (bytes > 0) take(p, (uint64_t)bytes);
}

/* A list of external files, whose names are in a local heap, which ends with a NUL (h5_unsealed.c). */
static const char *external_damage(const modal_h5_unsealed *f, part p)
{
    unsigned char heap[16];
    take(&p, 4);
    const uint64_t room = number(&p, 2), used = number(&p, 2), at = number(&p, 8), there = f->end - f->base;
    if (p.short_of || used > room || at > there || f->read(f->file, f->base + at, sizeof heap, heap) != 0)
        return "damaged list of external files";
    part size = {heap + 8, 8, 0};
    const uint64_t names = number(&size, 8);
    for (uint64_t i = 0; i < used; i++) {
        if (number(&p, 8) >= names) p.short_of = 1;
        take(&p, 16);
    }
    return p.short_of ? "damaged list of external files" : NULL;
}

/* NULL, or what is wrong with a message; its type is one that HDF5 decodes, or it is passed over. */
static const char *message_damage(const modal_h5_unsealed *f, uint64_t type, uint64_t flags, part p)
{
    uint64_t size, of;
    unsigned kind;
    if (flags & 2) { /* it lies elsewhere: version, kind, and the address, which version 1 aligns */
        take(&p, 2 + (p.left > 0 && p.at[0] == 1 ? 6 : 0) + 8);
        return p.short_of ? "damaged shared message" : NULL;
    }
    switch (type) {
    case 0x01: take_space(&p); break;
    case 0x02: take(&p, 2 + 16 + (p.left > 1 ? (p.at[1] & 1 ? 8 : 0) + (p.at[1] & 2 ? 8 : 0) : 0)); break; /* links */
    case 0x03: take_type(&p, MOST_DEPTH, &size, &kind, &of); break;
    case 0x04: take(&p, number(&p, 4)); break; /* fill value of old */
    case 0x05: take_fill(&p); break;
    case 0x06: take_link(&p); break;
    case 0x07: return external_damage(f, p);
    case 0x08: return layout_damage(f, p);
    case 0x0a: take(&p, 2 + (p.left > 1 ? (p.at[1] & 1 ? 4 : 0) + (p.at[1] & 2 ? 4 : 0) : 0)); break; /* a group */
    case 0x0b: take_pipeline(&p); break;
    case 0x0c: return attribute_damage(f, p);
    case 0x0d: take_text(&p, 1); break; /* a comment */
    case 0x0e: take(&p, 16); break;     /* times */
    case 0x0f: return "shared messages";
    case 0x10: take(&p, 16); break; /* a further block */
    case 0x11: take(&p, 16); break; /* the tree and names of a group */
    case 0x12: take(&p, 8); break;
    case 0x13: take(&p, 3 * 2 + 1); break;
    case 0x14: return "data of a driver";
    case 0x15: /* attributes */
        take(&p, 2 + 16 + (p.left > 1 ? (p.at[1] & 1 ? 2 : 0) + (p.at[1] & 2 ? 8 : 0) : 0));
        break;
    case 0x16: take(&p, 5); break;
    default: break;
    }
    return p.short_of ? "damaged object header" : NULL;
}

/* ---- blocks ---- */

static int is_known(const modal_h5_blocks *known, uint64_t start, uint64_t size)
{
    for (int i = known->n - 1; i >= 0; i--) /* HDF5 asks for the newest next */
        if (known->blocks[i].start == start && known->blocks[i].size == size) return 1;
    return 0;
}

static int remember(modal_h5_blocks *known, uint64_t start, uint64_t size)
{
    if (known->n == known->room) {
        const int room = known->room > 0 ? 2 * known->room : 16;
        void *larger = realloc(known->blocks, (size_t)room * sizeof *known->blocks);
        if (!larger) return 0;
        known->blocks = larger;
        known->room = room;
    }
    known->blocks[known->n].start = start;
    known->blocks[known->n++].size = size;
    return 1;
}

/* A header: how its messages begin. */
typedef struct header {
    unsigned version; /* 1, or 2, where blocks end with a checksum */
    int ordered;      /* 1: messages are numbered */
} header;

/* The messages [size bytes] at `start`; the further blocks that they name are added. */
static const char *block_damage(const modal_h5_unsealed *f, header h, uint64_t start, uint64_t size, int first,
                                modal_h5_blocks *known)
{
    static const char damaged[] = "damaged object header";
    const uint64_t head = h.version == 1 ? 8 : h.ordered ? 6 : 4;
    const char *damage = NULL;
    if (start < f->base || start > f->end || size > f->end - start) return damaged;
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    if (!bytes || f->read(f->file, start, size, bytes) != 0) damage = "object header that cannot be read";
    for (part p = {bytes, size, 0}; !damage && p.left >= head;) {
        const uint64_t type = number(&p, h.version == 1 ? 2 : 1), length = number(&p, 2), flags = number(&p, 1);
        take(&p, head - (h.version == 1 ? 5 : 4));
        part body = {take(&p, length), length, 0};
        damage = p.short_of || (h.version == 1 && length % 8) ? damaged : message_damage(f, type, flags, body);
        if (!damage && type == 0x10) {
            const uint64_t at = number(&body, 8), more = number(&body, 8);
            int again = at > f->end || known->n - first > MOST_BLOCKS; /* those that lead to each other have no end */
            for (int i = first; i < known->n; i++) again |= known->blocks[i].start == f->base + at;
            if (again || !remember(known, f->base + at, more)) damage = damaged;
        }
    }
    free(bytes);
    return damage;
}

/* What comes before the messages of a header; *size: their bytes in its first block. Returns where they begin, 0 where
 * there is no header. */
static uint64_t take_prefix(const modal_h5_unsealed *f, uint64_t start, header *h, uint64_t *size)
{
    unsigned char prefix[PREFIX];
    if (f->read(f->file, start, sizeof prefix, prefix) != 0) return 0;
    part p = {prefix, sizeof prefix, 0};
    if (prefix[0] == 1) {
        take(&p, 8);
        *h = (header){1, 0};
        *size = number(&p, 4);
        return start + 16;
    }
    if (memcmp(prefix, "OHDR", 4) != 0 || prefix[4] != 2) return 0;
    take(&p, 5);
    const uint64_t flags = number(&p, 1);
    *h = (header){2, (flags & 4) != 0};
    take(&p, (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
    *size = number(&p, 1 << (flags & 3));
    return start + (uint64_t)(p.at - prefix);
}

const char *modal_h5_header_damage(const modal_h5_unsealed *f, uint64_t start, uint64_t size, const void *bytes,
                                   modal_h5_blocks *known)
{
    const int first = known->n;
    header h = {0};
    uint64_t more = 0;
    if (start == known->rest_start && size == known->rest_size) return NULL; /* looked at with its header; what it begins with says nothing */
    /* what else HDF5 asks for as a header (fractal heaps, further blocks of version 2) has a signature and a checksum */
    const int old = size > 0 && *(const unsigned char *)bytes == 1 && !is_known(known, start, size);
    if (!old && (size < 4 || memcmp(bytes, "OHDR", 4) != 0)) return NULL;
    const uint64_t at = take_prefix(f, start, &h, &more);
    const char *damage = at > 0 ? block_damage(f, h, at, more, first, known) : "damaged object header";
    for (int i = first; i < known->n && !damage; i++) {
        const uint64_t block = known->blocks[i].start, all = known->blocks[i].size;
        if (h.version == 1) damage = block_damage(f, h, block, all, first, known);
        else damage = all < 8 ? "damaged object header" : block_damage(f, h, block + 4, all - 8, first, known);
    }
    if (!damage) {
        const uint64_t all = at - start + more + (h.version == 1 ? 0 : 4);
        known->rest_start = start + size;
        known->rest_size = all > size ? all - size : 0;
    }
    if (damage || h.version == 2) known->n = first; /* blocks of version 2 are known by their signature */
    return damage;
}

void modal_h5_blocks_free(modal_h5_blocks *known)
{
    free(known->blocks);
    *known = (modal_h5_blocks){0};
}
