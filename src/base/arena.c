/* arena: a chain of chunks, each filled from its front. See include/base/arena.h. */
#include "base/arena.h"
#include "base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks double: a short-lived arena stays small, a large one needs few allocations. */
#define FIRST_CHUNK_BYTES ((size_t)512)
#define LAST_CHUNK_BYTES ((size_t)64 * 1024)

struct chunk {
    struct chunk *next;
    size_t used;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *chunks; /* the first one is being filled */
};

struct arena *arena_new(void)
{
    return MEM_NEW(struct arena);
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks, *next = NULL; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

void arena_free_ptr(struct arena **arena)
{
    arena_free(*arena);
}

/* Not zeroed as a whole: the end of a chunk often stays unused. */
static struct chunk *add_chunk(struct arena *arena, size_t bytes)
{
    struct chunk *chunk = mem_grow(NULL, 1, sizeof *chunk + bytes);
    chunk->used = 0;
    chunk->size = bytes;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

static struct chunk *chunk_with_room(struct arena *arena, size_t size)
{
    struct chunk *chunk = arena->chunks;
    if (chunk && chunk->size - chunk->used >= size)
        return chunk;
    size_t bytes = chunk ? chunk->size * 2 : FIRST_CHUNK_BYTES;
    if (bytes > LAST_CHUNK_BYTES)
        bytes = LAST_CHUNK_BYTES;
    return add_chunk(arena, bytes < size ? size : bytes);
}

struct arena *arena_new_sized(size_t bytes)
{
    struct arena *arena = arena_new();
    (void)add_chunk(arena, bytes);
    return arena;
}

size_t arena_padded(size_t size)
{
    const size_t align = alignof(max_align_t);
    return size ? (size + align - 1) / align * align : align;
}

size_t arena_bytes(const struct arena *arena)
{
    size_t bytes = sizeof *arena;
    for (const struct chunk *chunk = arena->chunks; chunk; chunk = chunk->next)
        bytes += sizeof *chunk + chunk->size;
    return bytes;
}

void *arena_alloc_unset(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        abort();
    size = arena_padded(size);
    struct chunk *chunk = chunk_with_room(arena, size);
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return memory;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return memset(arena_alloc_unset(arena, size), 0, size);
}

static size_t bytes_of(size_t n, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes))
        abort();
    return bytes;
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
    return arena_alloc(arena, bytes_of(n, size));
}

void *arena_array_unset(struct arena *arena, size_t n, size_t size)
{
    return arena_alloc_unset(arena, bytes_of(n, size));
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    len = strnlen(text, len);
    char *copy = arena_alloc_unset(arena, len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        abort();
    char *text = arena_alloc_unset(arena, (size_t)len + 1);
    (void)vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

void *arena_copy(struct arena *arena, const void *items, size_t n, size_t size)
{
    if (n == 0)
        return NULL;
    void *copy = arena_array_unset(arena, n, size);
    memcpy(copy, items, n * size);
    return copy;
}

void *arena_grow(struct arena *arena, void *items, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return items;
    *room = n == 0 ? 4 : 2 * n;
    void *more = arena_array(arena, *room, size);
    if (n > 0)
        memcpy(more, items, n * size);
    return more;
}
