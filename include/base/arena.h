/*
 * arena: request-lived memory. arena_free() frees all of it at once; no part is freed alone.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void) __attribute__((returns_nonnull));
/* An arena with room for that many bytes at once: the sum of arena_padded() of each piece. */
struct arena *arena_new_sized(size_t bytes) __attribute__((returns_nonnull));
/* The bytes that a piece of that size takes in an arena. */
size_t arena_padded(size_t size);
/* All memory of the arena, used or not, and its own struct. */
size_t arena_bytes(const struct arena *arena);
void arena_free(struct arena *arena);
/* arena_free() for CLEANUP. */
void arena_free_ptr(struct arena **arena);

/* Zeroed, aligned for any type, never NULL. Lives as long as the arena. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
void *arena_array(struct arena *arena, size_t n, size_t size) __attribute__((returns_nonnull));
/* The same, not zeroed: for memory that the caller writes whole before it reads any. */
void *arena_alloc_unset(struct arena *arena, size_t size) __attribute__((returns_nonnull));
void *arena_array_unset(struct arena *arena, size_t n, size_t size)
    __attribute__((returns_nonnull));
char *arena_strdup(struct arena *arena, const char *text) __attribute__((returns_nonnull));
char *arena_strndup(struct arena *arena, const char *text, size_t len)
    __attribute__((returns_nonnull));
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((returns_nonnull, format(printf, 2, 3)));
/* Copies n items of the given size; NULL if n is 0. */
void *arena_copy(struct arena *arena, const void *items, size_t n, size_t size);
/* Room for one more after n items: returns the array, or a copy of twice its length if *room, the
 * number that fits, is n. New items are zeroed. Start with NULL and 0. */
void *arena_grow(struct arena *arena, void *items, size_t n, size_t *room, size_t size)
    __attribute__((returns_nonnull));

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, n) ((type *)arena_array((arena), (n), sizeof(type)))
#define ARENA_ARRAY_UNSET(arena, type, n) ((type *)arena_array_unset((arena), (n), sizeof(type)))

#endif
