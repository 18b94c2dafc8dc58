/**
 * Letters that look like Latin ones and that NFKC leaves alone: an own selection after Unicode Technical Standard 39
 * (confusables.txt, version 16) and the character charts, of what is used to write English with foreign letters:
 * Cyrillic, Greek, Armenian, Cherokee, small capitals, phonetic letters, letters with a stroke or hook, turned letters.
 * Each line is a Latin letter and its look-alikes; a letter that stands in two lines counts for the first.
 */
const lines = `
a аαάɑᴀɐⱥАΑȺᎪ
b ьβʙɓƀƃБВΒЬꞗᏴ
c сϲᴄƈȼꞓСϹᏟꞆ
d ԁɖɗᴅƌƊᎠꓓ
e еєέεɛᴇǝəɘɇЕΕᎬЄ
f ꜰƒꞙϝƑꞘ
g ɡԍɢɠᶃǥԌᏀꞡ
h һհʜɦɥНΗᎻꞣ
i іιίɪɨᴉІΙᎥ
j јϳᴊʝɉɟЈȷɈᎫ
k кκᴋƙʞКΚᏦꞥƘ
l ӏʟƚɫɬɭןӀȽᏞƖⅼꓡ
m мᴍɱɯМΜᎷ
n пиոήηɴɲɳƞΝꞧƝ
o оοόσөɵᴏօОΟӨƟՕס
p рρᴘƥРΡᏢƤ
q ԛգʠԚ
r гяʀɼɽɾɍɹᎡᏒꞩ
s ѕʂꜱʃЅՏᏚꓢ
t тτᴛƭʈʇТΤᎢƬƮ
u υύսᴜʉʊцՍᏌ
v νѵᴠʋʌѴᏙƲ
w ԝωώшᴡʍɯѡԜᎳ
x хχХΧ
y уγүʏƴɏʎУΥҮƳɎ
z ᴢʐʑƶзΖᏃƵ
`

const table = new Map<number, string>()
for (const line of lines.trim().split('\n')) {
  const [letter, ...lookAlikes] = [...line.replace(' ', '')]
  for (const character of lookAlikes) {
    const point = character.codePointAt(0)!
    if (!table.has(point)) table.set(point, letter!)
  }
}

/** The Latin letter, in lower case, that a code point looks like. */
export function lookAlike(point: number): string | undefined {
  return table.get(point)
}
