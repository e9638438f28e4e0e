/* tsv: tables of expectations beside the tests: one row per line, columns separated by tabs, '#'
 * starts a comment. "-" is read as "". Any fault fails the test. */
#ifndef TSV_H
#define TSV_H

#include <stdbool.h>
#include <stdio.h>

#define TSV_COLUMNS_MAX 8

struct tsv {
    FILE *file;
    int line_number;
    char line[512];
    const char *columns[TSV_COLUMNS_MAX]; /* of the last row from tsv_next() */
};

/* Opens a file of this folder. */
struct tsv tsv_open(const char *name);
/* Reads the next row, which must have n columns. False at the end, after closing the file. */
bool tsv_next(struct tsv *table, int n);

#endif
