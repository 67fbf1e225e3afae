/* SPDX-License-Identifier: Apache-2.0 */
/* A neighbour: computes until it is ended. */
int main(void) {
    for (volatile unsigned i = 0;; i++) {
    }
}
