/** Schemas of the sections about people: reviews, the audit, signing in. */
import Type from 'typebox'
import { sampleKinds, userRoles } from '../base/settings.js'
import { webhookSection } from './notices-schema.js'
import { choice, closed, hold, period, room, text } from './values.js'

const openReviews = Type.Integer({ minimum: 1, maximum: 1_000_000, accepts: '1 to 1000000' })
const claims = Type.Array(text('a value of the claim'), { accepts: 'of values of the claim' })

export const peopleSections = {
  review: Type.Optional(
    Type.Object(
      {
        expiry: Type.Optional(period),
        allow_own: Type.Optional(Type.Boolean()),
        two_person: Type.Optional(Type.Boolean()),
        claim: Type.Optional(period),
        hold: Type.Optional(hold),
        retention: Type.Optional(period),
        max_open: Type.Optional(openReviews),
        max_open_per_account: Type.Optional(openReviews),
        max_open_per_key: Type.Optional(openReviews),
        max_open_bytes: Type.Optional(room),
        webhook: Type.Optional(webhookSection)
      },
      closed
    )
  ),
  audit: Type.Optional(
    Type.Object(
      {
        required: Type.Optional(Type.Boolean()),
        retention: Type.Optional(period),
        decisions: Type.Optional(choice(['all', 'stopped']))
      },
      closed
    )
  ),
  samples: Type.Optional(
    Type.Object(
      {
        what: Type.Optional(choice(sampleKinds)),
        share: Type.Optional(Type.Number({ minimum: 0, maximum: 1, accepts: '0 to 1' })),
        rows: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, accepts: '1 to 1000000' })),
        bytes: Type.Optional(room),
        retention: Type.Optional(period)
      },
      closed
    )
  ),
  sign_in: Type.Optional(
    Type.Object(
      {
        idle: Type.Optional(period),
        absolute: Type.Optional(period),
        confirm: Type.Optional(period),
        public_url: Type.Optional(
          Type.String({ format: 'http-prefix', accepts: 'the URL that people type, https://…' })
        ),
        oidc: Type.Optional(
          Type.Object(
            {
              issuer: Type.String({ format: 'issuer', accepts: 'an https URL; http on loopback alone' }),
              client_id: text('the id that the provider gave'),
              client_secret: Type.Optional(Type.String({ accepts: 'the secret that the provider gave' })),
              scope: Type.Optional(Type.String({ pattern: '\\bopenid\\b', accepts: 'scopes, openid among them' })),
              role_claim: Type.Optional(text('the name of a claim')),
              roles: Type.Optional(
                Type.Object(
                  {
                    viewer: Type.Optional(claims),
                    reviewer: Type.Optional(claims),
                    admin: Type.Optional(claims)
                  },
                  closed
                )
              ),
              samples: Type.Optional(claims),
              default_role: Type.Optional(choice(userRoles))
            },
            closed
          )
        )
      },
      closed
    )
  )
}
