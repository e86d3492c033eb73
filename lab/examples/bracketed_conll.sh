#!/usr/bin/env bash
# Bracketed replies of a language model on CoNLL-2003, in the recipe of Zhan et al. (2026): seqeval by label, and the scenarios of nervaluate. Run
# it in an empty folder, with the folder of the data sets as argument; it writes report.md. MODEL is a folder of weights, such as Qwen2.5-7B, which
# needs a GPU. Without it the recipe runs on a tiny model of random weights, and MiniLM has the table.
set -euo pipefail
data=$1
train=$data/conll2003/eng.train test=$data/conll2003/eng.testa
instruction=$(cd "$(dirname "$0")" && pwd)/conll_instruction.txt
lora=(--kind generative --form bracketed --instruction "$instruction")
paperscope ner train "$train" --kind alpaca --form bracketed --instruction "$instruction" --out alpaca.json
if [ -n "${MODEL:-}" ]; then
    paperscope ner train "$train" "${lora[@]}" --encoder "$MODEL" --out lora
    paperscope ner predict "$test" --system lora --out lora.jsonl
    systems=("$(basename "$MODEL")=lora.jsonl")
else
    paperscope ner data import "$train" --out train.jsonl
    head -n 64 train.jsonl > few.jsonl
    paperscope ner init language-model --out tiny --hidden 32 --layers 1
    paperscope ner train few.jsonl "${lora[@]}" --encoder tiny --rank 8 --epochs 1 --out lora
    paperscope ner train "$train" --dev "$test" --epochs "${EPOCHS:-3}" --out minilm
    paperscope ner predict "$test" --system minilm --out minilm.jsonl
    systems=(MiniLM=minilm.jsonl)
fi
{
    printf '# CoNLL-2003 English NER: development set (eng.testa)\n\n'
    [ -n "${MODEL:-}" ] || printf 'Not here: the weights of Qwen2.5-7B. Its LoRA recipe (rank 256, alpha 512, 2 epochs, 2e-5, cosine, bfloat16) is the default of `--kind generative`.\n\n'
    paperscope ner report spans "$test" "${systems[@]}"
} > report.md
