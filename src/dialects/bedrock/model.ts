/** The id of a model in a path of Bedrock: a name or an ARN. */
import type { Target } from '../dialect.js'

/**
 * Its one spelling is the one that AWS's SDKs write: `:` as `%3A`, and `/`, which ARNs have, as `%2F`. What follows a
 * slash begins with a letter or a digit, so that nobody who decodes it finds another path.
 */
export const model = /[A-Za-z0-9](?:[A-Za-z0-9._-]|%3A|%2F[A-Za-z0-9]){0,1023}/

/** As people write it. */
export function modelOf({ params }: Target): string | undefined {
  return params.model?.replaceAll('%3A', ':').replaceAll('%2F', '/')
}
