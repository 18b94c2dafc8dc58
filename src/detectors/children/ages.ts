/** Stated ages under 18: how languages write them. `#` stands for the age; forms without a unit are too common to count. */
const spelt: Readonly<Record<string, readonly string[]>> = {
  en: 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen'.split(
    ' '
  ),
  de: 'ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn'.split(
    ' '
  ),
  fr: 'un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept'.split(' '),
  es: 'un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete'.split(
    ' '
  ),
  it: 'un due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette'.split(
    ' '
  ),
  pt: 'um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete'.split(
    ' '
  ),
  nl: 'één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien'.split(
    ' '
  ),
  zh: '一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五 十六 十七'.split(' '),
  vi: 'một,hai,ba,bốn,năm,sáu,bảy,tám,chín,mười,mười một,mười hai,mười ba,mười bốn,mười lăm,mười sáu,mười bảy'.split(
    ','
  ),
  ko: '한,두,세,네,다섯,여섯,일곱,여덟,아홉,열,열한,열두,열세,열네,열다섯,열여섯,열일곱'.split(',')
}

/** By language; a language whose words for numbers are given above is also read in them. */
const forms: Readonly<Record<string, readonly string[]>> = {
  en: [
    '# year old*',
    '# years old',
    '# years of age',
    '# yr old*',
    '# yrs old',
    '# y o',
    '# yo',
    'aged #',
    'age #',
    'age of #',
    'girl of #',
    'boy of #',
    'child of #',
    'she is #',
    'he is #',
    'shes #',
    'hes #',
    'who is #',
    'whos #',
    'turned #'
  ],
  de: [
    '# jahre alt',
    '# jährige*',
    'im alter von #',
    'von # jahren',
    'mit # jahren',
    '# jahre altes',
    '# jahre alten',
    'sie ist #',
    'er ist #'
  ],
  fr: ['de # ans', 'âgée de #', 'âgé de #', 'elle a # ans', 'il a # ans', 'qui a # ans'],
  es: ['de # años', 'tiene # años', 'con # años', '# años de edad'],
  it: ['di # anni', 'ha # anni', '# enne', '# anni di età'],
  pt: ['de # anos', 'tem # anos', 'com # anos', '# anos de idade'],
  nl: ['# jaar oud', '# jarig*', 'van # jaar', 'van # jaar oud', 'is # jaar'],
  zh: ['#岁', '#歲', '#周岁'],
  vi: ['# tuổi'],
  ar: ['عمرها #', 'عمره #', 'في عمر #', 'بعمر #', 'عمر #', 'في سن #', 'في ال # من', 'سن #'],
  ko: ['#살', '#세 '],
  th: ['อายุ#', '#ขวบ', '#ปี'],
  bn: ['# বছর বয়সী', '# বছর বয়সের', '# বছরের', '# বছর বয়স'],
  sw: ['umri wa miaka #', 'wa miaka #', 'mwenye miaka #'],
  jv: ['umur #', 'umure #', '# taun', 'berusia #', 'berumur #']
}

/** Forms in the first person. */
const own: readonly string[] = [
  'i am #',
  'im #',
  'i am a #',
  'im a #',
  'my age is #',
  'ich bin #',
  'j ai # ans',
  'jai # ans',
  'tengo # años',
  'ho # anni',
  'tenho # anos',
  'ik ben #',
  '我#岁',
  '我今年#岁',
  'tôi # tuổi',
  'em # tuổi',
  'عمري #',
  '저는 #살',
  '나는 #살',
  'ผมอายุ #',
  'ฉันอายุ #',
  'หนูอายุ #',
  'আমার বয়স #',
  'nina miaka #',
  'umurku #'
]

const below = [
  'undicenne',
  'dodicenne',
  'tredicenne',
  'quattordicenne',
  'quindicenne',
  'sedicenne',
  'diciassettenne',
  'quinceañera',
  'under 18',
  'under 17',
  'under 16',
  'under 15',
  'under 14',
  'under 13',
  'under 12',
  'younger than 18',
  'younger than 16',
  'below 18',
  'below the age of',
  'under the age of',
  'unter 18',
  'unter 16',
  'unter 14',
  'moins de 18',
  'moins de 16',
  'moins de 15',
  'menos de 18',
  'menor de 18',
  'menor de 16',
  'menores de 18',
  'meno di 18',
  'meno di 16',
  'jonger dan 18',
  'onder de 18',
  '未满18',
  '未滿18',
  '18岁以下',
  'dưới 18',
  'dưới 16',
  'دون 18',
  'تحت 18',
  '18세 미만',
  'อายุต่ำกว่า 18'
]

const numbers = Array.from({ length: 17 }, (_, i) => i + 1)
/** A digit of another script folds as it is written. */
const bengali = (n: number) => [...String(n)].map((digit) => String.fromCharCode(0x9e6 + Number(digit))).join('')
const arabic = (n: number) => [...String(n)].map((digit) => String.fromCharCode(0x660 + Number(digit))).join('')

function* filled(language: string, form: string): Generator<string> {
  for (const n of numbers) {
    yield form.replace('#', String(n))
    if (language === 'en' && / (?:y|yo|yr)\b/.test(form)) yield form.replace('# ', String(n)).replace('# ', String(n))
    if (form.includes('jährige') || form.includes('jarig')) yield form.replace('# ', String(n))
    if (language === 'bn') yield form.replace('#', bengali(n))
    if (language === 'ar') yield form.replace('#', arabic(n))
    const word = spelt[language]?.[n - 1]
    // In one syllable, Chinese and Vietnamese numbers are parts of others: 二十一岁.
    if (word === undefined || ((language === 'zh' || language === 'vi' || language === 'ko') && n < 10)) continue
    yield form.replace('#', word)
    if (language === 'de' || language === 'nl') yield form.replace('# ', word)
  }
}

/** Phrases that state an age under 18. */
export function ages(): string[] {
  return [
    ...below,
    ...Object.entries(forms).flatMap(([language, rows]) => rows.flatMap((row) => [...filled(language, row)]))
  ]
}

/** Phrases with which a person states an age under 18 of their own. */
export function ownAges(): string[] {
  return own.flatMap((row) => numbers.filter((n) => n > 7).map((n) => row.replace('#', String(n))))
}
