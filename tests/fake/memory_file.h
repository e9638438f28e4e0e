/* memory_file: text as a file with a path, without a disk. */
#ifndef MEMORY_FILE_H
#define MEMORY_FILE_H

#include <stddef.h>

struct memory_file {
    int fd;
    char path[32];
};

/* Aborts if out of memory. */
void memory_file_init(struct memory_file *file, const char *text, size_t len);
void memory_file_fini(struct memory_file *file);

#endif
