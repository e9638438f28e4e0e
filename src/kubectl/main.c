/* main of kubectl-gpu: reads the command line and runs the verb. */
#include "base/log.h"
#include "formats/json_parse.h"
#include "source.h"
#include "verbs.h"

#include <string.h>

/* NULL: all. Through kubectl the default is its context's namespace. Else it is all namespaces, and
 * "default" for the verb about one pod. */
static const char *namespace_of(const struct session *session)
{
    const struct arguments *arguments = &session->arguments;
    if (arguments->given & TAKES_ALL || !(VERB_TABLE[arguments->verb].takes & TAKES_NAMESPACE))
        return NULL;
    if (arguments->namespace_)
        return arguments->namespace_;
    if (!arguments->url && !arguments->cluster_file)
        return source_namespace(arguments, session->arena);
    return arguments->verb == VERB_WHY ? "default" : NULL;
}

static int complain_of_options(const struct session *session, const struct err *err)
{
    const bool is_question = err->text[strlen(err->text) - 1] == '?';
    const char *text = arena_printf(session->arena, "%s%s %s --help", err->text,
                                    is_question ? " Try" : "; try", session->program);
    return session_complain(session, text, EXIT_MISTAKE);
}

static int run(struct session *session, int argc, char **argv)
{
    struct err err;
    if (json_parse_seed(&err) < 0)
        return session_complain(session, err.text, EXIT_NO_ANSWER);
    if (argc > 0 && session_is_completer(argv[0]))
        return verbs_complete(session, argc, argv);
    if (arguments_parse(argc, argv, session->program, session->arena, &session->arguments, &err) <
        0)
        return complain_of_options(session, &err);
    if (session->arguments.is_answered)
        return EXIT_FINE;
    session->namespace_ = namespace_of(session);
    return VERB_TABLE[session->arguments.verb].run(session);
}

int main(int argc, char **argv)
{
    struct session session = {.arena = arena_new()};
    session.program = session_program(argc > 0 ? argv[0] : "kubectl-gpu", session.arena);
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    const int status = run(&session, argc, argv);
    arena_free(session.arena);
    return status;
}
