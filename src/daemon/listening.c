/* listening: see include/daemon/listening.h. */
#include "daemon/listening.h"
#include "base/log.h"
#include "base/metrics.h"

#include <errno.h>
#include <stddef.h>

static int decide_tls(const struct settings_tls *tls, struct listening *listening, struct err *err)
{
    const struct {
        const char *key;
        const char *path;
    } FILES[] = {{"certificateFile", tls->certificate_file},
                 {"privateKeyFile", tls->private_key_file},
                 {"clientCAFile", tls->client_ca_file}};
    const char *missing = NULL;
    listening->has_tls = *tls->client_crl_file != '\0';
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        if (*FILES[i].path)
            listening->has_tls = true;
        else
            missing = FILES[i].key;
    }
    if (listening->has_tls && missing)
        return err_set(err, EINVAL,
                       "tls.%s: is missing, should be set: TLS needs certificateFile, "
                       "privateKeyFile and clientCAFile, plain HTTP none of them",
                       missing);
    listening->tls_files = (struct tls_files){tls->certificate_file, tls->private_key_file,
                                              tls->client_ca_file, tls->client_crl_file};
    return 0;
}

/* Without TLS, other machines are let in only by an explicit setting. */
static int decide_insecure(const char *key, const char *address, bool wanted, bool *ret_insecure,
                           struct err *err)
{
    *ret_insecure = !server_is_loopback(address);
    if (!*ret_insecure || wanted)
        return 0;
    const bool verbs = key[0] == 'v';
    return err_set(err, EINVAL,
                   "listen.%s: is \"%s\", which other machines can reach, and without TLS clients "
                   "are not authenticated. Set tls.certificateFile, tls.privateKeyFile and "
                   "tls.clientCAFile; or listen on 127.0.0.1; or, to let every client that reaches "
                   "the port %s, set listen.%s: true",
                   key, address, verbs ? "bind pods" : "read what runs in the cluster",
                   verbs ? "insecureVerbs" : "insecurePeople");
}

/* A kube-scheduler on another machine must not call this instance. */
static int check_beside(const struct settings *settings, const struct listening *listening,
                        struct err *err)
{
    if (!settings->scheduler.beside || server_is_loopback(listening->verbs))
        return 0;
    return err_set(
        err, EINVAL,
        "listen.verbs: is \"%s\", should be on loopback, such as \"127.0.0.1:8888\", with "
        "scheduler.beside: only the kube-scheduler of this machine may call the verbs",
        listening->verbs);
}

/* Prefixes the policy file to the message. */
static int name_policy(const char *policy_file, int r, struct err *err)
{
    if (r < 0 && policy_file)
        err_prefix(err, "%s: ", policy_file);
    return r;
}

int listening_decide(const struct settings *settings, const struct options *options,
                     struct listening *ret_listening, struct err *err)
{
    const char *instead = options->listen;
    *ret_listening = (struct listening){
        .policy_file = options->config_file,
        .verbs = instead ? instead : settings->listen_verbs,
        .people = instead ? instead : settings->listen_people,
        .probes = instead ? instead : settings->listen_probes,
    };
    int r = check_beside(settings, ret_listening, err);
    if (r == 0)
        r = decide_tls(&settings->tls, ret_listening, err);
    if (r < 0 || ret_listening->has_tls)
        return name_policy(options->config_file, r, err);
    r = decide_insecure("verbs", ret_listening->verbs, settings->insecure_verbs,
                        &ret_listening->insecure_verbs, err);
    if (r == 0)
        r = decide_insecure("people", ret_listening->people, settings->insecure_people,
                            &ret_listening->insecure_people, err);
    return instead ? r : name_policy(options->config_file, r, err);
}

/* Prefixes "tls: " to a message about a certificate file. */
static int name_section(const struct listening *listening, int r, struct err *err)
{
    if (r < 0)
        err_prefix(err, "tls: ");
    return name_policy(listening->policy_file, r, err);
}

int listening_check(const struct listening *listening, struct err *err)
{
    if (!listening->has_tls)
        return 0;
    return name_section(listening, tls_check(&listening->tls_files, err), err);
}

int listening_begin(struct listening *listening, struct err *err)
{
    if (listening->insecure_verbs)
        LOG(LOG_WARN, "main",
            LOG_MSG("listen.insecureVerbs: every client that reaches the port may bind pods"),
            LOG_STR("addr", listening->verbs));
    if (listening->insecure_people)
        LOG(LOG_WARN, "main",
            LOG_MSG("listen.insecurePeople: every client that reaches the port may read what runs"),
            LOG_STR("addr", listening->people));
    if (!listening->has_tls)
        return 0;
    return name_section(listening, tls_open(&listening->tls_files, &listening->tls, err), err);
}

void listening_end(struct listening *listening)
{
    tls_close(listening->tls);
    listening->tls = NULL;
}

void listening_metrics(const struct listening *listening, struct buf *out)
{
    const char *metric = "gpu_extender_insecure_listeners";
    const struct metric_label verbs[] = {{"listener", "verbs"}, {NULL, NULL}};
    const struct metric_label people[] = {{"listener", "people"}, {NULL, NULL}};
    metrics_head(out, metric, "gauge",
                 "1 if the listener serves other machines without authentication.");
    metrics_sample(out, metric, verbs, listening->insecure_verbs);
    metrics_sample(out, metric, people, listening->insecure_people);
    if (listening->tls)
        tls_metrics(listening->tls, out);
}
