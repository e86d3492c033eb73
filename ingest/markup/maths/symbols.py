"""What LaTeX's commands print."""

import unicodedata

__all__ = ["SYMBOLS"]

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi "
    "chi psi omega"
).split()
_PRINTED = """
varepsilon ε|vartheta ϑ|varphi φ|varrho ϱ|varsigma ς|varpi ϖ|times ×|cdot ·|cdots ⋯|ldots …|dots …|dotsc …|dotsb ⋯
vdots ⋮|ddots ⋱|pm ±|mp ∓|div ÷|ast *|star ⋆|circ ∘|bullet •|oplus ⊕|otimes ⊗|odot ⊙|leq ≤|le ≤|geq ≥|ge ≥|neq ≠
ne ≠|approx ≈|sim ∼|simeq ≃|equiv ≡|propto ∝|ll ≪|gg ≫|in ∈|notin ∉|ni ∋|subset ⊂|subseteq ⊆|supset ⊃|supseteq ⊇
cup ∪|cap ∩|bigcup ⋃|bigcap ⋂|setminus ∖|emptyset ∅|varnothing ∅|forall ∀|exists ∃|neg ¬|lnot ¬|land ∧|wedge ∧
lor ∨|vee ∨|rightarrow →|to →|leftarrow ←|gets ←|Rightarrow ⇒|Leftarrow ⇐|leftrightarrow ↔|Leftrightarrow ⇔|mapsto ↦
longrightarrow →|implies ⇒|iff ⇔|uparrow ↑|downarrow ↓|nearrow ↗|searrow ↘|infty ∞|partial ∂|nabla ∇|sum ∑|prod ∏
int ∫|oint ∮|ell ℓ|hbar ℏ|Re ℜ|Im ℑ|aleph ℵ|prime ′|dagger †|ddagger ‡|S §|P ¶|copyright ©|langle ⟨|rangle ⟩|lfloor ⌊
rfloor ⌋|lceil ⌈|rceil ⌉|mid ||vert ||lvert ||rvert ||Vert ‖|lVert ‖|rVert ‖|parallel ‖|perp ⊥|angle ∠|triangle △
square □|checkmark ✓|top ⊤|bot ⊥|vdash ⊢|models ⊨|colon :|degree °|percent %|euro €|pounds £|dag †|ddag ‡|lbrace {
rbrace }|lbrack [|rbrack ]|backslash \\|textbackslash \\|textasciitilde ~|ss ß|ae æ|AE Æ|o ø|O Ø|l ł|L Ł|i ı|j ȷ
blacktriangle ▲|triangledown ▽|diamond ⋄|clubsuit ♣|spadesuit ♠|heartsuit ♥|diamondsuit ♦|cong ≅|coloneqq ≔|triangleq ≜
"""


def _symbols() -> dict[str, str]:
    table = {}
    for line in _PRINTED.strip().splitlines():
        for pair in line.replace("||", "|\0|").split("|"):
            name, _, sign = pair.partition(" ")
            table[name] = sign.replace("\0", "|") or "|"
    table.pop("\0", None)
    for name in _GREEK:
        spelled = "lamda" if name == "lambda" else name
        table[name] = unicodedata.lookup(f"GREEK SMALL LETTER {spelled.upper()}")
        table[name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {spelled.upper()}")
    return table


SYMBOLS = _symbols()
