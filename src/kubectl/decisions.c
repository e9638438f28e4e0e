/* decisions: the last answers to kube-scheduler, and with --watch those that follow: the service is
 * asked again and again. */
#include "api/tables.h"
#include "formats/json_values.h"
#include "verbs.h"

#include <time.h>

#define POLL_S 2

/* The newest decision that was shown. Numbers begin anew when another replica leads. */
struct last_shown {
    char time[32]; /* RFC 3339 with milliseconds, so that the order of texts is that of time */
    int64_t number;
};

static bool is_new(const struct last_shown *seen, const json_t *decision)
{
    const char *time = "";
    int64_t number = 0;
    (void)json_get_string(decision, "time", &time, NULL);
    (void)json_get_integer(decision, "number", &number, NULL);
    const int order = strcmp(time, seen->time);
    return order > 0 || (order == 0 && number > seen->number);
}

static void remember(struct last_shown *seen, const json_t *decision)
{
    const char *time = "";
    (void)json_get_string(decision, "time", &time, NULL);
    (void)json_get_integer(decision, "number", &seen->number, NULL);
    if (strlen(time) < sizeof seen->time)
        memcpy(seen->time, time, strlen(time) + 1);
}

/* The new decisions of the answer, oldest first. The answer has the newest first. */
static json_t *new_ones(const json_t *answer, struct last_shown *seen)
{
    const json_t *all = json_member(answer, "decisions");
    json_t *list = json_array();
    for (size_t i = json_array_size(all); i-- > 0;) {
        json_t *decision = json_array_get(all, i);
        if (is_new(seen, decision))
            (void)json_array_append(list, decision);
    }
    if (json_array_size(all) > 0)
        remember(seen, json_array_get(all, 0));
    return list;
}

static const struct print_names NAMES = {"decisions", "pod"};

/* Prints a list as a table or as names; JSON and YAML have a document for each decision. */
static int print_new(const struct session *session, const json_t *answer, struct last_shown *seen,
                     bool is_first)
{
    const enum form form = session->arguments.form;
    const bool one_by_one = form == FORM_JSON || form == FORM_YAML;
    json_t *list = new_ones(answer, seen);
    json_t *shown =
        json_pack("{s:O?, s:O}", "keep", json_member(answer, "keep"), "decisions", list);
    int status = EXIT_FINE;
    size_t i = 0;
    json_t *decision = NULL;
    if (!one_by_one && (is_first || json_array_size(list) > 0))
        status = print_answer(session, shown, tables_write_decisions, &NAMES, is_first, EXIT_FINE);
    json_array_foreach (list, i, decision) {
        if (form == FORM_YAML && status == EXIT_FINE) {
            struct buf separator;
            buf_init(&separator, BUF_UNBOUNDED); /* four bytes */
            buf_add_text(&separator, "---\n");
            status = print_text(session, &separator, EXIT_FINE);
        }
        if (one_by_one && status == EXIT_FINE)
            status = print_answer(session, decision, NULL, &NAMES, false, EXIT_FINE);
    }
    json_decref(shown);
    json_decref(list);
    return status;
}

/* Until a signal ends it, or standard output is closed. A leader may change meanwhile: a failure
 * after the first answer is reported once, and the next poll tries again. */
static int watch(struct session *session)
{
    struct last_shown seen = {"", 0};
    const char *last_message = "";
    int status = EXIT_FINE;
    for (bool is_first = true; status == EXIT_FINE; is_first = false) {
        struct arena *whole = session->arena;
        session->arena = arena_new();
        struct asked answer = session_ask(session, "decisions", NULL);
        if (answer.status == EXIT_FINE)
            status = print_new(session, answer.value, &seen, is_first);
        else if (is_first)
            status = answer.status;
        const char *message = answer.status == EXIT_FINE ? "" : answer.message;
        if (strcmp(message, last_message) != 0) {
            if (*message)
                (void)session_complain(session, message, 0);
            last_message = arena_strdup(whole, message);
        }
        json_decref(answer.value);
        arena_free(session->arena);
        session->arena = whole;
        if (status == EXIT_FINE)
            (void)nanosleep(&(struct timespec){.tv_sec = POLL_S}, NULL);
    }
    return status;
}

/* A misspelt name is no mistake here: decisions about deleted pods are kept, too. */
static void say_if_none(const struct session *session, const json_t *answer, const char *pod)
{
    const enum form form = session->arguments.form;
    int64_t keep = 0;
    (void)json_get_integer(answer, "keep", &keep, NULL);
    if (form == FORM_JSON || form == FORM_YAML || keep == 0)
        return;
    const char *of = pod                   ? arena_printf(session->arena, "the pod %.253s", pod)
                     : session->namespace_ ? "pods of this namespace"
                                           : NULL;
    (void)session_complain(
        session,
        of ? arena_printf(session->arena, "no decision that is kept is about %s", of)
           : "kube-scheduler has not asked yet",
        EXIT_FINE);
}

int verbs_decisions(struct session *session)
{
    json_t *answer = NULL;
    const char *pod = NULL;
    int status = session->arguments.object ? verbs_read_pod(session, &pod) : EXIT_FINE;
    if (status != EXIT_FINE)
        return status;
    session_add_parameter(session, "namespace", session->namespace_);
    session_add_parameter(session, "name", pod);
    if (session->arguments.given & TAKES_WATCH)
        return watch(session);
    status = session_ask_or_complain(session, "decisions", NULL, &answer);
    if (status == EXIT_FINE) {
        const bool has_any = json_array_size(json_member(answer, "decisions")) > 0;
        if (!has_any)
            say_if_none(session, answer, pod);
        status = print_answer(session, answer, tables_write_decisions, &NAMES, has_any, EXIT_FINE);
    }
    json_decref(answer);
    return status;
}
