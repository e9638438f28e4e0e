/* small_file: see include/base/file_watch.h. */
#include "base/file_watch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fault(const char *path, int code, struct err *err)
{
    return err_set(err, code, "%s: cannot be read: %s", path, strerror(code));
}

/* Opening a pipe without a writer would block, so open without blocking and check the type. */
static int open_checked(const char *path, bool may_wait, struct err *err)
{
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (may_wait ? 0 : O_NONBLOCK));
    if (fd < 0)
        return fault(path, errno, err);
    if (fstat(fd, &facts) == 0 && (may_wait || S_ISREG(facts.st_mode)))
        return fd;
    (void)close(fd);
    return err_set(err, EINVAL, "%s: cannot be read: it is not a regular file", path);
}

#define PIECE_BYTES 4096

static int read_pieces(int fd, const char *path, char *piece, struct buf *text, struct err *err)
{
    for (;;) {
        ssize_t n = read(fd, piece, PIECE_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fault(path, errno, err);
        if (n == 0)
            return 0;
        buf_add(text, piece, (size_t)n);
        if (text->overflowed)
            return err_set(err, EFBIG, "%s: is larger than %zu bytes", path, text->max);
    }
}

int small_file_read_open(int fd, const char *name, struct buf *text, struct err *err)
{
    char piece[PIECE_BYTES];
    int r = read_pieces(fd, name, piece, text, err);
    if (text->is_secret)
        explicit_bzero(piece, sizeof piece);
    return r;
}

int small_file_read(const char *path, bool may_wait, struct buf *text, struct err *err)
{
    int fd = open_checked(path, may_wait, err);
    if (fd < 0)
        return fd;
    int r = small_file_read_open(fd, path, text, err);
    (void)close(fd);
    return r;
}
