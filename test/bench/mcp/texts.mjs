// Harmless texts of any length, each unlike the others, so that nothing is remembered of them.
const nouns = 'harbour museum garden kettle lantern orchard pebble saddle thimble willow basket candle'.split(' ')
const verbs = 'opens rests waits shines folds grows leans turns'.split(' ')

export function textOf(size, seed) {
  const sentences = []
  for (let length = 0, i = 0; length < size; i++) {
    const x = Math.imul(seed * 7919 + i + 1, 0x9e3779b1) >>> 0
    const sentence = `The ${nouns[x % 12]} ${verbs[(x >>> 5) % 8]} by the ${nouns[(x >>> 9) % 12]} ${(x >>> 13) % 1000}.`
    sentences.push(sentence)
    length += sentence.length + 1
  }
  return sentences.join(' ').slice(0, size)
}
