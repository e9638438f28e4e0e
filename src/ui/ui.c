/* ui: see include/ui/ui.h. */
#include "ui/ui.h"
#include "base/mem.h"
#include "files.h"

#include <string.h>

/* "" is the page itself. */
static const struct ui_file *find(const char *name)
{
    const char *wanted = name[0] ? name : "index.html";
    const struct ui_file *file = UI_FILES;
    while (file->name && strcmp(file->name, wanted) != 0)
        file++;
    return file->name ? file : NULL;
}

static char *copy_of(const struct ui_file *file)
{
    char *copy = mem_new(file->len);
    memcpy(copy, file->bytes, file->len);
    return copy;
}

void ui_handle(void *context, struct exchange *exchange)
{
    (void)context;
    const char *path = exchange_path(exchange);
    if (strcmp(path, UI_ROOT) == 0 || strcmp(path, UI_WITHOUT_SLASH) == 0) {
        exchange_answer_moved(exchange, &UI_PATH[1]);
        return;
    }
    const struct ui_file *file = find(path + strlen(UI_PATH));
    if (!file) {
        exchange_answer_error(exchange, 404, "there is no such file; the page is " UI_PATH);
        return;
    }
    exchange_set_tag(exchange, file->tag);
    if (exchange_knows_tag(exchange, file->tag))
        exchange_answer(exchange, 304, file->content_type, NULL, 0, EXCHANGE_PAGE);
    else
        exchange_answer(exchange, 200, file->content_type, copy_of(file), file->len, EXCHANGE_PAGE);
}
