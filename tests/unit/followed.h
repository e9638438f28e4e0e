/* followed: a reflector driven by a test, and the log lines it causes. */
#ifndef FOLLOWED_H
#define FOLLOWED_H

#include "base/log.h"
#include "kube/reflector.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct followed {
    struct reflector *reflector;
    int64_t now_ms;
    FILE *log;
};

static inline void followed_begin(struct followed *followed, const struct reflector_kind *kind,
                                  const struct reflector_store *store)
{
    const struct reflector_settings settings = {
        .kind = kind, .page_size = 10, .silence_ms = 3600000, .max_object_bytes = 1000};
    *followed = (struct followed){.now_ms = 1000, .log = tmpfile()};
    assert_non_null(followed->log);
    log_configure(LOG_INFO, LOG_KEY_VALUE);
    followed->reflector = reflector_new(&settings, store);
}

static inline void followed_end(struct followed *followed)
{
    (void)fclose(followed->log);
    reflector_free(followed->reflector);
}

/* Answers the next request; is_watch: whether that must be a watch. */
static inline void followed_answer(struct followed *followed, bool is_watch, unsigned status,
                                   const char *body)
{
    struct reflector_action action = reflector_next(followed->reflector, followed->now_ms);
    while (action.want != REFLECTOR_REQUEST) {
        if (action.want == REFLECTOR_WAIT)
            followed->now_ms = action.until_ms;
        action = reflector_next(followed->reflector, followed->now_ms);
    }
    assert_int_equal(strstr(action.request.path, "watch=true") != NULL, is_watch);
    const int saved = dup(STDERR_FILENO);
    assert_true(dup2(fileno(followed->log), STDERR_FILENO) >= 0);
    reflector_head(followed->reflector, followed->now_ms, status, -1);
    reflector_bytes(followed->reflector, followed->now_ms, body, strlen(body));
    reflector_end(followed->reflector, followed->now_ms, KUBE_ANSWERED, NULL);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)close(saved);
}

/* Checks and clears the log, ignoring times. */
static inline void followed_check_log(struct followed *followed, const char *expected)
{
    char text[4096] = "";
    size_t len = 0;
    char line[1000];
    rewind(followed->log);
    while (fgets(line, sizeof line, followed->log)) {
        const char *rest = strstr(line, "level=");
        assert_non_null(rest);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", rest);
    }
    rewind(followed->log);
    assert_int_equal(ftruncate(fileno(followed->log), 0), 0);
    assert_string_equal(text, expected);
}

#endif
