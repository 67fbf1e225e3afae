#!/usr/bin/awk -f
# A real training run in awk, small enough for any machine: logistic regression of 20 features on 4,000 samples of made-up
# data with noise, by mini-batch gradient descent. After each epoch it prints the accuracy on 1,000 samples without noise:
# small batches follow the noise, large ones take long.
#
#     awk -v batch_size=32 -f train.awk
function random() { # minimal standard generator, so that every awk has the same data
    seed = seed * 16807 % 2147483647
    return seed / 2147483647
}
function sample(i, noise,  j, sum) {
    for (j = 1; j <= FEATURES; j++) sum += truth[j] * (x[i, j] = random() < 0.5 ? -1 : 1)
    y[i] = sum + noise * (random() - 0.5) > 0
}
function score(i,  j, sum) {
    for (j = 1; j <= FEATURES; j++) sum += w[j] * x[i, j]
    return sum
}
BEGIN {
    FEATURES = 20; SAMPLES = 4000; HELD_OUT = 1000; RATE = 0.5
    seed = 1
    for (j = 1; j <= FEATURES; j++) truth[j] = 2 * random() - 1
    for (i = 1; i <= SAMPLES; i++) sample(i, 8)
    for (; i <= SAMPLES + HELD_OUT; i++) sample(i, 0)
    for (epoch = 1; epoch <= 40; epoch++) {
        for (i = 1; i <= SAMPLES; i++) {
            error = y[i] - 1 / (1 + exp(-score(i)))
            for (j = 1; j <= FEATURES; j++) g[j] += error * x[i, j]
            if (i % batch_size && i < SAMPLES) continue
            for (j = 1; j <= FEATURES; j++) { w[j] += RATE * g[j] / batch_size; g[j] = 0 }
        }
        right = 0
        for (i = SAMPLES + 1; i <= SAMPLES + HELD_OUT; i++) right += (score(i) > 0) == y[i]
        printf "epoch %d: accuracy: %.4f\n", epoch, right / HELD_OUT
        fflush()
    }
}
