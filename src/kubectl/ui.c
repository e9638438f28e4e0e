/*
 * ui: serves the page to a browser on this machine, until a signal ends it.
 *
 * Another user of the machine reaches the port, too, and so does each web page in a browser. So
 * every request must name exactly this address as its Host, and data need the secret of this run.
 * Only the page's URL has it, in the fragment, which browsers send to nobody. Only what the page
 * asks for can be asked for.
 */
#include "ui/ui.h"
#include "formats/json_values.h"
#include "forward.h"
#include "http/server.h"
#include "source.h"
#include "verbs.h"

#include <signal.h>
#include <stdio.h>
#include <sys/random.h>

#define ADDRESS "127.0.0.1:0"
#define COMMAND_PATH UI_PATH "command"
#define SECRET_BYTES 32
#define BODY_BYTES_MAX ((size_t)8 * 1024 * 1024)
/* Below the page's own limit of a minute. */
#define ASK_MS 50000
/* The routes of api_routes() that are forwarded, without /v1/. */
static const char *const VIEWS[] = {"decisions", "dry-run",   "explain",     "fragmentation",
                                    "groups",    "inventory", "node-groups", "pending",
                                    "policy",    "quota",     "what-if"};
#define N_VIEWS (sizeof VIEWS / sizeof *VIEWS)

struct ui {
    const struct session *session;
    struct server *server;
    char secret[2 * SECRET_BYTES + 1];
    struct gate of_files, of_data;
    struct source_file file; /* where the cluster is a file, */
    struct forward forward;  /* else */
    struct route routes[N_VIEWS + 5];
};

/* ---- who may ask ---- */

static bool has_host(const struct ui *ui, struct exchange *exchange)
{
    const char *host = exchange_header(exchange, "Host");
    return host && strcmp(host, server_address(ui->server, LISTEN_PEOPLE)) == 0;
}

/* Takes the same time for every secret of that length. */
static bool has_secret(const struct ui *ui, struct exchange *exchange)
{
    static const char SCHEME[] = "Bearer ";
    const char *given = exchange_header(exchange, "Authorization");
    unsigned difference = 0;
    if (!given || strncmp(given, SCHEME, strlen(SCHEME)) != 0)
        return false;
    given += strlen(SCHEME);
    if (strlen(given) != strlen(ui->secret))
        return false;
    for (size_t i = 0; ui->secret[i]; i++)
        difference |= (unsigned)(unsigned char)given[i] ^ (unsigned)(unsigned char)ui->secret[i];
    return difference == 0;
}

static enum gate_verdict judge_files(void *context, struct exchange *exchange)
{
    const struct ui *ui = context;
    if (has_host(ui, exchange))
        return GATE_OPEN_TO_ALL;
    exchange_answer_error(exchange, 403,
                          arena_printf(exchange_arena(exchange),
                                       "the Host is not the address that %s ui printed",
                                       ui->session->program));
    return GATE_CLOSED;
}

static enum gate_verdict judge_data(void *context, struct exchange *exchange)
{
    const struct ui *ui = context;
    if (judge_files(context, exchange) == GATE_CLOSED)
        return GATE_CLOSED;
    if (has_secret(ui, exchange))
        return GATE_OPEN;
    exchange_answer_error(exchange, 401,
                          arena_printf(exchange_arena(exchange),
                                       "open the address that %s ui printed: it has the secret",
                                       ui->session->program));
    return GATE_CLOSED;
}

/* ---- what is answered ---- */

static bool is_view(const struct route *route)
{
    const char *name = route->path + strlen("/v1/");
    for (size_t i = 0; i < N_VIEWS; i++) {
        if (strcmp(VIEWS[i], name) == 0)
            return true;
    }
    return false;
}

/* The page copies commands with these options. */
static void answer_command(void *context, struct exchange *exchange)
{
    const struct ui *ui = context;
    json_t *command = command_json(ui->session);
    struct buf text;
    if (!command) {
        exchange_answer_error(exchange, 500, "the options of this program cannot be repeated");
        return;
    }
    buf_init(&text, BUF_UNBOUNDED); /* the command line is bounded */
    json_put(command, JSON_COMPACT, &text);
    json_decref(command);
    const size_t len = text.len;
    exchange_answer(exchange, 200, "application/json", buf_take(&text), len, EXCHANGE_PAGE);
}

static void list_routes(struct ui *ui)
{
    static const char *const PATHS[] = {UI_ROOT, UI_WITHOUT_SLASH, UI_PATH};
    struct route all[API_N_ROUTES];
    size_t n = 0;
    ui->of_files = (struct gate){.judge = judge_files, .context = ui};
    ui->of_data = (struct gate){.judge = judge_data, .context = ui};
    api_routes(&ui->file.api, &ui->of_data, all);
    for (size_t i = 0; i < API_N_ROUTES; i++) {
        if (!is_view(&all[i]))
            continue;
        ui->routes[n] = all[i];
        if (!ui->session->arguments.cluster_file) {
            ui->routes[n].handle = forward_handle;
            ui->routes[n].context = &ui->forward;
        }
        n++;
    }
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        ui->routes[n++] = (struct route){.method = "GET",
                                         .path = PATHS[i],
                                         .listeners = LISTEN_PEOPLE,
                                         .name = "ui",
                                         .handle = ui_handle,
                                         .gate = &ui->of_files};
    ui->routes[n++] = (struct route){.method = "GET",
                                     .path = COMMAND_PATH,
                                     .listeners = LISTEN_PEOPLE,
                                     .name = "command",
                                     .handle = answer_command,
                                     .context = ui,
                                     .gate = &ui->of_data};
    ui->routes[n] = (struct route){0};
}

/* ---- the run ---- */

static int make_secret(struct ui *ui, struct err *err)
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_set(err, errno, "getrandom: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(ui->secret + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int serve(struct ui *ui, struct err *err)
{
    const struct server_settings settings = {.people = ADDRESS,
                                             .max_body_bytes = BODY_BYTES_MAX,
                                             .max_user_body_bytes = BODY_BYTES_MAX,
                                             .max_bodies_bytes = 4 * BODY_BYTES_MAX,
                                             .max_connections = 64,
                                             .idle_timeout_s = 120,
                                             .request_timeout_s = 30};
    list_routes(ui);
    return server_start(&settings, ui->routes, &ui->server, err);
}

static int print_address(const struct ui *ui)
{
    (void)printf("http://%s%s#secret=%s\n", server_address(ui->server, LISTEN_PEOPLE), UI_PATH,
                 ui->secret);
    (void)printf("Open this address in a browser on this machine. Ctrl-C ends it.\n");
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_NO_ANSWER;
}

/* Until one of the signals. */
static int run(struct ui *ui, const sigset_t *signals)
{
    int number = 0;
    const int status = print_address(ui);
    if (status == EXIT_FINE)
        (void)sigwait(signals, &number);
    server_stop(ui->server, 0);
    return status;
}

static int start(struct ui *ui, struct err *err)
{
    const struct arguments *arguments = &ui->session->arguments;
    int r = arguments->cluster_file ? source_file_open(&ui->file, arguments, err)
                                    : forward_start(&ui->forward, arguments, ASK_MS, err);
    if (r == 0)
        r = make_secret(ui, err);
    return r == 0 ? serve(ui, err) : r;
}

int verbs_ui(struct session *session)
{
    struct ui ui = {.session = session};
    sigset_t signals;
    struct err err;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL); /* for the threads, too */
    const int r = start(&ui, &err);
    const int status =
        r == 0 ? run(&ui, &signals)
               : session_complain(session, err.text, r == -EINVAL ? EXIT_MISTAKE : EXIT_NO_ANSWER);
    if (session->arguments.cluster_file)
        source_file_close(&ui.file);
    else
        forward_stop(&ui.forward);
    return status;
}
