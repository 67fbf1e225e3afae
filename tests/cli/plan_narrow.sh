#!/bin/sh
# No line is wider than the terminal, in code points, but those with a layout, which are there to be pasted.
. "$DATA/case.sh"
widest() { tr -d '\200-\277' | LC_ALL=C awk '/dp=[0-9]/ { next } { if (length($0) > most) most = length($0) } END { print most + 0 }'; }

# fits ARGUMENT...: runs kerf on terminals of several widths, and shows the answers that are too wide for theirs
fits() {
    echo "\$ kerf $*"
    for COLUMNS in ${widths:-40 60 80 120}; do
        export COLUMNS
        "$KERF" "$@" >answer
        width=$(widest <answer)
        [ "$width" -gt 20 ] || echo "(no answer)"
        [ "$width" -le "$COLUMNS" ] || { echo "$width columns on a terminal of $COLUMNS:"; cat answer; }
    done
}

cat >long.json <<END
{"name": "une-très-grande-maquette-à-transformateurs-que-personne-n-a-encore-entraînée", "hidden_size": 12288,
 "intermediate_size": 49152, "num_hidden_layers": 96, "num_attention_heads": 96, "max_position_embeddings": 2048}
END
fits plan gpt3 -s a100 -n 64 -b 512 --strategy 1d
fits plan gpt3_1t -s b200 -n 16384 -b 4096 --scale-up-size 64 --strategy summa
fits plan gpt3 -s a100 -n 2 -b 512 --strategy seqp
fits plan gpt3 -s a100 -n 7 -b 512
fits plan gpt3,vit_era5 -s a100,b200-next --scale-up-size 4,8 -n 2,512,768 -b 512
fits plan gpt3 -s a100 -n 2,4 -b 512
fits plan long.json -s a100 -n 64,128 -b 512
fits plan long.json,gpt3 -s a100 -n 64,128 -b 512
fits plan long.json -s a100 -n 64 -b 512 --attention unfused --strategy 1d
fits estimate gpt3 -s a100 -b 1536 --layout dp=4,tp1=4,pp=8,micro_batch=2,scale_up.tp1=4 --layers
fits estimate vit_era5 -s b200-next -b 1536 --strategy summa --attention summa --layers \
    --layout dp=4,tp1=4,tp2=4,pp=8,micro_batch=2,scale_up.tp1=4,scale_up.tp2=4,scale_up.dp=4,summa_blocks=4
fits models
fits systems
fits models gpt_oss_120b
fits models deepseek_v3
fits models mixtral_8x7b --tp 8 --system h100
widths="80 120" # below that words that cannot be broken do not fit
for verb in plan estimate models systems help; do fits help "$verb"; done
fits help
fits --help

echo "== as it reads"
for COLUMNS in 40 60 80; do
    export COLUMNS
    ask plan gpt3 -s a100 -n 64,128 -b 512 --strategy 1d,summa --top 2
    ask plan gpt3 -s a100 -n 2,7 -b 512 --strategy 1d
done
COLUMNS=40
export COLUMNS
ask plan long.json,gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 2
ask estimate gpt3 -s a100 -b 1536 --layout dp=4,tp1=4,pp=8,micro_batch=2,scale_up.tp1=4 --layers
for COLUMNS in "" 0 -5 x 1 39 99999999999999999999; do
    echo "COLUMNS='$COLUMNS'"
    "$KERF" plan gpt3 -s a100 -n 64 -b 512 --strategy 1d --top 1 | widest
done
