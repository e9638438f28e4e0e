/* source_url: answers of a gpu-extender by its URL, with the program curl. It has the trust store
 * and the proxies of the system, which a library in a static binary would lack. */
#include "child.h"
#include "source.h"

#include <stdlib.h>

#define COMPLAINT_BYTES_MAX 8192

/* Behind the scheme. */
static const char *authority_of(const char *url)
{
    const char *scheme_end = strstr(url, "://");
    return scheme_end ? scheme_end + strlen("://") : url;
}

/* Behind a user and a password. */
static const char *host_of(const char *url)
{
    const char *authority = authority_of(url);
    const char *at = memrchr(authority, '@', strcspn(authority, "/?#"));
    return at ? at + 1 : authority;
}

const char *source_url_without_user(const char *url, struct arena *arena)
{
    return arena_printf(arena, "%.*s%s", (int)(authority_of(url) - url), url, host_of(url));
}

static bool may_have_password(const char *shown)
{
    return strchr(shown, '@') || strstr(shown, "%40");
}

const char *source_url_shown(const char *url, struct arena *arena)
{
    const char *shown = source_url_without_user(url, arena);
    return may_have_password(shown) ? "--url" : shown;
}

/* CURLE_PEER_FAILED_VERIFICATION */
#define CURL_DISTRUSTS 60

static int fail(const char *url, const char *complaint, int exit_status, struct arena *arena,
                struct err *err)
{
    const char *shown = source_url_without_user(url, arena);
    if (may_have_password(shown)) /* and so may the complaint */
        return err_set(err, EIO,
                       "--url: curl gets no answer; in a user and password write @ as "
                       "%%40, / as %%2F");
    return err_set(
        err, EIO, "%.200s: %.*s%s", shown, (int)strcspn(complaint, "\n"), complaint,
        exit_status == CURL_DISTRUSTS
            ? "; --certificate-authority FILE and --tls-server-name NAME say whom to trust"
            : "");
}

/* A line of curl's configuration: NAME = "VALUE". */
static void add_setting(struct buf *settings, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(settings, "%s = \"", name);
    for (; *value; value++) {
        switch (*value) {
        case '\n':
            buf_add_text(settings, "\\n");
            break;
        case '\r':
            buf_add_text(settings, "\\r");
            break;
        case '"':
        case '\\':
            buf_add_text(settings, "\\");
            buf_add(settings, value, 1);
            break;
        default:
            buf_add(settings, value, 1);
        }
    }
    buf_add_text(settings, "\"\n");
}

/* The URL with the name, by which curl checks the certificate, while it connects to the URL's own
 * host. */
static const char *named(struct buf *settings, const char *url, const char *name,
                         struct arena *arena)
{
    const char *host = host_of(url);
    size_t len = strcspn(host, host[0] == '[' ? "]/?#" : ":/?#");
    len += host[len] == ']';
    add_setting(settings, "connect-to", arena_printf(arena, "::%.*s:", (int)len, host));
    return arena_printf(arena, "%.*s%s%s", (int)(host - url), url, name, host + len);
}

/* The token is in no argument, which other users could read. */
static void add_settings(struct buf *settings, const struct arguments *arguments,
                         const struct question *question, const char *url, struct arena *arena)
{
    buf_add_text(settings, "silent\nshow-error\ngloboff\nproto = \"=http,https\"\n"
                           "connect-timeout = 10\nmax-time = 120\n"
                           "header = \"Content-Type: application/yaml\"\n"
                           "write-out = \"%{stderr}\\n%{http_code} %{content_type}\"\n");
    if (question->body)
        buf_add_text(settings, "data-binary = \"@-\"\n");
    if (arguments->insecure)
        buf_add_text(settings, "insecure\n");
    if (arguments->token)
        add_setting(settings, "header",
                    arena_printf(arena, "Authorization: Bearer %s", arguments->token));
    add_setting(settings, "cacert", arguments->authority);
    add_setting(settings, "cert", arguments->certificate);
    add_setting(settings, "key", arguments->key);
    if (arguments->tls_server_name)
        url = named(settings, url, arguments->tls_server_name, arena);
    add_setting(settings, "url", url);
}

/* said: curl's complaints, and a last line "STATUS CONTENT-TYPE". */
static int read_outcome(const char *url, const char *said, int exit_status, struct arena *arena,
                        struct reply *ret_reply, struct err *err)
{
    char *type = NULL;
    const char *last = strrchr(said, '\n');
    const char *message = *said && *said != '\n' ? said : "curl failed without a message";
    if (exit_status != 0)
        return fail(url, message, exit_status, arena, err);
    ret_reply->status = (unsigned)strtoul(last ? last + 1 : said, &type, 10);
    ret_reply->type = arena_strdup(arena, type + (*type == ' '));
    return 0;
}

int source_ask_url(const struct arguments *arguments, const struct question *question,
                   struct arena *arena, struct reply *ret_reply, struct err *err)
{
    static const char *const CURL[] = {"curl", "--disable", "--config", "/dev/fd/3", NULL};
    size_t len = strlen(arguments->url);
    while (len > 0 && arguments->url[len - 1] == '/')
        len--;
    const char *url =
        arena_printf(arena, "%.*s/v1/%s", (int)len, arguments->url, source_target(question, arena));
    struct buf settings, complaint;
    int status = 0;
    buf_init_secret(&settings, BUF_UNBOUNDED); /* arguments of the command line */
    buf_init(&complaint, COMPLAINT_BYTES_MAX);
    add_settings(&settings, arguments, question, url, arena);
    const struct child_streams streams = {question->body, question->len,       &ret_reply->text,
                                          &complaint,     buf_text(&settings), question->bound};
    int r = child_run(CURL, &streams, &status, err);
    if (r == 0)
        r = read_outcome(arguments->url, buf_text(&complaint), status, arena, ret_reply, err);
    buf_fini(&settings);
    buf_fini(&complaint);
    return r;
}
