/* session: see session.h. Answers are checked here: a login page, or the JSON of another service,
 * is no answer. */
#include "session.h"
#include "api/tables.h"
#include "base/file_watch.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "manifests.h"
#include "source.h"
#include "verbs.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define BLANK " \t\r\n"
#define PLUGIN "kubectl-"
#define COMPLETER "kubectl_complete-"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

bool session_is_completer(const char *file)
{
    return begins(base_of(file), COMPLETER);
}

const char *session_program(const char *file, struct arena *arena)
{
    const char *name = base_of(file);
    const bool is_completer = session_is_completer(file);
    if (!is_completer && !begins(name, PLUGIN))
        return arena_strdup(arena, name);
    char *words = arena_strdup(arena, name + strlen(is_completer ? COMPLETER : PLUGIN));
    for (char *at = words; *at; at++)
        *at = *at == '-' ? ' ' : *at == '_' ? '-' : *at;
    return arena_printf(arena, "kubectl %s", words);
}

/* The text of a server may end with newlines. */
int session_complain(const struct session *session, const char *text, int status)
{
    struct buf line;
    struct buf lines;
    buf_init(&line, BUF_UNBOUNDED); /* a message of ours, or a bounded one */
    buf_init(&lines, BUF_UNBOUNDED);
    buf_printf(&line, "%s: ", session->program);
    buf_add_one_line(&line, text);
    while (line.len > 0 && line.data[line.len - 1] == ' ')
        line.data[--line.len] = '\0';
    tables_set_width(print_width(STDERR_FILENO));
    tables_write_lines(buf_text(&line), true, &lines);
    (void)fputs(buf_text(&lines), stderr);
    buf_fini(&line);
    buf_fini(&lines);
    return status;
}

int session_read_file(const struct session *session, const char *file, struct buf *text)
{
    struct err err;
    const int r = strcmp(file, "-") == 0
                      ? small_file_read_open(STDIN_FILENO, "standard input", text, &err)
                      : small_file_read(file, true, text, &err);
    return r < 0 ? session_complain(session, err.text, EXIT_MISTAKE) : EXIT_FINE;
}

void session_add_parameter(struct session *session, const char *name, const char *value)
{
    if (value)
        session->query[session->n_query++] = (struct local_parameter){name, value};
}

/* ---- failures ---- */

/* Errors of the service: "error: ..." where a table was asked for, else {"error": "..."}. */
#define ERROR "error: "

static const char *without_prefix(const char *text)
{
    return begins(text, ERROR) ? text + strlen(ERROR) : text;
}

static bool is_plain(const struct reply *reply)
{
    static const char PLAIN[] = "text/plain";
    return !reply->type || strncasecmp(reply->type, PLAIN, strlen(PLAIN)) == 0;
}

/* "" if there is none, as on a page of HTML. *ret_is_ours: it has the form of the service's
 * errors. */
static const char *message_of(const struct reply *reply, bool *ret_is_ours, struct arena *arena)
{
    const char *body = buf_text(&reply->text);
    const char *text = "";
    struct err err;
    json_t *value = NULL;
    *ret_is_ours = reply->is_message;
    if (json_parse(body, reply->text.len, 0, &JSON_OWN, &value, &err) == 0) {
        *ret_is_ours |= json_is_string(json_member(value, "error"));
        (void)json_get_string(value, "error", &text, NULL);
        (void)json_get_string(value, "message", &text, NULL);
        text = arena_strdup(arena, text);
        json_decref(value);
    } else if (is_plain(reply)) {
        *ret_is_ours |= without_prefix(body) != body;
        text = body;
    }
    text = without_prefix(text);
    return text[strspn(text, BLANK)] ? arena_printf(arena, "%.2000s", text) : "";
}

/* With the plugin's words for what its users did not type: paths and queries of HTTP. */
static const char *in_own_words(const struct session *session, const char *message)
{
    static const struct {
        const char *of_service, *own;
        bool is_verb;
    } WORDS[] = {{"?node=", "node ", false},
                 {"?labelSelector", "--selector", false},
                 {"?claimSelector", "--selector", false},
                 {"?model", "--model", false},
                 {"?namespace", "--namespace", false},
                 {"GET /v1/inventory", " nodes", true},
                 {"GET /v1/pending", " pending", true},
                 {"GET /v1/quota", " quota", true}};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        const char *at = strstr(message, WORDS[i].of_service);
        if (at)
            message = arena_printf(session->arena, "%.*s%s%s%s", (int)(at - message), message,
                                   WORDS[i].is_verb ? session->program : "", WORDS[i].own,
                                   at + strlen(WORDS[i].of_service));
    }
    return message;
}

/* The answer of another program, such as a proxy. */
static const char *not_ours(const struct session *session, const char *why)
{
    struct arena *arena = session->arena;
    const char *url = session->arguments.url;
    return arena_printf(arena, "%.200s%sthe answer is not gpu-extender's: %s",
                        url ? source_url_shown(url, arena) : "", url ? ": " : "", why);
}

static const char *complaint_of(const struct session *session, const struct reply *reply,
                                const char *message, bool is_ours)
{
    struct arena *arena = session->arena;
    if (!is_ours)
        return not_ours(session, arena_printf(arena, "HTTP status %u%s%s", reply->status,
                                              *message ? ": " : "", message));
    return *message ? in_own_words(session, message)
                    : arena_printf(arena, "the answer is HTTP status %u without a message",
                                   reply->status);
}

/* Whether the request is at fault. A what-if may name objects that do not exist. */
static bool is_mistake(const char *view, unsigned status, const char *message)
{
    const bool is_what_if = strcmp(view, "what-if") == 0;
    return status == 400 || (status == 413 && (is_what_if || strcmp(view, "dry-run") == 0)) ||
           (status == 404 && is_what_if && begins(message, "changes["));
}

static struct asked failure_of(const struct session *session, const char *view,
                               const struct reply *reply)
{
    static const char *const OF_OBJECTS[] = {"inventory", "explain"};
    bool is_of_object = false;
    bool is_ours = false;
    for (size_t i = 0; session->arguments.object && i < 2; i++)
        is_of_object |= strcmp(view, OF_OBJECTS[i]) == 0;
    const char *message = message_of(reply, &is_ours, session->arena);
    if (!session->arguments.url && begins(message, "no such path"))
        return (struct asked){EXIT_NO_ANSWER, reply->status,
                              "a gpu-extender answered, not the API server: name it by --url, not "
                              "by --server",
                              NULL};
    struct asked answer = {EXIT_NO_ANSWER, reply->status,
                           complaint_of(session, reply, message, is_ours), NULL};
    if (is_mistake(view, reply->status, message) ||
        (reply->status == 404 && is_of_object && is_ours))
        answer.status = EXIT_MISTAKE;
    return answer;
}

/* ---- answers ---- */

/* Members that each answer has: lists, or an object. */
static const struct {
    const char *view;
    const char *lists[2];
    const char *object;
} SHAPES[] = {
    {"inventory", {"nodes", "models"}, NULL},
    {"pending", {"pods", "owners"}, NULL},
    {"quota", {"quotas", NULL}, NULL},
    {"explain", {"nodes", NULL}, "pod"},
    {"fragmentation", {"models", NULL}, NULL},
    {"dry-run", {"workloads", NULL}, NULL},
    {"decisions", {"decisions", NULL}, NULL},
    {"policy", {NULL, NULL}, "values"},
    {"groups", {"groups", NULL}, NULL},
    {"node-groups", {"groups", NULL}, NULL},
    {"what-if", {"displaced", "workloads"}, "pending"},
};

/* The member that the answer lacks; NULL: it is what was asked for. */
static const char *lacking(const char *view, const json_t *value)
{
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        if (strcmp(SHAPES[i].view, view) != 0)
            continue;
        for (size_t j = 0; j < 2 && SHAPES[i].lists[j]; j++) {
            if (!json_is_array(json_member(value, SHAPES[i].lists[j])))
                return SHAPES[i].lists[j];
        }
        if (SHAPES[i].object && !json_is_object(json_member(value, SHAPES[i].object)))
            return SHAPES[i].object;
    }
    return NULL;
}

/* Lists of a namespace or model that does not exist are no answers: a message; else NULL. But a
 * quota may cover a namespace that will be made, and decisions are kept of one that was deleted. */
static const char *name_fault(const struct session *session, const json_t *value)
{
    size_t i = 0;
    json_t *warning = NULL;
    if (json_array_size(json_member(value, "quotas")) > 0 ||
        json_array_size(json_member(value, "decisions")) > 0)
        return NULL;
    json_array_foreach (json_member(value, "warnings"), i, warning) {
        const char *path = "";
        const char *text = "";
        (void)json_get_string(warning, "path", &path, NULL);
        (void)json_get_string(warning, "message", &text, NULL);
        if (strcmp(path, "?namespace") == 0 || strcmp(path, "?model") == 0)
            return arena_printf(session->arena, "--%s: %.600s", path + 1, text);
    }
    return NULL;
}

static struct asked read_answer(const struct session *session, const char *view,
                                const struct reply *reply)
{
    struct asked answer = {EXIT_NO_ANSWER, reply->status, NULL, NULL};
    struct err err;
    json_t *value = NULL;
    if (reply->text.overflowed)
        answer.message = "the answer is larger than 1 GiB";
    else if (json_parse(buf_text(&reply->text), reply->text.len, 0, &JSON_OWN, &value, &err) < 0 ||
             !json_is_object(value))
        answer.message = not_ours(session, "it is no JSON object");
    else if (lacking(view, value))
        answer.message =
            not_ours(session, arena_printf(session->arena, "it has no %s", lacking(view, value)));
    else if ((answer.message = name_fault(session, value)))
        answer.status = EXIT_MISTAKE;
    else
        return (struct asked){EXIT_FINE, reply->status, NULL, value};
    json_decref(value);
    return answer;
}

struct asked session_ask(const struct session *session, const char *view, const struct buf *body)
{
    const struct question question = {view, session->query, body ? buf_text(body) : NULL,
                                      body ? body->len : 0, NULL};
    struct reply reply = {0};
    struct asked answer = {EXIT_NO_ANSWER, 0, NULL, NULL};
    struct err err;
    buf_init(&reply.text, SOURCE_BYTES_MAX);
    const int r = source_ask(&session->arguments, &question, session->arena, &reply, &err);
    if (r == -EINVAL)
        answer.status = EXIT_MISTAKE;
    if (r < 0)
        answer.message = arena_strdup(session->arena, err.text);
    else if (reply.status != 200)
        answer = failure_of(session, view, &reply);
    else
        answer = read_answer(session, view, &reply);
    buf_fini(&reply.text);
    return answer;
}

int session_ask_or_complain(const struct session *session, const char *view, const struct buf *body,
                            json_t **ret_value)
{
    const struct asked answer = session_ask(session, view, body);
    if (answer.status != EXIT_FINE) {
        const char *message = manifests_named(session, answer.message);
        return answer.status == EXIT_MISTAKE && message != answer.message
                   ? manifests_complain(session, message)
                   : session_complain(session, message, answer.status);
    }
    *ret_value = answer.value;
    return EXIT_FINE;
}
