/* mem: see include/base/mem.h. */
#include "base/mem.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mem_new_array(size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size ? size : 1);
    if (!memory)
        abort();
    return memory;
}

void *mem_new(size_t size)
{
    return mem_new_array(1, size);
}

void *mem_new_with_text(size_t size, size_t offset, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *memory = mem_new(size + n);
    memcpy(memory + offset, text, n);
    return memory;
}

void *mem_new_aligned(size_t alignment, size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, size) != 0)
        abort();
    return memset(memory, 0, size);
}

void *mem_grow(void *old, size_t n, size_t size)
{
    void *memory = reallocarray(old, n ? n : 1, size ? size : 1);
    if (!memory)
        abort();
    return memory;
}

char *mem_strndup(const char *text, size_t len)
{
    char *copy = strndup(text, len);
    if (!copy)
        abort();
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

void mem_give_back(void)
{
    (void)malloc_trim(0);
}

void mem_free_ptr(void *pointer_to_pointer)
{
    free(*(void **)pointer_to_pointer);
}
