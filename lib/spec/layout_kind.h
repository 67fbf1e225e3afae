/* SPDX-License-Identifier: Apache-2.0 */
/* The two kinds of layouts, by the members that they have. A header of its own, because what describes the parts of a
 * layout and what works on whole layouts both need it. */
#ifndef KERF_SPEC_LAYOUT_KIND_H
#define KERF_SPEC_LAYOUT_KIND_H

enum layout_kind {
    LAYOUT_ANY,    /* as its parts say; hybrid where they do not */
    LAYOUT_TENSOR, /* of 1d, summa and seqp */
    LAYOUT_HYBRID
};

#endif
