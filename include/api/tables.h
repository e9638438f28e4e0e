/*
 * tables: answers as text, for a client that has asked for JSON. The answer may be any JSON: what
 * is missing is left out.
 */
#ifndef API_TABLES_H
#define API_TABLES_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define TABLES_WIDTH_LEAST 80
#define TABLES_WIDTH_MOST 400

/* Sets the characters in a line of the tables that the calling thread writes from now on. 0, the
 * default: 100, and no limit for wide tables. */
void tables_set_width(size_t width);

/* From now on each line of headings begins with this character, for a client that shows them in
 * another way. Stored names cannot have it. */
#define TABLES_HEADING '\x01'
void tables_mark_headings(void);

/* Text of lines, each wrapped at spaces; the further lines of one are indented. */
void tables_write_lines(const char *text, bool wide, struct buf *out);

/* Each writes the text of ?output=table for one path of /v1. */
void tables_write_dry_run(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
void tables_write_inventory(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
void tables_write_pending(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
/* A true member of the pod of an explanation: no other pod has its name, as a client has found. */
#define TABLES_ONLY_OF_NAME "onlyOfName"
void tables_write_explanation(const json_t *answer, bool wide, struct arena *arena,
                              struct buf *out);
void tables_write_fragmentation(const json_t *answer, bool wide, struct arena *arena,
                                struct buf *out);
void tables_write_quota(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
void tables_write_decisions(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
void tables_write_what_if(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
void tables_write_groups(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
void tables_write_node_groups(const json_t *answer, bool wide, struct arena *arena,
                              struct buf *out);
/* The claims of /v1/inventory. */
void tables_write_claims(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
/* Its pods that hold GPUs: a list `pods`, as kubectl gpu pods -o json has it. */
void tables_write_holders(const json_t *answer, bool wide, struct arena *arena, struct buf *out);

/* "MISTAKE  web.yaml, line 9: ..." of a fault "web.yaml: 9:4: ...". Of a text in one line, its
 * column, too. */
void tables_write_mistake(const char *fault, struct arena *arena, struct buf *out);
/* Below it, where the fault hides all else. */
#define TABLES_NOTHING_JUDGED "         Nothing was judged.\n"

#endif
