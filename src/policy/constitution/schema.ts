/** The shape of a constitution's YAML. What a schema cannot say (names that must exist, cycles) is checked in `rules.ts`. */
import Type, { type Static } from 'typebox'
import { roles } from '../../base/chat.js'
import { categories, detectionTypes } from '../evaluation.js'
import { type GuardedSource as GuardedLists, guardedKinds, wordKinds } from './lexicons.js'

const closed = { additionalProperties: false }

/** Constitutions that may be extended: whole ones, so that what is in force is never more than two files away. */
export const bases = ['default'] as const

/** `session_risk` is the engine's own: no rule may claim it. */
export const ruleTypes = detectionTypes.filter((type) => type !== 'session_risk')

const Phrases = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1 })
/** How much of what passes the encoder reads: see `docs/readers.md`. */
export const readerModes = ['thorough', 'balanced', 'fast'] as const
export type ReaderMode = (typeof readerModes)[number]
/** What a context settles: matches of any score, or those below the high band. */
export const settlings = ['all', 'middle'] as const

const Keys = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1 })
const Names = Type.Array(Type.String(), { minItems: 1 })
const Values = Type.Record(Type.String(), Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1 }))

const CategorySource = Type.Object(
  {
    high: Type.Enum(['forbid', 'divert', 'permit']),
    middle: Type.Enum(['ask', 'divert', 'permit']),
    context: Type.Optional(Keys),
    /** What is meant by it: the words that a judge is given which reads policies. */
    description: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 }))
  },
  closed
)

export const PatternSource = Type.Object(
  {
    anchors: Phrases,
    regex: Type.String({ minLength: 1, maxLength: 2000 }),
    // No more than the context that a reading keeps around what it changed (`text/rewrite.ts`).
    reach: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 }))
  },
  closed
)

export type PatternSource = Static<typeof PatternSource>

export const RuleSource = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }),
    description: Type.Optional(Type.String()),
    category: Type.Enum([...categories]),
    type: Type.Optional(Type.Enum([...ruleTypes])),
    // 0 only beside `nominate`: the rule raises, and counts nothing by itself.
    weight: Type.Number({ minimum: 0, maximum: 1 }),
    nominate: Type.Optional(Type.Boolean()),
    raises: Type.Optional(Type.Boolean()),
    any: Type.Optional(Phrases),
    // Eight groups bound the search for a window that holds one hit of each.
    all: Type.Optional(Type.Array(Phrases, { minItems: 2, maxItems: 8 })),
    within: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
    ordered: Type.Optional(Type.Boolean()),
    patterns: Type.Optional(Type.Array(PatternSource, { minItems: 1 })),
    formats: Type.Optional(Names),
    across_sentences: Type.Optional(Type.Boolean()),
    detector: Type.Optional(Type.String()),
    kinds: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    guarded: Type.Optional(Type.Array(Type.Enum([...guardedKinds]), { minItems: 1 })),
    min_confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    unless: Type.Optional(Phrases),
    unless_trusted: Type.Optional(Phrases),
    unless_within: Type.Optional(Type.Integer({ minimum: 0, maximum: 50 })),
    when: Type.Optional(
      Type.Object(
        { all: Type.Optional(Names), any: Type.Optional(Names), none: Type.Optional(Names) },
        { ...closed, minProperties: 1 }
      )
    ),
    roles: Type.Optional(Type.Array(Type.Enum([...roles]), { minItems: 1 })),
    direction: Type.Optional(Type.Enum(['request', 'answer', 'both'])),
    context: Type.Optional(
      Type.Object(
        {
          keys: Type.Optional(Keys),
          permit: Type.Optional(Values),
          forbid: Type.Optional(Values),
          settles: Type.Optional(Type.Enum([...settlings]))
        },
        closed
      )
    )
  },
  closed
)
export type RuleSource = Static<typeof RuleSource>

const { name: RuleName, ...ruleFields } = RuleSource.properties
/** A rule of an extension: all of a new one, or what is other in one of the base. */
const RuleChange = Type.Object({ name: RuleName, ...Type.Partial(Type.Object(ruleFields)).properties }, closed)

const guardedLists = Object.fromEntries(wordKinds.map((kind) => [kind, Phrases]))
const Subjects = Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), Phrases, closed)
const GuardedSource = Type.Object({ ...guardedLists, topics: Type.Optional(Subjects) }, closed)
/** Of an extension: each list that it gives stands for the base's. */
const GuardedChange = Type.Object({ ...Type.Partial(GuardedSource).properties }, closed)

/** A list that ships, in a file of its own: see `lists.ts`. */
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
    judge: Type.String({ minLength: 1, maxLength: 64 }),
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
    trust: Type.Optional(Type.Enum(['raise', 'both'])),
    on_failure: Type.Optional(Type.Enum(['divert', 'forbid', 'permit_local']))
  },
  closed
)
export type EscalationSource = Static<typeof EscalationSource>

const Bands = Type.Object(
  { middle: Type.Number({ minimum: 0.01, maximum: 0.99 }), high: Type.Number({ minimum: 0.02, maximum: 1 }) },
  closed
)
const Escalations = Type.Optional(Type.Array(EscalationSource, { minItems: 1, maxItems: 8 }))
/** Context that holds where a caller's own says nothing on the key. */
const Assumed = Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ minLength: 1, maxLength: 200 }))

const SessionSource = Type.Optional(
  Type.Object(
    {
      half_life_minutes: Type.Optional(Type.Number({ minimum: 0.1, maximum: 10_080 })),
      turns: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
      most: Type.Optional(Type.Number({ minimum: 0, maximum: 0.5 }))
    },
    closed
  )
)

/** Held against its shape by `checkTexts`, which files and the API share. */
const Texts = Type.Optional(Type.Object({}))

const named = {
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }),
  version: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
  description: Type.Optional(Type.String())
}

export const ConstitutionSource = Type.Object(
  {
    ...named,
    readers: Type.Optional(Type.Enum([...readerModes])),
    lists: Type.Optional(Names),
    bands: Bands,
    categories: Type.Object(Object.fromEntries(categories.map((category) => [category, CategorySource])), closed),
    assume: Type.Optional(Assumed),
    lexicons: Type.Optional(Type.Record(Type.String(), Phrases)),
    guarded: Type.Optional(GuardedSource),
    rules: Type.Array(RuleSource, { minItems: 1 }),
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

/** A constitution that is laid over one that ships: see `extend.ts`. */
export const ExtensionSource = Type.Object(
  {
    ...named,
    extends: Type.Enum([...bases]),
    readers: Type.Optional(Type.Enum([...readerModes])),
    lists: Type.Optional(Names),
    bands: Type.Optional(Bands),
    categories: Type.Optional(
      Type.Object(
        Object.fromEntries(
          categories.map((category) => [category, Type.Optional(Type.Partial(CategorySource, closed))])
        ),
        closed
      )
    ),
    assume: Type.Optional(Assumed),
    lexicons: Type.Optional(Type.Record(Type.String(), Phrases)),
    guarded: Type.Optional(GuardedChange),
    rules: Type.Optional(Type.Array(RuleChange, { minItems: 1 })),
    without: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
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
