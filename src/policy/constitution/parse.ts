/** Reads a constitution: YAML in, checked rules out, or every problem at once with its place in the file. */
import { Ajv, type ErrorObject } from 'ajv'
import { checkTexts, type TextsSource } from '../../base/texts.js'
import { openYaml } from '../../base/yaml.js'
import type { Detector } from '../../detectors/detector.js'
import { detectors as allDetectors } from '../../detectors/index.js'
import { ownSchemas } from '../../json/own-schemas.js'
import type { Coverage } from '../escalate/judges.js'
import { defaultSession, type SessionPolicy } from '../evaluate/session.js'
import type { Category } from '../evaluation.js'
import { type Escalation, readEscalations } from './escalation.js'
import { type Extended, extend } from './extend.js'
import { type GuardedWords, readGuardedWords, readLexicons } from './lexicons.js'
import { mend } from './mend.js'
import { addSchemaProblem, ConstitutionError, collectProblems, type Problem, type Problems } from './problems.js'
import { type Rule, readRules } from './rules.js'
import { ConstitutionSource, ExtensionSource } from './schema.js'
import { builtFrom, withLists } from './shipped.js'
import type { ReaderMode } from './values.js'

export interface CategoryPolicy {
  high: 'forbid' | 'divert' | 'permit'
  middle: 'ask' | 'divert' | 'permit'
  description?: string
}

export interface Constitution {
  name: string
  version: string
  description: string
  /** Which texts the encoder reads, where there is one. */
  readers: ReaderMode
  /** Scores below `middle` permit; from `high` on a category's `high` applies. */
  bands: { middle: number; high: number }
  categories: Record<Category, CategoryPolicy>
  /** Default context, for keys that the caller's context does not have. */
  assume: Readonly<Record<string, string>> | undefined
  /** The words that find guarded content in system prompts; undefined: prompts are not read. */
  guarded: GuardedWords | undefined
  rules: readonly Rule[]
  session: SessionPolicy
  /** Its own texts for people, in place of stopped content. */
  texts: TextsSource | undefined
  /** When to ask which judge; empty: never. */
  escalate: readonly Escalation[]
  /** The text it was read from: what a worker thread, or a store of versions, is given. */
  source: string
  /** `name@version` of the shipped constitution that it extends. */
  base: string | undefined
  /**
   * Entries that do not do what they say: dropped names of rules and lexicons, former kinds and lists of guarded content,
   * phrases that lose their signs.
   */
  warnings: readonly Problem[]
}

export interface ReadOptions {
  /** The required name of the constitution; undefined: any. */
  name?: string | undefined
  /** The judges that it may escalate to; undefined: none. */
  coverage?: Coverage | undefined
}

/** Least distance of the bands: closer ones leave no room for a score between them. */
const minBand = 0.01
/** Bounds what is parsed: a constitution is written by hand, and 4 MiB is some 100,000 phrases. */
const maxLength = 4 * 1024 * 1024

/** Compiles and keeps a schema when it is first needed: most threads read no constitution. */
const ajv = new Ajv({ ...ownSchemas, allErrors: true, strict: false, verbose: true })

/**
 * @param fileName only for messages
 * @throws ConstitutionError with every problem found
 */
export function parseConstitution(
  yamlText: string,
  fileName: string,
  { name, coverage = {} }: ReadOptions = {},
  detectors: readonly Detector[] = allDetectors
): Constitution {
  if (yamlText.length > maxLength) {
    throw new ConstitutionError(fileName, [
      { line: 1, column: 1, path: '', message: `is longer than ${maxLength} characters` }
    ])
  }
  const open = () => openYaml(yamlText)
  let given = builtFrom(yamlText)
  const opened = given === undefined ? open() : undefined
  const problems = collectProblems(() => opened ?? open())
  const warnings = collectProblems(() => opened ?? open())
  const fail = () => new ConstitutionError(fileName, problems.list)
  if (opened !== undefined) {
    const { document, lines } = opened
    for (const error of [...document.errors, ...document.warnings]) {
      const { line, col } = lines.linePos(error.pos[0])
      problems.list.push({ line, column: col, path: '', message: error.message })
    }
    if (problems.list.length > 0) throw fail()
    given = readValue(() => document.toJS({ maxAliasCount: 100 }), problems.add)
    if (problems.list.length > 0) throw fail()
  }
  const read = readSource(given, problems, warnings)
  if (read === undefined) throw fail()
  const { source: checked, problems: found, warnings: warned, base } = read
  if (checked.bands.high - checked.bands.middle < minBand) {
    found.add(['bands', 'high'], `must be at least ${minBand} above bands.middle`)
  }
  if (name !== undefined && checked.name !== name) {
    found.add(['name'], `is "${checked.name}", but the constitution belongs under "${name}"`)
  }
  if (checked.texts !== undefined) {
    checkTexts(checked.texts, (path, message, more) => found.add(['texts', ...path], message, more))
  }
  const lexicons = readLexicons(checked.lexicons ?? {}, found, warned)
  const guarded = checked.guarded === undefined ? undefined : readGuardedWords(checked.guarded, lexicons, warned)
  const rules = readRules({ source: checked, lexicons, detectors, problems: found, warnings: warned })
  const escalate = readEscalations(checked, coverage, found)
  if (problems.list.length > 0) throw fail()
  return {
    name: checked.name,
    version: checked.version,
    description: checked.description ?? '',
    readers: checked.readers ?? 'balanced',
    bands: checked.bands,
    categories: checked.categories,
    assume: checked.assume,
    guarded,
    rules,
    session: readSession(checked.session),
    texts: checked.texts as TextsSource | undefined,
    escalate,
    source: yamlText,
    base,
    warnings: warnings.list
  }
}

/**
 * The source, merged with its base where it has one. Where it violates the schema, the result is only good for finding
 * further problems. @returns undefined where nothing further can be checked
 */
function readSource(
  given: unknown,
  problems: Problems,
  warnings: Problems
): (Pick<Extended, 'source' | 'problems' | 'warnings'> & { base?: string }) | undefined {
  const isOverlay = typeof given === 'object' && given !== null && 'extends' in given
  const schema = isOverlay ? ExtensionSource : ConstitutionSource
  const errors = schemaErrors(schema, given, problems)
  const checked = errors.length === 0 ? { source: given, problems } : mend(given, errors, problems)
  if (checked === undefined || (errors.length > 0 && schemaErrors(schema, checked.source).length > 0)) return undefined
  if (!isOverlay) {
    const source = withLists(checked.source as ConstitutionSource, checked.problems)
    return { source, problems: checked.problems, warnings }
  }
  const extended = extend(checked.source as ExtensionSource, checked.problems, warnings)
  const lacking = schemaErrors(ConstitutionSource, extended.source, extended.problems)
  if (lacking.length === 0) return extended
  // A new rule that lacks a field must not hide what is wrong elsewhere.
  const mended = mend(extended.source, lacking, extended.problems)
  if (mended === undefined || schemaErrors(ConstitutionSource, mended.source).length > 0) return undefined
  return { ...extended, source: mended.source as ConstitutionSource, problems: mended.problems }
}

function schemaErrors(schema: object, value: unknown, problems?: Problems): ErrorObject[] {
  const accepts = ajv.compile(schema)
  const errors = accepts(value) ? [] : [...(accepts.errors ?? [])]
  if (problems !== undefined) for (const error of errors) addSchemaProblem(problems, error, value)
  return errors
}

function readSession({
  half_life_minutes,
  turns,
  most
}: NonNullable<ConstitutionSource['session']> = {}): SessionPolicy {
  return {
    halfLifeMs: half_life_minutes === undefined ? defaultSession.halfLifeMs : half_life_minutes * 60_000,
    turns: turns ?? defaultSession.turns,
    most: most ?? defaultSession.most
  }
}

/** The YAML parser itself refuses aliases that multiply without end. */
function readValue(read: () => unknown, report: (path: [], message: string) => void): unknown {
  try {
    return read()
  } catch (error) {
    report([], error instanceof Error ? error.message : 'not readable')
    return undefined
  }
}
