#!/usr/bin/env bash
# Trains, runs and reports four kinds of entity extractors; lab/docs/notebook.md has the figures. Run it in an empty folder, with the
# folders of the data sets in CONLL, KLUE, SCIER and JNLPBA.
set -euo pipefail

# 1. Formats of language models, and spaCy. The "model" is the gold in each format with three replies in ten spoilt: it shows what reading
# costs. For a model, replace `bench formats` by `ner predict --shots`.
paperscope ner train "$CONLL"/eng.train --dev "$CONLL"/eng.testa --kind spacy --language en --epochs 5 --out spacy
paperscope ner predict "$CONLL"/eng.testa --system spacy --out spacy.jsonl
"$(dirname "$0")/../../scripts/bench" formats --data "$CONLL"/eng.testa --faults .3 --predictions spoilt
paperscope ner report levels "$CONLL"/eng.testa bracketed=spoilt/bracketed.jsonl xml=spoilt/xml.jsonl json=spoilt/json.jsonl \
    spaCy=spacy.jsonl --out levels.md

# 2. Averaged weights over eight seeds, and an ensemble of two encoders that tokenize differently, on Korean.
paperscope ner data import "$KLUE"/dev_part.tsv --out klue.jsonl
head -n 1400 klue.jsonl > train.jsonl; sed -n 1401,1600p klue.jsonl > dev.jsonl; tail -n 400 klue.jsonl > test.jsonl
for kind in characters pieces; do
    paperscope ner init $kind train.jsonl --out $kind --hidden 128 --layers 2
    paperscope ner train train.jsonl --dev dev.jsonl --encoder $kind --swa --batch 16 --epochs 6 --rate 1e-3 --seeds 1..8 --out by-$kind
done
for seed in 1 2 3 4 5 6 7 8; do
    for kind in characters pieces; do
        paperscope ner predict test.jsonl --system by-$kind/seed-$seed --out $seed-$kind.jsonl
    done
    paperscope ner ensemble by-characters/seed-$seed by-pieces/seed-$seed --data test.jsonl --out $seed-ensemble.jsonl
done
paperscope ner report seeds test.jsonl $(for file in [1-8]-*.jsonl; do name=${file%.jsonl}; echo ${name/-//}=$file; done) --out seeds.md

# 3. Bracketed replies over whole data sets, the recipe of a 7B model on a tiny one of random weights, and the tables of seqeval and nervaluate.
"$(dirname "$0")/../../scripts/bench" formats --data "$CONLL"/eng.train "$CONLL"/eng.testa "$SCIER"/PLM_dev.jsonl
paperscope ner init language-model --out tiny --hidden 32 --layers 1
paperscope ner data import "$CONLL"/eng.train --out train.jsonl
head -n 64 train.jsonl > few.jsonl
paperscope ner train few.jsonl --kind generative --encoder tiny --rank 8 --epochs 1 --out lora
paperscope ner data import "$CONLL"/eng.testa --out testa.jsonl
head -n 100 testa.jsonl > dev.jsonl
paperscope ner predict dev.jsonl --system lora --out lora.jsonl
paperscope ner eval dev.jsonl lora.jsonl --selected-on few.jsonl --out lora-report
paperscope ner report spans dev.jsonl tiny=lora.jsonl --out lora.md
paperscope ner train "$CONLL"/eng.train --dev "$CONLL"/eng.testa --swa --epochs 3 --seeds 1..3 --out minilm
paperscope ner predict "$CONLL"/eng.testa --system minilm/seed-1 --out minilm.jsonl
paperscope ner report spans "$CONLL"/eng.testa MiniLM=minilm.jsonl spaCy=spacy.jsonl --out spans.md

# 4. A table of soft labels over the frozen MiniLM, trained in two ways.
paperscope ner data import "$JNLPBA"/devel.tsv --out jnlpba.jsonl
head -n 1006 jnlpba.jsonl > train.jsonl; sed -n 1007,1182p jnlpba.jsonl > dev.jsonl; tail -n 557 jnlpba.jsonl > test.jsonl
paperscope ner train train.jsonl --dev dev.jsonl --kind soft-labels --batch 16 --epochs 6 --rate 5e-3 --out a
paperscope ner train train.jsonl --dev dev.jsonl --kind soft-labels --batch 16 --epochs 5 --rate 2e-2 --out b
for system in a b; do paperscope ner predict test.jsonl --system $system --out $system.jsonl; done
paperscope ner compare test.jsonl a.jsonl b.jsonl --out comparison
paperscope ner report pair test.jsonl a.jsonl b.jsonl --out pair.md
