/** Names that say that a value is secret, read word by word: `DB_PASSWORD`, `clientSecret2`, `x-api-key`; not `token_count`. */

const alone = new Set(
  `password passwd passphrase passcode pass pwd pw secret token apikey accesskey secretkey privatekey authtoken bearer basic auth
  authorization credential credentials pgpassword jwt passwort kennwort contraseña contrasena clave senha motdepasse wachtwoord
  hasło haslo heslo parola şifre sifre lösenord salasana adgangskode пароль 密码 密碼 パスワード 비밀번호 sas psk pat webhooksecret
  signingkey masterkey authkey`.split(/\s+/)
)
/** Words that make `key` secret. */
const beforeKey = new Set(
  `api access private signing encryption secret auth account shared master license licence consumer app application storage
  subscription service client crypt cipher hmac session deploy server project admin root aes rsa ssh webhook integration cookie
  rapidapi`.split(/\s+/)
)
/** Possible endings of such a name. */
const trailing =
  /^(?:\d{1,3}|id|value|val|string|str|text|plain|raw|prod|production|dev|staging|test|live|default|v\d)$/

export type NameKind = 'password' | 'secret'

const passwords =
  /^(?:pass|passw|pwd|pw$|pgpass|contrase|clave|senha|motdepasse|wachtwoord|has[łl]o|heslo|parola|[şs]ifre|l[öo]senord|salasana|adgangskode|kennwort|пароль|密|パスワード|비밀번호)/

/** @param name one identifier, or a few words */
export function nameKind(name: string): NameKind | undefined {
  const words = name
    .slice(-96)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(/mot de passe/g, 'motdepasse')
    .split(/[^\p{L}\p{N}]+|(?<=\p{L}{3})(?=\d+$)/u)
    .filter(Boolean)
  while (words.length > 1 && trailing.test(words.at(-1)!)) words.pop()
  const last = words.at(-1)
  if (last === undefined) return undefined
  if (alone.has(last)) return passwords.test(last) ? 'password' : 'secret'
  const before = words.at(-2)
  return (last === 'key' || last === 'keys') && before !== undefined && beforeKey.has(before) ? 'secret' : undefined
}
