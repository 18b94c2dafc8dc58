/** Schema of the section `notices`: alerts and their receivers. */
import Type from 'typebox'
import { mailSecurities, webhookFormats } from '../base/settings.js'
import { choice, closed, file, host, period, text, timeout } from './values.js'

/** One address, as a header and a command of SMTP take it: no name, no list, no comment, no line break. */
const address = Type.String({
  pattern: "^(?=.{3,254}$)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$",
  accepts: 'one e-mail address without a name, such as ops@example.com'
})
const count = Type.Integer({ minimum: 1, maximum: 1_000_000, accepts: '1 to 1000000' })
const off = { const: 'off' }

export const webhookSection = Type.Object(
  {
    url: Type.String({ format: 'webhook-url', accepts: 'an http or https URL without credentials' }),
    secret: Type.String({ pattern: '^[\\x21-\\x7e]{16,}$', accepts: '16 or more visible ASCII characters' }),
    format: Type.Optional(choice(webhookFormats))
  },
  closed
)

export interface ReviewsWaiting {
  count?: number
  age?: string
}
export interface Stops {
  window?: string
  factor?: number
  difference?: number
  least?: number
}

export const noticesSection = Type.Object(
  {
    webhook: Type.Optional(webhookSection),
    email: Type.Optional(
      Type.Object(
        {
          host,
          port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535, accepts: '1 to 65535' })),
          tls: Type.Optional(choice(mailSecurities)),
          ca: Type.Optional(file),
          user: Type.Optional(text('the name that the server knows')),
          password: Type.Optional(text('the password of user')),
          from: address,
          to: Type.Array(address, { minItems: 1, maxItems: 20, accepts: 'a list of 1 to 20 e-mail addresses' })
        },
        closed
      )
    ),
    every: Type.Optional(timeout),
    remind: Type.Optional(period),
    reviews_waiting: Type.Optional(
      Type.Unsafe<'off' | ReviewsWaiting>({
        anyOf: [off, Type.Object({ count: Type.Optional(count), age: Type.Optional(period) }, closed)],
        accepts: 'off, or { count: 1 to 1000000, age: more than 0, at most 366d }'
      })
    ),
    dead_letters: Type.Optional(Type.Unsafe<'off' | number>({ anyOf: [off, count], accepts: 'off, or 1 to 1000000' })),
    storage_down: Type.Optional(
      Type.Unsafe<string>({ anyOf: [off, period], accepts: 'off, or a duration such as 1m' })
    ),
    stops: Type.Optional(
      Type.Unsafe<'off' | Stops>({
        anyOf: [
          off,
          Type.Object(
            {
              window: Type.Optional(period),
              factor: Type.Optional(Type.Number({ minimum: 1.1, maximum: 100, accepts: '1.1 to 100' })),
              difference: Type.Optional(Type.Number({ minimum: 0, maximum: 1, accepts: '0 to 1' })),
              least: Type.Optional(count)
            },
            closed
          )
        ],
        accepts: 'off, or { window: 10m to 24h, factor: 1.1 to 100, difference: 0 to 1, least: 1 to 1000000 }'
      })
    ),
    keys_expiring: Type.Optional(
      Type.Unsafe<string>({ anyOf: [off, period], accepts: 'off, or a duration such as 7d' })
    ),
    failing: Type.Optional(choice(['on', 'off']))
  },
  closed
)
