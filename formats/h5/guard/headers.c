/* SPDX-License-Identifier: Apache-2.0 */
/* Object headers (IV.A). HDF5 1.10 decodes their messages without looking where they end, and those of version 1, of files
 * with metadata older than 1.8 (h5py's default), have no checksum. So only messages that our files need are passed on, and
 * what their decoders read lies in the message. */
#include <stdlib.h>
#include <string.h>

#include "formats/h5/guard/guard_private.h"

enum { PREFIX = 40, MOST_RANK = 33, MOST_BLOCKS = 1 << 12 };
enum { NEWEST_LAYOUT = H5_VERS_MAJOR >= 2 ? 5 : 4 };
static const char damaged[] = "damaged object header", damaged_attribute[] = "damaged attribute";

/* Bytes that are still to be decoded. */
typedef struct part {
    const unsigned char *at;
    uint64_t left;
    int short_of; /* 1: more were asked for than there are, or they cannot be right */
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
static uint64_t number(part *p, int bytes) { return guard_little(take(p, (uint64_t)bytes), bytes); }

static uint64_t times(uint64_t a, uint64_t b) { return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

static uint64_t padded(uint64_t bytes, uint64_t version) { return version == 1 ? (bytes + 7) / 8 * 8 : bytes; }

/* ---- messages ---- */

/* A datatype: whole number, float or text. *size: bytes of a value; *of: of a character of a text of variable length, else 0. */
static const char *take_type(part *p, uint64_t *size, uint64_t *of)
{
    enum { FIXED, FLOAT, STRING = 3, VARIABLE = 9 };
    const unsigned head = (unsigned)number(p, 1), version = head >> 4, kind = head & 15, bits = (unsigned)number(p, 3);
    uint64_t none;
    *size = number(p, 4);
    *of = 0;
    if (p->short_of || version == 0 || version > 4) return damaged;
    if (kind == FIXED) {
        const uint64_t first = number(p, 2), n = number(p, 2);
        if (first + n > times(8, *size)) return damaged;
    } else if (kind == FLOAT) {
        take(p, 12);
    } else if (kind == VARIABLE && (bits & 15) == 1) { /* length, address, index */
        const unsigned char *inner = p->at;
        if (*size != 16 || p->left == 0 || (*inner & 15) == VARIABLE || take_type(p, of, &none)) return damaged;
    } else if (kind != STRING) {
        return "a type other than numbers and texts";
    }
    return p->short_of ? damaged : NULL;
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

static const char *check_attribute(const guard *g, part p)
{
    const uint64_t version = number(&p, 1), flags = number(&p, 1);
    const uint64_t bytes[3] = {number(&p, 2), number(&p, 2), number(&p, 2)}; /* of name, type, space */
    const unsigned char *parts[3];
    uint64_t size, of, length;
    if (version == 3) take(&p, 1);
    if (version < 1 || version > 3) return damaged_attribute;
    for (int i = 0; i < 3; i++) parts[i] = take(&p, padded(bytes[i], version));
    if (p.short_of || bytes[0] == 0 || !memchr(parts[0], 0, bytes[0])) return damaged_attribute;
    if (version > 1 && (flags & 3)) return "attribute whose type lies elsewhere";
    part type = {parts[1], bytes[1], 0}, space = {parts[2], bytes[2], 0};
    const char *wrong = take_type(&type, &size, &of);
    const uint64_t items = take_space(&space);
    if (wrong) return wrong == damaged ? damaged_attribute : wrong;
    if (space.short_of || times(items, size) > p.left) return damaged_attribute;
    /* Each text of variable length is an object of a sound collection, of its length; HDF5 1.10 looks at neither. */
    for (uint64_t i = 0; i < items && of > 0; i++) {
        const uint64_t characters = number(&p, 4), at = number(&p, 8), index = number(&p, 4);
        if (at == 0 || at == UINT64_MAX) continue;
        if (!guard_has_object(g, at, index, 0, &length) || length != times(characters, of)) return damaged_attribute;
    }
    return NULL;
}

static const char *check_layout(const guard *g, unsigned header_version, part p)
{
    enum { CONTIGUOUS = 1, CHUNKED, VIRTUAL };
    static const char wrong[] = "damaged layout";
    const uint64_t version = number(&p, 1), kind = number(&p, 1);
    uint64_t rank = 0, bytes;
    if (version > NEWEST_LAYOUT) return "layout of a later HDF5, or a damaged one";
    if (version < 3 || kind < CONTIGUOUS || kind > VIRTUAL) return "layout other than contiguous, chunked and virtual";
    if (version > 3 && kind == CHUNKED && header_version < 2) return wrong; /* HDF5 writes these with a checksum only */
    if (kind == CONTIGUOUS) {
        take(&p, 16);
    } else if (kind == VIRTUAL) {
        const uint64_t at = number(&p, 8), index = number(&p, 4);
        if (!p.short_of && at != UINT64_MAX && !guard_has_object(g, at, index, 1, &bytes))
            return "damaged mapping of a virtual dataset";
    } else if (version == 3) {
        rank = number(&p, 1);
        take(&p, 8 + 4 * rank);
    }
    return p.short_of || rank > MOST_RANK ? wrong : NULL;
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
    take(p, kind == 0 ? 8 : number(p, 2));
}

static void take_fill(part *p)
{
    const uint64_t version = number(p, 1);
    if (version < 2 || version > 3) p->short_of = 1;
    if (version == 2) take(p, 2);
    const uint64_t flags = number(p, 1);
    const int has = version == 2 ? flags != 0 : (flags & 0x20) != 0;
    const int64_t bytes = has ? (int32_t)number(p, 4) : 0; /* below 0: none */
    if (bytes > 0) take(p, (uint64_t)bytes);
}

/* Version and flags, then `bytes`, and `a` or `b` more if the flags have bit 0 or 1. */
static void take_flagged(part *p, uint64_t bytes, uint64_t a, uint64_t b)
{
    take(p, 1);
    const uint64_t flags = number(p, 1);
    take(p, bytes + (flags & 1 ? a : 0) + (flags & 2 ? b : 0));
}

static const char *check_message(const guard *g, unsigned header_version, uint64_t type, uint64_t flags, part p)
{
    uint64_t size, of;
    const char *wrong = NULL;
    if (flags & 2) return "a shared message";
    switch (type) {
    case 0x00: break;
    case 0x01: take_space(&p); break;
    case 0x02: take_flagged(&p, 16, 8, 8); break; /* links */
    case 0x03: wrong = take_type(&p, &size, &of); break;
    case 0x04: take(&p, number(&p, 4)); break; /* fill value, as before HDF5 1.6 */
    case 0x05: take_fill(&p); break;
    case 0x06: take_link(&p); break;
    case 0x07: return "stored in another file";
    case 0x08: wrong = check_layout(g, header_version, p); break;
    case 0x0a: take_flagged(&p, 0, 4, 4); break; /* a group */
    case 0x0b: take_pipeline(&p); break;
    case 0x0c: wrong = check_attribute(g, p); break;
    case 0x10: take(&p, 16); break;               /* a further block */
    case 0x11: take(&p, 16); break;               /* the tree and names of a group */
    case 0x12: take(&p, 8); break;                /* a time */
    case 0x15: take_flagged(&p, 16, 2, 8); break; /* attributes */
    case 0x16: take(&p, 5); break;                /* references */
    default: return "a message that no file of ours has";
    }
    return wrong ? wrong : p.short_of ? damaged : NULL;
}

/* ---- blocks ---- */

static int is_known(const guard_blocks *known, uint64_t start, uint64_t size)
{
    for (int i = known->n - 1; i >= 0; i--) /* HDF5 asks for the newest next */
        if (known->blocks[i].start == start && known->blocks[i].size == size) return 1;
    return 0;
}

static int remember(guard_blocks *known, uint64_t start, uint64_t size)
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
    unsigned version; /* 1, or 2, whose blocks end with a checksum */
    int ordered;      /* 1: messages are numbered */
} header;

/* The messages [size bytes] at `start`; the further blocks that they name are added to those of this header, from `first` on. */
static const char *check_block(guard *g, header h, uint64_t start, uint64_t size, int first)
{
    const uint64_t head = h.version == 1 ? 8 : h.ordered ? 6 : 4;
    const char *wrong = NULL;
    if (start < g->base || start > g->end || size > g->end - start) return damaged;
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    if (!bytes || guard_read(g, start, size, bytes) != 0) wrong = "object header that cannot be read";
    for (part p = {bytes, size, 0}; !wrong && p.left >= head;) {
        const uint64_t type = number(&p, h.version == 1 ? 2 : 1), length = number(&p, 2), flags = number(&p, 1);
        take(&p, head - (h.version == 1 ? 5 : 4));
        part body = {take(&p, length), length, 0};
        wrong = p.short_of || (h.version == 1 && length % 8) ? damaged : check_message(g, h.version, type, flags, body);
        if (!wrong && type == 0x10) {
            const uint64_t at = number(&body, 8), more = number(&body, 8);
            int again = at > g->end || g->blocks.n - first > MOST_BLOCKS; /* those that lead to each other have no end */
            for (int i = first; i < g->blocks.n; i++) again |= g->blocks.blocks[i].start == g->base + at;
            if (again || !remember(&g->blocks, g->base + at, more)) wrong = damaged;
        }
    }
    free(bytes);
    return wrong;
}

/* What comes before the messages of a header; *size: their bytes in its first block. Returns where they begin; 0: there is
 * no header. */
static uint64_t take_prefix(const guard *g, uint64_t start, header *h, uint64_t *size)
{
    unsigned char prefix[PREFIX];
    if (guard_read(g, start, sizeof prefix, prefix) != 0) return 0;
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

/* A sound header's further blocks are added to g->blocks: those of version 1 have no signature. */
const char *guard_check_header(guard *g, uint64_t start, uint64_t size, const unsigned char *bytes)
{
    guard_blocks *known = &g->blocks;
    const int first = known->n;
    header h = {0};
    uint64_t more = 0;
    if (start == known->rest_start && size == known->rest_size) return NULL; /* checked with its header */
    /* what else HDF5 asks for as a header (fractal heaps, further blocks of version 2) has a signature and a checksum */
    const int old = size > 0 && bytes[0] == 1 && !is_known(known, start, size);
    if (!old && (size < 4 || memcmp(bytes, "OHDR", 4) != 0)) return NULL;
    const uint64_t at = take_prefix(g, start, &h, &more);
    const char *wrong = at > 0 ? check_block(g, h, at, more, first) : damaged;
    for (int i = first; i < known->n && !wrong; i++) {
        const uint64_t block = known->blocks[i].start, all = known->blocks[i].size;
        if (h.version == 1) wrong = check_block(g, h, block, all, first);
        else wrong = all < 8 ? damaged : check_block(g, h, block + 4, all - 8, first);
    }
    if (!wrong) {
        const uint64_t all = at - start + more + (h.version == 1 ? 0 : 4);
        known->rest_start = start + size;
        known->rest_size = all > size ? all - size : 0;
    }
    if (wrong || h.version == 2) known->n = first; /* blocks of version 2 are known by their signature */
    return wrong;
}
