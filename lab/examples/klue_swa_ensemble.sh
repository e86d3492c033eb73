#!/usr/bin/env bash
# Averaged weights (SWA) over eight seeds, and an ensemble of two encoders that tokenize differently, on Korean. Run it in an empty folder, with
# the folder of the data sets as argument; it writes report.md. The encoders have random weights; BASE and LARGE name others, such as
# klue/roberta-base and klue/roberta-large.
set -euo pipefail
data=$1 seeds=${SEEDS:-1..8}
paperscope ner data import "$data"/klue/dev_part.tsv --out klue.jsonl
head -n 1400 klue.jsonl > train.jsonl; sed -n 1401,1600p klue.jsonl > dev.jsonl; tail -n 400 klue.jsonl > test.jsonl
options=(--swa --seeds "$seeds" --jobs "${JOBS:-1}" --outweight 1)
if [ -n "${BASE:-}" ]; then
    paperscope ner train train.jsonl --dev dev.jsonl --encoder "$BASE" --rate 5e-5 --batch 32 --epochs 10 "${options[@]}" --out base
    paperscope ner train train.jsonl --dev dev.jsonl --encoder "$LARGE" --rate 5e-5 --batch 32 --epochs 10 "${options[@]}" --out large
else
    paperscope ner init characters train.jsonl --out characters --hidden 128 --layers 2
    paperscope ner init pieces train.jsonl --out pieces --hidden 128 --layers 2
    for kind in characters:base pieces:large; do
        paperscope ner train train.jsonl --dev dev.jsonl --encoder "${kind%:*}" --rate 1e-3 --batch 16 --epochs 6 "${options[@]}" --out "${kind#*:}"
    done
fi
for name in base large; do paperscope ner predict test.jsonl --system $name --out found-$name; done
paperscope ner ensemble base large --data test.jsonl --out ensemble
{
    printf '# KLUE-NER: model performance across seeds\n\n'
    [ -n "${BASE:-}" ] || printf 'Not here: klue/roberta-base and klue/roberta-large. base and large are encoders of random weights, over characters and pieces.\n\n'
    paperscope ner report seeds test.jsonl base=found-base large=found-large ENSEMBLE=ensemble --deviation population
} > report.md
