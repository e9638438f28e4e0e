/* fault_table: a test is a table of faulty texts with their messages. */
#ifndef FAULT_TABLE_H
#define FAULT_TABLE_H

#include "unit.h"

struct fault {
    const char *text;
    const char *message; /* after the name of the file */
};

struct fault_table {
    const struct fault *faults;
    size_t n;
};

/* A cmocka test: check() gets a struct fault_table as its state. */
#define FAULT_TABLE(name, check, faults)                                                           \
    {                                                                                              \
        name, check, NULL, NULL, &(struct fault_table)                                             \
        {                                                                                          \
            faults, sizeof(faults) / sizeof *(faults)                                              \
        }                                                                                          \
    }

#endif
