#!/usr/bin/env bash
# Generative models, spaCy and an encoder after 20, 50 and 200 epochs, by sentences, entities and tokens. Run it in an empty folder, with the
# folder of the data sets as argument; it writes report.md. What cannot be had there is named in its place.
set -euo pipefail
data=$1 epochs=${EPOCHS:-20,50,200}
train=$data/wnut17/wnut17train.conll test=$data/wnut17/emerging.dev.conll

systems=()
absent() { printf '\n### %s\n\nNot here: %s.\n' "$1" "$2" >> absent.md; }
: > absent.md
for model in DeepSeek-R1-Distill-Qwen-1.5B DeepSeek-R1-Distill-Qwen-7B; do
    # MODELS is a folder of weights; the training needs a GPU.
    if [ -d "${MODELS:-}/$model" ]; then
        paperscope ner train "$train" --kind generative --form json --encoder "$MODELS/$model" --rank 64 --out "$model"
        paperscope ner predict "$test" --system "$model" --out "$model.jsonl"
        systems+=("$model=$model.jsonl")
    else
        absent "$model" "its weights; with them in \$MODELS this script trains it (LoRA, JSON replies)"
    fi
done
absent NuNER-v2.0 "its weights; \`ner train --encoder numind/NuNER-v2.0 --no-case\` trains it"
for base in en_core_web_md en_core_web_lg; do
    if python -c "import spacy; spacy.load('$base')" 2> /dev/null; then
        paperscope ner train "$train" --dev "$test" --kind spacy --base $base --epochs "${SPACY_EPOCHS:-50}" --out $base
        paperscope ner predict "$test" --system $base --out $base.jsonl
        systems+=("$base=$base.jsonl")
    else
        absent "$base" "the pipeline; \`python -m spacy download $base\`"
    fi
done
paperscope ner train "$train" --dev "$test" --kind spacy --language en --epochs "${SPACY_EPOCHS:-50}" --out blank
paperscope ner predict "$test" --system blank --out blank.jsonl
systems+=("spaCy, blank=blank.jsonl")

# One training; a row after each of these epochs. ENCODER names another encoder, such as google/electra-base-discriminator.
paperscope ner data import "$train" --out train.jsonl
head -n 200 train.jsonl > few.jsonl
paperscope ner train few.jsonl --dev "$test" ${ENCODER:+--encoder "$ENCODER" --no-case} --epochs "${epochs##*,}" \
    --keep-epochs "$epochs" --no-context --out encoder
for epoch in ${epochs//,/ }; do
    paperscope ner predict "$test" --system encoder/epoch-"$epoch" --out epoch-"$epoch".jsonl
    systems+=("${ENCODER:-MiniLM}, $epoch epochs (200 sentences)=epoch-$epoch.jsonl")
done
{
    printf '# NER Experiment Report\n\n'
    paperscope ner report levels "$test" "${systems[@]}"
    cat absent.md
} > report.md
