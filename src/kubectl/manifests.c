/* manifests: see manifests.h. */
#include "manifests.h"
#include "api/tables.h"
#include "formats/json_values.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

/* No file system of a manifest has deeper folders. */
#define DEPTH_MAX 100

static bool begins(const char *text, const char *with)
{
    return strncasecmp(text, with, strlen(with)) == 0;
}

static int complain(const struct session *session, const char *file, const char *what)
{
    return session_complain(session, arena_printf(session->arena, "%.1000s: %s", file, what),
                            EXIT_MISTAKE);
}

static int read_one(struct session *session, const char *file, json_t *texts)
{
    struct file_names *names = &session->files;
    struct buf text;
    buf_init(&text, SESSION_FILE_BYTES_MAX);
    int status = session_read_file(session, file, &text);
    (void)json_array_append_new(texts, json_stringn_nocheck(buf_text(&text), text.len));
    buf_fini(&text);
    arguments_add_name(names, strcmp(file, "-") == 0 ? "standard input" : file, session->arena);
    return status;
}

/* ---- folders ---- */

static int is_wanted(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* As kubectl takes them from a folder. */
static bool is_manifest(const char *name)
{
    static const char *const ENDS[] = {".json", ".yaml", ".yml"};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof ENDS / sizeof *ENDS; i++) {
        if (strcmp(end, ENDS[i]) == 0)
            return true;
    }
    return false;
}

static int read_folder(struct session *session, const char *folder, unsigned depth, json_t *texts);

/* kubectl follows no links to folders. */
static int read_entry(struct session *session, const char *path, const char *name, unsigned depth,
                      json_t *texts)
{
    struct stat facts;
    if (lstat(path, &facts) < 0)
        return complain(session, path, strerror(errno));
    if (S_ISDIR(facts.st_mode))
        return session->arguments.recursive ? read_folder(session, path, depth + 1, texts)
                                            : EXIT_FINE;
    return is_manifest(name) ? read_one(session, path, texts) : EXIT_FINE;
}

static int read_folder(struct session *session, const char *folder, unsigned depth, json_t *texts)
{
    struct dirent **entries = NULL;
    const size_t len = strlen(folder);
    const char *between = len > 0 && folder[len - 1] == '/' ? "" : "/";
    int status = EXIT_FINE;
    if (depth > DEPTH_MAX)
        return complain(session, folder, "has more than 100 folders above it");
    const int n = scandir(folder, &entries, is_wanted, alphasort);
    if (n < 0)
        return complain(session, folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (status == EXIT_FINE)
            status =
                read_entry(session, arena_printf(session->arena, "%s%s%s", folder, between, name),
                           name, depth, texts);
        free(entries[i]);
    }
    free((void *)entries);
    return status;
}

/* ---- what -f names ---- */

static int read_named(struct session *session, const char *name, json_t *texts)
{
    const size_t n = json_array_size(texts);
    struct stat facts;
    if (!*name)
        return session_complain(session, "-f: a name is empty", EXIT_MISTAKE);
    if (begins(name, "http://") || begins(name, "https://"))
        return complain(session, name,
                        "is not fetched: look at it first, then give the file, or pipe it to -f -");
    if (strcmp(name, "-") == 0 || stat(name, &facts) < 0 || !S_ISDIR(facts.st_mode))
        return read_one(session, name, texts);
    const int status = read_folder(session, name, 0, texts);
    if (status == EXIT_FINE && json_array_size(texts) == n)
        return complain(session, name,
                        session->arguments.recursive
                            ? "has no file that ends in .json, .yaml or .yml"
                            : "has no file that ends in .json, .yaml or .yml; -R takes those of "
                              "its folders, too");
    return status;
}

int manifests_read(struct session *session, json_t *texts)
{
    const struct file_names *asked = &session->arguments.manifests;
    int status = EXIT_FINE;
    session->first_file = json_array_size(texts);
    for (size_t i = 0; status == EXIT_FINE && i < asked->n; i++)
        status = read_named(session, asked->items[i], texts);
    return status;
}

int manifests_check_utf8(const struct session *session, const json_t *texts)
{
    for (size_t i = 0; i < session->files.n; i++) {
        const json_t *text = json_array_get(texts, session->first_file + i);
        json_t *copy = json_stringn(json_string_value(text), json_string_length(text));
        if (!copy)
            return complain(session, session->files.items[i], "is no UTF-8");
        json_decref(copy);
    }
    return EXIT_FINE;
}

const char *manifests_named(const struct session *session, const char *message)
{
    static const char *const ONE[] = {"manifest: ", "workloads: manifest: "};
    static const char LIST[] = "workloads[";
    const struct file_names *files = &session->files;
    for (size_t i = 0; files->n == 1 && i < 2; i++) {
        if (strncmp(message, ONE[i], strlen(ONE[i])) == 0)
            return arena_printf(session->arena, "%s: %s", files->items[0],
                                message + strlen(ONE[i]));
    }
    const char *at = strstr(message, LIST);
    char *end = NULL;
    if (!at)
        return message;
    const size_t i = strtoul(at + strlen(LIST), &end, 10) - session->first_file;
    if (*end != ']' || i >= files->n)
        return message;
    return arena_printf(session->arena, "%.*s%s%s", (int)(at - message), message, files->items[i],
                        end + 1);
}

int manifests_complain(const struct session *session, const char *message)
{
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED); /* the message is bounded */
    tables_write_mistake(message, session->arena, &out);
    (void)fprintf(stderr, "%s%s", buf_text(&out), TABLES_NOTHING_JUDGED);
    buf_fini(&out);
    return EXIT_MISTAKE;
}

void manifests_name_skipped(const struct session *session, json_t *result)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (json_member(result, "skipped"), i, item) {
        const char *why = NULL;
        if (json_get_string(item, "why", &why, NULL) == 0 && why)
            (void)json_object_set_new(item, "why", json_string(manifests_named(session, why)));
    }
}
