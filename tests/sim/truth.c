/* truth: see truth.h. */
#include "truth.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void truth_init(struct truth *truth, struct arena *arena)
{
    *truth = (struct truth){.arena = arena};
}

void truth_fini(struct truth *truth)
{
    free((void *)truth->history);
}

void truth_listen(struct truth *truth, truth_listener *listener, void *context)
{
    truth->listeners[truth->n_listeners] = listener;
    truth->contexts[truth->n_listeners++] = context;
}

int64_t truth_rv(const struct truth *truth)
{
    return (int64_t)truth->n;
}

const char *truth_new_uid(struct truth *truth)
{
    return arena_printf(truth->arena, "uid-%u", ++truth->n_uids);
}

struct truth_object *truth_find(const struct truth *truth, enum truth_kind kind, const char *name)
{
    struct truth_object *object = truth->objects;
    while (object && (object->kind != kind || strcmp(object->name, name) != 0))
        object = object->next;
    return object;
}

static struct truth_object *make_object(struct truth *truth, enum truth_kind kind, const char *name)
{
    struct truth_object *object = ARENA_NEW(truth->arena, struct truth_object);
    struct truth_object **end = &truth->objects;
    *object = (struct truth_object){.kind = kind, .name = arena_strdup(truth->arena, name)};
    while (*end)
        end = &(*end)->next;
    *end = object;
    return object;
}

static void add(struct truth *truth, struct truth_object *object, bool deleted,
                const struct truth_state *state)
{
    struct truth_version *version = ARENA_NEW(truth->arena, struct truth_version);
    if (truth->n == truth->size) {
        truth->size = truth->size ? truth->size * 2 : 256;
        truth->history = mem_grow((void *)truth->history, truth->size, sizeof(void *));
    }
    *version = (struct truth_version){.rv = (int64_t)truth->n + 1,
                                      .object = object,
                                      .before = object->last,
                                      .deleted = deleted,
                                      .state = *state};
    truth->history[truth->n++] = version;
    object->last = version;
    if (object->kind == TRUTH_NODES && state->gpus > object->gpus_ever)
        object->gpus_ever = state->gpus;
    for (unsigned i = 0; i < truth->n_listeners; i++)
        truth->listeners[i](truth->contexts[i], version);
}

void truth_put(struct truth *truth, enum truth_kind kind, const char *name,
               const struct truth_state *state)
{
    struct truth_object *object = truth_find(truth, kind, name);
    add(truth, object ? object : make_object(truth, kind, name), false, state);
}

void truth_delete(struct truth *truth, struct truth_object *object)
{
    const struct truth_state last = object->last->state;
    if (!object->last->deleted)
        add(truth, object, true, &last);
}

const struct truth_state *truth_now(const struct truth_object *object)
{
    return object && !object->last->deleted ? &object->last->state : NULL;
}

const struct truth_version *truth_at(const struct truth_object *object, int64_t rv)
{
    const struct truth_version *version = object->last;
    while (version && version->rv > rv)
        version = version->before;
    return version && !version->deleted ? version : NULL;
}

unsigned truth_gpus_used(const struct truth *truth, const char *node, const char *bound_by)
{
    unsigned used = 0;
    for (const struct truth_object *object = truth->objects; object; object = object->next) {
        const struct truth_state *state = truth_now(object);
        if (object->kind != TRUTH_PODS || !state || state->finished)
            continue;
        if (strcmp(state->node, node) == 0 &&
            (!bound_by || strncmp(state->bound_by, bound_by, strlen(bound_by)) == 0))
            used += state->gpus;
    }
    return used;
}

bool truth_was_bound(const struct truth *truth, const char *uid, const char *node)
{
    for (size_t i = truth->n; i-- > 0;) {
        const struct truth_version *version = truth->history[i];
        if (version->object->kind == TRUTH_PODS && strcmp(version->state.uid, uid) == 0)
            return strcmp(version->state.node, node) == 0;
    }
    return false;
}

static void write_node(const struct truth_state *state, struct buf *out)
{
    if (state->lifted > 0)
        buf_printf(out, ",\"annotations\":{\"gpu-extender.io/quarantine-lifted\":\"%u\"}",
                   state->lifted);
    buf_printf(out,
               "},\"spec\":{%s},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
               "\"%s\"}],\"capacity\":{\"pods\":\"110\",\"nvidia.com/gpu\":\"%u\"},"
               "\"allocatable\":{\"pods\":\"110\",\"nvidia.com/gpu\":\"%u\"}",
               state->cordoned ? "\"unschedulable\":true" : "",
               state->is_unready ? "False" : "True", state->gpus, state->gpus);
    if (state->boot > 0)
        buf_printf(out, ",\"nodeInfo\":{\"bootID\":\"%u\"}", state->boot);
    buf_add_text(out, "}}");
}

const char *truth_namespace(const struct truth_state *state)
{
    return state->namespace_ ? state->namespace_ : "ml";
}

static const char *phase_of(const struct truth_state *state)
{
    if (state->finished)
        return state->failure ? "Failed" : "Succeeded";
    return state->node[0] && !state->is_unstarted ? "Running" : "Pending";
}

static void write_metadata(const struct truth_state *state, struct buf *out)
{
    if (state->terminating)
        buf_add_text(out, ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"");
    if (state->owner)
        buf_printf(out,
                   ",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
                   "\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]",
                   state->owner, state->owner);
    buf_printf(out, ",\"namespace\":\"%s\",\"annotations\":{\"gpu-extender.io/bound-by\":\"%s\"",
               truth_namespace(state), state->bound_by);
    if (state->gang)
        buf_printf(out, ",\"gpu-extender.io/gang\":\"%s\",\"gpu-extender.io/gang-size\":\"%u\"",
                   state->gang, state->gang_size);
}

static void write_pod(const struct truth_state *state, struct buf *out)
{
    write_metadata(state, out);
    buf_add_text(out, "}},\"spec\":{");
    if (state->node[0])
        buf_printf(out, "\"nodeName\":\"%s\",", state->node);
    buf_printf(out,
               "\"priority\":%u,\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{"
               "\"nvidia.com/gpu\":\"%u\"}}}]},\"status\":{\"phase\":\"%s\"",
               state->priority, state->gpus, phase_of(state));
    if (state->failure)
        buf_printf(out, ",%s", state->failure);
    if (state->was_taken)
        buf_add_text(out, ",\"containerStatuses\":[{\"name\":\"c\"}]");
    buf_add_text(out, "}}");
}

void truth_write(const struct truth_object *object, const struct truth_state *state, int64_t rv,
                 struct buf *out)
{
    buf_printf(out, "{\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"resourceVersion\":\"%lld\"",
               object->name, state->uid, (long long)rv);
    if (object->kind == TRUTH_NODES)
        write_node(state, out);
    else
        write_pod(state, out);
}
