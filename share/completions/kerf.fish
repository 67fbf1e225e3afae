# Completion of kerf 0.2.0 in fish: kerf.fish in a folder for completions.

# The uses of a command that are typed.
function __kerf_uses
    switch $argv[1]
        case schedule
            printf '%s\n' compare fit verify
        case tune
            printf '%s\n' llama
        case studies
            printf '%s\n' list show export replay
        case jobs
            printf '%s\n' list show add next report run delete export backup import
        case token
            printf '%s\n' add list revoke
        case launch
            printf '%s\n' read write
    end
end

# Whether the command, and one of the uses if any are named, was typed; '' is no use.
function __kerf_at
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]; or return 1
    set -e words[1..2]
    contains -- -- $words; and return 1
    test (count $argv) -eq 1; and return 0
    set -l use ''
    set -l uses (__kerf_uses $argv[1])
    for word in $words
        if contains -- $word $uses
            set use $word
            break
        end
    end
    contains -- "$use" $argv[2..-1]
end

# Whether a program's command line is typed, after --.
function __kerf_program
    contains -- -- (commandline -opc)
end

# The names of a kind that kerf lists.
function __kerf_names
    set -l words (commandline -opc)
    set -l kerf (string replace -r '^~' $HOME -- $words[1])
    switch $argv[1]
        case models systems stacks
            $kerf $argv[1] 2>/dev/null | string match -rg '^(\S+)' | tail -n +2
        case schedules
            $kerf schedule --list 2>/dev/null | string match -rg '^(\w+):'
        case studies
            $kerf studies --format csv 2>/dev/null | string match -rg '^([^,]+)' | tail -n +2
        case jobs
            set -l server (string match -rg -- '--server[= ]+(\S+)' (commandline -p | string collect))
            if set -q server[1]
                set server --server $server[1]
            end
            $kerf jobs list --format csv --timeout 2 $server 2>/dev/null | string match -rg '^([^,]+)' | tail -n +2
    end
end

# Words behind what was typed of a list with commas.
function __kerf_list
    set -l typed (commandline -ct | string replace -r '^--[^=]*=' '' | string replace -r '[^,]*$' '')
    for name in $argv
        echo $typed$name
    end
end

complete -c kerf -f
complete -c kerf -n __kerf_program -F
complete -c kerf -s h -l help -d 'Print help'
complete -c kerf -n __fish_use_subcommand -l version -d 'Print the version'
complete -c kerf -n __fish_use_subcommand -a plan -d 'the best layouts of a model over N accelerators, by model'
complete -c kerf -n '__kerf_at help' -a plan
complete -c kerf -n __fish_use_subcommand -a estimate -d 'what one layout costs in time and memory, operation by operation'
complete -c kerf -n '__kerf_at help' -a estimate
complete -c kerf -n __fish_use_subcommand -a schedule -d 'what a pipeline schedule costs in time and memory, by simulation'
complete -c kerf -n '__kerf_at help' -a schedule
complete -c kerf -n __fish_use_subcommand -a tune -d 'the fastest setting of a program, found in few runs'
complete -c kerf -n '__kerf_at help' -a tune
complete -c kerf -n __fish_use_subcommand -a bub -d 'batch and ubatch of llama.cpp, with best_bub\'s options'
complete -c kerf -n '__kerf_at help' -a bub
complete -c kerf -n __fish_use_subcommand -a studies -d 'what kerf tune measured, and what it found'
complete -c kerf -n '__kerf_at help' -a studies
complete -c kerf -n __fish_use_subcommand -a serve -d 'which batch size each run of a recurring job uses'
complete -c kerf -n '__kerf_at help' -a serve
complete -c kerf -n __fish_use_subcommand -a open -d 'the page with plans, schedules, studies and jobs, in the browser'
complete -c kerf -n '__kerf_at help' -a open
complete -c kerf -n __fish_use_subcommand -a jobs -d 'jobs, batch sizes and reports of a kerf server'
complete -c kerf -n '__kerf_at help' -a jobs
complete -c kerf -n __fish_use_subcommand -a token -d 'the access tokens of a kerf server'
complete -c kerf -n '__kerf_at help' -a token
complete -c kerf -n __fish_use_subcommand -a models -d 'what kerf reads from a model\'s file'
complete -c kerf -n '__kerf_at help' -a models
complete -c kerf -n __fish_use_subcommand -a systems -d 'the systems that kerf knows by name'
complete -c kerf -n '__kerf_at help' -a systems
complete -c kerf -n __fish_use_subcommand -a stacks -d 'the software stacks that kerf knows by name'
complete -c kerf -n '__kerf_at help' -a stacks
complete -c kerf -n __fish_use_subcommand -a launch -d 'launch scripts: what they say, and new ones for plans'
complete -c kerf -n '__kerf_at help' -a launch
complete -c kerf -n __fish_use_subcommand -a score -d 'predicts measured runs and says how far off it is'
complete -c kerf -n '__kerf_at help' -a score
complete -c kerf -n __fish_use_subcommand -a calibrate -d 'fits the model\'s constants to measured runs'
complete -c kerf -n '__kerf_at help' -a calibrate
complete -c kerf -n __fish_use_subcommand -a explain -d 'what is slower in a measured run than it should be'
complete -c kerf -n '__kerf_at help' -a explain
complete -c kerf -n __fish_use_subcommand -a help -d 'what the commands do, and their options'
complete -c kerf -n '__kerf_at help' -a help

# kerf plan
complete -c kerf -n '__kerf_at plan' -a '(__kerf_list (__kerf_names models))' -F
complete -c kerf -n '__kerf_at plan' -l system -s s -r -a '(__kerf_list (__kerf_names systems))' -F -d 'The hardware: a name from `kerf systems` or a file'
complete -c kerf -n '__kerf_at plan' -l gpus -s n -x -d 'How many accelerators: 1024, a list 256,512, or a range 4..16384:x2 or 64..512:+64'
complete -c kerf -n '__kerf_at plan' -l global-batch -s b -x -d 'Samples in a step of the optimizer'
complete -c kerf -n '__kerf_at plan' -l seq-length -x -d 'Tokens in a sample (default: the model\'s max_position_embeddings)'
complete -c kerf -n '__kerf_at plan' -l attention -x -a 'fused unfused recomputed summa' -d 'How attention is computed (default: fused)'
complete -c kerf -n '__kerf_at plan' -l set -x -d 'Change a field of the system or model, such as scale_up.bandwidth_bytes_per_s=450GB/s; several between commas, or by giving it several times'
complete -c kerf -n '__kerf_at plan' -l strategy -x -a '(__kerf_list hybrid 1d summa seqp all)' -d 'Which family of layouts: hybrid (the default), what frameworks of today have; or 1d, summa, seqp, a list of these three, or all of them, priced by the cost model reference'
complete -c kerf -n '__kerf_at plan' -l tp -x -d 'Only these sizes of tensor parallelism (with sequence parallelism, where above 1)'
complete -c kerf -n '__kerf_at plan' -l cp -x -d 'Only these sizes of context parallelism'
complete -c kerf -n '__kerf_at plan' -l pp -x -d 'Only these numbers of pipeline stages'
complete -c kerf -n '__kerf_at plan' -l vpp -x -d 'Only these numbers of virtual stages of a device'
complete -c kerf -n '__kerf_at plan' -l ep -x -d 'Only these sizes of expert parallelism'
complete -c kerf -n '__kerf_at plan' -l etp -x -d 'Only these sizes of the experts\' tensor parallelism'
complete -c kerf -n '__kerf_at plan' -l dp -x -d 'Only these numbers of replicas'
complete -c kerf -n '__kerf_at plan' -l zero -x -a '(__kerf_list 0 1 2 3)' -d 'Only these ZeRO stages: 0, 1 (optimizer), 2 (+ gradients), 3 (+ weights)'
complete -c kerf -n '__kerf_at plan' -l micro-batch -x -d 'Only these samples of a micro-batch'
complete -c kerf -n '__kerf_at plan' -l recompute -x -a '(__kerf_list none selective full)' -d 'Only these kinds of recomputation: none, selective, full, or full:K, the first K layers of each virtual stage (default: none,selective,full)'
complete -c kerf -n '__kerf_at plan' -l schedules -x -a '(__kerf_list (__kerf_names schedules))' -d 'Only these pipeline schedules, such as 1f1b,zb_h1,zb_v,dualpipe_v; `kerf schedule --list` them (default: 1f1b, and interleaved_1f1b with virtual stages)'
complete -c kerf -n '__kerf_at plan' -l order -x -a '(__kerf_list tp-cp-dp-pp tp-cp-pp-dp)' -d 'How ranks are numbered, tp-cp-dp-pp (the default) or tp-cp-pp-dp: who are neighbours in a scale-up domain'
complete -c kerf -n '__kerf_at plan' -l cp-comm -x -a '(__kerf_list ring all_gather all_to_all)' -d 'How context parallelism communicates: ring, all_gather, all_to_all (default: the cheapest)'
complete -c kerf -n '__kerf_at plan' -l stage-layers -x -d 'Layers of each virtual stage in the order in which a micro-batch goes through them, pp x vpp numbers (default: the split whose slowest device is fastest)'
complete -c kerf -n '__kerf_at plan' -l space -x -a 'default wide' -d 'wide searches every order, schedule, number of recomputed layers, kind of cp communication and ZeRO stage too (docs/space.md)'
complete -c kerf -n '__kerf_at plan' -l for -x -a 'megatron deepspeed torchtitan nanotron megatron-bridge' -d 'Only layouts that this framework can run: megatron, deepspeed, torchtitan, nanotron or megatron-bridge (docs/launch.md)'
complete -c kerf -n '__kerf_at plan' -l safe -d 'Only layouts that run out of memory with a chance of at most 5 %, as predictions of memory are some per cent off'
complete -c kerf -n '__kerf_at plan' -l exhaustive -d 'Price every layout, whatever bounds prove; the answer is the same'
complete -c kerf -n '__kerf_at plan' -l precision -x -a 'bf16 fp16 fp8' -d 'What matrix products are computed in (default: bf16)'
complete -c kerf -n '__kerf_at plan' -l gradients -x -a 'fp32 bf16' -d 'What gradients are kept and reduced in (default: fp32)'
complete -c kerf -n '__kerf_at plan' -l mtp-layers -x -d 'Layers of multi-token prediction that are trained, at most those of the model (default: 0)'
complete -c kerf -n '__kerf_at plan' -l stack -r -a '(__kerf_names stacks)' -F -d 'The software, whose overheads count: a name from `kerf stacks` or a file (default: megatron-core)'
complete -c kerf -n '__kerf_at plan' -l calibration -r -F -d 'Constants of the system and the stack that `kerf calibrate` wrote'
complete -c kerf -n '__kerf_at plan' -l tokens -x -d 'Also say how many days it takes to train on so many tokens: 15T, 300B, 2e12'
complete -c kerf -n '__kerf_at plan' -l price -x -d 'With --tokens, also say what that costs: the price of an accelerator for an hour, in any currency'
complete -c kerf -n '__kerf_at plan' -l scale-up-size -x -d 'Accelerators in a scale-up (NVLink) domain: a number, list or range (default: the system\'s)'
complete -c kerf -n '__kerf_at plan' -l top -x -d 'How many layouts to keep of each search (default: 10)'
complete -c kerf -n '__kerf_at plan' -l cost-model -x -a 'analytic reference' -d 'What prices a layout: analytic for hybrid (the default), reference, the model of arXiv 2410.00273, for 1d, summa and seqp'
complete -c kerf -n '__kerf_at plan' -l why -d 'Also say why the best is the best: against the runner-up, against the best layout with another value of each dimension, and which memory, bandwidth or batch would make another layout win'
complete -c kerf -n '__kerf_at plan' -l threads -s t -x -d 'Threads to search with (default: 0, all processors)'
complete -c kerf -n '__kerf_at plan' -l catalogue -x -a '(__fish_complete_directories)' -d 'Also find names in DIR/models and DIR/systems (default: $KERF_CATALOGUE)'
complete -c kerf -n '__kerf_at plan' -l launch -r -F -d 'The job is that of a launch script or config (kerf help launch): its model, accelerators, batch, sequence length and precision where they are not given'
complete -c kerf -n '__kerf_at plan' -l emit -x -a 'megatron deepspeed torchtitan nanotron megatron-bridge' -d 'Print the launch of the best layout for megatron, deepspeed, torchtitan, nanotron or megatron-bridge; implies --for'
complete -c kerf -n '__kerf_at plan' -l picture -x -a 'bars front' -d 'What pictures show: bars, the best layouts or a sweep (the default), or front, the least time within each memory'
complete -c kerf -n '__kerf_at plan' -l format -x -a 'table json csv markdown svg png pdf html' -d 'What to print on standard output (default: table)'
complete -c kerf -n '__kerf_at plan' -l output -s o -r -F -d 'Write FILE too, in the format of its name: .svg .png .pdf .html draw the answer; .json .csv .md .txt hold it, and are then written instead of standard output, unless --format names another form'

# kerf estimate
complete -c kerf -n '__kerf_at estimate' -a '(__kerf_names models)' -F
complete -c kerf -n '__kerf_at estimate' -l system -s s -r -a '(__kerf_names systems)' -F -d 'The hardware: a name from `kerf systems` or a file'
complete -c kerf -n '__kerf_at estimate' -l layout -s l -x -d 'The layout: tp, cp, pp, vpp, ep, etp, dp, zero, micro_batch, recompute, schedule, order, cp_comm and stage_layers (such as 20/20/21/19), each as NAME=VALUE, between commas; or dp, tp1, tp2, pp, micro_batch, summa_blocks, scale_up.tp1, scale_up.tp2, scale_up.dp and scale_up.pp of 1d, summa and seqp'
complete -c kerf -n '__kerf_at estimate' -l gpus -s n -x -d 'How many accelerators (default: as many as the layout has)'
complete -c kerf -n '__kerf_at estimate' -l global-batch -s b -x -d 'Samples in a step of the optimizer'
complete -c kerf -n '__kerf_at estimate' -l seq-length -x -d 'Tokens in a sample (default: the model\'s max_position_embeddings)'
complete -c kerf -n '__kerf_at estimate' -l attention -x -a 'fused unfused recomputed summa' -d 'How attention is computed (default: fused)'
complete -c kerf -n '__kerf_at estimate' -l set -x -d 'Change a field of the system or model, such as scale_up.bandwidth_bytes_per_s=450GB/s; several between commas, or by giving it several times'
complete -c kerf -n '__kerf_at estimate' -l strategy -x -a 'hybrid 1d summa seqp' -d 'Which family of layouts it is of (default: summa where it has summa_blocks, seqp where tp2 is above 1, 1d where it has tp1, else hybrid)'
complete -c kerf -n '__kerf_at estimate' -l scale-up-size -x -d 'Accelerators in a scale-up (NVLink) domain (default: the system\'s)'
complete -c kerf -n '__kerf_at estimate' -l cost-model -x -a 'analytic reference' -d 'What prices the layout (default: analytic for hybrid layouts, else reference, the model of arXiv 2410.00273)'
complete -c kerf -n '__kerf_at estimate' -l precision -x -a 'bf16 fp16 fp8' -d 'What matrix products are computed in (default: bf16)'
complete -c kerf -n '__kerf_at estimate' -l gradients -x -a 'fp32 bf16' -d 'What gradients are kept and reduced in (default: fp32)'
complete -c kerf -n '__kerf_at estimate' -l mtp-layers -x -d 'Layers of multi-token prediction that are trained, at most those of the model (default: 0)'
complete -c kerf -n '__kerf_at estimate' -l stack -r -a '(__kerf_names stacks)' -F -d 'The software, whose overheads count: a name from `kerf stacks` or a file (default: megatron-core)'
complete -c kerf -n '__kerf_at estimate' -l calibration -r -F -d 'Constants of the system and the stack that `kerf calibrate` wrote'
complete -c kerf -n '__kerf_at estimate' -l tokens -x -d 'Also say how many days it takes to train on so many tokens: 15T, 300B, 2e12'
complete -c kerf -n '__kerf_at estimate' -l price -x -d 'With --tokens, also say what that costs: the price of an accelerator for an hour, in any currency'
complete -c kerf -n '__kerf_at estimate' -l layers -d 'Also the cost of each operation of a layer'
complete -c kerf -n '__kerf_at estimate' -l catalogue -x -a '(__fish_complete_directories)' -d 'Also find names in DIR/models and DIR/systems (default: $KERF_CATALOGUE)'
complete -c kerf -n '__kerf_at estimate' -l format -x -a 'table json csv' -d 'How to print the answer (default: by the name of --output, else table)'
complete -c kerf -n '__kerf_at estimate' -l output -s o -r -F -d 'Write to FILE, in the format of its name - .json .csv .txt - instead of standard output'
complete -c kerf -n '__kerf_at estimate' -l launch -r -F -d 'Price the job of a launch script or config (kerf help launch) instead of MODEL and --layout'
complete -c kerf -n '__kerf_at estimate' -l emit -x -a 'megatron deepspeed torchtitan nanotron megatron-bridge' -d 'Print the launch of the layout for megatron, deepspeed, torchtitan, nanotron or megatron-bridge'
complete -c kerf -n '__kerf_at estimate' -l lines -d 'For programs: read one JSON request a line from standard input and answer each with one line (docs/json.md)'

# kerf schedule
complete -c kerf -n '__kerf_at schedule ""' -a compare
complete -c kerf -n '__kerf_at schedule compare' -a '(__kerf_names schedules)' -F
complete -c kerf -n '__kerf_at schedule ""' -a fit
complete -c kerf -n '__kerf_at schedule fit' -a '(__fish_complete_directories)'
complete -c kerf -n '__kerf_at schedule ""' -a verify
complete -c kerf -n '__kerf_at schedule verify' -F
complete -c kerf -n '__kerf_at schedule ""' -a '(__kerf_names schedules)' -F
complete -c kerf -n '__kerf_at schedule "" compare' -l devices -s p -x -d 'Devices of the pipeline'
complete -c kerf -n '__kerf_at schedule "" compare' -l microbatches -s m -x -d 'Micro-batches of a step; several, such as 8,12 or 8..64:x2, make a sweep'
complete -c kerf -n '__kerf_at schedule "" compare' -l chunks -x -d 'Stages on each device, for schedules that take any number (default: the schedule\'s own; in a comparison 2)'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l group -x -d 'Micro-batches of one chunk before the next chunk\'s turn (default: the number of devices, or more if a short last group would deadlock)'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l slices -x -d 'Parts into which the sequence of each micro-batch is cut (default: 4; of seq1f1b_interleaved and slimpipe as many as devices)'
complete -c kerf -n '__kerf_at schedule "" compare' -l attention -x -d 'Causal attention\'s share of a stage\'s time, such as 30%: the later a slice, the more tokens it attends to'
complete -c kerf -n '__kerf_at schedule "" compare' -l slice-cut -x -a 'balanced equal exchanged' -d 'How slices are cut'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l replicas -x -d 'Copies of the model, an even number: half of them run down the devices, half up (default: 2)'
complete -c kerf -n '__kerf_at schedule "" compare' -l forward -x -d 'A stage\'s forward pass (default: 1s)'
complete -c kerf -n '__kerf_at schedule "" compare' -l backward -x -d 'A stage\'s backward pass of input and weights (default: the sum of its two parts)'
complete -c kerf -n '__kerf_at schedule "" compare' -l backward-input -x -d 'The backward pass of the input only (default: --backward minus --backward-weight, or half of --backward; 1s without --backward)'
complete -c kerf -n '__kerf_at schedule "" compare' -l backward-weight -x -d 'The backward pass of the weights only (default: --backward minus --backward-input, or half of --backward; 1s without --backward)'
complete -c kerf -n '__kerf_at schedule "" compare' -l fused -x -d 'A forward and a backward that run together (default: their sum)'
complete -c kerf -n '__kerf_at schedule "" compare' -l p2p -x -d 'Latency from one device to another (default: 0)'
complete -c kerf -n '__kerf_at schedule "" compare' -l times -r -F -d 'JSON with times by stage: arrays forward, backward, backward_input, backward_weight, fused, and p2p as a number or a matrix of device pairs; - is standard input'
complete -c kerf -n '__kerf_at schedule "" compare' -l memory-cap -x -d 'The activations that a device may hold: micro-batches through all its chunks (8), or bytes (40GB) if --times has activation_bytes'
complete -c kerf -n '__kerf_at schedule "" compare' -l free-at -x -a 'w b' -d 'When activations are freed: by the weights\' backward pass (default: w) or already by the input\'s'
complete -c kerf -n '__kerf_at schedule "" compare' -l send -x -a 'asynchronous blocking' -d 'Whether a sender waits until its message has arrived (default: asynchronous)'
complete -c kerf -n '__kerf_at schedule "" compare' -l link -x -a 'own shared' -d 'own: each message has its own link (default)'
complete -c kerf -n '__kerf_at schedule "" compare' -l recompute -x -d 'The share of the activations, such as 50%, that every F drops and that are computed again right before the backward pass (default: 0, or "recompute" in --times)'
complete -c kerf -n '__kerf_at schedule "" compare' -l recompute-time -x -d 'Recomputing all activations of a stage, a share of them takes this share (default: --forward)'
complete -c kerf -n '__kerf_at schedule "" compare' -l offload -x -d 'The share of the activations not recomputed that is copied to the host after F and back before the backward pass (default: 0, or "offload" in --times)'
complete -c kerf -n '__kerf_at schedule "" compare' -l offload-time -x -d 'Copying all activations of a stage to the host, or back; a share of them takes this share'
complete -c kerf -n '__kerf_at schedule "" compare' -l host-link -x -a 'own shared' -d 'own: the copies of a device go one after the other over a link to the host (default)'
complete -c kerf -n '__kerf_at schedule "" compare' -l overhead -x -d 'Time that is added to every operation, such as its launch (default: 0)'
complete -c kerf -n '__kerf_at schedule "" compare' -l optimizer -x -d 'The optimizer\'s step after the last operation (default: 0)'
complete -c kerf -n '__kerf_at schedule "" compare' -l optimizer-step -x -a 'synchronised unsynchronised' -d 'synchronised: the devices wait for each other before the optimizer\'s step, and a step takes the makespan (default)'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l objective -x -a 'step makespan span' -d 'What the search minimises (default: step, which is the makespan, or with --optimizer-step unsynchronised the span)'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l placement -x -a 'any loop v both' -d 'Which device has which stage: loop, one after the other, starting again with each chunk (default); v, down and back in two chunks; both, in two replicas from both ends, each with its copy of the parameters; or any, the one of these with the shortest step (default in a comparison, not of a memory frontier)'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l search-time -x -d 'How long it may search (default: 1s)'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l search-steps -x -d 'How much it may search, in steps of work instead of time: the answer is then the same on every machine'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l threads -s t -x -d 'Threads to search with (default: 0, all processors)'
complete -c kerf -n '__kerf_at schedule "" compare' -l jitter -x -d 'How much the time of an operation varies: its standard deviation, such as 5% or 0.05 of it (log-normal), or trace for what --trace has measured'
complete -c kerf -n '__kerf_at schedule "" compare' -l straggler -x -d 'A device whose operations take longer than the schedule was made for, such as 3:1.5; may be given several times'
complete -c kerf -n '__kerf_at schedule "" compare' -l slow-link -x -d 'A device whose messages, those that it sends and those that it receives, take longer than the schedule was made for, such as 3:10; may be given several times'
complete -c kerf -n '__kerf_at schedule compare' -l memory-frontier -d 'Show the shortest step for each --memory-cap (default: 1 to 2P micro-batches) of all the schedules (default: best) and of all shares of --recompute and --offload, with its proof or its gap'
complete -c kerf -n '__kerf_at schedule compare' -l rank-by -x -a 'none p95' -d 'Order the rows by the 95th percentile of the step under --jitter, --straggler or --slow-link (default: none, the order in which you name the schedules)'
complete -c kerf -n '__kerf_at schedule "" compare' -l trace -x -a '(__fish_complete_directories)' -d 'A measured run: a folder from Megatron\'s timers or PyTorch\'s profiler, with a file for each rank (.json or .json.gz)'
complete -c kerf -n '__kerf_at schedule "" compare fit' -l trace-step -x -d 'Which of the trace\'s complete steps, from 0 (default: -1, the one of median length)'
complete -c kerf -n '__kerf_at schedule ""' -l plan -r -F -d 'A plan: what `kerf plan --format json` or `kerf estimate --format json` has written'
complete -c kerf -n '__kerf_at schedule ""' -l rank -x -d 'Which of the plans in FILE (default: 1, the best)'
complete -c kerf -n '__kerf_at schedule ""' -l compare -x -a '(__kerf_list (__kerf_names schedules))' -d 'Other schedules with the same times: for schedules with other stages the times are summed or split'
complete -c kerf -n '__kerf_at schedule "" compare' -l no-ops -d 'Leave the operations out of the JSON, and the timeline out of the table'
complete -c kerf -n '__kerf_at schedule "" compare fit verify' -l certificate -r -F -d 'Write a proof of the lower bound, and the order, to FILE, for `kerf schedule verify`'
complete -c kerf -n '__kerf_at schedule "" compare' -l from -x -d 'Draw the timeline from here (default: its start)'
complete -c kerf -n '__kerf_at schedule "" compare' -l to -x -d 'Draw the timeline to here (default: its end)'
complete -c kerf -n '__kerf_at schedule' -l list -d 'Show the schedules with their constraints, bubble and memory'
complete -c kerf -n '__kerf_at schedule' -l format -x -a 'table json csv torch torch-comms text chrome svg png pdf html' -d 'What to print on standard output (default: table)'
complete -c kerf -n '__kerf_at schedule "" compare' -l recv -x -a 'early late' -d 'For torch-comms: early puts receives where PyTorch\'s own lowering puts them (default); late puts them right before the operation that needs them, as PyTorch since January 2026'
complete -c kerf -n '__kerf_at schedule' -l output -s o -r -F -d 'Write FILE too, in the format of its name: .svg .png .pdf .html draw the answer; .json .csv .txt (the table) .sched (the text form) hold it, and are then written instead of standard output, unless --format names another form (.csv and .json as --format says, where that is one)'

# kerf tune
complete -c kerf -n '__kerf_at tune ""' -a llama
complete -c kerf -n '__kerf_at tune llama' -F
complete -c kerf -n '__kerf_at tune' -l param -x -d 'A parameter, used in COMMAND as {NAME}: batch=16..2048:x2 (times 2), threads=1..16, layers=0..32:+8, lr=1e-5..0.1:log9 (nine values from end to end; p=0..1:lin5 with equal steps), kv=f16,q8_0 (a choice), or map?=--no-mmap (a flag: these words or nothing); with a condition, draft=4,8 when map, it has an effect only where that holds'
complete -c kerf -n '__kerf_at tune' -l where -s w -x -d 'A condition on settings: \'ubatch <= batch && batch * seqs < 4096\''
complete -c kerf -n '__kerf_at tune' -l subject-to -x -d 'A limit on a further number of each run: memory <= 8GB, wall <= 90s, cpu, or a path into the JSON that the program prints or a worker answers, such as \'p99_ms <= 50\', with llama \'p95_s <= 2\' or \'ttft_s <= 0.5\''
complete -c kerf -n '__kerf_at tune' -l pareto -x -d 'A second objective, named as in a limit: memory, cpu, p99_ms (less is better), or \'more tokens_per_s\''
complete -c kerf -n '__kerf_at tune' -l default -s d -x -d 'The setting that is used today, such as batch=2048,ubatch=512'
complete -c kerf -n '__kerf_at tune' -l prefer -x -d 'Of the settings within the margin, recommend the first in this order: smaller:ubatch,batch'
complete -c kerf -n '__kerf_at tune' -l within -x -d 'How near the answer must be to the best of all settings (default: 3%)'
complete -c kerf -n '__kerf_at tune' -l margin -x -d 'Settings this near to the best count as equally good, for --prefer and in the list of equivalent settings (default: 5%)'
complete -c kerf -n '__kerf_at tune' -l confidence -x -d 'The probability that the answer must have; also that of the intervals (default: 95%)'
complete -c kerf -n '__kerf_at tune' -l objective -x -a 'wall cpu memory value regex: json: prompt generate generate-cpu serve serve-cpu' -d 'What to minimize (default: wall): wall or cpu (seconds), memory (bytes at the peak), regex:EXPRESSION (its first group, in the last match in the output), json:PATH (in the last JSON value of the output), or value (a worker\'s number that is not a time)'
complete -c kerf -n '__kerf_at tune ""' -l minimize -d 'Less is better (this is the default)'
complete -c kerf -n '__kerf_at tune ""' -l maximize -d 'More is better'
complete -c kerf -n '__kerf_at tune ""' -l protocol -x -a 'exit lines worker llama-bench bench' -d 'How COMMAND is measured (default: exit): exit: from its start to its end; lines: each line of its output is a sample; worker: it is started once, and reads questions on its standard input; llama-bench: by its JSON lines; bench: SERVER -- CLIENT: the server is started once, {port} is a free port, and each run of the client measures it'
complete -c kerf -n '__kerf_at tune' -l policy -x -a 'kerf race exhaustive random halving best_bub null' -d 'What chooses the settings to measure (default: kerf)'
complete -c kerf -n '__kerf_at tune' -l warmup -x -d 'How many measurements at the beginning of each slot are only warm-ups (default: 0)'
complete -c kerf -n '__kerf_at tune' -l prepare -x -d 'A shell command that runs before each measurement and is not measured: \'sync; echo 3 > /proc/sys/vm/drop_caches\', or \'make clean && make N={n}\''
complete -c kerf -n '__kerf_at tune' -l cleanup -x -d 'A shell command like that of --prepare that runs after each measurement, and when kerf is interrupted'
complete -c kerf -n '__kerf_at tune' -l budget -x -d 'Stop after this time in any case, such as 10m (default: never)'
complete -c kerf -n '__kerf_at tune' -l max-observations -x -d 'Stop after this many measurements (default: what the policy finds useful)'
complete -c kerf -n '__kerf_at tune' -l load-timeout -x -d 'How long a worker or a server may take until it is ready, a program until its first line, and --prepare and --cleanup until they end (default: 10m)'
complete -c kerf -n '__kerf_at tune' -l trial-timeout -x -d 'How long one measurement may take after that; a longer one counts as a hang (default: ten times the longest one so far, and at least a minute; an hour for the first)'
complete -c kerf -n '__kerf_at tune' -l memory-cap -x -d 'Memory that a measurement may use with its children, such as 16GiB (default: all there is)'
complete -c kerf -n '__kerf_at tune' -l interference -x -a 'remeasure ignore' -d 'What to do if other programs kept the machine busy: measure again (default), or ignore it'
complete -c kerf -n '__kerf_at tune' -l patience -x -d 'For how long a disturbed measurement is repeated, with longer and longer waits, before the study ends because the machine is too noisy (default: 31s)'
complete -c kerf -n '__kerf_at tune' -l slots -x -d 'Measurements at a time (default: 1), each on its own processors or, with --launcher, on its own machine'
complete -c kerf -n '__kerf_at tune' -l launcher -x -d 'Words before COMMAND that run it on another machine, such as \'srun --exclusive -n1 -N1\''
complete -c kerf -n '__kerf_at tune' -l seed -x -d 'Seed of the random numbers of the policy, and of the shares of what matters in the report (default: 0)'
complete -c kerf -n '__kerf_at tune llama' -l context -s c -x -d 'Tokens of context; a measurement is a prompt of N - 1 tokens'
complete -c kerf -n '__kerf_at tune llama' -l tokens -x -d 'With --objective generate: tokens to generate, of each sequence (default: 32)'
complete -c kerf -n '__kerf_at tune llama' -l depth -x -d 'With --objective generate: tokens of the prompt before them (default: 0)'
complete -c kerf -n '__kerf_at tune llama' -l sequences -x -d 'With --objective generate: sequences at a time (default: 1)'
complete -c kerf -n '__kerf_at tune llama' -l clients -x -d 'With --objective serve: requests at a time (default: 4)'
complete -c kerf -n '__kerf_at tune llama' -l requests -x -d 'With --objective serve: requests of a measurement (default: four for each client)'
complete -c kerf -n '__kerf_at tune llama' -l prompts -x -d 'With --objective serve: tokens of prompts, each as often as the others (default: 32,128,512)'
complete -c kerf -n '__kerf_at tune llama' -l outputs -x -d 'With --objective serve: tokens of answers (default: 16,64)'
complete -c kerf -n '__kerf_at tune llama' -l threads -s t -x -d 'Threads (default: one for each processor)'
complete -c kerf -n '__kerf_at tune llama' -l gpu-layers -x -d 'Layers on devices, -1 for all (default: 0)'
complete -c kerf -n '__kerf_at tune llama' -l logits -x -a 'all last' -d 'Tokens for which logits are computed (default: all, which perplexity and imatrix need; a server\'s prompts only need the last)'
complete -c kerf -n '__kerf_at tune llama' -l tune -x -d 'What to tune in addition to batch and ubatch, separated by commas: threads, gpu_layers, flash_attention, kv_type (which changes the model\'s answers), mmap'
complete -c kerf -n '__kerf_at tune llama' -l conform-to-imatrix -d 'Only settings that llama-imatrix runs as they were measured: batches up to the context, the logits of all tokens'
complete -c kerf -n '__kerf_at tune' -l study -x -d 'The study\'s name in `kerf studies`: up to 63 letters, digits, - _ '
complete -c kerf -n '__kerf_at tune' -l resume -d 'Continue --study NAME, or the newest study'
complete -c kerf -n '__kerf_at tune' -l fresh -d 'Ignore earlier studies of the same command, files and machine'
complete -c kerf -n '__kerf_at tune' -l key-env -x -d 'Environment variables that affect the measurements: an earlier study only counts if they had the same values'
complete -c kerf -n '__kerf_at tune' -l no-journal -d 'Do not write a journal of this study'
complete -c kerf -n '__kerf_at tune' -l show-output -d 'Pass the output of COMMAND on to standard error'
complete -c kerf -n '__kerf_at tune' -l format -s f -x -a 'table json csv markdown' -d 'What is printed (default: table)'
complete -c kerf -n '__kerf_at tune' -l slice -x -d 'Draw the surface where these parameters have these values, over the first two others (default: the values of the recommended setting)'
complete -c kerf -n '__kerf_at tune' -l output -s o -r -F -d 'Write FILE too, in the format of its name: .svg .png .pdf .html draw the surface; .json .csv .md .txt hold the answer, and are then written instead of standard output, unless --format names another form'

# kerf bub
complete -c kerf -n '__kerf_at bub' -l model -r -F -d 'The model, a GGUF file'
complete -c kerf -n '__kerf_at bub' -l context-size -x -d 'Tokens of context; a chunk has one token less'
complete -c kerf -n '__kerf_at bub' -l n-gpu-layers -x -d 'Layers on devices (default: 50)'
complete -c kerf -n '__kerf_at bub' -l threads -x -d 'Threads (default: one less than there are processors)'
complete -c kerf -n '__kerf_at bub' -l max-trials -x -d 'At most N times --chunks measurements (default: auto, as many as are needed)'
complete -c kerf -n '__kerf_at bub' -l chunks -x -d 'Chunks of a trial'
complete -c kerf -n '__kerf_at bub' -l conform-to-imatrix -d 'Only batches that llama-imatrix can use'
complete -c kerf -n '__kerf_at bub' -l verbosity -x -a 'DEBUG INFO WARNING ERROR CRITICAL' -d 'DEBUG shows what llama.cpp prints; WARNING and above leave out the remarks (default: INFO)'
complete -c kerf -n '__kerf_at bub' -l temp -x -d 'Sampling temperature'
complete -c kerf -n '__kerf_at bub' -l top-k -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l top-p -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l min-p -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l seed -x -d 'In best_bub the model\'s seed, without effect on times; in kerf the seed of its decisions (default: 0)'
complete -c kerf -n '__kerf_at bub' -l repeat-last-n -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l repeat-penalty -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l presence-penalty -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l frequency-penalty -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l dynatemp-range -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l dynatemp-exp -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l mirostat -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l mirostat-lr -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l mirostat-ent -x -d 'Sampling'
complete -c kerf -n '__kerf_at bub' -l interference -x -a 'remeasure ignore' -d 'What to do if other programs kept the machine busy: measure again (default), or ignore it, as best_bub does'
complete -c kerf -n '__kerf_at bub' -l format -s f -x -a 'table json csv markdown' -d 'What is printed (default: table)'
complete -c kerf -n '__kerf_at bub' -l output -s o -r -F -d 'Write FILE too, in the format of its name, as `kerf tune` does'

# kerf studies
complete -c kerf -n '__kerf_at studies ""' -a list
complete -c kerf -n '__kerf_at studies ""' -a show
complete -c kerf -n '__kerf_at studies show' -a '(__kerf_names studies)' -F
complete -c kerf -n '__kerf_at studies ""' -a export
complete -c kerf -n '__kerf_at studies export' -a '(__kerf_names studies)' -F
complete -c kerf -n '__kerf_at studies ""' -a replay
complete -c kerf -n '__kerf_at studies replay' -a '(__kerf_names studies)' -F
complete -c kerf -n '__kerf_at studies replay' -l policy -x -a 'kerf race exhaustive random halving best_bub null' -d 'The policy that decides (default: the study\'s own)'
complete -c kerf -n '__kerf_at studies' -l format -s f -x -a 'table json csv markdown' -d 'What is printed (default: table)'
complete -c kerf -n '__kerf_at studies show' -l slice -x -d 'Draw the surface where these parameters have these values, over the first two others (default: the values of the recommended setting)'
complete -c kerf -n '__kerf_at studies' -l output -s o -r -F -d 'Write FILE too, in the format of its name; `show` draws .svg .png .pdf .html'

# kerf serve
complete -c kerf -n '__kerf_at serve' -l listen -x -d 'The address to listen on (default: 127.0.0.1:8000); port 0 takes any free port'
complete -c kerf -n '__kerf_at serve' -l store -r -F -d 'Where the server stores its data (default: kerf.db): a SQLite file, which is created if it does not exist, or postgresql://USER@HOST/DATABASE, which several servers may share'
complete -c kerf -n '__kerf_at serve' -l allow-host -x -d 'Answer requests for this host name too, such as the name that a proxy serves; may be repeated'
complete -c kerf -n '__kerf_at serve' -l allow-origin -x -d 'Let pages of this site use the server from a browser (CORS), such as https://dashboard.example.com; may be repeated'
complete -c kerf -n '__kerf_at serve' -l tls-cert -r -F -d 'Speak HTTPS with this certificate in PEM, followed by those that sign it'
complete -c kerf -n '__kerf_at serve' -l tls-key -r -F -d 'The certificate\'s private key in PEM, without a password (default: the file of --tls-cert)'
complete -c kerf -n '__kerf_at serve' -l import-zeus -r -F -d 'First import the jobs of Zeus\'s server from a SQLite file, postgresql://..'
complete -c kerf -n '__kerf_at serve' -l tokens -d 'Require tokens on loopback too, for example behind a proxy'
complete -c kerf -n '__kerf_at serve' -l compat -x -a 'none zeus' -d 'zeus: every answer equals that of Zeus\'s server, its faults included (default: none)'
complete -c kerf -n '__kerf_at serve' -l keep-trials -x -d 'Remove trials that ended longer ago than this, such as 90d; at least 1h (default: none are removed)'
complete -c kerf -n '__kerf_at serve' -l log -x -a 'text json' -d 'How events are written to standard error (default: text)'
complete -c kerf -n '__kerf_at serve' -l log-requests -d 'Log every request'
complete -c kerf -n '__kerf_at serve' -l threads -s t -x -d 'Threads that answer (default: one per processor, at most 8)'
complete -c kerf -n '__kerf_at serve' -l connections -x -d 'Connections at a time (default: 16384); further ones wait'
complete -c kerf -n '__kerf_at serve' -l connections-per-address -x -d 'Connections of one address at a time; an IPv6 network of 64 bits counts as one address; 0: any number (default: any number on loopback, elsewhere a quarter of --connections)'
complete -c kerf -n '__kerf_at serve' -l rate -x -d 'Requests per second that one address may send, and twice as many at once; further ones are answered 429'
complete -c kerf -n '__kerf_at serve' -l cache -x -d 'Memory for jobs (default: 64)'
complete -c kerf -n '__kerf_at serve' -l compute-limit -x -d 'How long the server computes the answer to one question, such as a plan; it then answers what is known so far (default: 30s)'
complete -c kerf -n '__kerf_at serve' -l idle-timeout -x -d 'Close a connection after this time without a request (default: 75s; 5s with --compat zeus)'
complete -c kerf -n '__kerf_at serve' -l request-timeout -x -d 'The time within which a request must be complete (default: 30s)'
complete -c kerf -n '__kerf_at serve' -l write-timeout -x -d 'Reset a connection if its client reads nothing of the answer for this time (default: 20s)'

# kerf open
complete -c kerf -n '__kerf_at open' -F
complete -c kerf -n '__kerf_at open' -l listen -x -d 'The address to listen on (default: 127.0.0.1:0, any free port)'
complete -c kerf -n '__kerf_at open' -l store -r -F -d 'Show the jobs of this store, as `kerf serve` has them (default: an empty one, which is removed at the end)'
complete -c kerf -n '__kerf_at open' -l no-browser -d 'Print the address, and open no browser'

# kerf jobs
complete -c kerf -n '__kerf_at jobs ""' -a list
complete -c kerf -n '__kerf_at jobs ""' -a show
complete -c kerf -n '__kerf_at jobs show' -a '(__kerf_names jobs)'
complete -c kerf -n '__kerf_at jobs ""' -a add
complete -c kerf -n '__kerf_at jobs add' -F
complete -c kerf -n '__kerf_at jobs ""' -a next
complete -c kerf -n '__kerf_at jobs next' -a '(__kerf_names jobs)'
complete -c kerf -n '__kerf_at jobs ""' -a report
complete -c kerf -n '__kerf_at jobs report' -a '(__kerf_names jobs)'
complete -c kerf -n '__kerf_at jobs ""' -a run
complete -c kerf -n '__kerf_at jobs run' -a '(__kerf_names jobs)'
complete -c kerf -n '__kerf_at jobs ""' -a delete
complete -c kerf -n '__kerf_at jobs delete' -a '(__kerf_names jobs)'
complete -c kerf -n '__kerf_at jobs ""' -a export
complete -c kerf -n '__kerf_at jobs export' -a '(__kerf_names jobs)'
complete -c kerf -n '__kerf_at jobs ""' -a backup
complete -c kerf -n '__kerf_at jobs backup' -F
complete -c kerf -n '__kerf_at jobs ""' -a import
complete -c kerf -n '__kerf_at jobs import' -F
complete -c kerf -n '__kerf_at jobs list show add next report run delete export' -l server -x -d 'The server (default: $KERF_SERVER, else http://127.0.0.1:8000)'
complete -c kerf -n '__kerf_at jobs list show add next report run delete export' -l ca -r -F -d 'For https: trust the certificates in this file, in PEM (default: $KERF_CA, else those that the system trusts)'
complete -c kerf -n '__kerf_at jobs list show add next report run delete export' -l token -x -d 'The access token (default: $KERF_TOKEN, else the user part of the URL)'
complete -c kerf -n '__kerf_at jobs list show add next report run delete export' -l timeout -x -d 'How long an answer may take (default: 30)'
complete -c kerf -n '__kerf_at jobs list show add next report' -l format -x -a 'table json csv' -d 'What to print on standard output (default: table)'
complete -c kerf -n '__kerf_at jobs list show' -l output -s o -r -F -d 'Write FILE instead, in the format of its name: .txt, .json, .csv'
complete -c kerf -n '__kerf_at jobs report' -l batch-size -x -d 'The batch size of the run'
complete -c kerf -n '__kerf_at jobs report' -l trial -x -d 'The run\'s trial number'
complete -c kerf -n '__kerf_at jobs report' -l time -x -d 'Since the run began'
complete -c kerf -n '__kerf_at jobs report' -l energy -x -d 'Since the run began'
complete -c kerf -n '__kerf_at jobs report' -l metric -x -d 'The metric that the run has reached; it is compared with the job\'s target'
complete -c kerf -n '__kerf_at jobs report' -l epoch -x -d 'The number of finished epochs'
complete -c kerf -n '__kerf_at jobs export' -l all -d 'All jobs'
complete -c kerf -n '__kerf_at jobs backup import' -l store -r -F -d 'The store that `backup` copies, or that `import` writes to (default: kerf.db), in the form of `kerf serve --store`'
complete -c kerf -n '__kerf_at jobs import' -l create -d 'Make the store if it does not exist'
complete -c kerf -n '__kerf_at jobs backup' -l force -d 'Replace FILE if it exists'
complete -c kerf -n '__kerf_at jobs list show export' -l limit -x -d '`show`: how many of the latest trials (default: 10)'
complete -c kerf -n '__kerf_at jobs run' -l metric-regex -x -d 'An extended regular expression that finds the metric in the script\'s output; its first group is the number: \'accuracy: ([0-9.]+)\''
complete -c kerf -n '__kerf_at jobs run' -l epoch-regex -x -d 'The same for the number of finished epochs (default: metrics are counted)'
complete -c kerf -n '__kerf_at jobs run' -l meter -x -a 'auto nvml rapl' -d 'What measures energy: nvml for NVIDIA\'s GPUs, rapl for the processors (default: auto, which is nvml if there is a GPU, else rapl)'
complete -c kerf -n '__kerf_at jobs run' -l gpus -x -d 'Which GPUs, as numbers of nvidia-smi or UUIDs: 0,1 (default: $CUDA_VISIBLE_DEVICES, else all)'
complete -c kerf -n '__kerf_at jobs run' -l power -x -d 'Assume this constant power instead of measuring energy'
complete -c kerf -n '__kerf_at jobs run' -l grace -x -d 'How long the script has to end after SIGTERM, before it is killed (default: 30)'

# kerf token
complete -c kerf -n '__kerf_at token ""' -a add
complete -c kerf -n '__kerf_at token ""' -a list
complete -c kerf -n '__kerf_at token ""' -a revoke
complete -c kerf -n '__kerf_at token' -l store -r -F -d 'The server\'s store (default: kerf.db), in the form of `kerf serve --store`'
complete -c kerf -n '__kerf_at token add' -l create -d 'Make the store if it does not exist'
complete -c kerf -n '__kerf_at token add' -l role -x -a 'read write admin' -d 'What the token permits'
complete -c kerf -n '__kerf_at token add' -l expires -x -d 'For how long the token is valid, such as 12h, 30d or 52w (default: until it is revoked)'
complete -c kerf -n '__kerf_at token add list' -l format -x -a 'table json' -d 'What to print (default: table)'

# kerf models
complete -c kerf -n '__kerf_at models' -a '(__kerf_names models)' -F
complete -c kerf -n '__kerf_at models' -l format -x -a 'table json' -d 'How to print the list or the model (default: table)'
complete -c kerf -n '__kerf_at models' -l seq-length -x -d 'Tokens in a sample, for the FLOP of a token (default: the model\'s max_position_embeddings)'
complete -c kerf -n '__kerf_at models' -l system -s s -r -a '(__kerf_names systems)' -F -d 'Say what the model\'s sizes cost on this hardware - alignment, padding, small products - and which nearest ones would be faster: a name from `kerf systems` or a file'
complete -c kerf -n '__kerf_at models' -l tp -x -d 'With --system: accelerators that layers are spread over (default: 1)'
complete -c kerf -n '__kerf_at models' -l ep -x -d 'With --system: accelerators that experts are spread over (default: 1)'
complete -c kerf -n '__kerf_at models' -l etp -x -d 'With --system: accelerators that each expert is spread over (default: 1)'
complete -c kerf -n '__kerf_at models' -l micro-batch -x -d 'With --system: samples of a micro-batch (default: 1)'
complete -c kerf -n '__kerf_at models' -l precision -x -a 'bf16 fp16 fp8' -d 'With --system: what matrix products are computed in (default: bf16)'
complete -c kerf -n '__kerf_at models' -l source -d 'Print the file of NAME as it is'
complete -c kerf -n '__kerf_at models' -l catalogue -x -a '(__fish_complete_directories)' -d 'Also find names in DIR/models and DIR/systems (default: $KERF_CATALOGUE)'

# kerf systems
complete -c kerf -n '__kerf_at systems' -a '(__kerf_names systems)' -F
complete -c kerf -n '__kerf_at systems' -l format -x -a 'table json' -d 'How to print the list (default: table)'
complete -c kerf -n '__kerf_at systems' -l catalogue -x -a '(__fish_complete_directories)' -d 'Also find names in DIR/models and DIR/systems (default: $KERF_CATALOGUE)'

# kerf stacks
complete -c kerf -n '__kerf_at stacks' -a '(__kerf_names stacks)' -F
complete -c kerf -n '__kerf_at stacks' -l format -x -a 'table json' -d 'How to print the list (default: table)'
complete -c kerf -n '__kerf_at stacks' -l catalogue -x -a '(__fish_complete_directories)' -d 'Also find names in DIR/models and DIR/systems (default: $KERF_CATALOGUE)'

# kerf launch
complete -c kerf -n '__kerf_at launch ""' -a read
complete -c kerf -n '__kerf_at launch read' -F
complete -c kerf -n '__kerf_at launch ""' -a write
complete -c kerf -n '__kerf_at launch write' -a 'megatron deepspeed torchtitan nanotron megatron-bridge'
complete -c kerf -n '__kerf_at launch read' -l framework -x -a 'megatron megatron-deepspeed torchtitan nanotron deepspeed-hf mlperf-nemo megatron-bridge' -d 'megatron, megatron-deepspeed (or deepspeed), torchtitan, nanotron, deepspeed-hf, mlperf-nemo or megatron-bridge (default: recognised)'
complete -c kerf -n '__kerf_at launch' -l framework-version -x -d 'The release of the framework, such as 0.15.0 (Megatron-Core), 0.2.2 (torchtitan) or main'
complete -c kerf -n '__kerf_at launch read' -l gpus -s n -x -d 'Accelerators of the job (default: as the launch says)'
complete -c kerf -n '__kerf_at launch read' -l format -s f -x -a 'table json' -d 'What is printed (default: table)'
complete -c kerf -n '__kerf_at launch write' -l plan -r -F -d 'The plan: what `kerf plan --format json` or `kerf estimate --format json` has written; - is standard input'
complete -c kerf -n '__kerf_at launch write' -l rank -x -d 'Which of its layouts (default: 1, the best)'
complete -c kerf -n '__kerf_at launch write' -l output -s o -r -F -d 'Write to FILE instead of standard output'

# kerf score
complete -c kerf -n '__kerf_at score' -l by -x -a 'set gpu gpus framework model precision system stack' -d 'A line for each of these (default: set, an id before its last \'-\')'
complete -c kerf -n '__kerf_at score' -l stack -r -a '(__kerf_names stacks)' -F -d 'Price all rows as runs of this stack (default: the stack of each row\'s framework)'
complete -c kerf -n '__kerf_at score' -l calibration -r -F -d 'Constants that `kerf calibrate` wrote, in place of those that come with kerf'
complete -c kerf -n '__kerf_at score' -l worst -x -d 'Also show the N runs that were missed most, each with the parts of its time'
complete -c kerf -n '__kerf_at score' -l predictions -r -F -d 'Also write a CSV with the prediction of every row: id, status, step_s, step_low_s, step_high_s, memory_bytes, p_oom, why'
complete -c kerf -n '__kerf_at score' -l format -x -a 'table json csv markdown' -d 'How to print the answer (default: table)'
complete -c kerf -n '__kerf_at score' -l output -s o -r -F -d 'Write to FILE, in the format of its name: .json .csv .md .txt, or predicted against measured as a picture: .svg .html .png .pdf'

# kerf calibrate
complete -c kerf -n '__kerf_at calibrate' -l system -s s -r -a '(__kerf_names systems)' -F -d 'The site\'s hardware: a name from `kerf systems`'
complete -c kerf -n '__kerf_at calibrate' -l stack -r -a '(__kerf_names stacks)' -F -d 'The site\'s software: a name from `kerf stacks` (default: the stack of each row\'s framework)'
complete -c kerf -n '__kerf_at calibrate' -l calibration -r -F -d 'Start from what `kerf calibrate` wrote before (default: the constants that come with kerf)'
complete -c kerf -n '__kerf_at calibrate' -l without-set -x -d 'Start from constants that were fitted without the data set NAME: what a site of its own could expect'
complete -c kerf -n '__kerf_at calibrate' -l all -d 'Fit every constant of all systems and stacks, as those that come with kerf were made'
complete -c kerf -n '__kerf_at calibrate' -l folds -x -d 'With --all and --predictions: predict each row by constants that were fitted without its group (model, gpus, seq, precision), in N folds'
complete -c kerf -n '__kerf_at calibrate' -l leave-set-out -d 'With --all and --predictions: predict each row by constants that were fitted without its data set'
complete -c kerf -n '__kerf_at calibrate' -l log -r -F -d 'Also, or instead of a table, take the step times of a log of Megatron-LM, NeMo, torchtitan or nanotron; --launch says what ran, or --model, --layout and --global-batch'
complete -c kerf -n '__kerf_at calibrate' -l launch -r -F -d 'The launch script or config of the log\'s run (kerf help launch)'
complete -c kerf -n '__kerf_at calibrate' -l model -s m -r -a '(__kerf_names models)' -F -d 'Without --launch, the model that ran: a name from `kerf models` or a config.json'
complete -c kerf -n '__kerf_at calibrate' -l layout -s l -x -d 'Without --launch, the layout that ran, such as tp=8,pp=4,dp=16 (kerf help estimate)'
complete -c kerf -n '__kerf_at calibrate' -l gpus -s n -x -d 'How many accelerators (default: as many as the layout has)'
complete -c kerf -n '__kerf_at calibrate' -l global-batch -s b -x -d 'Samples in a step of the optimizer'
complete -c kerf -n '__kerf_at calibrate' -l seq-length -x -d 'Tokens in a sample (default: the model\'s max_position_embeddings)'
complete -c kerf -n '__kerf_at calibrate' -l precision -x -a 'bf16 fp16 fp8' -d 'What matrix products are computed in (default: bf16)'
complete -c kerf -n '__kerf_at calibrate' -l gradients -x -a 'fp32 bf16' -d 'What gradients are kept and reduced in (default: fp32)'
complete -c kerf -n '__kerf_at calibrate' -l mtp-layers -x -d 'Layers of multi-token prediction that are trained, at most those of the model (default: 0)'
complete -c kerf -n '__kerf_at calibrate' -l predictions -r -F -d 'Where the predictions of --folds or --leave-set-out go, as CSV'
complete -c kerf -n '__kerf_at calibrate' -l output -s o -r -F -d 'Where the constants go, as JSON for --calibration'

# kerf explain
complete -c kerf -n '__kerf_at explain' -l launch -r -F -d 'The launch script or config of the run (kerf help launch)'
complete -c kerf -n '__kerf_at explain' -l model -s m -r -a '(__kerf_names models)' -F -d 'Without --launch, the model that ran: a name from `kerf models` or a config.json'
complete -c kerf -n '__kerf_at explain' -l layout -s l -x -d 'Without --launch, the layout that ran, such as tp=8,pp=4,dp=16 (kerf help estimate)'
complete -c kerf -n '__kerf_at explain' -l gpus -s n -x -d 'How many accelerators (default: as many as the layout has)'
complete -c kerf -n '__kerf_at explain' -l global-batch -s b -x -d 'Samples in a step of the optimizer'
complete -c kerf -n '__kerf_at explain' -l seq-length -x -d 'Tokens in a sample (default: the model\'s max_position_embeddings)'
complete -c kerf -n '__kerf_at explain' -l precision -x -a 'bf16 fp16 fp8' -d 'What matrix products are computed in (default: bf16)'
complete -c kerf -n '__kerf_at explain' -l gradients -x -a 'fp32 bf16' -d 'What gradients are kept and reduced in (default: fp32)'
complete -c kerf -n '__kerf_at explain' -l mtp-layers -x -d 'Layers of multi-token prediction that are trained, at most those of the model (default: 0)'
complete -c kerf -n '__kerf_at explain' -l system -s s -r -a '(__kerf_names systems)' -F -d 'The hardware: a name from `kerf systems` or a file'
complete -c kerf -n '__kerf_at explain' -l stack -r -a '(__kerf_names stacks)' -F -d 'The software: a name from `kerf stacks` (default: that of the launch\'s or the log\'s framework)'
complete -c kerf -n '__kerf_at explain' -l calibration -r -F -d 'Constants of the site that `kerf calibrate` wrote'
complete -c kerf -n '__kerf_at explain' -l format -x -a 'table json' -d 'How to print the answer (default: table)'

# kerf help
complete -c kerf -n '__kerf_at help' -l mdoc -d 'Print the source of the manual page, in mdoc'
complete -c kerf -n '__kerf_at help' -l completion -x -a 'bash zsh fish' -d 'Print a completion script: source it, or put it into the shell\'s folder for completions'
