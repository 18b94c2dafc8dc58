/** Schemas of the constitutions API: they validate input and describe it in the OpenAPI document. */
import Type, { type Static } from 'typebox'
import { roles } from '../base/chat.js'
import { maxExplained, maxTotal } from '../constitutions/trial.js'
import { nameSchemas } from '../edge/doc-names.js'
import { maxInputText } from '../edge/evaluate-input.js'
import { Evaluation } from '../edge/schemas.js'
import { decisions } from '../policy/evaluation.js'
import { fewestCounted, maxReplayed } from '../samples/replay.js'
import { constitutionOrigins } from '../storage/contracts/constitutions.js'
import { sampleFilterFields } from './samples.js'

const closed = { additionalProperties: false }
const time = Type.String({ format: 'date-time', examples: ['2026-11-21T14:00:00.000Z'] })
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { description })

const Name = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$', examples: ['default'] })
const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_000_000_000, examples: [3] })
const Label = Type.String({
  description: 'name@version, as verdicts and x-safety-policy say it.',
  examples: ['default@3']
})
const Digest = Type.String({ description: 'SHA-256 of the text in UTF-8, hex.' })
const Origin = Type.Enum([...constitutionOrigins], {
  description: 'A file of the configuration, this API, or the command line.'
})

export const ConstitutionParams = Type.Object({ name: Name })
export const VersionParams = Type.Object({ name: Name, version: Type.Integer({ minimum: 1, maximum: 2_000_000_000 }) })

export const Constitution = Type.Object({
  name: Name,
  label: orNull(Label, 'Null before a first activation, like all fields of the active version.'),
  version: orNull(VersionNumber, 'The version in force.'),
  digest: orNull(Digest, 'Of the text in force.'),
  origin: orNull(Origin, 'Where the text in force came from.'),
  activated_at: orNull(time, 'When it was put in force.'),
  activated_by: orNull(Type.String(), 'The key that did; null where a file or the command line did.'),
  activated_origin: orNull(Origin, 'By what it was put in force.'),
  in_force: Type.Boolean({
    description: 'Whether it is in force in the answering process; a constitution that no route uses is only stored.'
  }),
  extends: orNull(Label, 'The shipped constitution that the text in force extends; it follows that one over upgrades.'),
  versions: Type.Integer({ description: 'How many there are.', examples: [3] }),
  latest_version: VersionNumber
})

const versionFields = {
  name: Name,
  version: VersionNumber,
  label: Label,
  declared_version: Type.String({ description: 'What the text itself says in `version`.', examples: ['1'] }),
  digest: Digest,
  length: Type.Integer({ description: 'UTF-16 units.' }),
  origin: Origin,
  note: orNull(Type.String(), 'What its author said of it.'),
  created_at: time,
  created_by: orNull(Type.String(), 'The key that stored it; null for files and the command line.'),
  active: Type.Boolean()
}
export const Version = Type.Object(versionFields)

export const Problem = Type.Object({
  line: Type.Integer({ description: 'From 1.' }),
  column: Type.Integer({ description: 'From 1.' }),
  path: Type.String({ examples: ['rules[3].weight'] }),
  message: Type.String(),
  accepted: Type.Optional(Type.Array(Type.String()))
})
export const Warnings = Type.Array(Problem, {
  description: 'Entries that do not do what they say: names that no longer ship, phrases that lose their signs.'
})
export const StoredVersion = Type.Object({ ...versionFields, warnings: Warnings })
const source = Type.String({ description: 'The YAML, as it was given.' })
export const VersionWithSource = Type.Object({ ...versionFields, source })
export const ActiveConstitution = Type.Object(
  { ...Constitution.properties, source: Type.Optional(source) },
  { additionalProperties: true, description: 'With the record of the active version, where one is active.' }
)

export const Activation = Type.Object({
  name: Name,
  from: orNull(VersionNumber, 'Null for a first activation.'),
  to: VersionNumber,
  at: time,
  by: orNull(Type.String(), 'The key that did; null where a file or the command line did.'),
  origin: Origin
})

/** UTF-16 units: the limit of the parser. */
const maxSource = 4 * 1024 * 1024
export const Source = Type.String({
  minLength: 1,
  maxLength: maxSource,
  description: 'A constitution in YAML, whose `name` is the name in the path.'
})

export const PutConstitution = Type.Object(
  {
    source: Source,
    note: Type.Optional(Type.String({ maxLength: 1000, description: 'Why, for those who come later.' }))
  },
  {
    ...closed,
    examples: [
      { source: "name: default\nversion: '2'\nbands: { middle: 0.40, high: 0.75 }\n…", note: 'knives in recipes' }
    ]
  }
)

export const Activate = Type.Object(
  {
    version: VersionNumber,
    if_active: Type.Optional(
      Type.Union([VersionNumber, Type.Null()], {
        description: 'Only where this version is in force now (null: none); else 409 active_changed.'
      })
    )
  },
  { ...closed, examples: [{ version: 3, if_active: 2 }] }
)

export const Activated = Type.Object({
  changed: Type.Boolean({ description: 'False where the version was in force already.' }),
  previous: orNull(VersionNumber, 'What was in force before; activating it is the way back.'),
  constitution: Constitution
})

const maxTexts = 100
const text = { type: 'string', minLength: 1, maxLength: maxInputText }

export const TrialTextObject = Type.Object(
  {
    input_text: Type.Optional(Type.Unsafe<string>(text)),
    chat: Type.Optional(
      Type.Object(
        {
          messages: Type.Array(Type.Object({}, { additionalProperties: true }), { minItems: 1, maxItems: 200 }),
          tools: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }), { maxItems: 100 }))
        },
        {
          ...closed,
          description: 'In the place of input_text: a chat as OpenAI writes it, read as a chat route reads it.'
        }
      )
    ),
    id: Type.Optional(Type.String({ maxLength: 200, description: 'Comes back with the result.' })),
    context: Type.Optional(Type.Object({}, { additionalProperties: true })),
    role: Type.Optional(Type.Enum([...roles], { description: 'Whose words it is. Default: user.' })),
    direction: Type.Optional(Type.Enum(['request', 'answer'])),
    history: Type.Optional(
      Type.Array(Type.Unsafe<string>(text), {
        maxItems: 20,
        description: 'Earlier turns of a session that exists only in this call, oldest first.'
      })
    )
  },
  closed
)

export const TryConstitution = Type.Object(
  {
    texts: Type.Optional(
      Type.Array(
        // Not a union: errors of an object would be reported as errors of a string.
        Type.Unsafe<string | Static<typeof TrialTextObject>>({
          ...TrialTextObject,
          ...text,
          type: ['string', 'object']
        }),
        { minItems: 1, maxItems: maxTexts, description: `At most ${maxTotal} UTF-16 units in all.` }
      )
    ),
    samples: Type.Optional(
      Type.Object(
        { ...sampleFilterFields, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxReplayed })) },
        {
          ...closed,
          description: `Instead of texts: the newest fitting samples, for people who sign in. Without samples:read the answer has only counts, over at least ${fewestCounted} samples.`
        }
      )
    ),
    source: Type.Optional(Source),
    version: Type.Optional(VersionNumber),
    beside: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9_-]{0,63}(@[1-9][0-9]{0,9})?$',
        description:
          'The constitution to compare with: a name, for its version in force or else the shipped constitution of this name, or name@version. Default: the one in force of this name.'
      })
    ),
    explain: Type.Optional(
      Type.Boolean({
        description: `Explains each verdict, and the changes that would flip it; at most ${maxExplained} texts.`
      })
    )
  },
  {
    ...closed,
    description: 'The candidate is a source or a stored version; with neither, only the version in force is asked.',
    examples: [
      {
        version: 3,
        texts: ['How do I kill it?', { id: 'b', input_text: 'How do I kill it?', context: { topic: 'programming' } }]
      },
      { texts: ['How do I kill it?'], explain: true }
    ]
  }
)

const Tried = Type.Object({
  version: orNull(VersionNumber, 'Null for a source that is not stored, and for a shipped constitution.'),
  label: Type.String({ examples: ['default@3', 'default@draft', 'strict@shipped'] }),
  digest: Digest
})
const { evaluation_id: _, review_id: __, review_error: ___, ...evaluationFields } = Evaluation.properties
const Outcome = Type.Union([Type.Object(evaluationFields), Type.Null()], {
  description: 'Null where the text could not be judged in full: the gateway answers evaluator_unavailable.'
})
const said = [...decisions, 'error']

export const Trial = Type.Object({
  name: Name,
  active: orNull(Tried, 'Null where no version is active.'),
  candidate: orNull(Tried, 'Null where none was given.'),
  results: Type.Array(
    Type.Object({
      index: Type.Integer(),
      id: Type.Optional(Type.String()),
      active: Type.Optional(Outcome),
      candidate: Type.Optional(Outcome),
      changed: Type.Boolean({ description: 'Whether the decisions differ.' }),
      explanation: Type.Optional(
        Type.Object(
          {
            active: Type.Optional(Type.Object({}, { additionalProperties: true })),
            candidate: Type.Optional(Type.Object({}, { additionalProperties: true }))
          },
          {
            description:
              'Summary in sentences, readings with their matches, rules, categories against their bands, context, session, and flips: the rules without which, and the context with which, the decision would change.'
          }
        )
      )
    })
  ),
  diff: orNull(
    Type.Object({
      changed: Type.Integer(),
      unchanged: Type.Integer(),
      stricter: Type.Integer(),
      milder: Type.Integer(),
      transitions: Type.Array(
        Type.Object(
          { from: Type.Enum(said), to: Type.Enum(said), count: Type.Integer() },
          {
            examples: [{ from: 'permit', to: 'forbid', count: 2 }]
          }
        )
      ),
      rules: Type.Array(Type.Object({ rule: Type.String(), active: Type.Integer(), candidate: Type.Integer() }), {
        description: 'Number of texts in which a rule bears on the decision, where the sides differ.'
      })
    }),
    'Null where only one side was asked.'
  )
})

export const ConstitutionList = Type.Object({ constitutions: Type.Array(Constitution) })
export const VersionList = Type.Object({ versions: Type.Array(Version), next_cursor: Type.Optional(Type.String()) })
export const ActivationList = Type.Object({
  activations: Type.Array(Activation),
  next_cursor: Type.Optional(Type.String())
})

nameSchemas({
  Constitution,
  ActiveConstitution,
  ConstitutionList,
  ConstitutionVersion: Version,
  ConstitutionVersionWithSource: VersionWithSource,
  ConstitutionVersionList: VersionList,
  ConstitutionActivation: Activation,
  ConstitutionActivationList: ActivationList,
  CreateConstitutionVersionRequest: PutConstitution,
  ActivateConstitutionVersionRequest: Activate,
  ActivatedConstitution: Activated,
  TestConstitutionRequest: TryConstitution,
  ConstitutionTest: Trial
})
