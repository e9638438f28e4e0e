/* token: see config_priv.h. */
#include "config_priv.h"

#include "base/file_watch.h"
#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

#define TOKEN_BYTES_MAX ((size_t)64 * 1024)
#define WHITE " \t\r\n\v\f"

static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    }
    return true;
}

int token_from_text(const char *text, char **ret_token, struct err *err)
{
    text += strspn(text, WHITE);
    size_t len = strlen(text);
    while (len > 0 && strchr(WHITE, text[len - 1]))
        len--;
    if (len == 0)
        return err_set(err, EINVAL, "is empty, should be a token");
    if (!is_printable(text, len))
        return err_set(err, EINVAL, "has a character that is not allowed in a token");
    *ret_token = mem_strndup(text, len);
    return 0;
}

int token_from_file(const char *path, char **ret_token, struct err *err)
{
    struct buf text;
    buf_init(&text, TOKEN_BYTES_MAX);
    int r = small_file_read(path, false, &text, err);
    if (r == 0) {
        bool has_nul = strlen(buf_text(&text)) < text.len;
        r = has_nul ? err_set(err, EINVAL, "has a character that is not allowed in a token")
                    : token_from_text(buf_text(&text), ret_token, err);
        if (r < 0)
            err_prefix(err, "%s: ", path);
    }
    buf_fini(&text);
    return r;
}
