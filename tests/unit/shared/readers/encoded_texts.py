"""Texts of many languages, and the encodings that such texts are found in."""

# The encodings that a language's texts are found in, and texts.
TEXTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "spanish": (
        (
            "cp1252",
            "latin-1",
        ),
        (
            "El niño comió una piña mañana.",
            "¿Qué pasó ayer en la reunión?",
            "La reunión será el miércoles a las diez.",
            "Señor García, su petición está en trámite.",
            "Vacaciones: 28 días al año.",
            "El artículo 5º de la Ley 3ª se aplicará según el párrafo único.",
            "Año nuevo",
            "Información sobre el árbol genealógico de la familia Muñoz",
            "Índice de capítulos",
            "“Máximo” – 15 €: según convenio…",
            (
                "La compañía abonará las vacaciones no disfrutadas en la liquidación final. Los traba"
                "jadores tendrán derecho a veintiocho días naturales al año. El período de disfrute s"
                "e fijará de común acuerdo entre el empresario y el trabajador, según lo establecido "
                "en el artículo número 38. ¿Cuándo se solicitan? Con dos meses de antelación. El seño"
                "r Ibáñez gestiona también los permisos de maternidad."
            ),
        ),
    ),
    "german": (
        (
            "cp1252",
            "latin-1",
        ),
        (
            "können",
            "Die Straße ist für Fußgänger geöffnet.",
            "Müller",
            "Größe: groß",
            "Der Urlaub beträgt 28 Tage im Jahr und muß bis März genommen werden.",
            "Überstunden werden vergütet.",
            "Änderungen bleiben vorbehalten – gemäß § 5 der Satzung.",
            (
                "Die Mitarbeiterinnen und Mitarbeiter haben Anspruch auf achtundzwanzig Urlaubstage. "
                "Überzählige Tage verfallen am einunddreißigsten März des Folgejahres. Für Schwerbehi"
                "nderte gilt ein zusätzlicher Anspruch von fünf Tagen. Anträge müssen schriftlich bei"
                " der zuständigen Stelle eingereicht werden; über Härtefälle entscheidet die Geschäft"
                "sführung."
            ),
        ),
    ),
    "french": (
        (
            "cp1252",
            "latin-1",
        ),
        (
            "Ça va très bien, merci.",
            "Où est la bibliothèque ?",
            "L'été dernier, nous avons été à la mer.",
            "Le congé annuel est de vingt-huit jours ; il doit être posé avant le 31 décembre.",
            "Noël approche",
            "À bientôt",
            "« Bonjour » dit-elle, très étonnée.",
            (
                "Les salariés bénéficient de vingt-huit jours de congés payés par an. La période de r"
                "éférence s'étend du premier juin au trente et un mai. Le départ en congé doit être a"
                "pprouvé par le supérieur hiérarchique ; à défaut, la demande est réputée refusée. Le"
                "s congés non pris à la fin de l'année sont perdus, sauf accord écrit de l'employeur."
            ),
        ),
    ),
    "portuguese": (
        (
            "cp1252",
            "latin-1",
        ),
        (
            "A situação não é tão má.",
            "Há opções à disposição.",
            "Ação",
            "São Paulo é a maior cidade do Brasil.",
            "As férias são de vinte e oito dias por ano.",
            "Não.",
            "Educação e saúde para todos os cidadãos",
            (
                "O período de férias é fixado por acordo entre o empregador e o trabalhador. As féria"
                "s não gozadas até ao fim do ano são pagas em dinheiro. A licença de maternidade tem "
                "a duração de cento e vinte dias. Os pedidos devem ser apresentados à administração c"
                "om dois meses de antecedência."
            ),
        ),
    ),
    "italian": (
        (
            "cp1252",
            "latin-1",
        ),
        (
            "Perché la città è così bella?",
            "Il lunedì è già pieno.",
            "L'università è qui.",
            (
                "Le ferie annuali sono di ventotto giorni; ciò vale anche per chi lavora a metà tempo"
                ". Però la domanda va presentata entro giovedì."
            ),
        ),
    ),
    "swedish": (
        ("cp1252",),
        (
            "Jag går på bio på lördag.",
            "Smörgåsbord",
            "Semestern är tjugoåtta dagar per år. Den måste tas ut före årets slut.",
        ),
    ),
    "danish": (
        ("cp1252",),
        (
            "Rødgrød med fløde",
            "Er du på ferie? Jeg kommer på lørdag.",
            "Æblet falder ikke langt fra træet.",
        ),
    ),
    "dutch": (
        ("cp1252",),
        (
            "Een café in België",
            "De geïnteresseerde coördinator",
        ),
    ),
    "polish": (
        ("cp1250",),
        (
            "Zażółć gęślą jaźń.",
            "Gdzie jest biblioteka? Proszę o pomoc.",
            "Święta",
            "Wniosek należy złożyć na piśmie.",
            "Urlop trwa dwadzieścia osiem dni w roku.",
            "Łódź",
            "Dzień dobry, chciałbym zarezerwować stolik na sobotę wieczór.",
            (
                "Pracownikowi przysługuje dwadzieścia osiem dni urlopu rocznie. Urlop niewykorzystany"
                " należy wykorzystać do końca września następnego roku. Wniosek składa się na piśmie "
                "u przełożonego, który może odmówić tylko z ważnych przyczyn. Święta i niedziele nie "
                "są wliczane do urlopu."
            ),
        ),
    ),
    "czech": (
        ("cp1250",),
        (
            "Příliš žluťoučký kůň úpěl ďábelské ódy.",
            "Dovolená činí dvacet osm dní v roce.",
            "Dobrý den, jak se máte?",
            "Žádost se podává písemně.",
            "Česká republika",
            (
                "Zaměstnanec má nárok na dvacet osm dní dovolené v kalendářním roce. Žádost o dovolen"
                "ou se podává písemně nadřízenému nejméně dva týdny předem. Nevyčerpaná dovolená se p"
                "řevádí do příštího roku, nejdéle však do konce března."
            ),
        ),
    ),
    "hungarian": (
        ("cp1250",),
        (
            "Jó napot kívánok, hogy van?",
            "Árvíztűrő tükörfúrógép",
            (
                "A szabadság évente huszonnyolc nap. A kérelmet írásban kell benyújtani a felettesnek"
                ", legkésőbb két héttel előbb. Őszintén köszönjük."
            ),
        ),
    ),
    "romanian": (
        ("cp1250",),
        (
            "Concediul este de douăzeci şi opt de zile pe an.",
            "Bună ziua, ce mai faceţi?",
        ),
    ),
    "turkish": (
        ("cp1254",),
        (
            "Bugün hava çok güzel, dışarı çıkıp yürüyüş yapacağım. Şimdi.",
            "İstanbul'da yağmur yağıyor.",
            (
                "Yıllık izin yirmi sekiz gündür. Başvurular yazılı olarak yapılır ve müdür tarafından"
                " onaylanır."
            ),
        ),
    ),
    "russian": (
        (
            "cp1251",
            "koi8-r",
        ),
        (
            "Привет, мир!",
            "Отпуск составляет двадцать восемь дней в году.",
            "Где находится библиотека?",
            "Москва",
            "Это простой русский текст для проверки кодировки.",
            "Договор N 15 от 3 марта – «Ромашка»",
            (
                "Работникам предоставляется ежегодный оплачиваемый отпуск продолжительностью двадцать"
                " восемь календарных дней. Заявление подаётся в письменной форме не позднее чем за дв"
                "е недели. Неиспользованный отпуск переносится на следующий год по соглашению сторон."
            ),
        ),
    ),
    "russian-mixed": (
        (
            "cp1251",
            "koi8-r",
        ),
        (
            "Server restart: перезапуск сервера, port 8080",
            "Иванов И.И., тел. 123-45-67",
        ),
    ),
    "ukrainian": (
        ("cp1251",),
        (
            "Відпустка становить двадцять вісім днів на рік.",
            "Добрий день, як справи?",
        ),
    ),
    "greek": (
        ("cp1253",),
        (
            "Καλημέρα κόσμε, αυτό είναι ένα απλό κείμενο.",
            "Πού είναι η βιβλιοθήκη;",
            "Αθήνα",
            (
                "Η άδεια είναι είκοσι οκτώ ημέρες το χρόνο. Η αίτηση υποβάλλεται γραπτώς στον προϊστά"
                "μενο τουλάχιστον δύο εβδομάδες πριν. Η άδεια που δεν χρησιμοποιήθηκε μεταφέρεται στο"
                " επόμενο έτος."
            ),
        ),
    ),
    "japanese": (
        (
            "shift_jis",
            "euc_jp",
        ),
        (
            "これは日本語の文章です。",
            "年次有給休暇は二十八日です。",
            "東京都",
            "会議は午後三時に始まります。",
            "カタカナのテスト",
            (
                "年次有給休暇は一年につき二十八日とする。休暇の申請は、所属長に対し書面で"
                "二週間前までに行わなければならない。未消化の休暇は翌年度に繰り越すことが"
                "できる。ただし、三月末日までに取得しなければならない。"
            ),
        ),
    ),
    "chinese-s": (
        (
            "gb18030",
            "gbk",
        ),
        (
            "这是一个测试文件。",
            "年假为二十八天。",
            "北京市",
            "会议将于下午三点开始。",
            (
                "员工每年享有二十八天的带薪年假。休假申请应当提前两周以书面形式向主管提出"
                "。未使用的年假可以结转到下一年度，但必须在三月底之前使用完毕。"
            ),
        ),
    ),
    "chinese-t": (
        ("big5",),
        (
            "這是一個測試文件。",
            "年假為二十八天。",
            "臺北市",
            "會議將於下午三點開始。",
            (
                "員工每年享有二十八天的帶薪年假。休假申請應當提前兩週以書面形式向主管提出"
                "。未使用的年假可以結轉到下一年度，但必須在三月底之前使用完畢。"
            ),
        ),
    ),
    "korean": (
        ("euc_kr",),
        (
            "안녕하세요. 이것은 한국어 문장입니다.",
            "연차 휴가는 이십팔 일입니다.",
            "서울",
            "회의는 오후 세 시에 시작합니다.",
            (
                "직원은 매년 이십팔 일의 유급 휴가를 받는다. 휴가 신청은 최소 "
                "이 주 전에 서면으로 상사에게 제출해야 한다. 사용하지 않은 휴가"
                "는 다음 해로 이월할 수 있다."
            ),
        ),
    ),
    "arabic": (
        ("cp1256",),
        (
            "مرحبا بالعالم، هذا نص عربي بسيط للاختبار.",
            "الإجازة السنوية ثمانية وعشرون يوما.",
        ),
    ),
    "hebrew": (
        ("cp1255",),
        (
            "שלום עולם, זה טקסט פשוט בעברית.",
            "החופשה השנתית היא עשרים ושמונה ימים.",
        ),
    ),
    "thai": (
        ("cp874",),
        (
            "สวัสดีชาวโลก นี่คือข้อความภาษาไทย",
            "วันหยุดประจำปีคือยี่สิบแปดวัน",
        ),
    ),
    "lithuanian": (
        ("cp1257",),
        (
            "Atostogos trunka dvidešimt aštuonias dienas per metus.",
            "Ačiū už pagalbą, šiandien gražus oras.",
        ),
    ),
}
# Encodings of old systems: each text is read in them too, but for words that are words in a newer one as well.
OLD = {
    ("cp850", "mac_roman"): (
        "spanish",
        "german",
        "french",
        "portuguese",
        "italian",
        "swedish",
        "danish",
        "dutch",
    ),
    ("cp866", "iso8859_5"): ("russian", "russian-mixed"),
}
AMBIGUOUS = {("mac_roman", text) for text in ("Año nuevo", "können", "Müller", "Noël approche")}
DRAWN = (
    ("cp866", "┌─────────┬──────┐\n│ Имя     │ Сумма │\n└─────────┴──────┘\nОплата за март"),
    ("cp850", "╔═════════╦══════╗\n║ Größe   ║ Maß  ║\n╚═════════╩══════╝\nBücher für Schüler"),
    ("cp850", "README\n──────────────\nDies ist ein Text für Fußgänger, gemäß §5"),
)
WITHIN_ENGLISH = (
    "The following notice was sent to all employees, with the original below.\n\n{}\n\nPlease answer.\n"
)
