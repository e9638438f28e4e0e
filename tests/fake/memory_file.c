/* memory_file: see memory_file.h. */
#include "memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void memory_file_init(struct memory_file *file, const char *text, size_t len)
{
    file->fd = memfd_create("memory_file", MFD_CLOEXEC);
    if (file->fd < 0)
        abort();
    for (size_t done = 0; done < len;) {
        ssize_t n = write(file->fd, text + done, len - done);
        if (n <= 0)
            abort();
        done += (size_t)n;
    }
    (void)snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
}

void memory_file_fini(struct memory_file *file)
{
    (void)close(file->fd);
}
