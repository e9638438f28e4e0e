/* temp_folder: see temp_folder.h. */
#include "temp_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_PATHS 5

void temp_folder_init(struct temp_folder *folder)
{
    (void)snprintf(folder->path, sizeof folder->path, "/tmp/gpu-extender-test-XXXXXX");
    if (!mkdtemp(folder->path))
        abort();
}

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)facts;
    (void)type;
    (void)where;
    return remove(path);
}

void temp_folder_fini(struct temp_folder *folder)
{
    (void)nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *temp_folder_path(const struct temp_folder *folder, const char *name)
{
    static char paths[N_PATHS][256];
    static size_t next;
    char *path = paths[next++ % N_PATHS];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder->path, name);
    return path;
}

static const char *write_file(const struct temp_folder *folder, const char *name, const char *bytes,
                              size_t len, mode_t mode)
{
    char fresh[300];
    const char *path = temp_folder_path(folder, name);
    (void)snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = fopen(fresh, "we");
    if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
        abort();
    if (chmod(fresh, mode) < 0 || rename(fresh, path) < 0)
        abort();
    return path;
}

const char *temp_folder_write_bytes(const struct temp_folder *folder, const char *name,
                                    const char *bytes, size_t len)
{
    return write_file(folder, name, bytes, len, 0600);
}

const char *temp_folder_write(const struct temp_folder *folder, const char *name, const char *text)
{
    return temp_folder_write_bytes(folder, name, text, strlen(text));
}

const char *temp_folder_script(const struct temp_folder *folder, const char *name,
                               const char *commands)
{
    char script[4096];
    int len = snprintf(script, sizeof script, "#!/bin/sh\n%s\n", commands);
    if (len < 0 || (size_t)len >= sizeof script)
        abort();
    return write_file(folder, name, script, (size_t)len, 0700);
}
