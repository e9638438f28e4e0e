/*
 * main of kubectl-gpu: asks one question, or two, and prints the answer. The exit status is the
 * enum below; that of fit is made for CI.
 */
#include "api/tables.h"
#include "arguments.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/small_file.h"
#include "formats/hash_keys.h"
#include "formats/json_get.h"
#include "formats/json_put.h"
#include "shown.h"
#include "source.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

enum end { EXIT_FINE = 0, EXIT_NOT = 1, EXIT_MISTAKE = 2, EXIT_NO_ANSWER = 3 };

/* Larger manifests than any policy allows are not read. */
#define MANIFEST_BYTES_MAX ((size_t)1024 * 1024 * 1024)
#define QUERY_MAX 5
#define BLANK " \t\r\n"

static const struct {
    const char *view;
    const char *list, *kind; /* of --output=name */
} VIEWS[] = {
    [VERB_NODES] = {"inventory", "nodes", "node"},
    [VERB_FIT] = {"dry-run", "workloads", NULL},
    [VERB_PENDING] = {"pending", "pods", "pod"},
    [VERB_QUOTA] = {"quota", "quotas", "quota"},
    [VERB_WHY] = {"explain", NULL, "pod"},
    [VERB_FRAG] = {"fragmentation", NULL, NULL},
    [VERB_CLAIMS] = {"inventory", "claims", "resourceclaim"},
};

struct session {
    struct arguments arguments;
    struct arena *arena;
    const char *namespace_; /* NULL: all */
    struct local_parameter query[QUERY_MAX];
    size_t n_query;
    struct buf manifest;
};

/* The text of a server may end with newlines. */
static int complain(const char *text, int status)
{
    struct buf line;
    buf_init(&line, BUF_UNBOUNDED); /* a message of ours, or a bounded one */
    buf_add_one_line(&line, text);
    while (line.len > 0 && line.data[line.len - 1] == ' ')
        line.data[--line.len] = '\0';
    (void)fprintf(stderr, "kubectl gpu: %s\n", buf_text(&line));
    buf_fini(&line);
    return status;
}

static void add_parameter(struct session *session, const char *name, const char *value)
{
    if (value)
        session->query[session->n_query++] = (struct local_parameter){name, value};
}

static bool is_table(const struct session *session)
{
    return session->arguments.form == FORM_TABLE || session->arguments.form == FORM_WIDE;
}

/* ---- asking ---- */

/* Errors of the service: "error: ..." where a table was asked for, else {"error": "..."}. */
#define ERROR "error: "

static const char *without_prefix(const char *text)
{
    return strncmp(text, ERROR, strlen(ERROR)) == 0 ? text + strlen(ERROR) : text;
}

static bool is_plain(const struct reply *reply)
{
    static const char PLAIN[] = "text/plain";
    return !reply->type || strncasecmp(reply->type, PLAIN, strlen(PLAIN)) == 0;
}

struct failure {
    const char *message; /* of the service, of a Status of Kubernetes, or the text */
    bool is_ours;        /* has the form of the service's errors */
};

static struct failure read_failure(const struct reply *reply, struct arena *arena)
{
    const char *text = buf_text(&reply->text);
    struct failure failure = {.is_ours = reply->is_message};
    struct err err;
    json_t *value = NULL;
    if (json_parse(text, reply->text.len, 0, &value, &err) == 0) {
        failure.is_ours |= json_is_string(json_member(value, "error"));
        (void)json_get_string(value, "error", &text, NULL);
        (void)json_get_string(value, "message", &text, NULL);
        text = arena_strdup(arena, text);
        json_decref(value);
    } else if (is_plain(reply)) {
        failure.is_ours |= without_prefix(text) != text;
    }
    text = without_prefix(text);
    failure.message = arena_printf(arena, "%.2000s", text);
    if (text[strspn(text, BLANK)] == '\0')
        failure.message =
            arena_printf(arena, "the answer is HTTP status %u without a message", reply->status);
    return failure;
}

static int failure_of(const struct session *session, const char *view, const struct reply *reply)
{
    const enum verb verb = session->arguments.verb;
    const bool is_of_object = session->arguments.object && strcmp(view, VIEWS[verb].view) == 0;
    const struct failure failure = read_failure(reply, session->arena);
    int status = EXIT_NO_ANSWER;
    if (reply->status == 400 || (reply->status == 413 && verb == VERB_FIT))
        status = EXIT_MISTAKE;
    else if (reply->status == 404 && is_of_object && failure.is_ours)
        status = EXIT_NOT;
    return complain(failure.message, status);
}

/* JSON is checked by parse(). Tables are plain text; login pages and answers of other services are
 * HTML or JSON, which no table begins like. */
static bool may_be_table(const struct reply *reply)
{
    const char *text = buf_text(&reply->text);
    const char first = text[strspn(text, BLANK)];
    return is_plain(reply) && first != '<' && first != '{' && first != '[';
}

/* Returns EXIT_FINE with the text of a 200, or another status after its message. */
static int ask(const struct session *session, const char *view, bool as_table, struct buf *ret_text)
{
    const bool has_body = session->arguments.verb == VERB_FIT;
    const struct question question = {view, session->query,
                                      has_body ? buf_text(&session->manifest) : NULL,
                                      session->manifest.len};
    struct reply reply = {0};
    struct err err;
    buf_init(&reply.text, SOURCE_BYTES_MAX);
    int r = source_ask(&session->arguments, &question, session->arena, &reply, &err);
    int status = EXIT_FINE;
    if (r < 0)
        status = complain(err.text, r == -EINVAL ? EXIT_MISTAKE : EXIT_NO_ANSWER);
    else if (reply.text.overflowed)
        status = complain("the answer is larger than 1 GiB", EXIT_NO_ANSWER);
    else if (reply.status != 200)
        status = failure_of(session, view, &reply);
    else if (as_table && !may_be_table(&reply))
        status = complain("the answer is not gpu-extender's: it is no table", EXIT_NO_ANSWER);
    if (status == EXIT_FINE)
        *ret_text = reply.text;
    else
        buf_fini(&reply.text);
    return status;
}

static int parse(const struct buf *text, json_t **ret_value)
{
    struct err err;
    if (json_parse(buf_text(text), text->len, 0, ret_value, &err) == 0 &&
        json_is_object(*ret_value))
        return EXIT_FINE;
    json_decref(*ret_value);
    *ret_value = NULL;
    return complain("the answer is not gpu-extender's: it is no JSON object", EXIT_NO_ANSWER);
}

/* The same, as JSON. */
static int ask_json(const struct session *session, const char *view, json_t **ret_value)
{
    struct buf text;
    int status = ask(session, view, false, &text);
    if (status != EXIT_FINE)
        return status;
    status = parse(&text, ret_value);
    buf_fini(&text);
    return status;
}

/* ---- printing ---- */

/* Takes the buffer over. */
static int print(struct buf *out, int status)
{
    const bool is_written =
        fwrite(buf_text(out), 1, out->len, stdout) == out->len && fflush(stdout) == 0;
    buf_fini(out);
    return is_written ? status : complain("standard output cannot be written", EXIT_NO_ANSWER);
}

static void add_name(const char *kind, const json_t *object, struct buf *out)
{
    const char *of_object = "";
    const char *name = "";
    (void)json_get_string(object, "kind", &of_object, NULL);
    (void)json_get_string(object, "name", &name, NULL);
    for (const char *at = kind ? kind : of_object; *at; at++)
        buf_printf(out, "%c", tolower((unsigned char)*at));
    buf_add_text(out, "/");
    buf_add_one_line(out, name);
    buf_add_text(out, "\n");
}

static void add_names(const struct session *session, const json_t *value, struct buf *out)
{
    const enum verb verb = session->arguments.verb;
    size_t i = 0;
    json_t *item = NULL;
    if (verb == VERB_WHY)
        add_name(VIEWS[verb].kind, json_member(value, "pod"), out);
    if (!VIEWS[verb].list)
        return;
    json_array_foreach (json_member(value, VIEWS[verb].list), i, item)
        add_name(VIEWS[verb].kind, item, out);
}

/* JSON, YAML or names. */
static void add_value(const struct session *session, const json_t *value, struct buf *out)
{
    if (session->arguments.form == FORM_YAML) {
        shown_add_yaml(value, out);
        return;
    }
    if (session->arguments.form == FORM_NAME) {
        add_names(session, value, out);
        return;
    }
    size_t len = 0;
    char *text CLEANUP(mem_free_ptr) =
        json_take_text(json_incref((json_t *)(uintptr_t)value), JSON_INDENT(1), &len);
    shown_add_json(text, out);
}

typedef void write_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out);

static int print_value(const struct session *session, const json_t *value, write_table *write,
                       int status)
{
    struct buf table, out;
    buf_init(&table, SOURCE_BYTES_MAX);
    buf_init(&out, BUF_UNBOUNDED); /* a bounded answer */
    if (is_table(session)) {
        write(value, session->arguments.form == FORM_WIDE, session->arena, &table);
        shown_add_table(buf_text(&table), !session->arguments.no_headers, &out);
    } else {
        add_value(session, value, &out);
    }
    buf_fini(&table);
    return print(&out, status);
}

/* Prints the answer as it is: tables are the API's. */
static int run_view(struct session *session)
{
    const char *view = VIEWS[session->arguments.verb].view;
    struct buf text, out;
    json_t *value = NULL;
    if (is_table(session))
        add_parameter(session, "output", "table");
    if (session->arguments.form == FORM_WIDE)
        add_parameter(session, "wide", "true");
    int status = ask(session, view, is_table(session), &text);
    if (status != EXIT_FINE)
        return status;
    buf_init(&out, BUF_UNBOUNDED); /* a bounded answer */
    if (is_table(session))
        shown_add_table(buf_text(&text), !session->arguments.no_headers, &out);
    else
        status = parse(&text, &value);
    if (value && session->arguments.form == FORM_JSON)
        shown_add_json(buf_text(&text), &out);
    else if (value)
        add_value(session, value, &out);
    json_decref(value);
    buf_fini(&text);
    return print(&out, status);
}

/* ---- fit ---- */

static bool has_items(const json_t *result, const char *list)
{
    return json_array_size(json_member(result, list)) > 0;
}

static bool has_unreadable(const json_t *result)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (json_member(result, "skipped"), i, item) {
        const char *why = "";
        (void)json_get_string(item, "why", &why, NULL);
        if (strncmp(why, "unreadable", strlen("unreadable")) == 0)
            return true;
    }
    return false;
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_workload(const json_t *workload)
{
    const json_t *refusal = json_member(workload, "refusedBecause");
    return is_count(json_member(workload, "placed")) &&
           is_count(json_member(workload, "replicas")) && (!refusal || json_is_string(refusal));
}

static bool is_dry_run(const json_t *result)
{
    const json_t *workloads = json_member(result, "workloads");
    size_t i = 0;
    json_t *workload = NULL;
    json_array_foreach (workloads, i, workload) {
        if (!is_workload(workload))
            return false;
    }
    return json_is_array(workloads);
}

static int judge(const json_t *result)
{
    size_t i = 0;
    json_t *workload = NULL;
    if (!is_dry_run(result) || !json_is_true(json_member(result, "usable")))
        return EXIT_NO_ANSWER;
    if (has_items(result, "notUnderstood") || has_items(result, "warnings") ||
        has_unreadable(result) || !has_items(result, "workloads"))
        return EXIT_MISTAKE;
    json_array_foreach (json_member(result, "workloads"), i, workload) {
        const json_t *placed = json_member(workload, "placed");
        const json_t *replicas = json_member(workload, "replicas");
        if (json_integer_value(placed) < json_integer_value(replicas) ||
            json_member(workload, "refusedBecause"))
            return EXIT_NOT;
    }
    return EXIT_FINE;
}

static int run_fit(struct session *session)
{
    const char *file = session->arguments.manifest;
    struct err err;
    json_t *result = NULL;
    const int r = strcmp(file, "-") == 0 ? small_file_read_open(STDIN_FILENO, "standard input",
                                                                &session->manifest, &err)
                                         : small_file_read(file, true, &session->manifest, &err);
    if (r < 0)
        return complain(err.text, EXIT_MISTAKE);
    int status = ask_json(session, VIEWS[VERB_FIT].view, &result);
    if (status == EXIT_FINE)
        status = print_value(session, result, tables_write_dry_run, judge(result));
    json_decref(result);
    return status;
}

/* ---- claims ---- */

/* Of the inventory the claims, those of the namespace, and what says how good the data are. */
static json_t *claims_of(const json_t *inventory, const char *namespace_)
{
    static const char *const KEPT[] = {"asOf",
                                       "source",
                                       "live",
                                       "usable",
                                       "unusableBecause",
                                       "claimsCounted",
                                       "claimsNotCountedBecause",
                                       "claimsOmitted"};
    json_t *answer = json_object();
    json_t *claims = json_array();
    size_t i = 0;
    json_t *claim = NULL;
    for (size_t j = 0; j < sizeof KEPT / sizeof *KEPT; j++)
        (void)json_object_set(answer, KEPT[j], json_object_get(inventory, KEPT[j]));
    json_array_foreach (json_member(inventory, "claims"), i, claim) {
        const char *of_claim = "";
        (void)json_get_string(claim, "namespace", &of_claim, NULL);
        if (!namespace_ || strcmp(of_claim, namespace_) == 0)
            (void)json_array_append(claims, claim);
    }
    (void)json_object_set_new(answer, "claims", claims);
    return answer;
}

static int run_claims(struct session *session)
{
    json_t *inventory = NULL;
    int status = ask_json(session, VIEWS[VERB_CLAIMS].view, &inventory);
    if (status != EXIT_FINE)
        return status;
    json_t *claims = claims_of(inventory, session->namespace_);
    status = print_value(session, claims, tables_write_claims, EXIT_FINE);
    json_decref(claims);
    json_decref(inventory);
    return status;
}

/* ---- why ---- */

static bool is_owner(const json_t *owner, const char *object)
{
    const char *kind = "";
    const char *name = "";
    const size_t len = strcspn(object, "/");
    (void)json_get_string(owner, "kind", &kind, NULL);
    (void)json_get_string(owner, "name", &name, NULL);
    return strlen(kind) == len && strncasecmp(kind, object, len) == 0 &&
           strcmp(name, object + len + 1) == 0;
}

/* The first waiting pod of KIND/NAME. */
static int find_pod(const struct session *session, const char **ret_pod)
{
    const char *object = session->arguments.object;
    json_t *pending = NULL;
    size_t i = 0;
    json_t *owner = NULL;
    *ret_pod = NULL;
    int status = ask_json(session, "pending", &pending);
    if (status != EXIT_FINE)
        return status;
    json_array_foreach (json_member(pending, "owners"), i, owner) {
        if (is_owner(owner, object))
            (void)json_get_string(owner, "firstPod", ret_pod, NULL);
    }
    if (*ret_pod)
        *ret_pod = arena_strdup(session->arena, *ret_pod);
    json_decref(pending);
    if (*ret_pod)
        return EXIT_FINE;
    return complain(arena_printf(session->arena,
                                 "no pod of %.300s waits for GPUs in the namespace %.300s", object,
                                 session->namespace_),
                    EXIT_NOT);
}

static int run_why(struct session *session)
{
    const char *pod = session->arguments.object;
    if (strncasecmp(pod, "pod/", strlen("pod/")) == 0)
        pod += strlen("pod/");
    if (strchr(pod, '/')) {
        const int status = find_pod(session, &pod);
        if (status != EXIT_FINE)
            return status;
    }
    add_parameter(session, "name", pod);
    return run_view(session);
}

/* ---- the whole ---- */

/* As kubectl's, where kubectl is asked; else all, but one pod is in one namespace. */
static const char *namespace_of(const struct session *session)
{
    const struct arguments *arguments = &session->arguments;
    if (arguments->all_namespaces || !arguments_have_namespaces(arguments->verb))
        return NULL;
    if (arguments->namespace_)
        return arguments->namespace_;
    if (!arguments->url && !arguments->cluster_file)
        return source_namespace(arguments, session->arena);
    return arguments->verb == VERB_WHY ? "default" : NULL;
}

static int run(struct session *session)
{
    const struct arguments *arguments = &session->arguments;
    session->namespace_ = namespace_of(session);
    if (arguments->verb != VERB_CLAIMS)
        add_parameter(session, "namespace", session->namespace_);
    if (arguments->verb == VERB_NODES)
        add_parameter(session, "node", arguments->object);
    add_parameter(session, "model", arguments->model);
    switch (arguments->verb) {
    case VERB_FIT:
        return run_fit(session);
    case VERB_CLAIMS:
        return run_claims(session);
    case VERB_WHY:
        return run_why(session);
    case VERB_NODES:
    case VERB_PENDING:
    case VERB_QUOTA:
    case VERB_FRAG:
        break;
    }
    return run_view(session);
}

int main(int argc, char **argv)
{
    struct session session = {.arena = arena_new()};
    struct err err;
    bool done = false;
    int status = EXIT_FINE;
    buf_init(&session.manifest, MANIFEST_BYTES_MAX);
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    if (hash_keys_make(&err) < 0)
        status = complain(err.text, EXIT_NO_ANSWER);
    else if (arguments_parse(argc, argv, session.arena, &session.arguments, &done, &err) < 0)
        status = complain(err.text, EXIT_MISTAKE);
    else if (!done)
        status = run(&session);
    buf_fini(&session.manifest);
    arena_free(session.arena);
    return status;
}
