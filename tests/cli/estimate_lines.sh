#!/bin/sh
# A stream of requests: one answer a line, whatever the line says.
. "$DATA/case.sh"
layout='"layout":{"dp":2,"tp1":8,"tp2":1,"pp":64,"micro_batch":1,"summa_blocks":0,"scale_up":{"tp1":4,"tp2":1,"dp":1,"pp":1}}'
short='"layout":{"dp":2,"tp1":8,"pp":64,"scale_up":{"tp1":4}}'
many() { head -c "$2" /dev/zero | tr '\0' "$1"; }
# What the answers on standard input are: the rate and the memory, or the error.
brief() {
    json_lines | awk -F= '
        { at = $1; sub(/:.*/, "", at); at += 0; key = $1; sub(/^[^:]*:/, "", key) }
        key == "throughput" || key == "memory_bytes" || key == "fits" { line[at] = line[at] " " $2; last = at; next }
        key == "error.message" { sub(/^[^=]*=/, ""); line[at] = " " $0; last = at; next }
        /not JSON/ { print }
        END { for (i = 1; i <= last; i++) print i ":" line[i] }'
}
lines() {
    "$KERF" estimate --lines --cost-model reference "$@" >answers
    echo "exit $?"
    brief <answers
}

echo "== the request of the issue, all of its answer"
echo '{"model":"gpt3_1t","system":"a100","scale_up_size":4,"strategy":"1d","gpus":1024,"global_batch":4096,"seq_length":2048,'"$layout}" |
    "$KERF" estimate --lines >answers
json_lines <answers
echo "== layers"
echo '{"model":"gpt3_1t","system":"a100","global_batch":4096,"layers":true,'"$short}" | "$KERF" estimate --lines |
    json_lines | sed -n '/layers/s/1:layers.//p' | grep -e 'mlp\[0\]' -e name

echo "== what may be left out, and what may be said"
cat >model.json <<END
{"name": "mine", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 8, "num_attention_heads": 16}
END
"$KERF" systems a100 >system.json
model=$(cat model.json)
system=$(tr -d '\n' <system.json)
lines <<END
{"model":"gpt3_1t","system":"a100","global_batch":4096,$short}
{"model":"gpt3_1t","system":"a100","global_batch":4096,$short,"seq_length":2048,"strategy":"1d","gpus":1024,"scale_up_size":4}
{"model":"gpt3_1t","system":$system,"global_batch":4096,$short}
{"model":"gpt3_1t","system":"system.json","global_batch":4096,$short}
{"model":"gpt3_1t","system":"a100","global_batch":4096,$short,"cost_model":"reference","layers":false}
{"model":"gpt3_1t","system":"a100","global_batch":4096,$short,"attention":"unfused"}
{"model":"gpt3","system":"a100","global_batch":512,"layout":{}}
{"model":$model,"system":"a100","global_batch":64,"seq_length":1024,"layout":{"dp":8}}
{"model":"model.json","system":"a100","global_batch":64,"seq_length":1024,"layout":{"dp":8}}
END

echo "== bad requests between good ones"
{
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":2,"tp1":4,"pp":8}}'
    echo 'hello'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":2,"tp1":4,"pp":8}'
    echo '[]'
    echo '{}'
    echo '{"model":"gpt3"}'
    echo '{"model":"gpt5","system":"h200","global_batch":512,"layout":{}}'
    echo '{"model":"gpt3","system":"h20","global_batch":512,"layout":{}}'
    echo '{"model":"none.json","system":"h200","global_batch":512,"layout":{}}'
    echo '{"model":{"hidden_size":0},"system":"h200","global_batch":512,"layout":{}}'
    echo '{"model":"gpt3","system":{"name":"x"},"global_batch":512,"layout":{}}'
    echo '{"model":7,"system":"h200","global_batch":512,"layout":{}}'
    echo '{"model":"gpt3","system":"h200","global_batch":0,"layout":{}}'
    echo '{"model":"gpt3","system":"h200","global_batch":1e30,"layout":{}}'
    echo '{"model":"gpt3","system":"h200","globl_batch":512,"layout":{}}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"tp":4}}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"scale_up":{"tp":4}}}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":"dp=4"}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":"4"}}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"global_batch":512,"layout":{}}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":5}}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":2},"gpus":3}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{},"strategy":"2d"}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{},"attention":"summa"}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{},"cost_model":"refernce"}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{},"layers":1}'
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{},"scale_up_size":0}'
    echo "{\"model\":$model,\"system\":\"a100\",\"global_batch\":64,\"layout\":{\"dp\":8}}"
    printf '{"model":"gpt3\377","system":"h200","global_batch":512,"layout":{}}\n'
    printf '{"model":"gpt3\0","system":"h200","global_batch":512,"layout":{}}\n'
    printf '\0\n'
    many '[' 100000 && echo
    echo '{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":2,"tp1":4,"pp":8}}'
} | lines

echo "== empty lines ask nothing; CRLF; no end of the last line"
good='{"model":"gpt3","system":"h200","global_batch":512,"layout":{"dp":2,"tp1":4,"pp":8}}'
printf '\n\n  \t \r\n%s\r\n\r\n%s' "$good" "$good" | lines
printf '' | lines
printf 'x' | lines
echo "== a line as long as may be, and longer ones: 1 MiB, 1 MiB + 1, 3 MiB"
{
    printf '%s' "$good" && many ' ' $((1048576 - ${#good})) && echo
    printf '%s' "$good" && many ' ' $((1048577 - ${#good})) && echo
    many x 3145728 && echo
    echo "$good"
    many y 2000000
} | lines
echo "== the line numbers go on after them"
{ many x 3145728 && printf '\n\n{\n'; } | lines

echo "== options"
echo "$good" | lines --cost-model reference
refused estimate --lines --cost-model refernce
refused estimate --lines gpt3
refused estimate --lines --format json
refused estimate --lines -b 4
