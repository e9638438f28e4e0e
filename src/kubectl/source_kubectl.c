/* source_kubectl: answers of the aggregated API, by kubectl with the user's own credentials. */
#include "child.h"
#include "source.h"

#define VIEWS "/apis/visibility.gpu-extender.io/v1alpha1/views/"
#define COMPLAINT_BYTES_MAX 8192
#define ERROR "Error from server ("

/* kubectl with the user's options for it, and these words. */
static const char *const *command(const struct arguments *arguments, const char *const *words,
                                  struct arena *arena)
{
    size_t n = 0;
    while (words[n])
        n++;
    const char **argv = ARENA_ARRAY(arena, const char *, arguments->n_of_kubectl + n + 2);
    argv[0] = "kubectl";
    for (size_t i = 0; i < arguments->n_of_kubectl; i++)
        argv[i + 1] = arguments->of_kubectl[i];
    for (size_t i = 0; i < n; i++)
        argv[arguments->n_of_kubectl + 1 + i] = words[i];
    return argv;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The status of HTTP that kubectl reports by its reason; 0: there was no answer of ours. */
static unsigned status_of(const char *complaint)
{
    static const struct {
        const char *reason;
        unsigned status;
    } REASONS[] = {
        {"BadRequest)", 400},        {"Unauthorized)", 401},          {"Forbidden)", 403},
        {"NotFound)", 404},          {"RequestEntityTooLarge)", 413}, {"InternalError)", 500},
        {"ServiceUnavailable)", 503}};
    const char *reason = begins(complaint, ERROR) ? complaint + strlen(ERROR) : "";
    if (strstr(complaint, "could not find the requested resource"))
        return 0;
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++) {
        if (begins(reason, REASONS[i].reason))
            return REASONS[i].status;
    }
    return 0;
}

static int explain(const struct buf *complaint, struct reply *ret_reply, struct err *err)
{
    const char *text = buf_text(complaint);
    const char *colon = strstr(text, "): ");
    ret_reply->status = status_of(text);
    if (ret_reply->status == 0)
        return err_set(err, EIO, "kubectl: %s%s", *text ? text : "it failed without a message",
                       strstr(text, "could not find the requested resource")
                           ? "; the API server does not serve gpu-extender's aggregated API: apply "
                             "the overlay aggregated-api, or use --url or --cluster-file"
                           : "");
    ret_reply->is_message = true;
    buf_add_text(&ret_reply->text, begins(text, ERROR) && colon ? colon + 3 : text);
    return 0;
}

static void drop_newlines(struct buf *text)
{
    while (text->len > 0 && text->data[text->len - 1] == '\n')
        text->data[--text->len] = '\0';
}

static int run(const struct arguments *arguments, const char *const *words,
               const struct question *question, struct arena *arena, struct reply *ret_reply,
               struct err *err)
{
    struct buf complaint;
    int status = 0;
    buf_init(&complaint, COMPLAINT_BYTES_MAX);
    const struct child_streams streams = {question->body, question->len, &ret_reply->text,
                                          &complaint,     NULL,          question->bound};
    int r = child_run(command(arguments, words, arena), &streams, &status, err);
    drop_newlines(&complaint);
    if (r == -ENOENT)
        r = err_set(err, ENOENT,
                    "kubectl: is not in PATH; without it --cluster-file asks a saved "
                    "cluster, and --url a service");
    if (r == 0 && status == 0)
        ret_reply->status = 200;
    else if (r == 0)
        r = explain(&complaint, ret_reply, err);
    buf_fini(&complaint);
    return r;
}

int source_ask_kubectl(const struct arguments *arguments, const struct question *question,
                       struct arena *arena, struct reply *ret_reply, struct err *err)
{
    const char *path = arena_printf(arena, VIEWS "%s", source_target(question, arena));
    const char *const get[] = {"get", "--raw", path, NULL};
    const char *const create[] = {"create", "--raw", path, "--filename=-", NULL};
    return run(arguments, question->body ? create : get, question, arena, ret_reply, err);
}

int source_get_kubectl(const struct arguments *arguments, const char *path, struct arena *arena,
                       struct reply *ret_reply, struct err *err)
{
    const char *const get[] = {"get", "--raw", path, NULL};
    const struct question nothing = {.body = NULL};
    return run(arguments, get, &nothing, arena, ret_reply, err);
}

const char *source_namespace(const struct arguments *arguments, struct arena *arena)
{
    static const char *const WORDS[] = {"config", "view", "--minify",
                                        "--output=jsonpath={.contexts[0].context.namespace}", NULL};
    struct buf out, complaint;
    struct err err;
    int status = 0;
    buf_init(&out, COMPLAINT_BYTES_MAX);
    buf_init(&complaint, COMPLAINT_BYTES_MAX);
    const struct child_streams streams = {NULL, 0, &out, &complaint, NULL, NULL};
    const int r = child_run(command(arguments, WORDS, arena), &streams, &status, &err);
    const bool is_known = r == 0 && status == 0 && out.len > 0;
    const char *name = is_known ? arena_strdup(arena, buf_text(&out)) : "default";
    buf_fini(&out);
    buf_fini(&complaint);
    return name;
}
