/*
 * ui: the page for a browser: static files without data. Its scripts ask for data below /v1, with
 * the rights that /v1 needs.
 */
#ifndef UI_UI_H
#define UI_UI_H

#include "http/exchange.h"

#define UI_ROOT "/"
#define UI_WITHOUT_SLASH "/ui"
#define UI_PATH UI_WITHOUT_SLASH "/"

/* GET of UI_PATH, and of each file below it; UI_ROOT and UI_WITHOUT_SLASH lead there. */
void ui_handle(void *context, struct exchange *exchange);

#endif
