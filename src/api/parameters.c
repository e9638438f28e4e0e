/*
 * parameters: what the queries of the users' paths may have. docs/openapi.yaml lists the same
 * (tests/wire/test_parameters.py).
 */
#include "api/api.h"
#include "api/tables.h"
#include "record/decisions.h"

static const char *const OUTPUTS[] = {"json", "table", NULL};
static const char *const FLAGS[] = {"true", "false", NULL};
static const char *const VERBS[] = {"filter", "prioritize", "preempt", "bind", NULL};

static const char *const STATES[] = {"ready", "not-ready", "cordoned", "marked", NULL};

static const char *const SORTS[] = {"worth", "name", "free", "used", NULL};

#define TEXT(key)                                                                                  \
    {                                                                                              \
        .name = (key)                                                                              \
    }
#define ONE_OF(key, words)                                                                         \
    {                                                                                              \
        .name = (key), .values = (words)                                                           \
    }
#define NUMBER(key, from, to)                                                                      \
    {                                                                                              \
        .name = (key), .least = (from), .most = (to)                                               \
    }
/* Of each path that answers with tables, too. */
#define TABLE                                                                                      \
    ONE_OF("output", OUTPUTS), ONE_OF("wide", FLAGS),                                              \
        NUMBER("width", TABLES_WIDTH_LEAST, TABLES_WIDTH_MOST)
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

const struct parameter API_OUTPUT[] = {TABLE, END};
const struct parameter API_DRY_RUN[] = {ONE_OF("explain", FLAGS), TABLE, END};
const struct parameter API_DECISIONS[] = {TEXT("namespace"),
                                          TEXT("name"),
                                          TEXT("node"),
                                          ONE_OF("verb", VERBS),
                                          NUMBER("limit", 1, DECISIONS_KEEP_MAX),
                                          ONE_OF("wouldDiffer", FLAGS),
                                          TABLE,
                                          END};
const struct parameter API_INVENTORY[] = {TEXT("namespace"),
                                          TEXT("node"),
                                          ONE_OF("state", STATES),
                                          TEXT("model"),
                                          TEXT("resource"),
                                          TEXT("labelSelector"),
                                          TEXT("claimSelector"),
                                          TEXT("label"),
                                          ONE_OF("sort", SORTS),
                                          TABLE,
                                          END};
const struct parameter API_PENDING[] = {TEXT("namespace"), TEXT("labelSelector"), TABLE, END};
const struct parameter API_NAMESPACE[] = {TEXT("namespace"), TABLE, END};
const struct parameter API_EXPLAIN[] = {TEXT("namespace"), TEXT("name"), TABLE, END};
const struct parameter API_FRAGMENTATION[] = {
    TEXT("model"), TEXT("resource"), TEXT("labelSelector"), ONE_OF("nodes", FLAGS), TABLE, END};
const struct parameter API_NONE[] = {END};
