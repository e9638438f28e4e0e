/* command: see verbs.h. */
#include "base/mem.h"
#include "source.h"
#include "verbs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERVER "--server="
#define TOKEN "--token="

/* NULL: the current folder has no name. */
static const char *whole_name(const char *file, struct arena *arena)
{
    char folder[PATH_MAX];
    if (file[0] == '/')
        return file;
    return getcwd(folder, sizeof folder) ? arena_printf(arena, "%s/%s", folder, file) : NULL;
}

static bool add_option(json_t *options, const char *name, const char *value, struct arena *arena)
{
    if (!value)
        return true;
    const char *text = arena_printf(arena, "%s%s", name, value);
    return json_array_append_new(options, json_string(text)) == 0;
}

static bool add_file(json_t *options, const char *name, const char *file, struct arena *arena)
{
    if (!file)
        return true;
    const char *whole = whole_name(file, arena);
    return whole && add_option(options, name, whole, arena);
}

static bool add_url(json_t *options, const char *name, const char *url, struct arena *arena)
{
    return add_option(options, name, url ? source_url_without_user(url, arena) : NULL, arena);
}

/* An option of kubectl, --NAME=VALUE. */
static bool add_of_kubectl(json_t *options, const char *option, struct arena *arena)
{
    static const char *const OF_FILES[] = {
        "--kubeconfig=", "--certificate-authority=", "--client-certificate=", "--client-key=",
        "--cache-dir="};
    for (size_t i = 0; i < sizeof OF_FILES / sizeof *OF_FILES; i++) {
        const size_t len = strlen(OF_FILES[i]);
        if (strncmp(option, OF_FILES[i], len) == 0)
            return add_file(options, OF_FILES[i], option + len, arena);
    }
    if (strncmp(option, SERVER, strlen(SERVER)) == 0)
        return add_url(options, SERVER, option + strlen(SERVER), arena);
    return add_option(options, "", option, arena);
}

static bool add_all(json_t *options, const struct arguments *arguments, struct arena *arena)
{
    bool is_fine = add_file(options, "--cluster-file=", arguments->cluster_file, arena) &&
                   add_file(options, "--config=", arguments->policy, arena) &&
                   add_url(options, "--url=", arguments->url, arena);
    for (size_t i = 0; is_fine && i < arguments->n_of_kubectl; i++) {
        const char *option = arguments->of_kubectl[i];
        if (strncmp(option, TOKEN, strlen(TOKEN)) != 0)
            is_fine = add_of_kubectl(options, option, arena);
    }
    return is_fine;
}

json_t *command_json(const struct session *session)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    json_t *options = json_array();
    if (!add_all(options, &session->arguments, arena)) {
        json_decref(options);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:b}", "program", session->program, "options", options,
                     "needsToken", session->arguments.token != NULL);
}
