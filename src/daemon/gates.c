/* gates: see include/daemon/gates.h. Without TLS they are open: listening.c has checked the
 * addresses. */
#include "daemon/gates.h"
#include "api/kubernetes.h"
#include "auth/auth.h"
#include "base/clock.h"
#include "base/log.h"
#include "inventory/inventory.h"

#include <string.h>

/* Longest time that a rejection is cached: a newly granted right takes effect after it. */
#define REFUSED_S 2
/* An unauthorized client may call often, and must not fill the log. */
#define WARN_EVERY_MS 10000

static bool is_named(const struct exchange_peer *peer, const struct settings_clients *clients)
{
    return settings_names_client(clients, peer->common_name, peer->organizations);
}

static bool names_nobody(const struct settings_clients *clients)
{
    return clients->n_names == 0 && clients->n_organizations == 0;
}

/* kube-scheduler does not log the answer's text, so this log has it. */
static void warn_of_refusal(void *context, const struct exchange *exchange, const char *fault)
{
    struct gates *gates = context;
    const struct exchange_peer *peer = exchange_peer(exchange);
    const char *host = exchange_header(exchange, "Host");
    const char *origin = exchange_header(exchange, "Origin");
    long long now = clock_ms();
    long long last = atomic_load(&gates->warned_at);
    if ((last == 0 || now - last >= WARN_EVERY_MS) &&
        atomic_compare_exchange_strong(&gates->warned_at, &last, now))
        LOG(LOG_WARN, "gates", LOG_MSG("a call of a verb was rejected"), LOG_STR("why", fault),
            LOG_STR("common_name", peer ? peer->common_name : ""),
            LOG_STR("host", host ? host : ""), LOG_STR("origin", origin ? origin : ""),
            LOG_STR("path", exchange_path(exchange)));
}

/* Beside a kube-scheduler the complete call is judged, as a process may be stopped between header
 * and end. Every replica may observe, at any time; where some namespaces are enforced, the complete
 * call tells whether it does. */
static enum gate_verdict judge_turn(const struct gates *gates, struct exchange *exchange)
{
    const enum observing observing = extender_observing(gates->extender);
    if (observing != OBSERVES_SOME)
        extender_note_observed(exchange, observing == OBSERVES_ALL);
    if (observing == OBSERVES_ALL)
        return GATE_OPEN;
    return gates->beside || observing == OBSERVES_SOME ? GATE_ASK
                                                       : election_judge(gates->election, exchange);
}

static bool has_listed_namespaces(struct inventory *inventory)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    const size_t n = inventory_freshness(inventory, kinds);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(kinds[i].kind, "namespaces") == 0)
            return kinds[i].synced;
    }
    return false;
}

/* Until the namespaces are first listed, nobody knows which of them are enforced. Beside a
 * kube-scheduler nothing else keeps calls away from a service that has just started. */
static bool knows_namespaces(struct gates *gates)
{
    if (!gates->beside || atomic_load(&gates->has_listed_namespaces))
        return true;
    atomic_store(&gates->has_listed_namespaces, has_listed_namespaces(gates->extender->inventory));
    return atomic_load(&gates->has_listed_namespaces);
}

static void ask_verbs(void *context, struct exchange *exchange)
{
    struct gates *gates = context;
    const bool is_by_namespace = extender_observing(gates->extender) == OBSERVES_SOME;
    if (is_by_namespace && !knows_namespaces(gates)) {
        exchange_answer_busy(exchange, "the namespaces are not listed yet, and enforceNamespaces "
                                       "selects by their labels");
        return;
    }
    const bool observes = extender_observes(
        gates->extender, exchange, is_by_namespace ? extender_namespace_of(exchange) : NULL);
    if (!observes && gates->beside)
        beside_ask(gates->beside, exchange);
    else if (observes || election_judge(gates->election, exchange) == GATE_OPEN)
        exchange_pass(exchange);
}

static enum gate_verdict judge_verbs(void *context, struct exchange *exchange)
{
    struct gates *gates = context;
    const struct settings_clients *clients = &gates->settings->tls.verb_clients;
    const struct exchange_peer *peer = exchange_peer(exchange);
    const char *fault = NULL;
    if (!gates->has_tls)
        return judge_turn(gates, exchange);
    if (!peer)
        fault = exchange_peer_fault(exchange);
    else if (!names_nobody(clients) && !is_named(peer, clients))
        fault = "the client certificate's subject is not in tls.verbClients";
    if (!fault)
        return judge_turn(gates, exchange);
    warn_of_refusal(gates, exchange, fault);
    exchange_answer_error(exchange, 403, fault);
    return GATE_CLOSED;
}

static void ask_for_a_token(struct exchange *exchange)
{
    const char *fault = exchange_peer(exchange)
                            ? "the client certificate's subject is not in tls.peopleClients"
                            : exchange_peer_fault(exchange);
    exchange_answer_error(exchange, 401,
                          arena_printf(exchange_arena(exchange),
                                       "%s, and there is no \"Authorization: Bearer TOKEN\" with a "
                                       "token of the API server",
                                       fault));
}

static enum gate_verdict verdict_of(enum auth_verdict verdict)
{
    switch (verdict) {
    case AUTH_OPEN:
        return GATE_OPEN;
    case AUTH_ASK:
        return GATE_ASK;
    case AUTH_CLOSED:
        break;
    }
    return GATE_CLOSED;
}

static enum gate_verdict judge_people(void *context, struct exchange *exchange)
{
    struct gates *gates = context;
    const struct exchange_peer *peer = exchange_peer(exchange);
    if (!gates->has_tls)
        return GATE_OPEN;
    if (peer && is_named(peer, &gates->settings->tls.people_clients)) {
        exchange_set_caller(exchange, auth_caller_of(peer->common_name, peer->organizations));
        return GATE_OPEN;
    }
    if (!exchange_header(exchange, "Authorization")) {
        ask_for_a_token(exchange);
        return GATE_CLOSED;
    }
    return verdict_of(auth_judge(gates->auth, exchange, clock_ms()));
}

static void ask_people(void *context, struct exchange *exchange)
{
    const struct gates *gates = context;
    auth_ask(gates->auth, exchange, clock_ms());
}

/* ---- the page's files ---- */

static enum gate_verdict judge_files(void *context, struct exchange *exchange)
{
    (void)context;
    (void)exchange;
    return GATE_OPEN_TO_ALL;
}

/* ---- requests that the API server forwards ---- */

/* NULL: the exchange has been answered. */
static const struct auth_question *question_of(struct exchange *exchange,
                                               const struct front_user *user)
{
    struct kubernetes_target target;
    if (!kubernetes_read(exchange, &target))
        return NULL;
    struct arena *arena = exchange_arena(exchange);
    struct auth_question *question = ARENA_NEW(arena, struct auth_question);
    struct auth_question *extra = ARENA_NEW(arena, struct auth_question);
    *extra = (struct auth_question){.user = user->name,
                                    .members = user->members,
                                    .attributes = target.extra,
                                    .note = KUBERNETES_SEES_DEVICES};
    *question = (struct auth_question){.user = user->name,
                                       .members = user->members,
                                       .attributes = target.attributes,
                                       .action = target.action,
                                       .extra = target.extra ? extra : NULL};
    if (user->is_master)
        exchange_set_note(exchange, KUBERNETES_SEES_DEVICES);
    return question;
}

static enum gate_verdict judge_fronted(void *context, struct exchange *exchange)
{
    struct gates *gates = context;
    const char *fault = NULL;
    const struct front_user *user = front_user(gates->front, exchange, &fault);
    if (!user) {
        exchange_answer_error(exchange, 401, fault);
        return GATE_CLOSED;
    }
    exchange_set_caller(exchange, user->caller);
    const struct auth_question *question = question_of(exchange, user);
    if (!question)
        return GATE_CLOSED;
    if (!question->attributes || user->is_master)
        return GATE_OPEN;
    exchange_set_memo(exchange, question);
    return verdict_of(auth_judge_question(gates->auth, exchange, question, clock_ms()));
}

static void ask_fronted(void *context, struct exchange *exchange)
{
    const struct gates *gates = context;
    auth_ask_question(gates->auth, exchange, exchange_memo(exchange), clock_ms());
}

static struct auth *create_auth(const struct settings *settings, struct kube_sender sender)
{
    const int64_t cache_s = (int64_t)settings->authentication.cache_s;
    const struct auth_settings times = {
        .allowed_ms = cache_s * 1000,
        .refused_ms = (cache_s < REFUSED_S ? cache_s : REFUSED_S) * 1000,
    };
    return auth_new(&times, sender);
}

void gates_init(struct gates *ret_gates, const struct settings *settings, bool has_tls,
                struct kube_sender sender, const struct election *election, struct beside *beside)
{
    *ret_gates = (struct gates){
        .settings = settings, .has_tls = has_tls, .election = election, .beside = beside};
    ret_gates->verbs = (struct gate){judge_verbs, ask_verbs, ret_gates, warn_of_refusal};
    ret_gates->people =
        (struct gate){.judge = judge_people, .ask = ask_people, .context = ret_gates};
    ret_gates->files = (struct gate){.judge = judge_files};
    ret_gates->fronted =
        (struct gate){.judge = judge_fronted, .ask = ask_fronted, .context = ret_gates};
    ret_gates->auth = create_auth(settings, sender);
}

void gates_fini(struct gates *gates)
{
    auth_free(gates->auth);
    gates->auth = NULL;
    front_free(gates->front);
    gates->front = NULL;
}

void gates_metrics(const struct gates *gates, struct buf *out)
{
    if (gates->has_tls)
        auth_metrics(gates->auth, out);
}
