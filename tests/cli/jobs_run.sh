#!/bin/sh
# kerf jobs run: scripts that end in every way, and the meters: a power, a fake NVML, a fake powercap.
. "$DATA/case.sh"
. "$DATA/server.sh"
start_server
cat >train.sh <<'END'
#!/bin/sh
# train.sh METRIC...: an epoch for each, until it is stopped once one reaches 0.5; $SETS is evaluated before each
echo "batch size $1, $KERF_BATCH_SIZE in trial $KERF_TRIAL_NUMBER"
echo "loss: 7" >&2
shift
epoch=0
for metric; do
    epoch=$((epoch + 1))
    eval "${SETS:-}"
    echo "epoch $epoch: accuracy: 0.0, accuracy: $metric"
    case $metric in 0.[5-9]) sleep 60 ;; esac
done
END
cat >progress.sh <<'END'
#!/bin/sh
printf 'accuracy: 0.1\raccuracy: 0.8\r\n'
sleep 60
END
chmod +x train.sh progress.sh
accuracy='accuracy: ([0-9.]+)'
run() { asks jobs run "$@"; }
# the latest trial, without its times
latest() { "$KERF" jobs show "$1" --limit 1 --format csv | sed -n '2s/^\(\([^,]*,\)\{5\}\)[^,]*,\([^,]*\),.*/\1TIME,\3/p'; }

echo "== it stops when the service says so"
job a ',"beta_knob":null' 64
run a --power 100 --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.1 0.2 0.7 0.9
latest a | sed 's/TIME,.*/TIME/'
run a --power 100 --metric-regex "$accuracy" -- sh -c 'trap "echo; echo saved; exit 5" TERM; echo accuracy: 0.9; while :; do sleep 0.1; done' | grep -v Terminated
run a --power 100 --grace 0.2 --metric-regex "$accuracy" -- sh -c 'trap "" TERM; echo accuracy: 0.9; sleep 60; echo not killed'
run a --power 100 --metric-regex "$accuracy" -- ./progress.sh | tr '\r' '|'

echo "== what was written counts, however long the server takes to answer"
# Kerf stands still until the script has ended, and has left behind who keeps its output open; the first line's report
# waits for a server that stands still for longer than kerf waits for such output. The last line is beyond the first read.
cat >late.sh <<'END'
kill -STOP $PPID "$(cat pid)"
echo accuracy: 0.1
seq 2000
echo accuracy: 0.9
setsid sh go_on.sh $$ $PPID &
END
cat >go_on.sh <<'END'
while grep -q '^State:.[^Z]' /proc/$1/status 2>/dev/null; do sleep 0.05; done
kill -CONT $2
sleep 1.5
kill -CONT "$(cat pid)"
exec sleep 20
END
echo "$server" >pid
run a --power 100 --metric-regex "$accuracy" -- sh late.sh | grep -v '^[0-9]*$'

echo "== epochs of its own"
job e ',"beta_knob":null' 64
run e --power 100 --metric-regex 'loss ([0-9.]+)' --epoch-regex 'epoch ([0-9]+)' -- sh -c 'echo epoch 9; echo loss 0.1; echo epoch 10 loss 0.2; sleep 60'

echo "== it ends otherwise"
job b ',"beta_knob":null' 64
run b --power 100 --metric-regex "$accuracy" -- sh -c 'echo accuracy: 0.1; exit 7'
latest b
run b --power 100 --metric-regex "$accuracy" -- sh -c 'kill -9 $$'
run b --power 100 --metric-regex "$accuracy" -- echo nothing
run b --power 100 --metric-regex "$accuracy" -- echo accuracy: 0.1
latest b
run b --power 100 --metric-regex "$accuracy" -- ./nothing
run b --power 100 --metric-regex "$accuracy" -- ./job.json
run b --power 100 --metric-regex "$accuracy" -- echo "{trial_number} {trial} {batch_size}x{batch_size} {" '' .
run b --power 100 --metric-regex 'loss: ([^ ]+)' -- sh -c 'echo loss: nan; echo loss: inf'

echo "== interrupted"
for signal in INT TERM; do
    rm -f out
    env --default-signal=INT "$KERF" jobs run b --power 100 --metric-regex "$accuracy" -- \
        sh -c 'sleep 1000 & trap "kill \$!; exit 3" INT; echo accuracy: 0.1; wait' >out 2>err &
    run=$!
    until_true test -s out
    kill -s "$signal" $run
    wait $run
    echo "exit $?"
    tail -n 1 err
    latest b
done

echo "== RAPL"
mkdir -p cap/intel-rapl:0/intel-rapl:0:0 cap/intel-rapl:1
zone() { mkdir -p "cap/$1"; echo "$2" >"cap/$1/name"; echo "$3" >"cap/$1/energy_uj"; echo 1000000000 >"cap/$1/max_energy_range_uj"; }
zone intel-rapl:0 package-0 999000000
zone intel-rapl:1 package-1 5000000
zone intel-rapl:2 psys 1000000
zone intel-rapl:0:0 core 3
zone intel-rapl:0:1 dram 100
KERF_POWERCAP=$PWD/cap
export KERF_POWERCAP
job c ',"beta_knob":null' 64
# 1 + 2 J around the end of the counter, 3 J, and 0.5 J
SETS='echo 2000000 >cap/intel-rapl:0/energy_uj; echo 8000000 >cap/intel-rapl:1/energy_uj; echo 500100 >cap/intel-rapl:0:1/energy_uj
    echo 9000000 >cap/intel-rapl:2/energy_uj' run c --meter rapl --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9
latest c
rm -r cap/*
zone intel-rapl:0 psys 0
SETS='echo 4000000 >cap/intel-rapl:0/energy_uj' run c --meter rapl --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9
latest c
rm -r cap/*
run c --meter rapl --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9 | sed "s|$PWD|PLACE|"

echo "== NVML"
fake=$(dirname "$KERF")/tests/fake_nvml
[ -f "$fake/libnvidia-ml.so.1" ] || skip "no fake libnvidia-ml.so.1 at $fake"
LD_LIBRARY_PATH=$fake
FAKE_NVML=$PWD
export LD_LIBRARY_PATH FAKE_NVML
unset CUDA_VISIBLE_DEVICES
gpus() { echo 1000 >gpu0.mj; echo 2000 >gpu1.mj; }
more='echo 2500 >gpu0.mj; echo 12000 >gpu1.mj'
gpus
SETS=$more run c --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9
latest c
gpus
SETS=$more run c --gpus 1 --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9 | sed -n 's/.*energy: //p'
latest c
gpus
CUDA_VISIBLE_DEVICES=GPU-0 SETS=$more run c --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9 | sed -n 's/.*energy: //p'
latest c
echo 50000 >gpu2.mw
run c --gpus 2 --metric-regex "$accuracy" -- sh -c 'sleep 0.5; echo accuracy: 0.9; sleep 60'
"$KERF" jobs show c --limit 1 --format csv |
    awk -F, 'NR == 2 { power = $7 / $6; print (power > 49.999 && power < 50.001) ? "50 W" : $0 }'
run c --gpus 0,5 --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9
echo "== a GPU that is to be used and cannot be measured: nothing else is measured in its place"
zone intel-rapl:0 package-0 0
run c --gpus 4294967296 --metric-regex "$accuracy" -- true
run c --gpus 0,0 --metric-regex "$accuracy" -- true
for devices in 5 GPU-abcdef MIG-1 0,MIG-1 MIG-GPU-0/1/0 GPU-9,0 0x1; do
    echo "CUDA_VISIBLE_DEVICES=$devices"
    CUDA_VISIBLE_DEVICES=$devices "$KERF" jobs run c --metric-regex "$accuracy" -- true 2>&1
    echo "exit $?"
done
rm gpu0.mj
echo 1 >gpu0.none
CUDA_VISIBLE_DEVICES=0 run c --metric-regex "$accuracy" -- true
run c --metric-regex "$accuracy" -- true
rm gpu0.none
gpus
echo "== a GPU that is lost meanwhile"
SETS='rm gpu0.mj' run c --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.1
gpus
echo "== and what was written to standard error before stands before kerf's words"
cat >both.sh <<'END'
rm gpu0.mj
kill -STOP $PPID
(echo "loss: 7" >&2; echo accuracy: 0.1; kill -CONT $PPID)
END
run c --metric-regex "$accuracy" -- sh both.sh
gpus
echo "== no GPU is to be used: the processors are measured"
for devices in -1 '' NoDevFiles; do
    CUDA_VISIBLE_DEVICES=$devices "$KERF" jobs run c --metric-regex "$accuracy" -- true 2>&1 | sed -n 's/.*energy: //p'
done
rm -r cap/*
CUDA_VISIBLE_DEVICES=-1 run c --meter nvml --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9 | sed "s|$PWD|PLACE|"
unset LD_LIBRARY_PATH
run c --meter nvml --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9 | grep -c 'nothing on this machine measures energy'
"$KERF" jobs show c --limit 1 --format csv | grep -c Dispatched

echo "== the cost is time alone: no meter is needed"
job t ',"beta_knob":null,"eta_knob":0' 64
run t --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9
"$KERF" jobs show t --limit 1 --format csv | cut -d, -f7
run t --meter rapl --metric-regex "$accuracy" -- ./train.sh {batch_size} 0.9 | sed "s|$PWD|PLACE|"

echo "== refused"
refused jobs run
refused jobs run a
refused jobs run a -- true
refused jobs run a --metric-regex '(' -- true
refused jobs run a --metric-regex 'a' --epoch-regex '[' -- true
refused jobs run a --metric-regex 'a' --power 0 -- true
refused jobs run nothing --metric-regex 'a' --power 1 -- true | mask

echo "== the server goes away"
job d ',"beta_knob":null' 64
echo "$server" >pid
cat >ends_server.sh <<'END'
kill "$(cat pid)"
until grep -q ' stopped: ' log; do sleep 0.05; done
END
run d --power 100 --metric-regex "$accuracy" -- sh -c '. ./ends_server.sh; echo accuracy: 0.9; exit 4'
run d --power 100 --metric-regex "$accuracy" -- true

echo "== and comes back"
port=${KERF_SERVER##*:}
again() {
    "$KERF" serve --store jobs.db --listen "127.0.0.1:$port" 2>log &
    server=$!
    echo $server >pid
    until_true grep -qs 'listening:' log
}
: >log
again
latest d
: >.err
(
    until_true grep -qs 'nothing listens' .err
    : >log
    again
) &
run d --power 100 --metric-regex "$accuracy" -- sh -c '. ./ends_server.sh; echo accuracy: 0.9'
latest d | sed 's/TIME,.*/TIME/'
wait
server=$(cat pid)
kill "$server"
