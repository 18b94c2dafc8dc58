/** Schemas of signing in: they validate input and describe it in the OpenAPI document. */
import Type from 'typebox'
import { userRoles } from '../base/settings.js'
import { named, nameSchemas } from '../edge/doc-names.js'
import { scopes } from '../identity/scopes.js'
import { maxPassword } from '../users/password.js'

const closed = { additionalProperties: false }
const time = Type.String({ format: 'date-time' })
const Login = Type.String({ minLength: 1, maxLength: 100 })
/** Longer than any accepted password, so that the service itself refuses a long one with its own error. */
const Password = Type.String({ minLength: 1, maxLength: maxPassword * 2 })
export const Role = named(
  'Role',
  Type.Enum([...userRoles], {
    description: 'viewer reads metrics, usage and constitutions; reviewer decides reviews too; admin does everything.'
  })
)

const HeldScope = named(
  'HeldScope',
  Type.Enum([...scopes], { description: 'A scope of a key, or one that people alone may hold.' })
)
const ReadsSamples = Type.Boolean({
  description: 'Whether they may read samples (samples:read), which no role includes. A person grants it, no key.'
})

export const SignIn = Type.Object({ login: Login, password: Password }, closed)
export const Accept = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 200 }), login: Login, password: Password },
  closed
)
export const Confirm = Type.Object({ password: Password }, closed)
export const ChangePassword = Type.Object({ current: Password, password: Password }, closed)
export const SignOut = Type.Object({ everywhere: Type.Optional(Type.Boolean()) }, closed)

export const SessionState = Type.Object({
  signed_in: Type.Boolean(),
  user: Type.Optional(
    Type.Object({
      user_id: Type.String(),
      login: Type.String(),
      role: Role,
      signs_in_with: Type.Enum(['password', 'oidc'])
    })
  ),
  scopes: Type.Optional(Type.Array(HeldScope)),
  ends_at: Type.Optional(Type.String({ format: 'date-time', description: 'If nothing more is asked.' })),
  confirmed_until: Type.Optional(
    Type.String({ format: 'date-time', description: 'Until then what needs a fresh proof needs no other.' })
  ),
  ways: Type.Optional(Type.Object({ password: Type.Boolean(), oidc: Type.Boolean() })),
  plain_http: Type.Optional(
    Type.Boolean({ description: 'Whether the sign-in is sent in the clear, which server.plain_http_sign_in permits.' })
  ),
  why: Type.Optional(Type.String({ description: 'Why one cannot sign in here.' }))
})

export const User = Type.Object({
  user_id: Type.String({ pattern: '^usr_' }),
  login: Type.String(),
  role: Role,
  reads_samples: ReadsSamples,
  status: Type.Enum(['active', 'disabled']),
  signs_in_with: Type.Enum(['password', 'oidc']),
  created_at: time,
  signed_in_at: Type.Union([time, Type.Null()])
})
export const UserParams = Type.Object({ user_id: Type.String({ pattern: '^usr_[0-9A-Za-z]{1,40}$' }) })
export const ChangeUser = Type.Object(
  {
    role: Type.Optional(Role),
    reads_samples: Type.Optional(ReadsSamples),
    disabled: Type.Optional(Type.Boolean())
  },
  { ...closed, minProperties: 1 }
)
export const Invite = Type.Object({ role: Role, reads_samples: Type.Optional(ReadsSamples) }, closed)
export const Invitation = Type.Object({
  token: Type.String({ description: 'For POST /api/v1/auth/accept; shown once.' }),
  path: Type.String({ description: 'The link on this host.', examples: ['/dashboard/#/welcome?token=…'] }),
  role: Role,
  reads_samples: ReadsSamples,
  expires_at: time
})
export const InvitationParams = Type.Object({ invitation_id: Type.String({ pattern: '^[0-9a-f]{64}$' }) })
export const PendingInvitation = Type.Object({
  invitation_id: Type.String({ description: 'Names it; nobody gets in by it.' }),
  role: Role,
  reads_samples: ReadsSamples,
  created_at: time,
  expires_at: time,
  created_by: Type.Union([Type.String(), Type.Null()], {
    description: 'A key or a user; null for the first administrator’s.'
  })
})

nameSchemas({
  SignInRequest: SignIn,
  AcceptInvitationRequest: Accept,
  ConfirmSignInRequest: Confirm,
  ChangePasswordRequest: ChangePassword,
  SignOutRequest: SignOut,
  Session: SessionState,
  User,
  UpdateUserRequest: ChangeUser,
  CreateInvitationRequest: Invite,
  Invitation,
  PendingInvitation
})
