/* tsv: see tsv.h. */
#include "tsv.h"

#include "unit.h"

#include <string.h>

struct tsv tsv_open(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", TSV_FOLDER, name);
    struct tsv table = {.file = fopen(path, "r")};
    if (!table.file)
        fail_msg("%s is missing", path);
    return table;
}

bool tsv_next(struct tsv *table, int n)
{
    do {
        if (!fgets(table->line, sizeof table->line, table->file)) {
            (void)fclose(table->file);
            return false;
        }
        table->line_number++;
    } while (table->line[0] == '#');
    table->line[strcspn(table->line, "\n")] = '\0';
    char *at = table->line;
    for (int i = 0; i < n; i++) {
        size_t len = strcspn(at, "\t");
        if (at[len] != (i < n - 1 ? '\t' : '\0'))
            fail_msg("line %d has not %d columns", table->line_number, n);
        at[len] = '\0';
        table->columns[i] = strcmp(at, "-") == 0 ? "" : at;
        at += len + 1;
    }
    return true;
}
