/* complete: completion in a shell: kubectl runs kubectl_complete-gpu, a link to the plugin, with
 * the words so far. The last line is a directive of cobra. Failures give no candidates. */
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "source.h"
#include "verbs.h"

#include <ctype.h>

#define FILES ":0\n"    /* ShellCompDirectiveDefault: the shell completes names of files */
#define NO_FILES ":4\n" /* ShellCompDirectiveNoFileComp */

struct completions {
    const char *prefix;
    struct buf text;
};

/* help: "" for none. */
static void offer(struct completions *candidates, const char *text, const char *help)
{
    struct buf line;
    if (!*text || strncmp(text, candidates->prefix, strlen(candidates->prefix)) != 0)
        return;
    buf_init(&line, BUF_UNBOUNDED); /* a name */
    buf_add_text(&line, "\n");
    buf_add_one_line(&line, text);
    if (*help)
        buf_printf(&line, "\t%s", help);
    buf_add_text(&line, "\n");
    /* Each is offered once; the text begins with a newline. */
    if (!strstr(buf_text(&candidates->text), buf_text(&line)))
        buf_add_text(&candidates->text, buf_text(&line) + (candidates->text.len > 1));
    buf_fini(&line);
}

/* The member of each item of the list. */
static void offer_members(struct completions *candidates, const json_t *list, const char *key)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item) {
        const char *text = "";
        (void)json_get_string(item, key, &text, NULL);
        offer(candidates, text, "");
    }
}

static json_t *ask(const struct session *session, const char *view)
{
    return session_ask(session, view, NULL).value;
}

static void offer_list(const struct session *session, const char *view, const char *list,
                       const char *key, struct completions *candidates)
{
    json_t *answer = ask(session, view);
    offer_members(candidates, json_member(answer, list), key);
    json_decref(answer);
}

/* "job/train", as why takes it, and its first pod. */
static void offer_waiting(const struct session *session, struct completions *candidates)
{
    json_t *pending = ask(session, "pending");
    const json_t *owners = json_member(pending, "owners");
    size_t i = 0;
    json_t *owner = NULL;
    json_array_foreach (owners, i, owner) {
        const char *kind = "";
        const char *name = "";
        (void)json_get_string(owner, "kind", &kind, NULL);
        (void)json_get_string(owner, "name", &name, NULL);
        char *text = arena_printf(session->arena, "%s/%s", kind, name);
        for (char *at = text; *at && *at != '/'; at++)
            *at = (char)tolower((unsigned char)*at);
        offer(candidates, text, "");
    }
    offer_members(candidates, owners, "firstPod");
    json_decref(pending);
}

static void offer_decided(const struct session *session, struct completions *candidates)
{
    json_t *answer = ask(session, "decisions");
    size_t i = 0;
    json_t *decision = NULL;
    json_array_foreach (json_member(answer, "decisions"), i, decision) {
        const char *name = "";
        (void)json_get_string(json_member(decision, "pod"), "name", &name, NULL);
        offer(candidates, name, "");
    }
    json_decref(answer);
}

/* Those of the API server, or those with pods that use GPUs or wait for them. */
static void offer_namespaces(const struct session *session, struct completions *candidates)
{
    size_t i = 0;
    json_t *item = NULL;
    if (!session->arguments.url && !session->arguments.cluster_file) {
        struct reply reply = {0};
        struct err err;
        json_t *list = NULL;
        buf_init(&reply.text, SOURCE_BYTES_MAX);
        if (source_get_kubectl(&session->arguments, "/api/v1/namespaces", session->arena, &reply,
                               &err) == 0 &&
            reply.status == 200)
            (void)json_parse(buf_text(&reply.text), reply.text.len, 0, &JSON_OWN, &list, &err);
        json_array_foreach (json_member(list, "items"), i, item) {
            const char *name = "";
            (void)json_get_string(json_member(item, "metadata"), "name", &name, NULL);
            offer(candidates, name, "");
        }
        json_decref(list);
        buf_fini(&reply.text);
        return;
    }
    json_t *inventory = ask(session, "inventory");
    json_array_foreach (json_member(inventory, "nodes"), i, item)
        offer_members(candidates, json_member(item, "holders"), "namespace");
    json_decref(inventory);
    offer_list(session, "pending", "pods", "namespace", candidates);
}

/* "NAMESPACE/NAME" of pods that hold GPUs. */
static void offer_holders(const struct session *session, struct completions *candidates)
{
    json_t *inventory = ask(session, "inventory");
    size_t i = 0;
    size_t j = 0;
    json_t *node = NULL;
    json_t *pod = NULL;
    json_array_foreach (json_member(inventory, "nodes"), i, node) {
        json_array_foreach (json_member(node, "holders"), j, pod) {
            const char *namespace_ = "";
            const char *name = "";
            (void)json_get_string(pod, "namespace", &namespace_, NULL);
            (void)json_get_string(pod, "pod", &name, NULL);
            offer(candidates, arena_printf(session->arena, "%s/%s", namespace_, name), "");
        }
    }
    json_decref(inventory);
}

/* Offers names that the answers have. */
static void offer_names(const struct session *session, const char *option,
                        struct completions *candidates)
{
    static const char *const OF_NODES[] = {"add-nodes", "cordon", "drain", "lift"};
    for (size_t i = 0; i < sizeof OF_NODES / sizeof *OF_NODES; i++) {
        if (strcmp(option, OF_NODES[i]) == 0)
            offer_list(session, "inventory", "nodes", "name", candidates);
    }
    if (strcmp(option, "model") == 0)
        offer_list(session, "inventory", "models", "model", candidates);
    else if (strcmp(option, "namespace") == 0)
        offer_namespaces(session, candidates);
    else if (strcmp(option, "remove-pods") == 0)
        offer_holders(session, candidates);
}

/* Returns the directive. */
static const char *offer_values(const struct session *session, const char *option,
                                struct completions *candidates)
{
    static const char *const OF_FILES[] = {
        "cache-dir",  "certificate-authority", "changes", "client-certificate",
        "client-key", "cluster-file",          "config",  "filename",
        "kubeconfig"};
    const char *form = NULL;
    for (size_t i = 0; i < sizeof OF_FILES / sizeof *OF_FILES; i++) {
        if (strcmp(option, OF_FILES[i]) == 0)
            return FILES;
    }
    if (strcmp(option, "output") == 0) {
        for (size_t i = 0; (form = arguments_form_name(i)); i++)
            offer(candidates, form, "");
        return NO_FILES;
    }
    offer_names(session, option, candidates);
    return NO_FILES;
}

/* Those of the verb; all if there is none yet. */
static void offer_options(const struct session *session, size_t n_words,
                          struct completions *candidates)
{
    const unsigned takes = n_words > 0 ? VERB_TABLE[session->arguments.verb].takes : ~0U;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option_facts *facts = &OPTION_TABLE[i];
        if (!facts->takes || facts->takes & takes)
            offer(candidates, arena_printf(session->arena, "--%s", facts->name),
                  facts->help ? facts->help : "");
    }
}

static void offer_words(struct session *session, size_t n_words, struct completions *candidates)
{
    const enum verb verb = session->arguments.verb;
    const bool is_verb = n_words == 0 || (n_words == 1 && verb == VERB_HELP);
    for (size_t i = 0; is_verb && i < N_VERBS; i++)
        offer(candidates, VERB_TABLE[i].name, VERB_TABLE[i].help);
    if (n_words != 1)
        return;
    if (verb == VERB_NODES) {
        offer_list(session, "inventory", "nodes", "name", candidates);
        return;
    }
    session_add_parameter(session, "namespace", session->arguments.namespace_);
    if (verb == VERB_WHY)
        offer_waiting(session, candidates);
    else if (verb == VERB_DECISIONS)
        offer_decided(session, candidates);
}

int verbs_complete(struct session *session, int argc, char **argv)
{
    const char *last = argc > 1 ? argv[--argc] : "";
    const char *option = argc > 1 ? arguments_awaiting(argv[argc - 1]) : NULL;
    const char *equals = strchr(last, '=');
    const char *directive = NO_FILES;
    size_t n_words = 0;
    argc -= option != NULL;
    if (!option && equals) {
        option = arguments_awaiting(arena_strndup(session->arena, last, (size_t)(equals - last)));
        last = option ? equals + 1 : last;
    }
    struct completions candidates = {.prefix = last};
    buf_init(&candidates.text, SOURCE_BYTES_MAX);
    /* The words are getopt's to order, up to a NULL. */
    char **words = ARENA_ARRAY(session->arena, char *, (size_t)argc + 1);
    memcpy(words, argv, (size_t)argc * sizeof *words);
    arguments_parse_unfinished(argc, words, session->arena, &session->arguments, &n_words);
    if (option)
        directive = offer_values(session, option, &candidates);
    else if (last[0] == '-')
        offer_options(session, n_words, &candidates);
    else
        offer_words(session, n_words, &candidates);
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED); /* bounded candidates */
    buf_add_text(&out, buf_text(&candidates.text) + (candidates.text.len > 0));
    buf_add_text(&out, directive);
    buf_fini(&candidates.text);
    return print_text(session, &out, EXIT_FINE);
}
