/*
 * files: the files of the page, which embed.py compiles into the program. Private to ui.
 */
#ifndef UI_FILES_H
#define UI_FILES_H

#include <stddef.h>

struct ui_file {
    const char *name; /* "style.css"; NULL ends the table */
    const char *content_type;
    const char *tag; /* its ETag, a digest of the bytes */
    const unsigned char *bytes;
    size_t len;
};
extern const struct ui_file UI_FILES[];

#endif
