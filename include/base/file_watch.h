/*
 * file_watch: a thread that reads a few small files again and again, and reports when they change.
 *
 * The contents are compared, so it does not matter how a file is replaced: written, renamed, or by
 * the links of a mounted ConfigMap or Secret. Changed contents count once they are read equal
 * twice: files that are being exchanged may be read half old and half new.
 */
#ifndef BASE_FILE_WATCH_H
#define BASE_FILE_WATCH_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define FILE_WATCH_MAX 4

/* Contents of the files, or why they cannot be read. */
struct file_contents {
    struct buf texts[FILE_WATCH_MAX];
    int r;
    struct err err;
};

struct file_watch_settings {
    const char *paths[FILE_WATCH_MAX]; /* NULL or "": none */
    bool is_secret[FILE_WATCH_MAX];
    size_t max_bytes; /* of a file */
    /* Both are called on the watch's thread. changed: also with contents that cannot be read. */
    void (*changed)(void *context, const struct file_contents *contents);
    void (*looked)(void *context); /* after the look for file_watch_poke(); NULL: none */
    void *context;
};

void file_contents_read(const struct file_watch_settings *settings,
                        struct file_contents *ret_contents);
void file_contents_fini(struct file_contents *contents);

struct file_watch;

/* Takes over the contents that the caller has read; NULL: the first look finds a change. */
struct file_watch *file_watch_new(const struct file_watch_settings *settings,
                                  struct file_contents *contents);
int file_watch_start(struct file_watch *watch, struct err *err);
/* Looks now, and then calls looked(). From any thread. */
void file_watch_poke(struct file_watch *watch);
/* Waits for the thread, if it was started. NULL: nothing. */
void file_watch_free(struct file_watch *watch);

/* ---- reads a whole file into memory, up to the buffer's maximum ---- */

/* may_wait: also reads a pipe, to its end; otherwise only a regular file, which never blocks.
 * -EFBIG: larger than the buffer's maximum; else the system's errno. Messages begin with the
 * path. */
int small_file_read(const char *path, bool may_wait, struct buf *text, struct err *err);
/* The same of an open file, pipe or socket, to its end. It stays open; name is for messages. */
int small_file_read_open(int fd, const char *name, struct buf *text, struct err *err);

#endif
