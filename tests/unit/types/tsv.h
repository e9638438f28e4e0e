/* tsv: tables of expectations beside the tests, one row a line, columns separated by tabs, '#' for
 * comments. "-" stands for nothing and is given as "". Whatever is wrong fails the test. */
#ifndef TSV_H
#define TSV_H

#include <stdbool.h>
#include <stdio.h>

#define TSV_COLUMNS_MAX 8

struct tsv {
    FILE *file;
    int line_number;
    char line[512];
    const char *columns[TSV_COLUMNS_MAX]; /* of the row that tsv_next() gave */
};

/* A file of this folder. */
struct tsv tsv_open(const char *name);
/* The next row, which must have n columns. False at the end; the file is closed then. */
bool tsv_next(struct tsv *table, int n);

#endif
