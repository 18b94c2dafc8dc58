// The other libraries' own guards, each as its documentation sets it up. This file is copied into a temporary folder where
// they are installed, and runs there in a process of its own: it answers texts that its parent sends.
import process from 'node:process'

const injectionOptions = { roles: ['user'], selection: 'all' }
const message = (text) => [{ role: 'user', content: text }]

/** hai-guardrails answers with a list of results; any that did not pass blocks. */
const blocks = (...guards) =>
  async function isBlocked(text) {
    for (const guard of guards) if ((await guard(message(text))).some(({ passed }) => !passed)) return true
    return false
  }

/** Its guards for personal data and secrets say differently what `passed` means; a text that they would change is a find in both. */
const redacts = (guard) => async (text) =>
  (await guard(message(text))).some((result) => result.modifiedMessage !== undefined)

/** By name: opens the guard and returns a function that says whether a text is flagged, at the defaults of the library. */
const guards = {
  async obscenity() {
    const { RegExpMatcher, englishDataset, englishRecommendedTransformers } = await import('obscenity')
    const matcher = new RegExpMatcher({ ...englishDataset.build(), ...englishRecommendedTransformers })
    return (text) => matcher.hasMatch(text)
  },
  async 'bad-words'() {
    const { Filter } = await import('bad-words')
    const filter = new Filter()
    return (text) => filter.isProfane(text)
  },
  async 'glin-profanity'() {
    const { Filter } = await import('glin-profanity')
    const filter = new Filter({ languages: ['english'], detectLeetspeak: true })
    return (text) => filter.isProfane(text)
  },
  async 'hai-guardrails (patterns)'() {
    const { injectionGuard, leakageGuard } = await import('@presidio-dev/hai-guardrails')
    const mode = { mode: 'pattern', threshold: 0.5 }
    return blocks(injectionGuard(injectionOptions, mode), leakageGuard(injectionOptions, mode))
  },
  async 'hai-guardrails (heuristic)'() {
    const { injectionGuard } = await import('@presidio-dev/hai-guardrails')
    return blocks(injectionGuard(injectionOptions, { mode: 'heuristic', threshold: 0.7 }))
  },
  async 'hai-guardrails (pii)'() {
    const { piiGuard } = await import('@presidio-dev/hai-guardrails')
    return redacts(piiGuard(injectionOptions))
  },
  async 'hai-guardrails (secrets)'() {
    const { secretGuard } = await import('@presidio-dev/hai-guardrails')
    return redacts(secretGuard(injectionOptions))
  },
  async 'llm_guardrail (injection, jailbreak)'() {
    const { checkInjection, checkJailbreak } = await import('llm_guardrail')
    return async (text) => (await checkInjection(text)).detected || (await checkJailbreak(text)).detected
  },
  async 'llm_guardrail (malicious)'() {
    const { checkMalicious } = await import('llm_guardrail')
    return async (text) => (await checkMalicious(text)).detected
  },
  async 'redact-pii'() {
    const { SyncRedactor } = (await import('redact-pii')).default
    const redactor = new SyncRedactor()
    return (text) => redactor.redact(text) !== text
  },
  async '@openai/guardrails (pii)'() {
    const { pii, PIIConfig } = (await import('@openai/guardrails')).default
    const config = PIIConfig.parse({ block: true })
    return async (text) => (await pii({}, text, config)).tripwireTriggered
  },
  async '@openai/guardrails (secret keys)'() {
    const { secretKeysCheck } = (await import('@openai/guardrails')).default
    return async (text) => (await secretKeysCheck({}, text, { threshold: 'balanced' })).tripwireTriggered
  },
  async '@openredaction/openredaction'() {
    const { OpenRedaction } = await import('@openredaction/openredaction')
    const shield = new OpenRedaction()
    return async (text) => (await shield.detect(text)).detections.length > 0
  }
}

const opened = new Map()
async function open(name) {
  if (!opened.has(name)) opened.set(name, await guards[name]())
  return opened.get(name)
}

/** `judge`: answers as many of the texts as fit the budget of ms. `cost`: µs of each of the texts, after a warm-up. */
process.on('message', async ({ name, job, texts, budgetMs }) => {
  try {
    const flags = await open(name)
    const started = performance.now()
    const answers = []
    if (job === 'cost')
      for (const text of texts.slice(0, Math.ceil(texts.length / 4))) {
        if (performance.now() - started > budgetMs / 3) break
        await flags(text)
      }
    for (const text of texts) {
      if (performance.now() - started > budgetMs) break
      const before = performance.now()
      const flagged = await flags(text)
      answers.push(job === 'cost' ? (performance.now() - before) * 1000 : flagged)
    }
    process.send({ answers })
  } catch (error) {
    process.send({ error: String(error?.message ?? error).slice(0, 300) })
  }
})
process.send({ ready: Object.keys(guards) })
