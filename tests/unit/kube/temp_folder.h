/*
 * temp_folder: a folder for a test's files, which is gone at its end.
 */
#ifndef TEMP_FOLDER_H
#define TEMP_FOLDER_H

#include <stddef.h>

struct temp_folder {
    char path[64];
};

/* They abort where the system does not let them. */
void temp_folder_init(struct temp_folder *folder);
void temp_folder_fini(struct temp_folder *folder);

/* The path of a file in it, valid until four more were asked for. */
const char *temp_folder_path(const struct temp_folder *folder, const char *name);
/* Makes or replaces a file, at once as a rename does. Returns its path, as above. */
const char *temp_folder_write(const struct temp_folder *folder, const char *name, const char *text);
const char *temp_folder_write_bytes(const struct temp_folder *folder, const char *name,
                                    const char *bytes, size_t len);
/* A shell script that can be run. */
const char *temp_folder_script(const struct temp_folder *folder, const char *name,
                               const char *commands);

#endif
