/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix for a terminal, as wide as there is room for: cells with two decimals, with one, cells of one character with
 * a space between them, without, and at last every second, third, ... column of those, so that the best stays among
 * them. The one character is a class: a tenth of the way, in logarithms, from the best to the limit.
 */
#include "base/characters.h"
#include "draw/matrix.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LABEL = 24, CLASSES = 10, LEAST_COLUMNS = 8, LEGEND = 96, SHADES = 41 };

static const char mark_signs[] = "*+=";

struct terminal {
    struct kerf_text *out;
    const struct kerf_panel *panel;
    struct matrix_seen seen;
    int32_t columns, colour;
    int32_t label;           /* columns of the labels of the rows */
    int32_t decimals;        /* -1: a cell is one character */
    int32_t digits, marks;   /* columns of a number, of the marks behind it */
    int32_t cell, pitch;     /* columns of a cell, from one cell to the next */
    int32_t first, every;    /* which columns of the matrix are shown */
    uint8_t grounds[SHADES]; /* of xterm's 256 colours, along the scale */
};

static int32_t ground_of(const struct terminal *terminal, double share) {
    return terminal->grounds[(int32_t)(share * (SHADES - 1) + 0.5)];
}

static char class_of(double share, int32_t state) {
    int32_t number = share < 1 ? (int32_t)(share * CLASSES) : CLASSES - 1;
    return (char)((state == KERF_CELL_EXPECTED ? 'a' : '0') + number);
}

static int32_t count_marks(int32_t marks, char signs[MATRIX_MARKS + 1]) {
    int32_t count = 0;
    for (int32_t m = 0; m < MATRIX_MARKS; m++)
        if (marks >> m & 1) signs[count++] = mark_signs[m];
    signs[count] = 0;
    return count;
}

/* What cells with numbers take with these decimals. */
static void measure(struct terminal *terminal, int32_t decimals) {
    terminal->decimals = decimals;
    terminal->digits = 1, terminal->marks = 0;
    for (int32_t i = 0; i < terminal->panel->num_rows; i++)
        for (int32_t k = 0; k < terminal->panel->num_xs; k++) {
            struct kerf_matrix_cell cell = matrix_cell(terminal->panel, i, k);
            char number[CHART_NUMBER] = "", signs[MATRIX_MARKS + 1];
            if (matrix_has_value(cell.state)) matrix_number(number, terminal->panel->rows[i].values[k], decimals);
            int32_t digits = (int32_t)strlen(number), marks = count_marks(cell.marks, signs);
            if (digits > terminal->digits) terminal->digits = digits;
            if (marks > terminal->marks) terminal->marks = marks;
        }
    int32_t signed_states = 1 << KERF_CELL_EXPECTED | 1 << KERF_CELL_STOPPED;
    terminal->cell = ((terminal->seen.states & signed_states) != 0) + terminal->digits + terminal->marks;
    terminal->pitch = terminal->cell + 1;
}

static int32_t column_of_best(const struct kerf_panel *panel) {
    for (int32_t i = 0; i < panel->num_rows; i++)
        for (int32_t k = 0; k < panel->num_xs; k++)
            if (matrix_cell(panel, i, k).marks & KERF_CELL_BEST) return k;
    return 0;
}

static void place(struct terminal *terminal) {
    const struct kerf_panel *panel = terminal->panel;
    terminal->label = utf8_columns(words(panel->y_label));
    for (int32_t i = 0; i < panel->num_rows; i++) {
        int32_t width = utf8_columns(words(panel->rows[i].label));
        if (width > terminal->label) terminal->label = width;
    }
    int32_t most = terminal->columns / 3 < MOST_LABEL ? terminal->columns / 3 : MOST_LABEL;
    if (terminal->label > most) terminal->label = most;
    if (terminal->label > 0) terminal->label++; /* and the space behind it */
    int32_t room = terminal->columns - terminal->label;
    terminal->every = 1;
    for (int32_t decimals = 2; decimals > 0; decimals--) {
        measure(terminal, decimals);
        if (panel->num_xs * terminal->pitch - 1 <= room) return;
    }
    terminal->decimals = -1;
    terminal->cell = 1;
    terminal->pitch = 2 * panel->num_xs - 1 <= room ? 2 : 1;
    terminal->every = (panel->num_xs + room - 1) / room;
    terminal->first = column_of_best(panel) % terminal->every;
}

/* Appends the characters of a cell; returns how many: all but spaces at the end. */
static int32_t cell_text(const struct terminal *terminal, int32_t row, int32_t column, char text[CHART_NUMBER + 16]) {
    struct kerf_matrix_cell cell = matrix_cell(terminal->panel, row, column);
    char signs[MATRIX_MARKS + 1];
    double ratio = terminal->panel->rows[row].values[column];
    int32_t marks = count_marks(cell.marks, signs);
    const char *sign = cell.state == KERF_CELL_FAILED ? "x" : cell.state == KERF_CELL_UNKNOWN ? "." : " ";
    if (cell.state == KERF_CELL_STOPPED) sign = ">";
    if (terminal->decimals < 0) {
        char one = *sign;
        if (one == ' ' && cell.state != KERF_CELL_OUTSIDE)
            one = class_of(matrix_share(ratio, terminal->seen.limit), cell.state);
        if (marks > 0) one = signs[0];
        text[0] = one, text[1] = 0;
    } else {
        char number[CHART_NUMBER];
        if (matrix_has_value(cell.state)) {
            matrix_number(number, ratio, terminal->decimals);
            if (cell.state == KERF_CELL_EXPECTED) sign = "~";
        } else {
            strcpy(number, sign);
            sign = " ";
        }
        snprintf(text, CHART_NUMBER + 16, "%s%*s%s", *sign == ' ' ? "" : sign,
                 terminal->cell - terminal->marks - (*sign == ' ' ? 0 : 1), number, signs);
    }
    int32_t length = (int32_t)strlen(text);
    while (length > 0 && text[length - 1] == ' ') length--;
    text[length] = 0;
    return length;
}

static void draw_row(const struct terminal *terminal, int32_t row) {
    struct kerf_text *out = terminal->out;
    const struct kerf_panel *panel = terminal->panel;
    int32_t gap = 0; /* spaces that come before the next that is seen */
    if (terminal->label > 0) {
        struct kerf_text label = {0};
        int32_t width = terminal_word(&label, words(panel->rows[row].label), terminal->label - 1);
        kerf_text_repeat(out, " ", terminal->label - 1 - width);
        kerf_text_add(out, words(label.data));
        out->failed |= label.failed;
        kerf_text_free(&label);
        gap = 1;
    }
    for (int32_t k = terminal->first; k < panel->num_xs; k += terminal->every) {
        char text[CHART_NUMBER + 16];
        int32_t length = cell_text(terminal, row, k, text);
        struct kerf_matrix_cell cell = matrix_cell(panel, row, k);
        if (length > 0) {
            kerf_text_repeat(out, " ", gap);
            gap = terminal->pitch - length;
        } else
            gap += terminal->pitch;
        if (length > 0 && terminal->colour && matrix_has_value(cell.state)) {
            double share = matrix_share(panel->rows[row].values[k], terminal->seen.limit);
            int32_t ground = ground_of(terminal, share);
            kerf_text_printf(out, "\033[%s%s38;5;%d;48;5;%dm%s", cell.marks ? "1;" : "",
                             cell.state == KERF_CELL_EXPECTED ? "3;" : "", terminal_ink_on(ground), ground, text);
            kerf_text_repeat(out, " ", terminal->cell - length);
            kerf_text_add(out, "\033[0m");
            gap -= terminal->cell - length;
        } else
            kerf_text_add(out, text);
    }
    kerf_text_add(out, "\n");
}

/* As many of the columns' labels as have room, each ending below the last digit of its cells, or beginning below a cell
 * that is one character. ticks: a mark where each begins, instead of it. Returns the columns of the widest label. */
static int32_t draw_column_names(const struct terminal *terminal, struct kerf_text *out, int ticks) {
    int32_t free_at = 0, at = 0, shown = 0, widest = 0;
    for (int32_t k = terminal->first; k < terminal->panel->num_xs; k += terminal->every, shown++) {
        const char *name = words(terminal->panel->x_names[k]);
        int32_t width = utf8_columns(name), from = terminal->label + shown * terminal->pitch;
        if (terminal->decimals >= 0) {
            from += terminal->cell - terminal->marks - width;
            if (from < 0 && shown == 0) from = 0;
        }
        if (shown == 0 && from + width > terminal->columns) width = terminal->columns - from;
        if (width == 0 || from < free_at || from + width > terminal->columns) continue;
        kerf_text_repeat(out, " ", from - at);
        at = from + terminal_word(out, ticks ? "|" : name, width);
        free_at = from + width + 1;
        if (width > widest) widest = width;
    }
    kerf_text_add(out, "\n");
    return widest;
}

/* Marks lead from cells of one character to labels that are wider. */
static void draw_column_labels(const struct terminal *terminal) {
    struct kerf_text names = {0};
    if (draw_column_names(terminal, &names, 0) > 1 && terminal->decimals < 0)
        draw_column_names(terminal, terminal->out, 1);
    kerf_text_add(terminal->out, words(names.data));
    terminal->out->failed |= names.failed;
    kerf_text_free(&names);
    if (*words(terminal->panel->x_label) == 0) return;
    kerf_text_repeat(terminal->out, " ", terminal->label);
    terminal_word(terminal->out, terminal->panel->x_label, terminal->columns - terminal->label);
    kerf_text_add(terminal->out, "\n");
}

/* One entry of the legend, on a line of its own where it does not fit behind the others. */
static void add_key(const struct terminal *terminal, int32_t *at, const char *key) {
    int32_t width = utf8_columns(key);
    if (*at > 0 && *at + 2 + width > terminal->columns) {
        kerf_text_add(terminal->out, "\n");
        *at = 0;
    } else if (*at > 0) {
        kerf_text_add(terminal->out, "  ");
        *at += 2;
    }
    *at += terminal_word(terminal->out, key, terminal->columns - *at);
}

/* "1 ########## 3" in the colours of the scale, ">=3" where cells are above it. */
static void add_scale(const struct terminal *terminal, int32_t *at) {
    char limit[CHART_NUMBER];
    chart_number(limit, terminal->seen.limit, KERF_UNIT_NONE);
    const char *above = terminal->seen.highest > terminal->seen.limit ? ">=" : "";
    int32_t width = 3 + CLASSES + (int32_t)(strlen(above) + strlen(limit));
    if (width > terminal->columns) return;
    kerf_text_add(terminal->out, "1 ");
    for (int32_t i = 0; i < CLASSES; i++)
        kerf_text_printf(terminal->out, "\033[48;5;%dm ", ground_of(terminal, (i + 0.5) / CLASSES));
    kerf_text_printf(terminal->out, "\033[0m %s%s", above, limit);
    *at += width;
}

static void draw_legend(const struct terminal *terminal) {
    const char *what = terminal->panel->limit_label ? terminal->panel->limit_label : "ratio to the best";
    int32_t at = 0, states = terminal->seen.states, single = terminal->decimals < 0;
    const char *more = terminal->seen.highest > terminal->seen.limit ? " or more" : "";
    char key[LEGEND], limit[CHART_NUMBER];
    chart_number(limit, terminal->seen.limit, KERF_UNIT_NONE);
    if (terminal->colour) add_scale(terminal, &at);
    add_key(terminal, &at, what);
    for (int32_t s = KERF_CELL_MEASURED; single && s <= KERF_CELL_EXPECTED; s++) {
        if (!(states >> s & 1)) continue;
        snprintf(key, sizeof key, "%c-%c %s, 1 to %s%s", class_of(0, s), class_of(1, s), matrix_state_names[s], limit,
                 more);
        add_key(terminal, &at, key);
    }
    static const char signs[MATRIX_STATES] = {0, '~', '>', 'x', '.', 0};
    for (int32_t s = 0; s < MATRIX_STATES; s++) {
        if (!(states >> s & 1) || signs[s] == 0 || (single && s == KERF_CELL_EXPECTED)) continue;
        snprintf(key, sizeof key, "%c %s", signs[s], matrix_state_names[s]);
        add_key(terminal, &at, key);
    }
    for (int32_t m = 0; m < MATRIX_MARKS; m++) {
        if (!(terminal->seen.marks >> m & 1)) continue;
        snprintf(key, sizeof key, "%c %s", mark_signs[m], matrix_mark_names[m]);
        add_key(terminal, &at, key);
    }
    kerf_text_add(terminal->out, "\n");
    if (terminal->every == 1) return;
    snprintf(key, sizeof key, "one of %d columns is shown", terminal->every);
    terminal_word(terminal->out, key, terminal->columns);
    kerf_text_add(terminal->out, "\n");
}

void kerf_matrix_terminal(struct kerf_text *out, const struct kerf_panel *panel, int32_t columns, int32_t colour) {
    if (columns < LEAST_COLUMNS || panel->kind != KERF_PANEL_MATRIX || matrix_check(panel, 1, NULL) != KERF_OK ||
        panel->num_rows == 0 || panel->num_xs == 0)
        return;
    struct terminal terminal = {
        .out = out, .panel = panel, .seen = matrix_look(panel), .columns = columns, .colour = colour};
    for (int32_t i = 0; i < SHADES; i++)
        terminal.grounds[i] = (uint8_t)terminal_nearest(palette_scale(i / (SHADES - 1.0)));
    place(&terminal);
    if (*words(panel->y_label)) {
        terminal_word(out, panel->y_label, columns);
        kerf_text_add(out, "\n");
    }
    for (int32_t i = 0; i < panel->num_rows; i++) draw_row(&terminal, i);
    draw_column_labels(&terminal);
    draw_legend(&terminal);
}
