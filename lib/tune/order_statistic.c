/* SPDX-License-Identifier: Apache-2.0 */
/* Hoare's "Algorithm 65: Find" (1961), with the median of three as the pivot. */
#include "tune/order_statistic.h"

static void swap(double *a, double *b) {
    double keep = *a;
    *a = *b;
    *b = keep;
}

static double median(double a, double b, double c) {
    if (a > b) swap(&a, &b);
    return c < a ? a : c > b ? b : c;
}

double order_statistic(double *values, int32_t n, int32_t k) {
    int32_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = median(values[low], values[low + (high - low) / 2], values[high]);
        int32_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) swap(&values[i++], &values[j--]);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return values[k];
}
