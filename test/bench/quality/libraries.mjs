// Other open libraries that run from npm without a service: installed at run time into a temporary folder, no dependencies
// of the project, and asked in a process of their own, each only for what it says that it detects.
import { execFileSync, fork } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = {
  obscenity: '0.4.6',
  'bad-words': '4.1.5',
  'glin-profanity': '3.3.0',
  '@presidio-dev/hai-guardrails': '1.12.0',
  llm_guardrail: '2.1.2',
  'redact-pii': '3.4.0',
  '@openai/guardrails': '0.2.1',
  '@openredaction/openredaction': '1.0.4'
}

/** What each guard claims to detect: the tasks of `systems.mjs` in which it stands. The heuristic guard takes a second per text: its cost is measured, its rates would rest on a handful. */
export const claims = {
  obscenity: ['profanity'],
  'bad-words': ['profanity'],
  'glin-profanity': ['profanity'],
  'hai-guardrails (patterns)': ['direct injection', 'indirect injection', 'jailbreak'],
  'hai-guardrails (heuristic)': [],
  'hai-guardrails (pii)': ['personal data'],
  'hai-guardrails (secrets)': ['secrets'],
  'llm_guardrail (injection, jailbreak)': ['direct injection', 'indirect injection', 'jailbreak'],
  'llm_guardrail (malicious)': ['harmful requests'],
  'redact-pii': ['personal data'],
  '@openai/guardrails (pii)': ['personal data'],
  '@openai/guardrails (secret keys)': ['secrets'],
  '@openredaction/openredaction': ['personal data', 'secrets']
}

export const versions = packages

/** Installs without running install scripts. @returns a way to ask, and to remove it all */
export function installLibraries(log) {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-libraries-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ private: true, type: 'module', dependencies: packages })
    )
    log('installing the other libraries into a temporary folder')
    execFileSync('npm', ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 300_000
    })
    repairHaiGuardrails(folder)
    copyFileSync(fileURLToPath(new URL('library-guards.mjs', import.meta.url)), join(folder, 'guards.mjs'))
  } catch (error) {
    remove()
    throw error
  }
  return { ask: (name, job, texts, budgetMs) => ask(folder, { name, job, texts, budgetMs }), remove }
}

/**
 * As published, 1.12.0 looks for its worker threads in its builder's home folder and ends the process that uses its
 * heuristic guard. Its own files are put where it looks, so that what is compared is the guard and not the package.
 */
function repairHaiGuardrails(folder) {
  const file = join(folder, 'node_modules/@presidio-dev/hai-guardrails/dist/index.js')
  const text = readFileSync(file, 'utf8')
    .replaceAll(
      /"[^"]*\/hai-guardrails\/node_modules\/piscina\/dist"/g,
      JSON.stringify(join(folder, 'node_modules/piscina/dist'))
    )
    .replaceAll('"../workers/heuristic.worker.mjs"', '"./workers/heuristic.worker.js"')
  writeFileSync(file, text)
}

/** One guard in a fresh process. @returns its answers, fewer than texts where its time was up */
function ask(folder, task) {
  return new Promise((resolve, reject) => {
    const child = fork(join(folder, 'guards.mjs'), { cwd: folder, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    const timer = setTimeout(() => done(new Error('no answer in time')), task.budgetMs * 3 + 60_000)
    const done = (outcome) => {
      clearTimeout(timer)
      child.removeAllListeners()
      child.kill('SIGKILL')
      if (outcome instanceof Error) reject(new Error(`${task.name}: ${outcome.message}`))
      else resolve(outcome)
    }
    child.on('message', ({ ready, answers, error }) => {
      if (ready !== undefined) child.send(task)
      else done(answers ?? new Error(error))
    })
    child.on('error', done)
    child.on('exit', (code) => done(new Error(`ended with ${code}`)))
  })
}
