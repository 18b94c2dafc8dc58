/** English word forms that patterns ask for: `$name:ing`, `:ed`, `:s`, `:a`, `:cap`, `:upper`. */

const vowel = /[aeiou]/
/** One syllable that ends in one vowel and one consonant: the consonant is doubled. */
const short = /^[^aeiou]*(?:qu)?[aeiou][bdgklmnprtvz]$/
/** Longer verbs that do so because the stress is on the last syllable, and a few that just do. */
const stressed =
  /(?:^begin|forget|mit|[^f]fer|occur|(?:com|ex|pro)pel|allot|kidnap|unplug|regret|reset|upset|overrun|program|control|debug|format|equip)$/

function ing(verb: string): string {
  if (/[^aeiou]ie$/.test(verb)) return `${verb.slice(0, -2)}ying`
  if (/[^eoy]e$/.test(verb) && verb !== 'be') return `${verb.slice(0, -1)}ing`
  if (doubles(verb)) return `${verb}${verb.at(-1)}ing`
  return `${verb}ing`
}

function doubles(verb: string): boolean {
  return short.test(verb) || (stressed.test(verb) && verb !== 'offer')
}

function plural(noun: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(noun)) return `${noun}es`
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return `${noun}s`
}

/** Applies `change` to the first word, leaving an adverb such as `secretly` in front of its verb. */
function onVerb(text: string, change: (verb: string) => string): string {
  return text.replace(/^((?:\w+ly )?)([A-Za-z]+)/, (_, before: string, verb: string) => before + change(verb))
}

const forms: Readonly<Record<string, (text: string) => string>> = {
  ing: (text) => onVerb(text, ing),
  s: plural,
  a: (text) => `${vowel.test(text[0] ?? '') ? 'an' : 'a'} ${text}`,
  cap: (text) => text.charAt(0).toUpperCase() + text.slice(1),
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase()
}

export function isForm(name: string): boolean {
  return name in forms
}

export function inflect(text: string, form: string): string {
  return forms[form]!(text)
}
