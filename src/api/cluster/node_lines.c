/* node_lines: see node_lines.h. */
#include "api/cluster/node_lines.h"
#include "api/table.h"
#include "api/text.h"
#include "base/table.h"

#include <string.h>

struct line {
    const char *cells[N_LINE_CELLS];
    struct line *next;
};

struct node_lines {
    struct arena *arena;
    struct line *first, *last;
    size_t n;
};

/* Rows that differ in the node and its pods only. */
struct node_fold {
    const char *key;
    const struct line *first;
    size_t n;
    UT_hash_handle hh;
};

struct node_lines *node_lines_new(struct arena *arena)
{
    struct node_lines *lines = ARENA_NEW(arena, struct node_lines);
    lines->arena = arena;
    return lines;
}

void node_lines_add(struct node_lines *lines, const char *const cells[N_LINE_CELLS])
{
    struct line *line = ARENA_NEW(lines->arena, struct line);
    memcpy(line->cells, cells, sizeof line->cells);
    if (lines->last)
        lines->last->next = line;
    else
        lines->first = line;
    lines->last = line;
    lines->n++;
}

static void write_all(const struct node_lines *lines, bool wide, struct buf *out)
{
    static const char *const HEADINGS[] = {"NODE",
                                           "MODEL",
                                           "GPUS",
                                           TABLE_MAY_GO "USED",
                                           "FREE",
                                           TABLE_MAY_BE_TOLD "USABLE",
                                           TABLE_MAY_BE_TOLD "STATE",
                                           TABLE_MAY_BE_TOLD "RESOURCE",
                                           "CPU",
                                           "MEMORY",
                                           "PODS",
                                           "RESERVED FOR",
                                           NULL};
    const char *headings[N_LINE_CELLS + 1];
    memcpy(headings, HEADINGS, sizeof headings);
    if (!wide)
        headings[LINE_CPU] = NULL;
    struct table *table = table_new(lines->arena, wide, headings);
    for (const struct line *line = lines->first; line; line = line->next) {
        const char *cells[N_LINE_CELLS];
        memcpy(cells, line->cells, sizeof cells);
        if (!wide)
            cells[LINE_FREE] = "";
        table_add(table, cells);
    }
    if (!table_is_empty(table))
        table_write(table, out);
}

static struct node_fold *find_fold(struct node_fold **folds, const struct line *line,
                                   struct arena *arena)
{
    struct node_fold *fold = NULL;
    const char *key = "";
    for (size_t i = LINE_MODEL; i < LINE_CPU; i++)
        key = arena_printf(arena, "%s%s\n", key, line->cells[i]);
    HASH_FIND_STR(*folds, key, fold);
    if (fold)
        return fold;
    fold = ARENA_NEW(arena, struct node_fold);
    *fold = (struct node_fold){.key = key, .first = line};
    HASH_ADD_KEYPTR(hh, *folds, fold->key, strlen(fold->key), fold);
    return fold;
}

static int compare_folds(const struct node_fold *a, const struct node_fold *b)
{
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return strcmp(a->key, b->key);
}

static void write_folded(const struct node_lines *lines, struct buf *out)
{
    static const char *const HEADINGS[] = {"NODES",
                                           "MODEL",
                                           "GPUS",
                                           TABLE_MAY_GO "USED",
                                           "USABLE",
                                           TABLE_MAY_BE_TOLD "STATE",
                                           TABLE_MAY_BE_TOLD "RESOURCE",
                                           "WHICH",
                                           NULL};
    struct table *table = table_new(lines->arena, false, HEADINGS);
    struct node_fold *folds = NULL;
    for (const struct line *line = lines->first; line; line = line->next)
        find_fold(&folds, line, lines->arena)->n++;
    HASH_SORT(folds, compare_folds);
    for (const struct node_fold *fold = folds; fold; fold = fold->hh.next) {
        const char *const *cells = fold->first->cells;
        table_add(table,
                  (const char *[]){arena_printf(lines->arena, "%zu", fold->n), cells[LINE_MODEL],
                                   cells[LINE_GPUS], cells[LINE_USED], cells[LINE_USABLE],
                                   cells[LINE_STATE], cells[LINE_RESOURCE],
                                   text_first(cells[LINE_NODE], fold->n, lines->arena)});
    }
    HASH_CLEAR(hh, folds);
    table_write(table, out);
    buf_add_text(out, "\nNumbers are per node. ?wide=true lists each node and its pods.\n");
}

void node_lines_write(const struct node_lines *lines, bool wide, struct buf *out)
{
    if (wide || lines->n < TABLE_FOLD_ROWS)
        write_all(lines, wide, out);
    else
        write_folded(lines, out);
}
