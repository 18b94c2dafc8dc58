/** Reads `encoder.json`, the manifest of the weights and their calibration (`training/encoder/ship.py` writes it). */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import Type, { type Static } from 'typebox'
import { laneNumber, lanes as screenLanes } from '../classifier/lanes.js'
import { shippedFile } from '../classifier/shipped.js'
import { ownSchemas } from '../json/own-schemas.js'
import { nameKinds } from './index.js'

export const fileNames = {
  manifest: 'encoder.json',
  model: 'encoder.onnx',
  tokenizer: 'encoder.tokenizer.json',
  names: 'encoder.names.onnx'
}

const Digest = Type.Object({ sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), bytes: Type.Integer() })
/** Logit and confidence, both rising. */
const Knots = Type.Array(Type.Tuple([Type.Number(), Type.Number()]), { minItems: 1 })
const byRole = <T extends Parameters<typeof Type.Record>[1]>(value: T) => Type.Record(Type.String(), value)
const Manifest = Type.Object({
  model: Digest,
  tokenizer: Digest,
  /** In the order of the model's outputs. */
  lanes: Type.Array(Type.String(), { minItems: 1 }),
  /** The reader of names; absent where the weights have none. */
  names: Type.Optional(
    Type.Object({
      ...Digest.properties,
      /** In the order of its outputs: `O`, or `B-` and `I-` with a kind. */
      tags: Type.Array(Type.String(), { minItems: 1 })
    })
  ),
  calibration: byRole(byRole(byRole(Knots))),
  calibrated: Type.Object({
    /** Classes of length, shortest first: up to how many pieces; the last without an end. */
    lengths: Type.Array(Type.Object({ name: Type.String(), most: Type.Union([Type.Integer(), Type.Null()]) }), {
      minItems: 1
    }),
    /** By role and group, the lane of its score. */
    groups: byRole(byRole(Type.String())),
    /** Groups whose logit includes the classifier's score of the same words; absent: none. */
    seconded: Type.Optional(
      Type.Object({
        /** Digest of the classifier's file with which the confidences were measured. */
        classifier_sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        /** Lower scores count as this. */
        least: Type.Number(),
        /** Words that the classifier does not know have no score, and count as this: they speak neither for nor against. */
        unknown: Type.Number(),
        /** By role and group, the classifier's lane and the weight of its score. */
        groups: byRole(byRole(Type.Object({ lane: Type.String(), weight: Type.Number({ minimum: 0 }) })))
      })
    ),
    /**
     * The logit from which a sentence of a system prompt guards something; absent where the weights have not learnt it.
     */
    keeps: Type.Optional(Type.Number())
  })
})
export type Manifest = Static<typeof Manifest>
/** Possible tags of a piece: outside a name, its beginning, inside it. */
const nameTags = ['O', ...nameKinds.flatMap((kind) => [`B-${kind}`, `I-${kind}`])]
let isManifest: ValidateFunction<Manifest> | undefined

/** A file is missing or damaged. The message names it. */
export class EncoderFileError extends Error {
  override readonly name = 'EncoderFileError'
}

export interface EncoderFiles {
  manifest: Manifest
  /** Names weights, pieces and calibration. */
  label: string
  /** Absolute paths; the bytes matched the manifest when they were read. */
  model: string
  tokenizer: string
  /** Undefined: these weights find no names. */
  names: string | undefined
}

/** @throws EncoderFileError */
export async function readEncoderFiles(folder: string): Promise<EncoderFiles> {
  const path = (name: keyof typeof fileNames) => join(folder, fileNames[name])
  const json = await reading(path('manifest'), (file) => readFile(file, 'utf8'))
  const manifest = parse(json, path('manifest'))
  const files = ['model', 'tokenizer', ...(manifest.names === undefined ? [] : ['names' as const])] as const
  await Promise.all(
    files.map(async (name) => {
      const digest = await reading(path(name), digestOf)
      if (digest === manifest[name]!.sha256) return
      throw new EncoderFileError(`${path(name)}: is not the file that ${fileNames.manifest} names (sha256 ${digest})`)
    })
  )
  const beside = manifest.calibrated.seconded?.classifier_sha256
  if (beside !== undefined && beside !== (await reading(shippedFile, digestOf)))
    throw new EncoderFileError(`${path('manifest')}: its confidences were measured beside another classifier.bin`)
  const label = createHash('sha256').update(json).digest('hex').slice(0, 12)
  const names = manifest.names && path('names')
  return { manifest, label, model: path('model'), tokenizer: path('tokenizer'), names }
}

async function reading<T>(file: string, read: (file: string) => Promise<T>): Promise<T> {
  try {
    return await read(file)
  } catch (error) {
    throw new EncoderFileError(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(bytes as Buffer)
  return hash.digest('hex')
}

function parse(json: string, file: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new EncoderFileError(`${file}: is not JSON`)
  }
  // Compiled when a manifest is read: a process without an encoder needs none of it.
  isManifest ??= new Ajv({ ...ownSchemas, strict: false }).compile<Manifest>(Manifest)
  if (!isManifest(value)) {
    const place = isManifest.errors?.[0]?.instancePath || 'the whole of it'
    throw new EncoderFileError(`${file}: is no manifest of an encoder (${place})`)
  }
  const { lanes, calibrated, calibration } = value
  const { lengths, groups } = calibrated
  for (const [role, lines] of Object.entries(groups)) {
    for (const [group, lane] of Object.entries(lines)) {
      if (!lanes.includes(lane))
        throw new EncoderFileError(`${file}: calibrated.groups.${role}.${group} names no lane (${lanes.join(', ')})`)
    }
    if (!lengths.some(({ name }) => Object.hasOwn(calibration[role] ?? {}, name)))
      throw new EncoderFileError(`${file}: calibration.${role} has no class of length of calibrated.lengths`)
  }
  const tags = value.names?.tags ?? []
  const unknown =
    tags.find((tag) => !nameTags.includes(tag)) ?? (tags.length > 0 && !tags.includes('O') ? 'O' : undefined)
  if (unknown !== undefined || new Set(tags).size !== tags.length)
    throw new EncoderFileError(`${file}: names.tags must be O and some of ${nameTags.slice(1).join(', ')}, each once`)
  for (const [role, lines] of Object.entries(calibrated.seconded?.groups ?? {})) {
    for (const [group, { lane }] of Object.entries(lines)) {
      const place = `${file}: calibrated.seconded.groups.${role}.${group}`
      if (groups[role]?.[group] === undefined) throw new EncoderFileError(`${place} is no group of ${role}`)
      if (laneNumber(lane) === -1)
        throw new EncoderFileError(`${place} names no lane of the classifier (${screenLanes.join(', ')})`)
    }
  }
  if (lengths.at(-1)!.most !== null)
    throw new EncoderFileError(`${file}: the last of calibrated.lengths must have no end (most: null)`)
  if (groups['user'] === undefined) throw new EncoderFileError(`${file}: calibrated.groups has no user`)
  return value
}
