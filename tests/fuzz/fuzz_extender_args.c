/*
 * Sends any text as the body of filter, prioritize, preempt and bind. Nothing crashes, the answer
 * has each requested node once, equal requests get equal bytes, and kube-scheduler can read the
 * scores.
 */
#include "extender/extender.h"
#include "fake_exchange.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "require.h"
#include "small_cluster.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *parse(const char *text, size_t len)
{
    json_t *value = NULL;
    return json_parse(text, len, 0, &JSON_OWN, &value, NULL) == 0 ? value : NULL;
}

/* The node names of the request in either form; NULL if it has none. */
static json_t *names_asked(const json_t *question)
{
    size_t i = 0;
    json_t *node = NULL;
    json_t *names = json_member(question, "NodeNames");
    if (names)
        return json_incref(names);
    const json_t *nodes = json_member(json_member(question, "Nodes"), "items");
    names = json_array();
    json_array_foreach (nodes, i, node)
        (void)json_array_append(names, json_member(json_member(node, "metadata"), "name"));
    return names;
}

static json_t *names_passed(const json_t *answer)
{
    size_t i = 0;
    json_t *node = NULL;
    if (!json_is_null(json_object_get(answer, "NodeNames")))
        return json_incref(json_object_get(answer, "NodeNames"));
    json_t *names = json_array();
    json_array_foreach (json_object_get(json_object_get(answer, "Nodes"), "items"), i, node)
        (void)json_array_append(names, json_object_get(json_object_get(node, "metadata"), "name"));
    return names;
}

/* Each name is in the result, in the requested order, or was rejected. */
static void check_names(const json_t *question, const json_t *answer)
{
    json_t *asked = names_asked(question);
    json_t *passed = names_passed(answer);
    const json_t *refused = json_object_get(answer, "FailedAndUnresolvableNodes");
    size_t i = 0;
    size_t n_passed = 0;
    json_t *name = NULL;
    json_array_foreach (asked, i, name) {
        const json_t *message = json_object_get(refused, json_string_value(name));
        if (message)
            require(strncmp(json_string_value(message), "gpu-extender: ", 14) == 0);
        else
            require(json_equal(json_array_get(passed, n_passed++), name));
    }
    require(n_passed == json_array_size(passed));
    require(json_object_size(json_object_get(answer, "FailedNodes")) == 0);
    json_decref(asked);
    json_decref(passed);
}

static void check_filter(const json_t *question, const struct fake_answer *answer)
{
    json_t *value = parse(answer->body, answer->len);
    require(answer->status == 200 && json_is_object(value));
    const char *error = json_string_value(json_object_get(value, "Error"));
    if (error && error[0])
        require(strncmp(error, "gpu-extender: request: ", 23) == 0);
    else
        check_names(question, value);
    json_decref(value);
}

static void check_prioritize(const json_t *question, const struct fake_answer *answer)
{
    size_t i = 0;
    json_t *row = NULL;
    json_t *value = parse(answer->body, answer->len);
    if (answer->status == 400) {
        require(json_is_string(json_object_get(value, "error")));
        json_decref(value);
        return;
    }
    json_t *asked = names_asked(question);
    require(answer->status == 200 && json_is_array(value));
    require(json_array_size(value) == 0 || json_array_size(value) == json_array_size(asked));
    json_array_foreach (value, i, row) {
        const json_t *score = json_object_get(row, "Score");
        require(json_is_string(json_object_get(row, "Host")));
        require(json_is_integer(score) && json_integer_value(score) >= 0);
        require(json_integer_value(score) <= 10);
    }
    json_decref(asked);
    json_decref(value);
}

/* A null or an empty list would crash kube-scheduler. */
static void check_preempt(const json_t *question, const struct fake_answer *answer)
{
    (void)question;
    const char *name = NULL;
    json_t *victims = NULL;
    json_t *value = parse(answer->body, answer->len);
    json_t *nodes = json_object_get(value, "NodeNameToMetaVictims");
    require(answer->status == 400 || (answer->status == 200 && json_is_object(nodes)));
    json_object_foreach (nodes, name, victims) {
        const json_t *pods = json_object_get(victims, "Pods");
        require(json_array_size(pods) > 0);
        require(json_is_integer(json_object_get(victims, "NumPDBViolations")));
        for (size_t i = 0; i < json_array_size(pods); i++)
            require(json_is_string(json_object_get(json_array_get(pods, i), "UID")));
    }
    json_decref(value);
}

static void check_bind(const json_t *question, const struct fake_answer *answer)
{
    (void)question;
    json_t *value = parse(answer->body, answer->len);
    const char *error = json_string_value(json_object_get(value, "Error"));
    require(answer->status == 200 && error && error[0]);
    json_decref(value);
}

static void ask(struct extender *extender, handle_exchange *handle,
                const struct fake_question *question,
                void (*check)(const json_t *question, const struct fake_answer *answer))
{
    struct fake_answer first = fake_ask(handle, extender, question);
    struct fake_answer again = fake_ask(handle, extender, question);
    require(first.len == again.len && memcmp(first.body, again.body, first.len) == 0);
    json_t *value = parse(question->body, question->len);
    check(value, &first);
    json_decref(value);
    fake_answer_fini(&first);
    fake_answer_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct small_cluster cluster;
    const struct fake_question question = {.body = (const char *)data, .len = size};
    if (!cluster.inventory)
        small_cluster_init(&cluster, SMALL_CLUSTER);
    struct extender extender = {.inventory = cluster.inventory};
    ask(&extender, extender_filter, &question, check_filter);
    ask(&extender, extender_prioritize, &question, check_prioritize);
    ask(&extender, extender_preempt, &question, check_preempt);
    ask(&extender, extender_bind, &question, check_bind);
    return 0;
}
