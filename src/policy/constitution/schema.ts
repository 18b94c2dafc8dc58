/**
 * The schema of a constitution's YAML. `rules.ts` checks what a schema cannot express (names that must exist, cycles).
 */
import Type, { type Static } from 'typebox'
import { categories, detectionTypes } from '../evaluation.js'
import { goneGuardedKinds, goneWordKinds } from './gone.js'
import { type GuardedSource as GuardedLists, guardedKinds, wordKinds } from './lexicons.js'
import { readerModes, ruleRoles, settlings } from './values.js'

const closed = { additionalProperties: false }
/** The meaning of a field, for authors of constitutions: an editor shows it beside the accepted values. */
const says = (description: string) => ({ description })

/** Constitutions that may be extended: those that ship, so that no base can change under an overlay but by an upgrade. */
export const bases = ['default', 'strict', 'developer', 'mcp'] as const

/** `session_risk` is the engine's own: no rule may claim it. */
export const ruleTypes = detectionTypes.filter((type) => type !== 'session_risk')

const Phrase = Type.String({ minLength: 1, maxLength: 200 })
const Phrases = Type.Array(Phrase, {
  minItems: 1,
  ...says(
    'Phrases: whole words in lower case; a last word that ends in `*` takes any ending; `$name` stands for a lexicon.'
  )
})
const words = (minimum: number, meaning: string) =>
  Type.Optional(Type.Integer({ minimum, maximum: 50, ...says(meaning) }))
const Key = Type.String({ minLength: 1, maxLength: 64 })
const Names = Type.Array(Type.String(), { minItems: 1 })
const ContextValues = Type.Array(Phrase, { minItems: 1 })

const CategorySource = Type.Object(
  {
    high: Type.Enum(
      ['forbid', 'divert', 'permit'],
      says(
        'What happens from the high band on. forbid: the text is refused. divert: a person decides. permit: it passes, and is noted.'
      )
    ),
    middle: Type.Enum(
      ['ask', 'divert', 'permit'],
      says(
        'What happens in the middle band. ask: the caller is asked for context (`depends`); matches that it does not settle go to a person. divert: a person decides. permit: it passes, and is noted.'
      )
    ),
    context: Type.Optional(
      Type.Array(Key, { minItems: 1, ...says('Keys that answer `ask`; what they do not settle goes to a person.') })
    ),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2000,
        ...says('The meaning of the category, for judges that read policies.')
      })
    )
  },
  closed
)

export const PatternSource = Type.Object(
  {
    anchors: Type.Array(Phrase, { minItems: 1, ...says('Phrases near which the expression is looked for.') }),
    regex: Type.String({ minLength: 1, maxLength: 2000, ...says('A linear-time regular expression (RE2).') }),
    // No more than the context that a reading keeps around what it changed (`text/rewrite.ts`).
    reach: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 500, ...says('Characters on each side of an anchor. Default 200.') })
    )
  },
  closed
)

export type PatternSource = Static<typeof PatternSource>

export const RuleSource = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z][a-z0-9_]{0,63}$',
      ...says('Names the rule in verdicts. In an overlay a name of the base changes that rule.')
    }),
    description: Type.Optional(Type.String(says('What the rule is for.'))),
    category: Type.Enum([...categories], says('The category in which a match counts.')),
    type: Type.Optional(Type.Enum([...ruleTypes], says('The type of its detections.'))),
    // 0 only beside `nominate`: the rule asks the encoder, and its own score is 0.
    weight: Type.Number({
      minimum: 0,
      maximum: 1,
      ...says(
        'The score of one match: 0.45 alone asks, two of them still ask, three forbid; 0.2 is a hint. Beside a detector it multiplies the confidence.'
      )
    }),
    at_most: Type.Optional(Type.Literal('middle', says('By these alone a category never reaches its high band.'))),
    nominate: Type.Optional(
      Type.Boolean(says('true: a match makes the encoder read the text, and the encoder decides.'))
    ),
    raises: Type.Optional(
      Type.Boolean(
        says('false, beside nominate: too weak a sign to make the encoder read a text. Without an encoder it counts.')
      )
    ),
    agreed_from: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        ...says(
          'Beside nominate: a match counts after all where the encoder finds the rule’s category in the text with at least this confidence.'
        )
      })
    ),
    any: Type.Optional(Type.Array(Phrase, { minItems: 1, ...says('Phrases: one suffices.') })),
    // At most eight groups, which bounds the search for a window with one hit of each.
    all: Type.Optional(
      Type.Array(Phrases, {
        minItems: 2,
        maxItems: 8,
        ...says('Groups of phrases: one phrase of each, all within the number of words that within gives.')
      })
    ),
    within: words(1, 'Words from the first to the last phrase of `all`. Default 10.'),
    ordered: Type.Optional(Type.Boolean(says('Whether the groups of `all` must occur in the given order.'))),
    alone: words(0, 'Phrases count only in a text of so many other words, or fewer.'),
    beside: words(1, 'Phrases count only in a text of so many other words, or more.'),
    patterns: Type.Optional(
      Type.Array(PatternSource, { minItems: 1, ...says('Linear-time regular expressions near phrases.') })
    ),
    formats: Type.Optional(Type.Array(Type.String(), { minItems: 1, ...says('Patterns that ship, by name.') })),
    across_sentences: Type.Optional(Type.Boolean(says('true: a match of phrases may reach into the next sentence.'))),
    detector: Type.Optional(Type.String(says('A detector, by name. The score is its confidence times the weight.'))),
    kinds: Type.Optional(
      Type.Array(Type.String(), { minItems: 1, ...says('The kinds of its findings that count. Default: all.') })
    ),
    guarded: Type.Optional(
      Type.Array(Type.Enum([...guardedKinds, ...goneGuardedKinds], { former: goneGuardedKinds }), {
        minItems: 1,
        ...says('Matches texts that ask for or reveal content guarded by the chat’s own system prompt.')
      })
    ),
    min_confidence: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, ...says('The least confidence of the detector that counts.') })
    ),
    unless: Type.Optional(
      Type.Array(Phrase, { minItems: 1, ...says('A phrase inside the match, or near it, that cancels it.') })
    ),
    unless_trusted: Type.Optional(
      Type.Array(Phrase, {
        minItems: 1,
        ...says(
          'The same, only in system prompts, tool definitions and answers: so no caller can switch the rule off with such a phrase.'
        )
      })
    ),
    unless_within: words(0, 'Words around a match in which `unless` is looked for. Default 6.'),
    when: Type.Optional(
      Type.Object(
        { all: Type.Optional(Names), any: Type.Optional(Names), none: Type.Optional(Names) },
        {
          ...closed,
          minProperties: 1,
          ...says(
            'Counts only where, in the same text, all rules of all matched, one of any, and none of none. The named rules must stand above this one.'
          )
        }
      )
    ),
    roles: Type.Optional(
      Type.Array(Type.Enum([...ruleRoles]), {
        minItems: 1,
        ...says(
          'The roles whose texts it reads. Default: all of them. quoted: what a user’s text quotes, read as if a tool had brought it.'
        )
      })
    ),
    direction: Type.Optional(
      Type.Enum(['request', 'answer', 'both'], says('Whether it reads requests, answers, or both.'))
    ),
    context: Type.Optional(
      Type.Object(
        {
          keys: Type.Optional(
            Type.Array(Key, { minItems: 1, ...says('Keys that answer `ask` beside those of `permit`.') })
          ),
          permit: Type.Optional(
            Type.Record(Type.String(), ContextValues, says('Context that makes a match count nothing.'))
          ),
          forbid: Type.Optional(
            Type.Record(Type.String(), ContextValues, says('Context that lifts a match to the high band.'))
          ),
          settles: Type.Optional(
            Type.Enum(
              [...settlings],
              says('middle: matches that reach the high band by themselves count whatever the context.')
            )
          )
        },
        {
          ...closed,
          ...says('Which context settles or sharpens a match. A rule that names none is never relaxed by one.')
        }
      )
    )
  },
  closed
)
export type RuleSource = Static<typeof RuleSource>

const { name: RuleName, ...ruleFields } = RuleSource.properties
/** A rule of an extension: a whole new one, or the changed fields of one of the base. */
const RuleChange = Type.Object({ name: RuleName, ...Type.Partial(Type.Object(ruleFields)).properties }, closed)

const guardedLists = Object.fromEntries(wordKinds.map((kind) => [kind, Phrases]))
const goneLists = Object.fromEntries(
  goneWordKinds.map((kind) => [kind, Type.Optional(Type.Unknown({ deprecated: true }))])
)
const GuardedSource = Type.Object({ ...guardedLists, ...goneLists }, closed)
/** Guarded lists of an extension: each given list replaces the base's. */
const GuardedChange = Type.Object({ ...Type.Partial(GuardedSource).properties }, closed)

/** A shipped list, in a file of its own: see `shipped.ts`. */
export const ListSource = Type.Object(
  {
    lexicons: Type.Optional(Type.Record(Type.String(), Phrases)),
    guarded: Type.Optional(GuardedSource),
    formats: Type.Optional(Type.Record(Type.String(), Type.Array(PatternSource, { minItems: 1 })))
  },
  closed
)
export type ListSource = Omit<Static<typeof ListSource>, 'guarded'> & { guarded?: GuardedLists }

const EscalationSource = Type.Object(
  {
    judge: Type.String({ minLength: 1, maxLength: 64, ...says('A judge of the configuration.') }),
    when: Type.Optional(
      Type.Object(
        {
          above: Type.Optional(Type.Number({ minimum: 0.01, maximum: 0.99 })),
          below: Type.Optional(Type.Number({ minimum: 0.02, maximum: 1 }))
        },
        closed
      )
    ),
    categories: Type.Optional(Type.Array(Type.Enum([...categories]), { minItems: 1 })),
    trust: Type.Optional(
      Type.Enum(
        ['raise', 'both'],
        says('raise: the judge can only make the decision stricter. both: its opinion counts both ways.')
      )
    ),
    on_failure: Type.Optional(
      Type.Enum(['divert', 'forbid', 'permit_local'], says('What happens where the judge does not answer.'))
    )
  },
  closed
)
export type EscalationSource = Static<typeof EscalationSource>

const Bands = Type.Object(
  {
    middle: Type.Number({ minimum: 0.01, maximum: 0.99, ...says('Below this score a text is permitted.') }),
    high: Type.Number({
      minimum: 0.02,
      maximum: 1,
      ...says('From this score on, `high` of the category applies.')
    })
  },
  { ...closed, ...says('The scores at which the middle and the high band begin, for all categories.') }
)
const Readers = Type.Optional(
  Type.Enum(
    [...readerModes],
    says(
      'What the encoder reads. thorough: everything. balanced: texts that rules raised. fast: nothing, the first reader (rules and classifier) decides alone.'
    )
  )
)
const Lists = Type.Optional(
  Type.Array(Type.String(), {
    minItems: 1,
    ...says('Shipped lists of phrases, by name; rules include them by `$name`.')
  })
)
const Lexicons = Type.Optional(
  Type.Record(Type.String(), Phrases, says('Named lists of phrases. `$name` in a rule includes one.'))
)
const Escalations = Type.Optional(
  Type.Array(EscalationSource, { minItems: 1, maxItems: 8, ...says('When to ask which heavier judge.') })
)
/** Default context, for keys that the caller's context does not have. */
const Assumed = Type.Record(Key, Phrase, says('Default context, for keys that the caller’s context does not have.'))

const SessionSource = Type.Optional(
  Type.Object(
    {
      half_life_minutes: Type.Optional(
        Type.Number({ minimum: 0.1, maximum: 10_080, ...says('Minutes in which the risk of earlier turns halves.') })
      ),
      turns: Type.Optional(
        Type.Number({
          minimum: 1,
          maximum: 100,
          ...says('Number of forbidden turns after which 0.63 is added, as far as `most` allows.')
        })
      ),
      most: Type.Optional(
        Type.Number({ minimum: 0, maximum: 0.5, ...says('The most that a session adds to a score.') })
      )
    },
    { ...closed, ...says('How the history of a session counts.') }
  )
)

/** `checkTexts`, which files and the API share, checks its shape. */
const Texts = Type.Optional(
  Type.Object({}, says('Texts for people in place of stopped content, by language, reader and occasion.'))
)

const named = {
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
    ...says('The name by which routes ask for it, and under which it is stored.')
  }),
  version: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
    ...says('Its author’s number, in quotes. The store accepts a whole number above all earlier ones.')
  }),
  description: Type.Optional(Type.String(says('What it is for.')))
}

export const ConstitutionSource = Type.Object(
  {
    ...named,
    readers: Readers,
    lists: Lists,
    bands: Bands,
    categories: Type.Object(Object.fromEntries(categories.map((category) => [category, CategorySource])), {
      ...closed,
      ...says('What happens in each category, by band.')
    }),
    assume: Type.Optional(Assumed),
    lexicons: Lexicons,
    guarded: Type.Optional(GuardedSource),
    rules: Type.Array(RuleSource, { minItems: 1, ...says('The rules: their matches, and the score of a match.') }),
    session: SessionSource,
    escalate: Escalations,
    texts: Texts
  },
  closed
)
export type ConstitutionSource = Omit<Static<typeof ConstitutionSource>, 'categories' | 'guarded'> & {
  guarded?: GuardedLists
  categories: Record<(typeof categories)[number], Static<typeof CategorySource>>
}

/** A constitution that extends a shipped one: see `extend.ts`. */
export const ExtensionSource = Type.Object(
  {
    ...named,
    extends: Type.Enum([...bases], says('The shipped constitution that this one extends.')),
    readers: Readers,
    lists: Lists,
    bands: Type.Optional(Bands),
    categories: Type.Optional(
      Type.Object(
        Object.fromEntries(
          categories.map((category) => [category, Type.Optional(Type.Partial(CategorySource, closed))])
        ),
        { ...closed, ...says('Changes to categories of the base.') }
      )
    ),
    assume: Type.Optional(Assumed),
    lexicons: Lexicons,
    guarded: Type.Optional(GuardedChange),
    rules: Type.Optional(
      Type.Array(RuleChange, {
        minItems: 1,
        ...says('Its own rules, and changed fields of rules of the base.')
      })
    ),
    without: Type.Optional(Type.Array(Type.String(), { minItems: 1, ...says('Rules of the base that are dropped.') })),
    session: SessionSource,
    escalate: Escalations,
    texts: Texts
  },
  closed
)
export type ExtensionSource = Omit<Static<typeof ExtensionSource>, 'categories' | 'guarded'> & {
  guarded?: Partial<GuardedLists>
  categories?: Partial<Record<(typeof categories)[number], Partial<Static<typeof CategorySource>>>>
}
