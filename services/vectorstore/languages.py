"""Which language a text is in, told by the function words that it uses."""

from itertools import chain

# The most frequent words that carry grammar and no topic. Long lists would tell no more: a chunk holds dozens of them.
_FUNCTION_WORDS = {
    "english": (
        "the of and to in is was that for on with as by at from it be are this which or an had were his he not have "
        "but they their has been who when what how did does you can will"
    ),
    "german": (
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat "
        "dass sie nach wird bei einer um am sind noch wie einem über war wurde durch oder welche wer was wann"
    ),
    "spanish": (
        "de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o fue este ha si "
        "porque esta son entre cuando muy sin sobre también qué cuál quién cuándo es era"
    ),
    "french": (
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec ou son aux "
        "d l qu été cette ses mais comme on leur quel quelle quand où à"
    ),
    "italian": (
        "di che e la il un a per in una mi sono ho non ma lo ha le si del della dei con da nel alla più come al anche "
        "gli è delle nella dal quale quando cosa chi"
    ),
    "portuguese": (
        "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu sua "
        "ou ser quando muito há nos já está também só pelo pela qual quem"
    ),
    "dutch": (
        "de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of wat "
        "mijn men dit zo door over ze bij ook tot je naar wordt werd welke wie"
    ),
    "polish": (
        "i w na z do nie to że się o jak po co jest za od tak jego ale czy przez dla był który która które są oraz "
        "było ich tym przy tylko jako kto kiedy gdzie jaki jaka jakie ze została"
    ),
    "romanian": (
        "de și în a la cu pe o un care din nu că să este pentru mai au al sunt ce ca prin fost sau lui dar după într "
        "către ale ai cel cine când unde câte acest această fi"
    ),
    "russian": (
        "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по от из для это был была было "
        "были или при также о об который которая которые кто когда где какой"
    ),
    "turkish": (
        "ve bir bu da de için ile olarak çok daha olan gibi en kadar ne o sonra ya ise değil var mi mı ki her göre "
        "hangi kim olduğu tarafından"
    ),
    "swedish": (
        "och i att det som en på är av för med den till inte om har de ett var från men så hade kan när han vad eller "
        "ska skulle där efter vid också"
    ),
    "arabic": "في من على إلى عن أن التي الذي هذا هذه كان ما لا مع كانت هو هي كما بعد قد بين ذلك أو كل لم ثم حيث متى",
}

LANGUAGES: tuple[str, ...] = tuple(_FUNCTION_WORDS)
"""Languages whose words are stemmed, by their Snowball names. A language's number is its place here, and it is stored:
append only."""

UNKNOWN = len(LANGUAGES)
"""The number of no language in particular: words stand as they are."""


def _votes() -> dict[str, tuple[float, ...]]:
    lists = [frozenset(words.split()) for words in _FUNCTION_WORDS.values()]
    votes = {}
    for word in set(chain.from_iterable(lists)):
        speaking = [float(word in words) for words in lists]
        votes[word] = tuple(vote / sum(speaking) for vote in speaking)
    return votes


VOTES: dict[str, tuple[float, ...]] = _votes()
"""Function word -> its vote for each language; a word of several languages votes for each with a part."""
