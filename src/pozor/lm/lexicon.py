"""The Czech words that the sentences about agreement are made of, in the forms in which they are needed.

A past tense is its stem and its ending, two tokens: spa + l (he slept), spa + la (she slept).
"""

MASCULINE, FEMININE = "m", "f"
ENDINGS = {MASCULINE: "l", FEMININE: "la"}

# nominative, accusative, instrumental with its preposition; lines stand in pairs, masculine and feminine
_PEOPLE = """
otec otce s otcem · matka matku s matkou
bratr bratra s bratrem · sestra sestru se sestrou
dědeček dědečka s dědečkem · babička babičku s babičkou
strýc strýce se strýcem · teta tetu s tetou
soused souseda se sousedem · sousedka sousedku se sousedkou
učitel učitele s učitelem · učitelka učitelku s učitelkou
žák žáka se žákem · žákyně žákyni se žákyní
kluk kluka s klukem · dívka dívku s dívkou
kamarád kamaráda s kamarádem · kamarádka kamarádku s kamarádkou
lékař lékaře s lékařem · lékařka lékařku s lékařkou
malíř malíře s malířem · malířka malířku s malířkou
herec herce s hercem · herečka herečku s herečkou
zpěvák zpěváka se zpěvákem · zpěvačka zpěvačku se zpěvačkou
kuchař kuchaře s kuchařem · kuchařka kuchařku s kuchařkou
prodavač prodavače s prodavačem · prodavačka prodavačku s prodavačkou
král krále s králem · královna královnu s královnou
princ prince s princem · princezna princeznu s princeznou
student studenta se studentem · studentka studentku se studentkou
řidič řidiče s řidičem · řidička řidičku s řidičkou
vnuk vnuka s vnukem · vnučka vnučku s vnučkou
"""


def _people(side: int) -> tuple[tuple[str, str, str], ...]:
    found = []
    for line in _PEOPLE.strip().splitlines():
        nominative, accusative, company = line.split(" · ")[side].split(" ", 2)
        found.append((nominative, accusative, company))
    return tuple(found)


# gender -> (nominative, accusative, instrumental with s or se) of each person
PEOPLE = {MASCULINE: _people(0), FEMININE: _people(1)}

# stems of the past tense: what goes on, what happens at once, who comes and goes
_ACTIVITIES = """
spa čet kresli cviči pracova odpočíva plaka zpíva tanči telefonova čeka kašla psa mlče sni sedě stá
"""
_EVENTS = "usnu zaplaka zakašla vsta zavola zív přikýv zakop vzdych zazpíva zbled zašepta zčervena"
_JOURNEYS = "přije odje dorazi přiběh odběh utek zmize vyběh přispěcha odcestova"
KINDS = {
    "activity": tuple(_ACTIVITIES.split()),
    "event": tuple(_EVENTS.split()),
    "journey": tuple(_JOURNEYS.split()),
}

# stem, the preposition it wants, and the case of the person: "accusative" or "company" (s + instrumental)
TRANSITIVES = {
    "activity": (
        ("posloucha", "", "accusative"),
        ("sledova", "", "accusative"),
        ("hleda", "", "accusative"),
        ("čeka", "na", "accusative"),
        ("mysle", "na", "accusative"),
        ("mluvi", "", "company"),
        ("tanči", "", "company"),
    ),
    "event": (
        ("zahléd", "", "accusative"),
        ("pozdravi", "", "accusative"),
        ("pochváli", "", "accusative"),
        ("obja", "", "accusative"),
        ("zamrka", "na", "accusative"),
    ),
}

# the pronoun of a relative clause whose subject is somebody else: it alone carries the gender of the subject
RELATIVES = (
    (
        {MASCULINE: "kterého", FEMININE: "kterou"},
        ("posloucha", "hleda", "pozva", "potka", "zahléd", "obja", "pochváli"),
    ),
    ({MASCULINE: "na kterého", FEMININE: "na kterou"}, ("čeka", "mysle", "vola", "zapomně")),
    ({MASCULINE: "se kterým", FEMININE: "se kterou"}, ("mluvi", "tanči", "pracova", "bydle")),
    ({MASCULINE: "o kterém", FEMININE: "o které"}, ("mluvi", "sni", "psa", "čet")),
    ({MASCULINE: "kterému", FEMININE: "které"}, ("pomáha", "zpíva", "vaři", "děkova")),
)

CONJUNCTIONS = {
    "activity": ("zatímco", "když", "protože", "ačkoli", "i když"),
    "event": ("když", "jakmile", "protože", "ačkoli", "i když", "než", "hned jak"),
    "journey": ("když", "jakmile", "protože", "ačkoli", "i když", "než", "hned jak"),
}

PLACES = (
    "na zahradě",
    "v kuchyni",
    "na chodbě",
    "u okna",
    "pod stromem",
    "v parku",
    "na nádraží",
    "před domem",
    "za plotem",
    "u řeky",
    "ve škole",
    "na dvoře",
    "na balkoně",
)
DURATIONS = ("dlouho", "pořád", "celé odpoledne", "celý večer", "celou hodinu", "až do tmy", "ještě chvíli")
MOMENTS = ("najednou", "nakonec", "náhle", "znovu", "po chvíli", "za okamžik")
MANNERS = ("bez pozdravu", "bez kabátu", "ve spěchu", "s úsměvem", "v slzách", "v dobré náladě")
# kind of verb -> lists from each of which at most one adverbial comes before the verb, in this order
ADVERBIALS = {"activity": (PLACES, DURATIONS), "event": (PLACES, MOMENTS), "journey": (MOMENTS, MANNERS)}

OPENINGS = (
    "včera",
    "jednou",
    "minulou sobotu",
    "v neděli",
    "před týdnem",
    "o prázdninách",
    "loni v létě",
    "první den školy",
)
ORIGINS = (
    "z Brna",
    "z Prahy",
    "od vedle",
    "z prvního patra",
    "z vedlejší vesnice",
    "v červeném klobouku",
    "s deštníkem",
)
