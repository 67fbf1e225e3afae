/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte there is, lines of megabytes, and at last a sample. */
#include <stdio.h>

int main(void) {
    for (int round = 0; round < 16; round++)
        for (int byte = 0; byte < 256; byte++) putchar(byte);
    for (int i = 0; i < 3 * 1024 * 1024; i++) putchar('a' + i % 26);
    putchar('\n');
    for (int i = 0; i < 1024 * 1024; i++) putchar(i % 251 * 7919 % 256);
    fputs("\ntook 0.125 s\n0.125\n", stdout);
    return 0;
}
