/** Combinations of the axes of a request, and what several APIs have in common. */
export type Fields = Record<string, unknown>

export const schema = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Where to look', enum: ['Rome', 'Oslo'] } },
  required: ['city'],
  additionalProperties: false
}
export const picture = `data:image/png;base64,${Buffer.from(Array.from({ length: 90 }, (_, i) => (i * 67 + 190) % 256)).toString('base64')}`
export const bytes = picture.slice(picture.indexOf(',') + 1)

/** Every combination, each axis' first first; of them so many, evenly spread. */
export function combine(count: number, ...axes: readonly (readonly Fields[])[]): Fields[] {
  const all = axes.reduce<Fields[]>((rows, axis) => rows.flatMap((row) => axis.map((each) => merge(row, each))), [{}])
  const step = Math.max(1, all.length / count)
  return Array.from({ length: Math.min(count, all.length) }, (_, i) => all[Math.floor(i * step)]!)
}

/** Lists are put one behind the other. */
function merge(a: Fields, b: Fields): Fields {
  const out = { ...a }
  for (const [name, value] of Object.entries(b)) {
    out[name] = Array.isArray(out[name]) && Array.isArray(value) ? [...(out[name] as unknown[]), ...value] : value
  }
  return out
}

export const messages = (...list: Fields[]) => ({ messages: list })
