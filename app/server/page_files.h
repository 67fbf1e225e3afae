/* SPDX-License-Identifier: Apache-2.0 */
/* The page's files as web/page/bundle.mjs made them, compressed with gzip; none where kerf was built without Node. */
#ifndef KERF_SERVER_PAGE_FILES_H
#define KERF_SERVER_PAGE_FILES_H

#include <stddef.h>

struct page_file {
    const char *path, *content_type;
    const unsigned char *begin, *end;
};

/* NULL: there is none of this path ("index.html", "page.js", "page.css"). */
const struct page_file *page_file_find(const char *path);

#endif
