#!/bin/sh
# kerf schedule --plan: the pipeline of a plan as a schedule, beside others, and what is wrong in the file or beside it.
. "$DATA/case.sh"
looped='"schedule":"interleaved_1f1b","devices":2,"chunks":2,"microbatches":4,"p2p":0.25'
looped="$looped,\"forward\":[1,1,1,1.5],\"backward\":[2,2,2,3],\"backward_input\":[1,1,1,1.5],\"backward_weight\":[1,1,1,1.5]"
looped="$looped,\"activation_bytes\":[1e9,2e9,1e9,2e9],\"makespan_s\":34.5"
plain='"schedule":"1f1b","devices":3,"chunks":1,"microbatches":4'
plain="$plain,\"forward\":[1,1,1],\"backward_input\":[1,1,1],\"backward_weight\":[1,1,1],\"activation_bytes\":[1e9,1e9,1e9]"
plans() { # the plans of a search
    printf '{"kerf":"0.2.0","searches":[{"model":"a","plans":[]},{"model":"b","plans":[%s]}]}\n' "$1"
}
first="{\"rank\":1,\"step_time_s\":40,\"pipeline_s\":34.5,\"pipeline\":{$looped}}"
second="{\"rank\":2,\"step_time_s\":41,\"pipeline_s\":18,\"pipeline\":{$plain}}"
third='{"rank":3,"step_time_s":42}'
plans "$first,$second,$third" >plan.json
printf '{"kerf":"0.2.0","step_time_s":41,"pipeline":{%s}}\n' "$plain" >estimate.json

echo "== the plan's schedule"
ask schedule --plan plan.json
ask schedule --plan plan.json --rank 2 --no-ops
ask schedule --plan estimate.json --no-ops
"$KERF" schedule --plan plan.json --no-ops --format json | json
"$KERF" schedule --plan - --format csv <plan.json | head -3
"$KERF" schedule --plan plan.json -o plan.svg && head -c 4 plan.svg && echo

echo "== beside others"
ask schedule --plan plan.json --compare looped_bfs,zb_v,zb_h1,seq1f1b
ask schedule --plan plan.json --compare interleaved_zb,seq1f1b,chimera --group 4 --slices 8 --replicas 6
"$KERF" schedule --plan plan.json --compare zb_h1,dualpipe_v,best --search-steps 100000 --no-ops --format json |
    json | grep -E '^(makespan_s|schedule|stages|compared\[[01]\]\.(stages|makespan_s)|compared.*schedule|refused.*)='
"$KERF" schedule --plan estimate.json --compare interleaved_1f1b,zb_v --no-ops --format json |
    json | grep -E '^(makespan_s|schedule|compared\[[0-9]\]\.(schedule|stages)|refused.*)='

echo "== a plan that says something else"
sed 's/34.5/33/g' plan.json >other.json
"$KERF" schedule --plan other.json --format csv 2>&1 >/dev/null

echo "== the same file as times"
printf '{%s}' "$looped" >times.json
"$KERF" schedule interleaved_1f1b -p 2 -m 4 --chunks 2 --times times.json --no-ops --format json >direct.json
"$KERF" schedule --plan plan.json --no-ops --format json | cmp - direct.json && echo same

echo "== refused beside --plan"
refused schedule --plan plan.json 1f1b
refused schedule fit traces --plan plan.json
refused schedule --plan plan.json --devices 4
refused schedule --plan plan.json --times times.json
refused schedule --plan plan.json --p2p 1
refused schedule --plan plan.json --memory-cap 4
refused schedule --plan plan.json --search-steps 1000
refused schedule --plan plan.json --compare 1f2b
refused schedule --plan plan.json --compare 1f1b,
refused schedule --plan plan.json --rank 0
refused schedule 1f1b -p 2 -m 4 --rank 2
refused schedule --plan plan.json --compare zb_h1 --format torch

echo "== refused in the file"
refused schedule --plan nowhere.json
refused schedule --plan plan.json --rank 4
refused schedule --plan plan.json --rank 3
refused schedule --plan estimate.json --rank 2
wrong() { # a plan with something else in its pipeline
    printf '{"step_time_s":1,"pipeline":{%s}}' "$(echo "$plain" | sed "$1")" >wrong.json
    refused schedule --plan wrong.json
}
wrong 's/"1f1b"/"1f2b"/'
wrong 's/"1f1b"/"zb_v"/'
wrong 's/"1f1b"/17/'
wrong "s/1f1b/$(printf '%0999d' 0)/"
wrong 's/"devices":3/"devices":1e30/'
wrong 's/"devices":3/"devices":4/'
wrong 's/"chunks":1/"chunks":0/'
wrong 's/"chunks":1/"chunks":2/'
wrong 's/"microbatches":4/"microbatches":4.5/'
wrong 's/"microbatches":4,//'
wrong 's/"forward":\[1,1,1\]/"forward":[1,1]/'
wrong 's/"forward":\[1,1,1\]/"forward":[1,-1,1]/'
wrong 's/"forward":\[1,1,1\]/"forward":[1,"x",1]/'
wrong 's/"forward":\[1,1,1\]/"forward":[1,1e16,1]/'
wrong 's/"forward":\[1,1,1\]/"forward":7/'
wrong 's/"forward":/"forwards":/'
wrong 's/"activation_bytes":[^]]*]/"p2p":null/'
wrong 's/"backward_input":/"backward":[2,2,3],"backward_input":/'
for text in '' '[]' '{}' '{"searches":7}' '{"searches":[]}' '{"searches":[7,{"plans":{}},{"plans":[]}]}' \
    '{"searches":[{"plans":[7]}]}' '{"step_time_s":1,"pipeline":[]}' '{"step_time_s":1,"pipeline":null}' \
    '{"searches":[{"plans":[{}]},{"plans":[{}]}]}' '{"searches":[{"plans":[{"pipeline":{}}]}]}'; do
    printf '%s' "$text" >wrong.json
    refused schedule --plan wrong.json
done
{
    printf '{"searches":[\n {"plans":[\n  {},\n  {"pipeline":{%s,\n   "forward":0}}]}]}' "$(echo "$plain" | sed 's/"forward":[^]]*],//')"
} >wrong.json
refused schedule --plan wrong.json --rank 2
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "{\"searches\":[" }' >wrong.json
refused schedule --plan wrong.json

echo "== what is taken in parts and freed in others leaves nothing, and is drawn"
printf '{"kerf":"0.2.0","step_time_s":41,"pipeline":{%s}}\n' \
    "$(echo "$plain" | sed 's/"microbatches":4/"microbatches":32/; s/"activation_bytes":.*/"activation_bytes":[2139835403.0281882,2751216946.750528,2175779581.675228]/')" >rounding.json
"$KERF" schedule --plan rounding.json -o rounding.svg >/dev/null && echo drawn
