/** Private members of JSON Web Keys (RFC 7518, section 6), by their names and the lengths that keys in use have. */

const member = /\\?["'](?:d|p|q|dp|dq|qi)\\?["']\s{0,4}:\s{0,4}\\?["']$/
const lengths = [43, 64, 75, 76, 86, 88, 171, 256, 342, 512, 683]
/** A number leaves out its leading octets that are zero (RFC 7518, section 2): one in 256 is shorter by one. */
const dropped = 3
const symmetric = /\\?["']k\\?["']\s{0,4}:\s{0,4}\\?["']$/
const octets = /["']kty\\?["']\s{0,4}:\s{0,4}\\?["']oct/
export const shortestMember = 22
const longestMember = 683
/** Characters before a symmetric key in which its type stands. */
const reach = 400

/** Whether the run in [from, to) is the value of such a member. */
export function isJwkMember(text: string, from: number, to: number): boolean {
  if (to - from > longestMember || !/["']/.test(text[from - 1] ?? '')) return false
  const left = text.slice(Math.max(0, from - 18), from)
  const isPart = isLength(to - from) && member.test(left)
  if (!isPart && !symmetric.test(left)) return false
  const value = text.slice(from, to)
  if (!/^[\w-]+$/.test(value) || !/[A-Z]/.test(value) || !/\d/.test(value)) return false
  return isPart || octets.test(text.slice(Math.max(0, from - reach), from))
}

function isLength(length: number): boolean {
  return lengths.some((full) => length <= full && length >= full - dropped)
}
