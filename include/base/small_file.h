/*
 * small_file: a whole file in memory, up to the buffer's maximum.
 */
#ifndef BASE_SMALL_FILE_H
#define BASE_SMALL_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* may_wait: a pipe is read to its end; else only a regular file is read, which needs no waiting.
 * -EFBIG: larger than the buffer may become; or what the system said. Messages begin with the path.
 */
int small_file_read(const char *path, bool may_wait, struct buf *text, struct err *err);

#endif
