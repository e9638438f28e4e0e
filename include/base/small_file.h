/*
 * small_file: reads a whole file into memory, up to the buffer's maximum.
 */
#ifndef BASE_SMALL_FILE_H
#define BASE_SMALL_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* may_wait: also reads a pipe, to its end; otherwise only a regular file, which never blocks.
 * -EFBIG: larger than the buffer's maximum; else the system's errno. Messages begin with the
 * path. */
int small_file_read(const char *path, bool may_wait, struct buf *text, struct err *err);
/* The same of an open file, pipe or socket, to its end. It stays open; name is for messages. */
int small_file_read_open(int fd, const char *name, struct buf *text, struct err *err);

#endif
