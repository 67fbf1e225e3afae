/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page_files.h"

#include <string.h>

#ifdef KERF_PAGE_FOLDER
/* The assembler reads them where the compiler would take its time over an array. */
#define EMBED(name, file)                                                                                              \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global " #name "_begin, " #name "_end\n"                                                                 \
            ".hidden " #name "_begin, " #name "_end\n" #name "_begin: .incbin \"" KERF_PAGE_FOLDER "/" file "\"\n"     \
            "" #name "_end:\n"                                                                                         \
            ".popsection\n");                                                                                          \
    extern const unsigned char name##_begin[], name##_end[]
EMBED(page_html, "index.html.gz");
EMBED(page_js, "page.js.gz");
EMBED(page_css, "page.css.gz");

static const struct page_file files[] = {{"index.html", "text/html; charset=utf-8", page_html_begin, page_html_end},
                                         {"page.js", "text/javascript; charset=utf-8", page_js_begin, page_js_end},
                                         {"page.css", "text/css; charset=utf-8", page_css_begin, page_css_end},
                                         {NULL, NULL, NULL, NULL}};
#else
static const struct page_file files[] = {{NULL, NULL, NULL, NULL}};
#endif

const struct page_file *page_file_find(const char *path) {
    for (const struct page_file *file = files; file->path; file++)
        if (strcmp(file->path, path) == 0) return file;
    return NULL;
}
