"""English words that end a noun phrase, and words too general to make a term of their own."""

__all__ = ["GENERAL", "MODALS", "STOP", "ends_phrase", "is_adjective"]

_FUNCTION = """
a about above according across actually after again against ago al all almost along already also although always am
amid among amongst an and another any anyone anything anyway appendix are aren't around as aside at away back be
became because become becomes been before behind being below beside besides between beyond both but by can can't
cannot cf could couldn't despite did didn't do does doesn't doing don't done down due during e.g each eg eight either
else elsewhere enough eq eqs equation equations especially et etc even ever every everyone everything except far few
fewer fifth fig figs figure figures first five for former four fourth from further furthermore had half has have
having he hence her here hers herself him himself his how however i i.e ie if in indeed inside instead into is isn't
it its itself just kept know known last later latter least less lest let like likely likewise little lot lots made
make makes making many may maybe me meanwhile mere might mine more moreover most mostly much must my myself namely
near nearly neither never nevertheless next nine no nobody none nor not nothing now nowhere of off often oh on once
one ones only onto or other others otherwise ought our ours ourselves out over own per perhaps please plus quite
rather really regarding regardless resp s same say says sec second section sections seem seemed seems seen seven
several shall she should since six so some somehow someone something sometimes soon still such t tab table tables ten
than that the their theirs them themselves then there thereby therefore therein these they thing things third this
those though three through throughout thus till to together too toward towards twice two under unless unlike until up
upon us use used uses using usually v various versus very via vs w.r.t was wasn't way ways we well were weren't what
whatever when whenever where whereas whereby wherein wherever whether which while who whoever whole whom whose why
will with within without won't would wouldn't yes yet you your yours yourself zero
"""
_VERBS = """
accelerate accelerates calculate calculates classify constrain constrains discard discards encode encodes learn
outnumber outnumbers predefined stabilize stabilizes subsume subsumes
achieve achieved achieves achieving acquire acquires add added adding adds adopt adopted adopting adopts aim aimed
aims alleviate alleviates allow allowed allowing allows analyse analysed analyze analyzed appear appears applied
applies apply applying argue argued argues arise arises arising ask asked asking asks assess assign assigned assist
assists assume assumed assumes assuming attach attaches attain attempt attempts attend attends attract attracts avoid
avoiding avoids await awaits based began begin behave behaves belong belongs bring brought brings build building
builds built call called calls came capture captured captures capturing carried carry cause caused causes causing
check checked checks choose chooses chosen cite cited classifies classify collect collects combine combines come comes
coming compare compared compares comparing compute computed computes computing concentrate concentrates concern
concerns conclude concludes conduct conducted conducts confirm confirmed confirms consider considered considering
considers consist consisting consists constitute constitutes construct constructed constructs contain contained
containing contains contribute contributed contributes convert converted convey conveys cope copes correspond
corresponds covered covers create created creates creating cut cuts deal deals decide decompose decomposes decrease
decreased decreases decreasing deem deems define defined defines defining delve delves demonstrate demonstrated
demonstrates demonstrating denote denoted denotes denoting depend depends derive derived describe described describes
describing design designed designs detect detected determine determined determines develop developed developing
develops differ differs discover discovers discuss discussed discusses dominate dominates draw drawn draws drew drop
dropped drops eat effect embrace embraces emerge emerges emphasize emphasizes employ employed employing employs enable
enabled enables enabling encounter encounters encourage encouraged encourages enhance enhances ensure ensures ensuring
entail entails establish established estimates evaluate evaluated evaluates evaluating evolve evolves examine examined
exceed exceeds exclude excludes exhibit exhibits exist existed exists expect expected explain explained explains
exploit exploits explore explored explores exploring extend extended extends extract extracts faced facilitate
facilitates fail failed fails fall falls fed feed feel feels fill filled find finding finds fits fitting fix fixed
fixes fixing focus focused focuses focusing follow followed following follows forget forgets foster fosters found gave
generate generated generates get gets getting give given gives giving go goes going gone got grow grows guess guesses
handle handled handles handling happen happens help helped helping helps highlight highlights hinder hinders hit hold
holds hypothesize hypothesizes identified identifies identify ignore ignores illustrate illustrated illustrates
imitate imitates implement implemented implements implies imply impose imposes improve improved improves improving
include included includes including incorporate incorporated incorporates increase increased increases increasing
indicate indicated indicates indicating infer infers inherit inherits initialize initializes inspire inspired inspires
integrate integrates interact interacts interpret interprets introduce introduced introduces introducing investigate
investigated invoke invokes involve involved involves involving keep keeps kept lack lacks lead leading leads learned
learns leave leaves led left lend lends let lets leverage leveraged leverages leveraging lie lies live lives look
looks lose loses lost love maintain maintains matter maximize maximizes mean means measured meet meets mention
mentioned merge merges met mimic mimics minimize minimizes mitigate mitigates modifies modify motivate motivated move
moved moves need needed needs normalize normalizes note noted notes observe observed observes obtain obtained
obtaining obtains occur occurred occurs offer offers open opens opt optimize optimizes opts outperform outperformed
outperforming outperforms overcome overcomes overlook overlooks overwhelm overwhelms own pass passed passes pay
penalize penalizes perceive perceives perform performed performing performs permit permits pick picks place placed
play plays point points pose posed poses predict predicts prefer prepare present presented presenting presents prevent
prevents proceed proceeds produce produced produces producing promote promotes propose proposed proposes proposing
prove proved proven proves provide provided provides providing pull push pushes put puts quantifies quantify quote
quotes raise raised raises reach reached reaches read reads realize realizes receive receives recognize recognizes
recommend recommends reduce reduced reduces reducing refer referred refers reflect reflects regard regarded relate
related relies rely relying remain remained remains remind reminds remove removed removes removing render renders
replace replaced replaces replacing report reported reports require required requires requiring resemble resembles
resolve resolves resort restrict restricts resulted resulting retain reuse reuses reveal revealed reveals rise rises
rose run running runs saw see seek seeks select selected selects send sends sent separate separates serve served
serves set sets share shared shares sharing show showed showing shown shows simulate simulates sit sits solve solved
solves solving specified specify speculate speculates spend spent stand stands start started starts state stated
states stop stops strengthen strengthens strive strives studied studies study suffer suffers suggest suggested
suggesting suggests summarize summarized summarizes support supported supports suppose surpass surpasses surround
surrounds tackle tackles tailor tailors take taken takes taking talk talked talks taught teach teaches teaching tell
tells tend tends test tested tests think thought took trains transform transforms translate translates treat treated
treats tried trigger triggers try trying turn turned turns undergo undergos understand undertake undertakes unifies
unify utilize utilized utilizes utilizing validate validated vanish vanishes varied varies vary varying verified
verify visit visualize visualized wait walk want wanted wants weaken weakens wear went win winning wins wish won
wonder work worked works worry write written wrote yield yielded yielding yields
"""
_QUALIFIERS = """
accurate alternative contemporary conventional countless dominant earlier enormous exceptional existing popular precise
published reasonable sophisticated special thorough traditional
able actual additional aforementioned art available average best better big bigger capable certain challenging clear
clearer close closer common comparable competitive complete comprehensive considerable corresponding current deeper
desirable detailed different difficult distinct diverse early easier easy effective efficient entire equal essential
evident exact exactly extensive extra fair fast faster final fine full fully general good great greater greatest hard
harder high higher highest huge identical important individual initial interesting key known large larger largest
latest limited long longer low lower lowest main major minor modern multiple natural necessary new newer notable novel
numerous obvious original overall particular poor possible potential powerful practical preliminary present previous
primary prior promising proper recent relative relevant remarkable respective rest robust separate severe short
shorter significant similar simple simpler single slight small smaller smallest sole sota specific standard
state-of-the-art straightforward strong stronger strongest subsequent substantial successful sufficient suitable
superior sure typical unique unknown unseen useful usual valuable vanilla varied weak weaker whole wide wider worse
worst
"""
_GENERAL = """
ability acknowledgement addition advantage analysis annual answer approach area argument arxiv aspect association
assumption attempt author base baseline basis behavior behaviour benefit case category challenge change choice city
class code college combination comparison component computational concept conclusion condition conference
configuration context contribution copyright count country criterion data dataset day definition degree department
detail difference difficulty direction discussion distribution document effect effectiveness element email entry
equation error evaluation evidence example experiment experimental explanation extent fact factor faculty feature
field figure finding form formula framework function future gain gap goal group hand idea impact implementation
importance improvement information input insight instance institute international intuition issue item kind knowledge
lab laboratory language learning level license limitation line linguistics list literature loss material mechanism
meeting method metric mind model name nature notation number object observation operation option order other ours
output page pair paper parameter part pattern percent percentage performance period person perspective point position
practice preprint press problem procedure proceeding proceedings process property purpose quality quantity question
range rate ratio reader reason related relation relationship research researcher respect response result review role
sample scenario scheme school score set setting shape side sign signal situation size solution source space speed
stage standard step story strategy street structure study subject success summary supplementary system target task
team technique term text theory time title token tool top total trend trial type unit university usage use user
validity value variable variant variation variety version view volume whole word work workshop world year
"""

STOP: frozenset[str] = frozenset((_FUNCTION + _VERBS + _QUALIFIERS).split())
GENERAL: frozenset[str] = frozenset(_GENERAL.split()) | {word + "s" for word in _GENERAL.split()}
# A word that mostly follows one of these is a verb.
MODALS: frozenset[str] = frozenset(
    "we can could will would may might must should shall cannot they not don't doesn't didn't".split()
)

_NO_ADVERBS = frozenset({"assembly", "anomaly", "family", "supply", "reply"})
_ADJECTIVE_ENDS = ("ous", "ful", "less", "ible", "able", "ical", "ional", "ive", "ed")
_NOUNS = frozenset(
    "objective derivative incentive narrative initiative alternative perspective adjective archive additive hive drive "
    "variable table timetable interval proposal seed speed feed need embed bed imagenet breed nous radical vertical "
    "principal potential differential trial tutorial syllable negative positive false-positive primitive motive "
    "functional octave captive".split()
)


def ends_phrase(word: str) -> bool:
    """Whether a lower-case word looks like an adverb or a verb ("significantly", "generalizes")."""
    is_adverb = len(word) > 4 and word.endswith("ly") and word not in _NO_ADVERBS
    return is_adverb or word.endswith(("izes", "ifies"))


def is_adjective(word: str) -> bool:
    """Whether a lower-case word looks like an adjective or participle, and so can't end a noun phrase."""
    return word.endswith(_ADJECTIVE_ENDS) and word not in _NOUNS
