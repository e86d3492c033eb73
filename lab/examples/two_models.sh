#!/usr/bin/env bash
# Two tables of soft labels over the frozen MiniLM, trained at different rates, compared by classes of tokens. Run it in an empty folder, with the
# folder of the data sets as argument; it writes report.md.
set -euo pipefail
data=$1
paperscope ner data import "$data"/jnlpba/devel.tsv --out jnlpba.jsonl
head -n 1006 jnlpba.jsonl > train.jsonl; sed -n 1007,1182p jnlpba.jsonl > dev.jsonl; tail -n 557 jnlpba.jsonl > test.jsonl
systems=()
for run in 12:0.0005 10:0.001; do
    name=soft_embeddings_bs16_ep${run%:*}_lr${run#*:}_wd0.01_temp1.0_gc1.0_warmup50_patience3
    paperscope ner train train.jsonl --dev dev.jsonl --kind soft-labels --batch 16 --epochs "${run%:*}" --rate "${run#*:}" \
        --weight-decay .01 --temperature 1 --clip 1 --warm-up 50 --patience 3 --out "$name"
    paperscope ner predict test.jsonl --system "$name" --out "$name.jsonl"
    systems+=("$name.jsonl")
done
paperscope ner report pair test.jsonl "Model 1=${systems[0]}" "Model 2=${systems[1]}" --out report.md
