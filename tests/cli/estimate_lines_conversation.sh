#!/bin/sh
# A program that asks, waits for the answer, and asks again.
. "$DATA/case.sh"
mkfifo questions answers
"$KERF" estimate --lines --cost-model reference <questions >answers &
kerf=$!
exec 3>questions 4<answers
for dp in 1 2 3 4 8; do
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":'$dp',"tp1":4,"pp":8}}' >&3
    read -r answer <&4
    echo "$dp: $(echo "$answer" | cut -c 1-60)"
done
echo "half a request is not answered, two at once are"
printf '{"model":"gpt3","system":"h200"' >&3
sleep 0.1
printf ',"global_batch":512,"layout":{}}\n{}\n' >&3
read -r answer <&4
echo "$answer" | cut -c 1-60
read -r answer <&4
echo "$answer"
exec 3>&-
wait $kerf
echo "exit $?"
