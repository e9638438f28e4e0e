/*
 * temp_folder: a folder for a test's files, deleted at its end.
 */
#ifndef TEMP_FOLDER_H
#define TEMP_FOLDER_H

#include <stddef.h>

struct temp_folder {
    char path[64];
};

/* These abort on a system error. */
void temp_folder_init(struct temp_folder *folder);
void temp_folder_fini(struct temp_folder *folder);

/* The path of a file in it, valid until four more calls. */
const char *temp_folder_path(const struct temp_folder *folder, const char *name);
/* Creates or replaces a file atomically, by rename. Returns its path as above. */
const char *temp_folder_write(const struct temp_folder *folder, const char *name, const char *text);
const char *temp_folder_write_bytes(const struct temp_folder *folder, const char *name,
                                    const char *bytes, size_t len);
/* An executable shell script. */
const char *temp_folder_script(const struct temp_folder *folder, const char *name,
                               const char *commands);

#endif
