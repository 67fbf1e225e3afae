# shellcheck shell=bash
# Completion of kerf 0.2.0 in bash: source this file.

# Offers those of the given words that go on from what was typed, and no files.
_kerf_words() {
    local word
    compopt +o bashdefault +o default 2>/dev/null # bash 3.2 has no compopt and offers files as well
    for word in "$@"; do
        if [[ $word == "$current"* ]]; then COMPREPLY+=("$prefix$word"); fi
    done
}

# Offers the names of a kind that kerf lists. Where none goes on from what was typed, bash offers files.
_kerf_names() {
    local line kerf=${COMP_WORDS[0]}
    local -a server=()
    if [[ $kerf == '~/'* ]]; then kerf=$HOME/${kerf:2}; fi
    if [[ $COMP_LINE =~ --server[=\ ]+([^\ ]+) ]]; then server=(--server "${BASH_REMATCH[1]}"); fi
    while read -r line; do
        if [[ $line == "$current"* ]]; then COMPREPLY+=("$prefix$line"); fi
    done < <(
        case $1 in
        (models | systems | stacks) "$kerf" "$1" ;;
        (schedules) "$kerf" schedule --list ;;
        (studies) "$kerf" studies --format csv ;;
        (jobs) "$kerf" jobs list --format csv --timeout 2 ${server[@]+"${server[@]}"} ;;
        esac 2>/dev/null | case $1 in
        (models | systems | stacks) read -r line && while read -r line _; do printf '%s\n' "$line"; done ;;
        (schedules) while read -r line _; do if [[ $line == *: ]]; then printf '%s\n' "${line%:}"; fi; done ;;
        (*) read -r line && while IFS=, read -r line _; do printf '%s\n' "$line"; done ;;
        esac
    )
}

# Does the same for the last one of a list with commas: _kerf_list _kerf_names models.
_kerf_list() {
    if [[ $current == *,* ]]; then
        prefix=$prefix${current%,*},
        current=${current##*,}
    fi
    "$@"
}

_kerf_folders() {
    compopt +o bashdefault +o default -o dirnames 2>/dev/null
}

_kerf() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local prefix='' use='' word i
    local -a uses=()
    COMPREPLY=()

    # --name=value is three words where "=" is in COMP_WORDBREAKS, as it is by default, and else one.
    if [[ $current == '=' ]]; then
        current=''
    elif [[ $previous == '=' ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $current == --*=* ]]; then
        prefix=${current%%=*}=
        previous=${current%%=*}
        current=${current#*=}
    fi

    # the name of a command
    if ((COMP_CWORD == 1)) && [[ $current == -* ]]; then
        _kerf_words --help --version
        return
    elif ((COMP_CWORD == 1)) ||
        [[ ${COMP_WORDS[1]} == help && $current != -* ]]; then
        _kerf_words plan estimate schedule tune bub studies serve open jobs token models systems stacks launch score calibrate explain help
        return
    fi

    # arguments alone, which are files: after --
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then return; fi
    done

    # which use of the command it is
    case ${COMP_WORDS[1]} in
    schedule) uses=(compare fit verify) ;;
    tune) uses=(llama) ;;
    studies) uses=(list show export replay) ;;
    jobs) uses=(list show add next report run delete export backup import) ;;
    token) uses=(add list revoke) ;;
    launch) uses=(read write) ;;
    esac
    for ((i = 2; i < COMP_CWORD; i++)); do
        for word in "${uses[@]}"; do
            if [[ -z $use && ${COMP_WORDS[i]} == "$word" ]]; then use=$word; fi
        done
    done

    # the value of an option
    case "${COMP_WORDS[1]} $previous" in
    'plan --system' | 'plan -s') _kerf_list _kerf_names systems ;;
    'plan --gpus' | 'plan -n') _kerf_words ;;
    'plan --global-batch' | 'plan -b') _kerf_words ;;
    'plan --seq-length') _kerf_words ;;
    'plan --attention') _kerf_words fused unfused recomputed summa ;;
    'plan --set') _kerf_words ;;
    'plan --strategy') _kerf_list _kerf_words hybrid 1d summa seqp all ;;
    'plan --tp') _kerf_words ;;
    'plan --cp') _kerf_words ;;
    'plan --pp') _kerf_words ;;
    'plan --vpp') _kerf_words ;;
    'plan --ep') _kerf_words ;;
    'plan --etp') _kerf_words ;;
    'plan --dp') _kerf_words ;;
    'plan --zero') _kerf_list _kerf_words 0 1 2 3 ;;
    'plan --micro-batch') _kerf_words ;;
    'plan --recompute') _kerf_list _kerf_words none selective full ;;
    'plan --schedules') _kerf_list _kerf_names schedules ;;
    'plan --order') _kerf_list _kerf_words tp-cp-dp-pp tp-cp-pp-dp ;;
    'plan --cp-comm') _kerf_list _kerf_words ring all_gather all_to_all ;;
    'plan --stage-layers') _kerf_words ;;
    'plan --space') _kerf_words default wide ;;
    'plan --for') _kerf_words megatron deepspeed torchtitan nanotron megatron-bridge ;;
    'plan --precision') _kerf_words bf16 fp16 fp8 ;;
    'plan --gradients') _kerf_words fp32 bf16 ;;
    'plan --mtp-layers') _kerf_words ;;
    'plan --stack') _kerf_names stacks ;;
    'plan --calibration') ;;
    'plan --tokens') _kerf_words ;;
    'plan --price') _kerf_words ;;
    'plan --scale-up-size') _kerf_words ;;
    'plan --top') _kerf_words ;;
    'plan --cost-model') _kerf_words analytic reference ;;
    'plan --threads' | 'plan -t') _kerf_words ;;
    'plan --catalogue') _kerf_folders ;;
    'plan --launch') ;;
    'plan --emit') _kerf_words megatron deepspeed torchtitan nanotron megatron-bridge ;;
    'plan --picture') _kerf_words bars front ;;
    'plan --format') _kerf_words table json csv markdown svg png pdf html ;;
    'plan --output' | 'plan -o') ;;
    'estimate --system' | 'estimate -s') _kerf_names systems ;;
    'estimate --layout' | 'estimate -l') _kerf_words ;;
    'estimate --gpus' | 'estimate -n') _kerf_words ;;
    'estimate --global-batch' | 'estimate -b') _kerf_words ;;
    'estimate --seq-length') _kerf_words ;;
    'estimate --attention') _kerf_words fused unfused recomputed summa ;;
    'estimate --set') _kerf_words ;;
    'estimate --strategy') _kerf_words hybrid 1d summa seqp ;;
    'estimate --scale-up-size') _kerf_words ;;
    'estimate --cost-model') _kerf_words analytic reference ;;
    'estimate --precision') _kerf_words bf16 fp16 fp8 ;;
    'estimate --gradients') _kerf_words fp32 bf16 ;;
    'estimate --mtp-layers') _kerf_words ;;
    'estimate --stack') _kerf_names stacks ;;
    'estimate --calibration') ;;
    'estimate --tokens') _kerf_words ;;
    'estimate --price') _kerf_words ;;
    'estimate --catalogue') _kerf_folders ;;
    'estimate --format') _kerf_words table json csv ;;
    'estimate --output' | 'estimate -o') ;;
    'estimate --launch') ;;
    'estimate --emit') _kerf_words megatron deepspeed torchtitan nanotron megatron-bridge ;;
    'schedule --devices' | 'schedule -p') _kerf_words ;;
    'schedule --microbatches' | 'schedule -m') _kerf_words ;;
    'schedule --chunks') _kerf_words ;;
    'schedule --group') _kerf_words ;;
    'schedule --slices') _kerf_words ;;
    'schedule --attention') _kerf_words ;;
    'schedule --slice-cut') _kerf_words balanced equal exchanged ;;
    'schedule --replicas') _kerf_words ;;
    'schedule --forward') _kerf_words ;;
    'schedule --backward') _kerf_words ;;
    'schedule --backward-input') _kerf_words ;;
    'schedule --backward-weight') _kerf_words ;;
    'schedule --fused') _kerf_words ;;
    'schedule --p2p') _kerf_words ;;
    'schedule --times') ;;
    'schedule --memory-cap') _kerf_words ;;
    'schedule --free-at') _kerf_words w b ;;
    'schedule --send') _kerf_words asynchronous blocking ;;
    'schedule --link') _kerf_words own shared ;;
    'schedule --recompute') _kerf_words ;;
    'schedule --recompute-time') _kerf_words ;;
    'schedule --offload') _kerf_words ;;
    'schedule --offload-time') _kerf_words ;;
    'schedule --host-link') _kerf_words own shared ;;
    'schedule --overhead') _kerf_words ;;
    'schedule --optimizer') _kerf_words ;;
    'schedule --optimizer-step') _kerf_words synchronised unsynchronised ;;
    'schedule --objective') _kerf_words step makespan span ;;
    'schedule --placement') _kerf_words any loop v both ;;
    'schedule --search-time') _kerf_words ;;
    'schedule --search-steps') _kerf_words ;;
    'schedule --threads' | 'schedule -t') _kerf_words ;;
    'schedule --jitter') _kerf_words ;;
    'schedule --straggler') _kerf_words ;;
    'schedule --slow-link') _kerf_words ;;
    'schedule --rank-by') _kerf_words none p95 ;;
    'schedule --trace') _kerf_folders ;;
    'schedule --trace-step') _kerf_words ;;
    'schedule --plan') ;;
    'schedule --rank') _kerf_words ;;
    'schedule --compare') _kerf_list _kerf_names schedules ;;
    'schedule --certificate') ;;
    'schedule --from') _kerf_words ;;
    'schedule --to') _kerf_words ;;
    'schedule --format') _kerf_words table json csv torch torch-comms text chrome svg png pdf html ;;
    'schedule --recv') _kerf_words early late ;;
    'schedule --output' | 'schedule -o') ;;
    'tune --param') _kerf_words ;;
    'tune --where' | 'tune -w') _kerf_words ;;
    'tune --subject-to') _kerf_words ;;
    'tune --pareto') _kerf_words ;;
    'tune --default' | 'tune -d') _kerf_words ;;
    'tune --prefer') _kerf_words ;;
    'tune --within') _kerf_words ;;
    'tune --margin') _kerf_words ;;
    'tune --confidence') _kerf_words ;;
    'tune --objective') _kerf_words wall cpu memory value regex: json: prompt generate generate-cpu serve serve-cpu ;;
    'tune --protocol') _kerf_words exit lines worker llama-bench bench ;;
    'tune --policy') _kerf_words kerf race exhaustive random halving best_bub null ;;
    'tune --warmup') _kerf_words ;;
    'tune --prepare') _kerf_words ;;
    'tune --cleanup') _kerf_words ;;
    'tune --budget') _kerf_words ;;
    'tune --max-observations') _kerf_words ;;
    'tune --load-timeout') _kerf_words ;;
    'tune --trial-timeout') _kerf_words ;;
    'tune --memory-cap') _kerf_words ;;
    'tune --interference') _kerf_words remeasure ignore ;;
    'tune --patience') _kerf_words ;;
    'tune --slots') _kerf_words ;;
    'tune --launcher') _kerf_words ;;
    'tune --seed') _kerf_words ;;
    'tune --context' | 'tune -c') _kerf_words ;;
    'tune --tokens') _kerf_words ;;
    'tune --depth') _kerf_words ;;
    'tune --sequences') _kerf_words ;;
    'tune --clients') _kerf_words ;;
    'tune --requests') _kerf_words ;;
    'tune --prompts') _kerf_words ;;
    'tune --outputs') _kerf_words ;;
    'tune --threads' | 'tune -t') _kerf_words ;;
    'tune --gpu-layers') _kerf_words ;;
    'tune --logits') _kerf_words all last ;;
    'tune --tune') _kerf_words ;;
    'tune --study') _kerf_words ;;
    'tune --key-env') _kerf_words ;;
    'tune --format' | 'tune -f') _kerf_words table json csv markdown ;;
    'tune --slice') _kerf_words ;;
    'tune --output' | 'tune -o') ;;
    'bub --model') ;;
    'bub --context-size') _kerf_words ;;
    'bub --n-gpu-layers') _kerf_words ;;
    'bub --threads') _kerf_words ;;
    'bub --max-trials') _kerf_words ;;
    'bub --chunks') _kerf_words ;;
    'bub --verbosity') _kerf_words DEBUG INFO WARNING ERROR CRITICAL ;;
    'bub --temp') _kerf_words ;;
    'bub --top-k') _kerf_words ;;
    'bub --top-p') _kerf_words ;;
    'bub --min-p') _kerf_words ;;
    'bub --seed') _kerf_words ;;
    'bub --repeat-last-n') _kerf_words ;;
    'bub --repeat-penalty') _kerf_words ;;
    'bub --presence-penalty') _kerf_words ;;
    'bub --frequency-penalty') _kerf_words ;;
    'bub --dynatemp-range') _kerf_words ;;
    'bub --dynatemp-exp') _kerf_words ;;
    'bub --mirostat') _kerf_words ;;
    'bub --mirostat-lr') _kerf_words ;;
    'bub --mirostat-ent') _kerf_words ;;
    'bub --interference') _kerf_words remeasure ignore ;;
    'bub --format' | 'bub -f') _kerf_words table json csv markdown ;;
    'bub --output' | 'bub -o') ;;
    'studies --policy') _kerf_words kerf race exhaustive random halving best_bub null ;;
    'studies --format' | 'studies -f') _kerf_words table json csv markdown ;;
    'studies --slice') _kerf_words ;;
    'studies --output' | 'studies -o') ;;
    'serve --listen') _kerf_words ;;
    'serve --store') ;;
    'serve --allow-host') _kerf_words ;;
    'serve --allow-origin') _kerf_words ;;
    'serve --tls-cert') ;;
    'serve --tls-key') ;;
    'serve --import-zeus') ;;
    'serve --compat') _kerf_words none zeus ;;
    'serve --keep-trials') _kerf_words ;;
    'serve --log') _kerf_words text json ;;
    'serve --threads' | 'serve -t') _kerf_words ;;
    'serve --connections') _kerf_words ;;
    'serve --connections-per-address') _kerf_words ;;
    'serve --rate') _kerf_words ;;
    'serve --cache') _kerf_words ;;
    'serve --compute-limit') _kerf_words ;;
    'serve --idle-timeout') _kerf_words ;;
    'serve --request-timeout') _kerf_words ;;
    'serve --write-timeout') _kerf_words ;;
    'open --listen') _kerf_words ;;
    'open --store') ;;
    'jobs --server') _kerf_words ;;
    'jobs --ca') ;;
    'jobs --token') _kerf_words ;;
    'jobs --timeout') _kerf_words ;;
    'jobs --format') _kerf_words table json csv ;;
    'jobs --output' | 'jobs -o') ;;
    'jobs --batch-size') _kerf_words ;;
    'jobs --trial') _kerf_words ;;
    'jobs --time') _kerf_words ;;
    'jobs --energy') _kerf_words ;;
    'jobs --metric') _kerf_words ;;
    'jobs --epoch') _kerf_words ;;
    'jobs --store') ;;
    'jobs --limit') _kerf_words ;;
    'jobs --metric-regex') _kerf_words ;;
    'jobs --epoch-regex') _kerf_words ;;
    'jobs --meter') _kerf_words auto nvml rapl ;;
    'jobs --gpus') _kerf_words ;;
    'jobs --power') _kerf_words ;;
    'jobs --grace') _kerf_words ;;
    'token --store') ;;
    'token --role') _kerf_words read write admin ;;
    'token --expires') _kerf_words ;;
    'token --format') _kerf_words table json ;;
    'models --format') _kerf_words table json ;;
    'models --seq-length') _kerf_words ;;
    'models --system' | 'models -s') _kerf_names systems ;;
    'models --tp') _kerf_words ;;
    'models --ep') _kerf_words ;;
    'models --etp') _kerf_words ;;
    'models --micro-batch') _kerf_words ;;
    'models --precision') _kerf_words bf16 fp16 fp8 ;;
    'models --catalogue') _kerf_folders ;;
    'systems --format') _kerf_words table json ;;
    'systems --catalogue') _kerf_folders ;;
    'stacks --format') _kerf_words table json ;;
    'stacks --catalogue') _kerf_folders ;;
    'launch --framework') _kerf_words megatron megatron-deepspeed torchtitan nanotron deepspeed-hf mlperf-nemo megatron-bridge ;;
    'launch --framework-version') _kerf_words ;;
    'launch --gpus' | 'launch -n') _kerf_words ;;
    'launch --format' | 'launch -f') _kerf_words table json ;;
    'launch --plan') ;;
    'launch --rank') _kerf_words ;;
    'launch --output' | 'launch -o') ;;
    'score --by') _kerf_words set gpu gpus framework model precision system stack ;;
    'score --stack') _kerf_names stacks ;;
    'score --calibration') ;;
    'score --worst') _kerf_words ;;
    'score --predictions') ;;
    'score --format') _kerf_words table json csv markdown ;;
    'score --output' | 'score -o') ;;
    'calibrate --system' | 'calibrate -s') _kerf_names systems ;;
    'calibrate --stack') _kerf_names stacks ;;
    'calibrate --calibration') ;;
    'calibrate --without-set') _kerf_words ;;
    'calibrate --folds') _kerf_words ;;
    'calibrate --log') ;;
    'calibrate --launch') ;;
    'calibrate --model' | 'calibrate -m') _kerf_names models ;;
    'calibrate --layout' | 'calibrate -l') _kerf_words ;;
    'calibrate --gpus' | 'calibrate -n') _kerf_words ;;
    'calibrate --global-batch' | 'calibrate -b') _kerf_words ;;
    'calibrate --seq-length') _kerf_words ;;
    'calibrate --precision') _kerf_words bf16 fp16 fp8 ;;
    'calibrate --gradients') _kerf_words fp32 bf16 ;;
    'calibrate --mtp-layers') _kerf_words ;;
    'calibrate --predictions') ;;
    'calibrate --output' | 'calibrate -o') ;;
    'explain --launch') ;;
    'explain --model' | 'explain -m') _kerf_names models ;;
    'explain --layout' | 'explain -l') _kerf_words ;;
    'explain --gpus' | 'explain -n') _kerf_words ;;
    'explain --global-batch' | 'explain -b') _kerf_words ;;
    'explain --seq-length') _kerf_words ;;
    'explain --precision') _kerf_words bf16 fp16 fp8 ;;
    'explain --gradients') _kerf_words fp32 bf16 ;;
    'explain --mtp-layers') _kerf_words ;;
    'explain --system' | 'explain -s') _kerf_names systems ;;
    'explain --stack') _kerf_names stacks ;;
    'explain --calibration') ;;
    'explain --format') _kerf_words table json ;;
    'help --completion') _kerf_words bash zsh fish ;;
    *)
        # the name of an option, or of a use
        case "${COMP_WORDS[1]} $use $current" in
        'plan  -'*) _kerf_words --system --gpus --global-batch --seq-length --attention --set --strategy --tp --cp --pp --vpp --ep --etp --dp --zero --micro-batch --recompute --schedules --order --cp-comm --stage-layers --space --for --safe --exhaustive --precision --gradients --mtp-layers --stack --calibration --tokens --price --scale-up-size --top --cost-model --why --threads --catalogue --launch --emit --picture --format --output --help ;;
        'estimate  -'*) _kerf_words --system --layout --gpus --global-batch --seq-length --attention --set --strategy --scale-up-size --cost-model --precision --gradients --mtp-layers --stack --calibration --tokens --price --layers --catalogue --format --output --launch --emit --lines --help ;;
        'schedule compare -'*) _kerf_words --devices --microbatches --chunks --group --slices --attention --slice-cut --replicas --forward --backward --backward-input --backward-weight --fused --p2p --times --memory-cap --free-at --send --link --recompute --recompute-time --offload --offload-time --host-link --overhead --optimizer --optimizer-step --objective --placement --search-time --search-steps --threads --jitter --straggler --slow-link --memory-frontier --rank-by --trace --trace-step --no-ops --certificate --from --to --list --format --recv --output --help ;;
        'schedule fit -'*) _kerf_words --group --slices --replicas --objective --placement --search-time --search-steps --threads --trace-step --certificate --list --format --output --help ;;
        'schedule verify -'*) _kerf_words --group --slices --replicas --objective --placement --search-time --search-steps --threads --certificate --list --format --output --help ;;
        'schedule  -'*) _kerf_words --devices --microbatches --chunks --group --slices --attention --slice-cut --replicas --forward --backward --backward-input --backward-weight --fused --p2p --times --memory-cap --free-at --send --link --recompute --recompute-time --offload --offload-time --host-link --overhead --optimizer --optimizer-step --objective --placement --search-time --search-steps --threads --jitter --straggler --slow-link --trace --trace-step --plan --rank --compare --no-ops --certificate --from --to --list --format --recv --output --help ;;
        'tune llama -'*) _kerf_words --param --where --subject-to --pareto --default --prefer --within --margin --confidence --objective --policy --warmup --prepare --cleanup --budget --max-observations --load-timeout --trial-timeout --memory-cap --interference --patience --slots --launcher --seed --context --tokens --depth --sequences --clients --requests --prompts --outputs --threads --gpu-layers --logits --tune --conform-to-imatrix --study --resume --fresh --key-env --no-journal --show-output --format --slice --output --help ;;
        'tune  -'*) _kerf_words --param --where --subject-to --pareto --default --prefer --within --margin --confidence --objective --minimize --maximize --protocol --policy --warmup --prepare --cleanup --budget --max-observations --load-timeout --trial-timeout --memory-cap --interference --patience --slots --launcher --seed --study --resume --fresh --key-env --no-journal --show-output --format --slice --output --help ;;
        'bub  -'*) _kerf_words --model --context-size --n-gpu-layers --threads --max-trials --chunks --conform-to-imatrix --verbosity --temp --top-k --top-p --min-p --seed --repeat-last-n --repeat-penalty --presence-penalty --frequency-penalty --dynatemp-range --dynatemp-exp --mirostat --mirostat-lr --mirostat-ent --interference --format --output --help ;;
        'studies list -'*) _kerf_words --format --output --help ;;
        'studies show -'*) _kerf_words --format --slice --output --help ;;
        'studies export -'*) _kerf_words --format --output --help ;;
        'studies replay -'*) _kerf_words --policy --format --output --help ;;
        'studies  -'*) _kerf_words --format --output --help ;;
        'serve  -'*) _kerf_words --listen --store --allow-host --allow-origin --tls-cert --tls-key --import-zeus --tokens --compat --keep-trials --log --log-requests --threads --connections --connections-per-address --rate --cache --compute-limit --idle-timeout --request-timeout --write-timeout --help ;;
        'open  -'*) _kerf_words --listen --store --no-browser --help ;;
        'jobs list -'*) _kerf_words --server --ca --token --timeout --format --output --limit --help ;;
        'jobs show -'*) _kerf_words --server --ca --token --timeout --format --output --limit --help ;;
        'jobs add -'*) _kerf_words --server --ca --token --timeout --format --help ;;
        'jobs next -'*) _kerf_words --server --ca --token --timeout --format --help ;;
        'jobs report -'*) _kerf_words --server --ca --token --timeout --format --batch-size --trial --time --energy --metric --epoch --help ;;
        'jobs run -'*) _kerf_words --server --ca --token --timeout --metric-regex --epoch-regex --meter --gpus --power --grace --help ;;
        'jobs delete -'*) _kerf_words --server --ca --token --timeout --help ;;
        'jobs export -'*) _kerf_words --server --ca --token --timeout --all --limit --help ;;
        'jobs backup -'*) _kerf_words --store --force --help ;;
        'jobs import -'*) _kerf_words --store --create --help ;;
        'jobs  -'*) _kerf_words --help ;;
        'token add -'*) _kerf_words --store --create --role --expires --format --help ;;
        'token list -'*) _kerf_words --store --format --help ;;
        'token revoke -'*) _kerf_words --store --help ;;
        'token  -'*) _kerf_words --store --help ;;
        'models  -'*) _kerf_words --format --seq-length --system --tp --ep --etp --micro-batch --precision --source --catalogue --help ;;
        'systems  -'*) _kerf_words --format --catalogue --help ;;
        'stacks  -'*) _kerf_words --format --catalogue --help ;;
        'launch read -'*) _kerf_words --framework --framework-version --gpus --format --help ;;
        'launch write -'*) _kerf_words --framework-version --plan --rank --output --help ;;
        'launch  -'*) _kerf_words --framework-version --help ;;
        'score  -'*) _kerf_words --by --stack --calibration --worst --predictions --format --output --help ;;
        'calibrate  -'*) _kerf_words --system --stack --calibration --without-set --all --folds --leave-set-out --log --launch --model --layout --gpus --global-batch --seq-length --precision --gradients --mtp-layers --predictions --output --help ;;
        'explain  -'*) _kerf_words --launch --model --layout --gpus --global-batch --seq-length --precision --gradients --mtp-layers --system --stack --calibration --format --help ;;
        'help  -'*) _kerf_words --mdoc --completion --help ;;
        *)
            # an argument, or the name of a use
            case "${COMP_WORDS[1]} $use" in
            'plan ') _kerf_list _kerf_names models ;;
            'estimate ') _kerf_names models ;;
            'schedule compare') _kerf_names schedules ;;
            'schedule fit') _kerf_folders ;;
            'schedule ') _kerf_names schedules ;;
            'studies show') _kerf_names studies ;;
            'studies export') _kerf_names studies ;;
            'studies replay') _kerf_names studies ;;
            'jobs show') _kerf_names jobs ;;
            'jobs next') _kerf_names jobs ;;
            'jobs report') _kerf_names jobs ;;
            'jobs run') _kerf_names jobs ;;
            'jobs delete') _kerf_names jobs ;;
            'jobs export') _kerf_names jobs ;;
            'models ') _kerf_names models ;;
            'systems ') _kerf_names systems ;;
            'stacks ') _kerf_names stacks ;;
            'launch write') _kerf_words megatron deepspeed torchtitan nanotron megatron-bridge ;;
            esac
            if ((COMP_CWORD == 2 && ${#uses[@]} > 0)); then
                for word in "${uses[@]}"; do
                    if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
                done
            fi
            ;;
        esac
        ;;
    esac
}

complete -o bashdefault -o default -F _kerf kerf
