/*
 * harness_steps: tests of a reflector as tables.
 *
 * A script is a list of steps: requests and waits to expect, answers to give, values to check. Its
 * first step is INIT, INIT_OPTIONAL, INIT_VERSIONS, INIT_SELECTOR or BEGIN. After FINI it starts
 * over with another.
 */
#ifndef HARNESS_STEPS_H
#define HARNESS_STEPS_H

#include "harness.h"

#include <stddef.h>

/* A step calls the one function that is set. */
struct harness_step {
    void (*plain)(struct harness *harness);
    void (*textual)(struct harness *harness, const char *text);
    void (*ranged)(struct harness *harness, int64_t least, int64_t most);
    void (*full)(struct harness *harness, const struct harness_step *step);
    const char *name;
    const char *text;
    const char *version;
    const char *next; /* the continue token */
    int64_t number;
    int64_t most; /* or Retry-After, in s */
    size_t at;    /* of a member of the harness */
    size_t size;
};
#define HARNESS_STEPS_MAX 40
struct harness_script {
    const char *name;
    struct harness_step steps[HARNESS_STEPS_MAX]; /* end at a step without a name */
};

/* Runs each script as a cmocka test of its own; returns the number of failed ones. */
int harness_run(const struct harness_script *scripts, size_t n);

void harness_step_init(struct harness *harness);
void harness_step_sleep(struct harness *harness, const struct harness_step *step);
void harness_step_quiet(struct harness *harness, const struct harness_step *step);
void harness_step_head(struct harness *harness, const struct harness_step *step);
void harness_step_many(struct harness *harness, const struct harness_step *step);
void harness_step_end(struct harness *harness, const struct harness_step *step);
void harness_step_refuse(struct harness *harness, const struct harness_step *step);
void harness_step_page(struct harness *harness, const struct harness_step *step);
void harness_step_event(struct harness *harness, const struct harness_step *step);
void harness_step_is(struct harness *harness, const struct harness_step *step);
void harness_step_fresh_now(struct harness *harness);
void harness_step_names(struct harness *harness, const char *names);
void harness_step_why(struct harness *harness, const char *why);
void harness_step_why_has(struct harness *harness, const char *part);

#define CALL(function)                                                                             \
    {                                                                                              \
        .plain = (function), .name = #function                                                     \
    }
#define TEXT(function, value)                                                                      \
    {                                                                                              \
        .textual = (function), .name = #function, .text = (value)                                  \
    }
#define FULL(function, ...)                                                                        \
    {                                                                                              \
        .full = (function), .name = #function, __VA_ARGS__                                         \
    }

#define INIT CALL(harness_step_init)
#define INIT_OPTIONAL CALL(harness_init_optional)
#define INIT_VERSIONS CALL(harness_init_versions)
#define INIT_SELECTOR(selector) TEXT(harness_init, selector)
#define BEGIN CALL(harness_begin)
#define FINI CALL(harness_fini)

/* Expected actions of the reflector. */
#define REQUEST(path) TEXT(harness_expect_request, path)
#define LIST REQUEST(HARNESS_LIST)
#define LIST_NEXT REQUEST(HARNESS_LIST "&continue=next")
#define PROBE REQUEST(HARNESS_PROBE)
#define WATCH(version) REQUEST(HARNESS_WATCH(version))
#define CATCH_UP(version) REQUEST(HARNESS_CATCH_UP(version))
#define CANCEL CALL(harness_expect_cancel)
#define WAIT_IN(least_ms, most_ms)                                                                 \
    {                                                                                              \
        .ranged = harness_expect_wait, .name = "wait", .number = (least_ms), .most = (most_ms)     \
    }
#define WAIT(ms) WAIT_IN(ms, ms)
#define BACK_OFF(ms) WAIT_IN(ms, INT64_C(2) * (ms)) /* with jitter */
#define QUIET(ms) FULL(harness_step_quiet, .number = (ms))

/* Events. */
#define SLEEP(ms) FULL(harness_step_sleep, .number = (ms))
#define HEAD(status) FULL(harness_step_head, .number = (status))
#define BYTES(value) TEXT(harness_bytes, value)
#define BYTES_BEFORE_OTHERS(value) TEXT(harness_bytes_before_others, value)
#define MANY_BYTES(n) FULL(harness_step_many, .number = (n))
#define LARGE MANY_BYTES(2 * HARNESS_OBJECT_MAX)
#define END(outcome) FULL(harness_step_end, .number = (outcome))
#define REFUSE(status, retry_after_s, body)                                                        \
    FULL(harness_step_refuse, .number = (status), .most = (retry_after_s), .text = (body))
#define ANSWER(status, body) REFUSE(status, -1, body)
#define PAGE(of_version, letters, token)                                                           \
    FULL(harness_step_page, .version = (of_version), .text = (letters), .next = (token))
#define LISTED(version, letters) PAGE(version, letters, "")
#define EVENT(type, letter, to_version)                                                            \
    FULL(harness_step_event, .text = (type), .number = (letter), .version = (to_version))
#define ADDED(letter, version) EVENT("ADDED", letter, version)
#define BOOKMARK(letter, version) EVENT("BOOKMARK", letter, version)

/* Expected state. IS() takes any member of the harness that is a number. */
#define IS(member, value)                                                                          \
    {                                                                                              \
        .full = harness_step_is, .name = #member, .at = offsetof(struct harness, member),          \
        .size = sizeof(((struct harness *)NULL)->member), .number = (value)                        \
    }
#define RELISTS(cause, n) IS(status.relists[cause], n)
#define STALE(value) IS(status.stale, value)
#define FRESH_NOW CALL(harness_step_fresh_now)
#define NAMES(names) TEXT(harness_step_names, names)
#define WHY(why) TEXT(harness_step_why, why)
#define WHY_HAS(part) TEXT(harness_step_why_has, part)

#endif
