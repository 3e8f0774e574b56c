"""What texts in a language are made of, as far as it tells the encodings apart that they are written in."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alphabet:
    """A language, or several that are written alike, in the encodings that it is usually found in."""

    encodings: tuple[str, ...]
    worth: Mapping[str, float]
    """How much the letters and signs above ASCII speak for the language, up to 1."""
    first: str = ""
    last: str = ""
    """A range of characters that the language has beside those: they speak a little for it."""
    words: frozenset[str] = frozenset()
    """Short words that nearly every text has. Only languages with Latin letters have some."""
    foreign: frozenset[str] = frozenset()
    """Letters of ASCII that words of the language hardly ever have."""


WESTERN = "cp1252"
"""The encoding of most texts that are not in Unicode."""
_WESTERN = (WESTERN, "cp850", "mac_roman")
_CENTRAL = ("cp1250", "iso8859_2")


def _latin(
    encodings: tuple[str, ...], letters: str, words: str, foreign: str = "", signs: str = ""
) -> Alphabet:
    worth = dict.fromkeys(signs, 0.7) | dict.fromkeys(letters.upper(), 0.85) | dict.fromkeys(letters, 1.0)
    return Alphabet(encodings, worth, words=frozenset(words.split()), foreign=frozenset(foreign))


def _other(encodings: tuple[str, ...], common: str, rare: str) -> Alphabet:
    worth = dict.fromkeys(rare.upper(), 0.3) | dict.fromkeys(rare, 0.4)
    worth |= dict.fromkeys(common.upper(), 0.95) | dict.fromkeys(common, 1.0)
    return Alphabet(encodings, worth)


def _east_asian(encodings: tuple[str, ...], common: str, first: str, last: str) -> Alphabet:
    return Alphabet(encodings, dict.fromkeys(common + _WIDE_SIGNS, 1.0), first, last)


_WIDE_SIGNS = "。，、．！？：；（）「」『』《》【】\u3000・ー〜％／"

_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经"
    "么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全"
    "三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任"
    "常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必"
    "场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类"
    "求据程北边张该交规万取格望术领共确传师观清今切院让识候带导争运京八六七九百千假休申请测试"
)
_TRADITIONAL = (
    "這個們來為國說時會對於著過發後裡種經麼學現當沒動還進樣開從實軍無與長機關點業將兩間問並應戰頭體見產話門兒東聲員論處義幾認條"
    "係氣題爾別變總電數報結務場計資許統區隊決馬書則聽達強難權設記類據邊張該規萬術領確傳師觀讓識帶導爭運臺灣請測試"
)
_JAPANESE = (
    "日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木"
    "食車何南万毎白天母火右読友左休父雨会社部地京都議員期申請給有暇対面週未消化度越取得始者同自発事業合市場文章新聞最定者法的要用"
    "性制意作所開力通実問関立動全体明経目理内以政不物現成相連公機回数手強代信重主表保戦結教加"
)
_HIRAGANA = "".join(map(chr, range(0x3041, 0x3097)))
_KATAKANA = "".join(map(chr, range(0x30A1, 0x30F7)))
_HANGUL = (
    "이다는가을의에고하지사은로기한어리시자도인대를으서나수일해그게부있정들보여과주제상장전스아구라원성소면동문국와모만안공내적신"
    "것니습까합세요않없년월회울경영오연무위조관선거진생각당할될때드마미방화비체되간개용트계중유식행음결말물점된속천우발"
)
_HAN = ("\u4e00", "\u9fff")
_CYRILLIC = (
    _other(("cp1251", "koi8_r", "cp866", "iso8859_5"), "оеаинтсрвлкмдпу", "яыьгзбчйхжшюцщэфъё№"),
    _other(("cp1251",), "оаинвтесрлкідмупьзягй", "бчхцюїєшжщфґ'’№ыъэ"),
)

ALPHABETS = (
    _latin(
        _WESTERN,
        "áéíóúñ",
        "de la que el en los del se las por un para con una su al es lo como más según",
        "kw",
        "üÜ¿¡ºª",
    ),
    _latin(
        _WESTERN,
        "äöüß",
        "der die das und ist in den von zu mit für im des ein eine auf nicht sich es am bei zum",
    ),
    _latin(
        _WESTERN,
        "éèàêç",
        "de la le les et des en un une du est que pour dans qui au sur pas il nous par à",
        "kw",
        "âëîïôùûüÿœæÂËÎÏÔÙÛÜŒÆ",
    ),
    _latin(
        _WESTERN,
        "ãáéçíóõ",
        "de a o que e do da em um para com não uma os no na por as dos é ao são",
        "kwy",
        "êâúàôüºªÊÂÚÀÔ",
    ),
    _latin(
        _WESTERN,
        "àèéìòù",
        "di e il la che in un per è una del non sono con le si da della i più",
        "jkwxy",
        "ÀÈÉÌÒÙºª",
    ),
    _latin(
        _WESTERN, "åäöøæ", "och i att det som en på är av för med til er og ikke den de jag har", "", "éÉüÜ"
    ),
    _latin(_WESTERN, "éëï", "de het een en van in is dat op te zijn met voor niet aan", "", "èêöüóáÉËÏ"),
    _latin(_WESTERN, "áéíóúýþæöð", "og að er í sem ekki til um við", "cqwz"),
    _latin(
        _CENTRAL,
        "ąćęłńóśźż",
        "w i na z do nie się jest o że to za od po jak przez gdzie dla lub są oraz we ze",
        "qvx",
    ),
    _latin(
        _CENTRAL,
        "áčďéěíňřšťúůýž",
        "a v na se je že s z do o k i si by pro za jak od jsou ve po které",
        "qwx",
        "óÓ",
    ),
    _latin(
        _CENTRAL, "áčďéíľňóôšťúýžäĺŕ", "a v na sa je že s z do o k aj si by pre za ako od sú vo po", "qwx"
    ),
    _latin(_CENTRAL, "áéíóöőúüű", "a az és hogy nem is egy van meg ez de kell el csak vagy", "qwx"),
    _latin(_CENTRAL, "ăâîşţ", "de şi în la cu nu pe este un o că se din sunt pentru care", "kwy"),
    _latin(_CENTRAL, "čćđšž", "i u je na se da za su od s a ne o koji kao", "qwxy"),
    _latin(
        ("cp1254",), "çğıöşü", "ve bir bu için ile de da olarak olan çok gün var daha ne", "qwx", "âîûÂÎÛİ"
    ),
    _latin(
        ("cp1257",),
        "ąčęėįšųūžāēģīķļņ",
        "ir yra kad su į iš ne per tai kaip už un ka ar no uz par",
        "qwx",
        "õäöüÕÄÖÜ",
    ),
    _latin(("cp1257",), "äõöü", "ja on ei et see kui mis ka oma või", "cqwxyz", "šžŠŽ"),
    *_CYRILLIC,
    _other(("cp1253",), "αοιετσνηυρπκμλς", "άέήίόύώγδθωφχβζξψϊϋΐΰ"),
    _other(("cp1255",), "יוהלאמרתבנשדחכעפקטסםן", "גזצץףך"),
    _other(("cp1256",), "اليمونترهبةعدسف", "أإآىئءؤثجحخذزشصضطظغقكپچژگ،؛؟ًٌٍَُِّْـ"),
    _other(("cp874",), "านรกอเงยลวมทสตดปคหแบ่้ัีิ", "".join(map(chr, range(0x0E01, 0x0E5C)))),
    _east_asian(("cp932", "euc_jp"), _HIRAGANA + _KATAKANA + _JAPANESE, *_HAN),
    _east_asian(("gb18030",), _SIMPLIFIED, *_HAN),
    _east_asian(("big5",), _SIMPLIFIED + _TRADITIONAL, *_HAN),
    _east_asian(("cp949",), _HANGUL, "\uac00", "\ud7a3"),
)
