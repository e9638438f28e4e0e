/*
 * mem: allocation that aborts without memory, and the cleanup attribute.
 *
 * The program does not recover from lack of memory. Instead, every input that outsiders can grow
 * has a named limit.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* The memory is zeroed. The caller frees it with free(). */
void *mem_new(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_new_array(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* Aligned to a power of two. */
void *mem_new_aligned(size_t alignment, size_t size) __attribute__((malloc, returns_nonnull));
void *mem_grow(void *old, size_t n, size_t size) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *mem_strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));
/* mem_new(size) with a copy of the text from the offset on. */
void *mem_new_with_text(size_t size, size_t offset, const char *text)
    __attribute__((malloc, returns_nonnull));

/* Returns freed memory to the system, which the allocator would keep. Call it after an unusually
 * large allocation. */
void mem_give_back(void);

#define MEM_NEW(type) ((type *)mem_new(sizeof(type)))
#define MEM_ARRAY(type, n) ((type *)mem_new_array((n), sizeof(type)))
/* A struct that ends with char member[], a copy of the text. */
#define MEM_NEW_WITH_TEXT(type, member, text)                                                      \
    ((type *)mem_new_with_text(sizeof(type), offsetof(type, member), (text)))

/* The struct whose member is at the pointer, which must not be NULL. Casts const away, as the owner
 * of the struct may. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)((uintptr_t)(1 ? (pointer) : &((type *)NULL)->member) - offsetof(type, member)))

/* Calls fn(&variable) when the variable goes out of scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))
/* free() for CLEANUP: char *text CLEANUP(mem_free_ptr) = ...; */
void mem_free_ptr(void *pointer_to_pointer);

#endif
