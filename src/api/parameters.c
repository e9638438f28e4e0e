/*
 * parameters: what the queries of the users' paths may have. docs/openapi.yaml lists the same
 * (tests/wire/test_parameters.py).
 */
#include "api/api.h"

static const char *const OUTPUTS[] = {"json", "table", NULL};
static const char *const FLAGS[] = {"true", "false", NULL};
static const char *const VERBS[] = {"filter", "prioritize", "preempt", "bind", NULL};

static const char *const STATES[] = {"ready", "not-ready", "cordoned", NULL};

static const char *const SORTS[] = {"name", "free", "used", NULL};

const struct parameter API_OUTPUT[] = {{"output", OUTPUTS}, {"wide", FLAGS}, {0}};
const struct parameter API_DRY_RUN[] = {
    {"explain", FLAGS}, {"output", OUTPUTS}, {"wide", FLAGS}, {0}};
const struct parameter API_DECISIONS[] = {
    {"namespace", NULL}, {"name", NULL},  {"node", NULL},
    {"verb", VERBS},     {"limit", NULL}, {"wouldDiffer", FLAGS},
    {"output", OUTPUTS}, {"wide", FLAGS}, {0},
};
const struct parameter API_INVENTORY[] = {{"node", NULL},
                                          {"state", STATES},
                                          {"model", NULL},
                                          {"resource", NULL},
                                          {"labelSelector", NULL},
                                          {"claimSelector", NULL},
                                          {"label", NULL},
                                          {"sort", SORTS},
                                          {"output", OUTPUTS},
                                          {"wide", FLAGS},
                                          {0}};
const struct parameter API_PENDING[] = {
    {"namespace", NULL}, {"labelSelector", NULL}, {"output", OUTPUTS}, {"wide", FLAGS}, {0}};
const struct parameter API_NAMESPACE[] = {
    {"namespace", NULL}, {"output", OUTPUTS}, {"wide", FLAGS}, {0}};
const struct parameter API_EXPLAIN[] = {
    {"namespace", NULL}, {"name", NULL}, {"output", OUTPUTS}, {"wide", FLAGS}, {0}};
const struct parameter API_FRAGMENTATION[] = {{"model", NULL},
                                              {"resource", NULL},
                                              {"labelSelector", NULL},
                                              {"nodes", FLAGS},
                                              {"output", OUTPUTS},
                                              {"wide", FLAGS},
                                              {0}};
const struct parameter API_NONE[] = {{0}};
