/* server_lease: the Lease of our replicas in the API server. See server.h. */
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "server.h"
#include "world.h"

#include <string.h>

struct news {
    struct service *service;
    unsigned life;
    const char *text; /* NULL: deleted */
};

static void on_news(void *context)
{
    const struct news *news = context;
    struct service *service = news->service;
    if (!service->is_alive || service->life != news->life)
        return;
    if (world_now(service->world) < service->sleeps_until_ms && !news->text) {
        agenda_at(&service->world->agenda, service->sleeps_until_ms, on_news, context);
        return;
    }
    json_t *object = news->text ? json_loads(news->text, 0, NULL) : NULL;
    service_see_lease(service, object);
    json_decref(object);
}

/* By watches, which may be late or broken. */
static void tell_all(struct server *server, const char *text)
{
    struct world *world = server->world;
    for (unsigned i = 0; i < world->plan.n_replicas; i++) {
        if (world_trouble(world, world->plan.cuts, 3))
            continue;
        struct news *news = ARENA_NEW(world->arena, struct news);
        *news = (struct news){&world->services[i], world->services[i].life, text};
        agenda_in(&world->agenda,
                  world_between(world, 1, world_trouble(world, world->plan.delays, 4) ? 3000 : 30),
                  on_news, news);
    }
}

static struct server_reply reply(struct server *server, unsigned code)
{
    char *text = json_dumps(server->lease.object, JSON_SORT_KEYS);
    const char *body = arena_strdup(server->world->arena, text);
    free(text);
    return (struct server_reply){code, -1, body};
}

static const char *version_of(const json_t *object)
{
    const char *version = "";
    (void)json_get_string(json_member(object, "metadata"), "resourceVersion", &version, NULL);
    return version;
}

/* Takes over the object. */
static struct server_reply store(struct server *server, const struct binder *asker, json_t *object,
                                 unsigned code)
{
    struct world *world = server->world;
    const char *version = arena_printf(world->arena, "%lld", (long long)++server->lease.rv);
    const char *holder = "";
    (void)json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                              json_string(version));
    json_decref(server->lease.object);
    server->lease.object = object;
    (void)json_get_string(json_member(object, "spec"), "holderIdentity", &holder, NULL);
    server->lease.holder = holder[0] ? *asker : (struct binder){NULL, 0};
    server->lease.renewed_ms = world_now(world);
    if (code == 201)
        world->lease_missed_ms = world_now(world);
    world_tell(world, "truth: the Lease %s is held by \"%s\"", version, holder);
    const struct server_reply answer = reply(server, code);
    tell_all(server, answer.body);
    return answer;
}

void server_begin_lease(struct server *server)
{
    server->lease.rv = 1;
    server->lease.object = json_pack(
        "{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:s, s:i, s:i}}", "apiVersion", "coordination.k8s.io/v1",
        "kind", "Lease", "metadata", "name", "gpu", "namespace", "ns", "resourceVersion", "1",
        "spec", "holderIdentity", "", "leaseDurationSeconds", 1, "leaseTransitions", 1);
}

void server_end_lease(struct server *server)
{
    if (!server->lease.object)
        return;
    json_decref(server->lease.object);
    server->lease.object = NULL;
    server->lease.rv++;
    world_tell(server->world, "truth: the Lease is deleted");
    tell_all(server, NULL);
}

struct server_reply server_lease(struct server *server, const struct binder *asker,
                                 const char *method, const char *body)
{
    json_t *object = NULL;
    const json_t *mine = server->lease.object;
    const struct server_reply readable = server_may_read(server);
    if (readable.status != 200)
        return readable;
    if (strcmp(method, "GET") == 0)
        return mine ? reply(server, 200) : server_status(server, 404, "not found");
    if (json_parse(body, strlen(body), 0, &JSON_OWN, &object, NULL) < 0)
        return server_status(server, 400, "not a Lease");
    const bool makes = strcmp(method, "POST") == 0;
    if (makes != !mine || (mine && strcmp(version_of(object), version_of(mine)) != 0)) {
        json_decref(object);
        return server_status(server, makes || mine ? 409 : 404, "somebody was quicker");
    }
    return store(server, asker, object, makes ? 201 : 200);
}

void server_fini(struct server *server)
{
    json_decref(server->lease.object);
}
