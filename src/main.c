/*
 * main: options, creation in order, the route table, signals, and the stop in reverse order. No
 * logic.
 *
 * Exit status: 0 success; 1 run-time failure (a port is in use); 2 invalid options, policy, file or
 * kubeconfig.
 */
#include "api/api.h"
#include "api/kubernetes.h"
#include "base/clock.h"
#include "base/log.h"
#include "commit.h"
#include "config/options.h"
#include "config/settings.h"
#include "config/timing.h"
#include "daemon/gates.h"
#include "daemon/listening.h"
#include "daemon/live_mode.h"
#include "daemon/reload.h"
#include "decide/topology.h"
#include "doctor/doctor.h"
#include "extender/extender.h"
#include "formats/json_parse.h"
#include "http/server.h"
#include "inventory/inventory.h"
#include "inventory/live.h"
#include "kube/credentials.h"
#include "ui/ui.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum exit_status { EXIT_FINE = 0, EXIT_RUN_TIME = 1, EXIT_BAD_INPUT = 2 };

/* How long a keep-alive connection may be idle. kube-scheduler's client closes idle ones after 90
 * s; if the server closes first, a call fails (PROTOCOL 2.2). */
#define IDLE_TIMEOUT_S 600
static_assert(IDLE_TIMEOUT_S >= 120, "kube-scheduler must be the one that closes idle connections");
/* Drain time at a stop, beyond the longest binding. */
#define DRAIN_MS 2000
#define LEAST_DRAIN_MS 10000

/* The parts of the program, in the order of their creation. */
struct program {
    struct options options;
    struct settings settings;
    struct listening listening;
    struct gates gates;
    struct inventory *inventory;
    struct live_mode *live; /* NULL: over a file */
    struct decisions *decisions;
    struct observed *observed;
    struct budgets *budgets;
    struct extender extender;
    struct api api;
    struct server *server;
    struct election *election; /* NULL: this replica is the only one */
    struct reload *reload;
    sigset_t signals; /* handled by sigwait() */
};

static int complain(const struct err *err, int status)
{
    (void)fprintf(stderr, "gpu-extender: %s\n", err->text);
    return status;
}

static int read_settings(struct program *program, struct err *err)
{
    settings_init(&program->settings);
    if (!program->options.config_file)
        return 0;
    return settings_read_file(&program->settings, program->options.config_file, err);
}

static int print_policy(const struct settings *settings)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* the policy file is bounded */
    settings_print(settings, &text);
    (void)fputs(buf_text(&text), stdout);
    buf_fini(&text);
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_RUN_TIME;
}

static int load_inventory(struct program *program, struct err *err)
{
    const struct settings_limits *limits = &program->settings.limits;
    const struct inventory_limits inventory_limits = {
        .max_file_bytes = limits->file_bytes,
        .max_object_bytes = limits->object_bytes,
        .max_object_values = program->settings.policy.object_values,
        .max_nodes = limits->nodes,
        .max_pods = limits->pods,
        .max_lag_ms = (int64_t)program->settings.kubernetes.watch_lag_s * 1000,
        .needs_nodes = program->options.check,
    };
    program->inventory = inventory_new(&program->settings.policy, &inventory_limits);
    if (program->options.cluster_file)
        return inventory_load_file(program->inventory, program->options.cluster_file, err);
    return 0;
}

static int follow_api_server(struct program *program, struct err *err)
{
    struct kube_target target;
    int r = live_mode_find(&program->options, &target, err);
    if (r < 0)
        return r;
    return live_mode_new(&program->settings, program->inventory, &target, &program->live, err);
}

/* Warns of valid settings that are dangerous or have no effect. */
static void report_warnings(const struct program *program, void (*warn)(const char *text))
{
    const char *text = NULL;
    const struct settings *settings = &program->settings;
    const struct {
        bool is_set;
        const char *key, *why;
    } WITHOUT_EFFECT[] = {
        {settings->election.enabled, "leaderElection.enabled",
         "without an API server there is no Lease, and every instance decides by itself"},
        {settings->scheduler.beside, "scheduler.beside", "without an API server nothing is bound"},
        {settings->aggregated_api, "aggregatedAPI.enabled",
         "without an API server nobody forwards requests"},
    };
    struct err err;
    for (size_t i = 0; (text = settings_warning(settings, i)); i++)
        warn(text);
    for (size_t i = 0; i < sizeof WITHOUT_EFFECT / sizeof *WITHOUT_EFFECT; i++) {
        if (!program->options.cluster_file || !WITHOUT_EFFECT[i].is_set)
            continue;
        (void)err_set(&err, EINVAL, "%s: %s: has no effect with --cluster-file: %s",
                      program->options.config_file, WITHOUT_EFFECT[i].key, WITHOUT_EFFECT[i].why);
        warn(err.text);
    }
}

static void print_warning(const char *text)
{
    (void)fprintf(stderr, "gpu-extender: warning: %s\n", text);
}

static void log_warning(const char *text)
{
    LOG(LOG_WARN, "main", LOG_MSG(text));
}

static void print_worst_case(const struct program *program)
{
    struct buf text;
    if (program->options.cluster_file)
        return;
    buf_init(&text, BUF_UNBOUNDED); /* one line of numbers */
    timing_report(&program->settings, &text);
    (void)fputs(buf_text(&text), stdout);
    buf_fini(&text);
}

static size_t count_problems(struct inventory *inventory)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return view.n_all_problems;
}

struct counts {
    size_t nodes, pods;
    struct topology_sums levels[TOPOLOGY_LEVELS_MAX];
};

static struct counts count(struct inventory *inventory)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    struct counts counts = {cluster_n_nodes(view.cluster), cluster_n_pods(view.cluster), {{0}}};
    for (size_t i = 0; i < cluster_policy(view.cluster)->n_topology_levels; i++)
        counts.levels[i] = topology_sums(view.cluster, i);
    return counts;
}

static void print_levels(const struct policy *policy, const struct counts *counts)
{
    for (size_t i = 0; i < policy->n_topology_levels; i++)
        (void)printf("topology.levels: %s: %zu domains, %zu of them with all GPUs free; %zu of %zu "
                     "nodes are in one, with %" PRId64 " free GPUs\n",
                     policy->topology_levels[i], counts->levels[i].n_domains,
                     counts->levels[i].n_whole, counts->levels[i].n_nodes, counts->nodes,
                     counts->levels[i].free_gpus);
}

static void print_checked(const struct program *program)
{
    const struct options *options = &program->options;
    (void)printf("checked: %s\n",
                 options->config_file ? options->config_file : "the built-in policy");
    if (program->listening.has_tls)
        (void)printf("%s: the files of tls\n",
                     options->without_files ? "not checked (--without-files)" : "checked");
    if (options->cluster_file) {
        const struct counts counts = count(program->inventory);
        (void)printf("checked: %s: %zu nodes, %zu pods\n", options->cluster_file, counts.nodes,
                     counts.pods);
        print_levels(&program->settings.policy, &counts);
    } else if (options->kubeconfig || options->context) {
        (void)printf("checked: %s; the API server was not asked\n",
                     options->kubeconfig ? options->kubeconfig : "the kubeconfig");
    } else {
        (void)printf("not checked: the cluster (neither --cluster-file nor --kubeconfig)\n");
    }
}

static int check(struct program *program)
{
    struct err err;
    struct kube_target target;
    if (!program->options.without_files && listening_check(&program->listening, &err) < 0)
        return complain(&err, EXIT_BAD_INPUT);
    report_warnings(program, print_warning);
    if (program->options.cluster_file)
        inventory_warn_of_quotas(program->inventory, print_warning);
    if (program->options.kubeconfig || program->options.context) {
        if (live_mode_find(&program->options, &target, &err) < 0)
            return complain(&err, EXIT_BAD_INPUT);
        int r = kube_credentials_check(&target, &err);
        kube_target_fini(&target);
        if (r < 0)
            return complain(&err, EXIT_BAD_INPUT);
    }
    print_checked(program);
    const size_t n_problems = count_problems(program->inventory);
    if (n_problems == 0) {
        print_worst_case(program);
        return EXIT_FINE;
    }
    (void)fprintf(stderr, "gpu-extender: %s: %zu problems: objects were left out\n",
                  program->options.cluster_file, n_problems);
    return EXIT_BAD_INPUT;
}

static int examine(struct program *program)
{
    const struct doctor doctor = {.options = &program->options,
                                  .settings = &program->settings,
                                  .inventory = program->inventory};
    struct buf text;
    struct err err;
    bool is_healthy = false;
    buf_init(&text, BUF_UNBOUNDED); /* the findings are bounded */
    int r = doctor_run(&doctor, &text, &is_healthy, &err);
    (void)fputs(buf_text(&text), stdout);
    buf_fini(&text);
    if (r < 0)
        return complain(&err, EXIT_BAD_INPUT);
    return fflush(stdout) == 0 && is_healthy ? EXIT_FINE : EXIT_RUN_TIME;
}

static void write_server_metrics(void *context, struct buf *out)
{
    const struct program *program = context;
    server_metrics(program->server, out);
    listening_metrics(&program->listening, out);
    extender_metrics(&program->extender, out);
    gates_metrics(&program->gates, out);
    election_metrics(program->election, out);
    beside_metrics(program->gates.beside, out);
    reload_metrics(program->reload, out);
}

/* Over a cluster file there is no API server. */
static bool is_aggregated(const struct program *program)
{
    return program->settings.aggregated_api && program->listening.has_tls && program->live;
}

static void create_gates(struct program *program)
{
    program->election = live_mode_election(program->live);
    gates_init(&program->gates, &program->settings, program->listening.has_tls,
               live_mode_reviewer(program->live), program->election,
               live_mode_beside(program->live));
    program->gates.extender = &program->extender;
    if (!is_aggregated(program))
        return;
    program->gates.front = front_new(program->listening.tls);
    const struct reflector_store store = front_store(program->gates.front);
    live_mode_follow_front(program->live, &store);
}

static const char *role(void *context)
{
    const struct program *program = context;
    return election_role(program->election);
}

static const char *not_leading(void *context, struct arena *arena)
{
    const struct program *program = context;
    return election_elsewhere(program->election, arena);
}

static char *policy_in_force(void *context, struct arena *arena)
{
    const struct program *program = context;
    return reload_report(program->reload, arena);
}

static const char *elsewhere(void *context, struct arena *arena)
{
    const struct program *program = context;
    if (extender_observing(&program->extender) != OBSERVES_NONE)
        return NULL; /* every replica answers kube-scheduler */
    return not_leading(context, arena);
}

static void pod_seen(void *context, const char *uid, const char *node)
{
    const struct extender *extender = context;
    observed_settle(extender->observed, uid, node);
    wake_settled(extender->wake, uid);
}

static void create_protocols(struct program *program)
{
    program->decisions = decisions_new(program->settings.decisions_kept);
    program->observed = observed_new(clock_wall_ms());
    program->budgets = budgets_new();
    if (program->live)
        inventory_on_pods(program->inventory, pod_seen, &program->extender);
    program->extender = (struct extender){
        .inventory = program->inventory,
        .binds = live_mode_binds(program->live),
        .waits = live_mode_waits(program->live),
        .wake = live_mode_wake(program->live),
        .gang_plans = live_mode_gang_plans(program->live),
        .budgets = program->budgets,
        .decisions = program->decisions,
        .observed = program->observed,
    };
    program->api = (struct api){
        .inventory = program->inventory,
        .decisions = program->decisions,
        .observed = program->observed,
        .groups = live_mode_groups(program->live),
        .max_object_bytes = program->settings.limits.object_bytes,
        .max_object_values = program->settings.policy.object_values,
        .request_budget = settings_request_budget(&program->settings.limits),
        .max_replicas = program->settings.limits.replicas,
        .more_metrics = write_server_metrics,
        .more_metrics_context = program,
        .alive = program->live ? live_mode_is_alive : NULL,
        .alive_context = program->live,
        .role = role,
        .role_context = program,
        .elsewhere = elsewhere,
        .elsewhere_context = program,
        .not_leading = not_leading,
        .policy = policy_in_force,
        .policy_context = program,
        .read_policy = settings_read_policy,
    };
    program->reload = reload_new(&(struct reload_parts){.options = &program->options,
                                                        .settings = &program->settings,
                                                        .inventory = program->inventory,
                                                        .live = program->live});
}

/* Returns at SIGTERM or SIGINT; SIGHUP reads the files again. */
static void wait_for_signals(struct program *program)
{
    int number = 0;
    while (sigwait(&program->signals, &number) == 0 && number == SIGHUP)
        reload_now(program->reload);
    LOG(LOG_INFO, "main", LOG_MSG("stopping"), LOG_NUM("signal", number));
}

static size_t user_body_bytes(const struct settings_limits *limits)
{
    return limits->user_request_bytes < limits->request_bytes ? limits->user_request_bytes
                                                              : limits->request_bytes;
}

static int start_server(struct program *program, const struct route *routes, struct err *err)
{
    const struct settings *settings = &program->settings;
    const struct listening *listening = &program->listening;
    const struct server_settings server_settings = {
        .verbs = listening->verbs,
        .people = listening->people,
        .probes = listening->probes,
        .tls = listening->tls,
        .max_body_bytes = settings->limits.request_bytes,
        .max_user_body_bytes = user_body_bytes(&settings->limits),
        .max_connections = (unsigned)settings->limits.connections,
        .max_bodies_bytes = settings->limits.bodies_bytes,
        .idle_timeout_s = IDLE_TIMEOUT_S,
        .request_timeout_s = (unsigned)settings->limits.request_s,
        .other_files = live_mode_files(program->live),
    };
    int r = server_start(&server_settings, routes, &program->server, err);
    if (r == -EADDRINUSE) {
        const struct err what = *err;
        const bool by_policy = program->options.config_file && !program->options.listen;
        (void)err_set(err, EADDRINUSE, "%s; choose another address with %s", what.text,
                      by_policy ? "listen in the policy file" : "--listen ADDR:PORT");
    }
    return r;
}

static void log_addresses(const struct server *server)
{
    static const struct {
        enum listener listener;
        const char *name;
    } LISTENERS[] = {{LISTEN_VERBS, "verbs"}, {LISTEN_PEOPLE, "people"}, {LISTEN_PROBES, "probes"}};
    for (size_t i = 0; i < sizeof LISTENERS / sizeof *LISTENERS; i++)
        LOG(LOG_INFO, "main", LOG_MSG("listening"), LOG_STR("for", LISTENERS[i].name),
            LOG_STR("addr", server_address(server, LISTENERS[i].listener)));
}

static unsigned drain_ms(const struct program *program)
{
    const unsigned ms = (unsigned)program->settings.kubernetes.bind_timeout_s * 1000 + DRAIN_MS;
    return ms > LEAST_DRAIN_MS ? ms : LEAST_DRAIN_MS;
}

/* Clients of a former leader find the next leader with their next connection. */
static void on_turn(void *context, bool may_decide)
{
    const struct program *program = context;
    if (!may_decide)
        server_close_idle(program->server, LISTEN_VERBS);
}

static int serve(struct program *program)
{
    struct extender *extender = &program->extender;
    struct api *api = &program->api;
    const struct gate *verbs = &program->gates.verbs;
    const struct gate *people = &program->gates.people;
    const struct gate *fronted = &program->gates.fronted;
    const unsigned aggregated = is_aggregated(program) ? LISTEN_PEOPLE : 0;
    struct kubernetes kubernetes = {0};
    const struct route others[] = {
        {"POST", "/scheduler/filter", LISTEN_VERBS, "filter", extender_filter, extender, verbs,
         NULL},
        {"POST", "/scheduler/prioritize", LISTEN_VERBS, "prioritize", extender_prioritize, extender,
         verbs, NULL},
        {"POST", "/scheduler/preempt", LISTEN_VERBS, "preempt", extender_preempt, extender, verbs,
         NULL},
        {"POST", "/scheduler/bind", LISTEN_VERBS, "bind", extender_bind, extender, verbs, NULL},
        {"GET", "/metrics", LISTEN_PEOPLE, "metrics", api_metrics, api, people, NULL},
        {"GET", UI_ROOT, LISTEN_PEOPLE, "ui", ui_handle, NULL, &program->gates.files, API_NONE},
        {"GET", UI_WITHOUT_SLASH, LISTEN_PEOPLE, "ui", ui_handle, NULL, &program->gates.files,
         API_NONE},
        {"GET", UI_PATH, LISTEN_PEOPLE, "ui", ui_handle, NULL, &program->gates.files, API_NONE},
        {"GET", "/livez", LISTEN_PROBES, "livez", api_livez, api, NULL, NULL},
        {"GET", "/readyz", LISTEN_PROBES, "readyz", api_readyz, api, NULL, NULL},
        {"GET", "/apis", aggregated, "apis", kubernetes_handle, &kubernetes, fronted, NULL},
        {"GET", "/apis/", aggregated, "apis", kubernetes_handle, &kubernetes, fronted, NULL},
        {"POST", "/apis/", aggregated, "apis", kubernetes_handle, &kubernetes, fronted, NULL},
        {"GET", "/openapi/", aggregated, "openapi", kubernetes_handle, &kubernetes, fronted, NULL},
        {0},
    };
    struct route routes[API_N_ROUTES + sizeof others / sizeof *others];
    api_routes(api, people, routes);
    memcpy(routes + API_N_ROUTES, others, sizeof others);
    kubernetes = (struct kubernetes){api, routes};
    struct err err;
    if (start_server(program, routes, &err) < 0)
        return complain(&err, EXIT_RUN_TIME);
    log_addresses(program->server);
    election_listens(program->election, server_address(program->server, LISTEN_VERBS),
                     server_address(program->server, LISTEN_PEOPLE));
    election_on_turn(program->election, on_turn, program);
    int status = EXIT_FINE;
    if ((program->live && live_mode_start(program->live, &err) < 0) ||
        reload_start(program->reload, &err) < 0)
        status = complain(&err, EXIT_RUN_TIME);
    else
        wait_for_signals(program);
    reload_stop(program->reload);
    live_mode_hand_over(program->live);
    election_on_turn(program->election, NULL, NULL);
    server_stop(program->server, drain_ms(program));
    live_mode_stop(program->live);
    return status;
}

/* For all threads that send requests or run a plugin. */
static void set_signal_defaults(void)
{
    (void)signal(SIGPIPE, SIG_IGN); /* the reader of the log may be gone */
    (void)signal(SIGCHLD, SIG_DFL); /* the parent may have ignored it, and then waitpid() fails */
}

/* Call before any long operation and before any thread is made, so that only sigwait() gets the
 * signals. */
static void block_signals(struct program *program)
{
    (void)sigemptyset(&program->signals);
    (void)sigaddset(&program->signals, SIGHUP);
    (void)sigaddset(&program->signals, SIGINT);
    (void)sigaddset(&program->signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &program->signals, NULL);
}

static int run(struct program *program)
{
    struct err err;
    const struct options *options = &program->options;
    if (read_settings(program, &err) < 0)
        return complain(&err, EXIT_BAD_INPUT);
    if (listening_decide(&program->settings, options, &program->listening, &err) < 0)
        return complain(&err, EXIT_BAD_INPUT);
    if (options->print_policy)
        return print_policy(&program->settings);
    set_signal_defaults();
    if (!options->check && !options->doctor)
        block_signals(program);
    if (load_inventory(program, &err) < 0)
        return complain(&err, EXIT_BAD_INPUT);
    if (options->doctor)
        return examine(program);
    if (options->check)
        return check(program);
    if (listening_begin(&program->listening, &err) < 0)
        return complain(&err, EXIT_BAD_INPUT);
    if (!options->cluster_file && follow_api_server(program, &err) < 0)
        return complain(&err, EXIT_BAD_INPUT);
    report_warnings(program, log_warning);
    if (options->cluster_file)
        inventory_warn_of_quotas(program->inventory, log_warning);
    create_gates(program);
    create_protocols(program);
    return serve(program);
}

int main(int argc, char **argv)
{
    struct program program = {0};
    struct err err;
    bool done = false;
    if (json_parse_seed(&err) < 0)
        return complain(&err, EXIT_RUN_TIME);
    if (options_parse(argc, argv, commit, &program.options, &done, &err) < 0)
        return complain(&err, EXIT_BAD_INPUT);
    if (done)
        return EXIT_FINE;
    log_configure(program.options.log_level, program.options.log_format);
    int status = run(&program);
    listening_end(&program.listening);
    gates_fini(&program.gates);
    live_mode_free(program.live);
    decisions_free(program.decisions);
    observed_free(program.observed);
    budgets_free(program.budgets);
    reload_free(program.reload);
    inventory_free(program.inventory);
    settings_fini(&program.settings);
    return status;
}
