/** Names of tools, and whether one could be taken for another. */

/** What a tool may be called (specification 2025-11-25, "Tool Names"); no API for models takes other letters either. */
const toolName = /^[A-Za-z0-9_./-]{1,128}$/

export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && toolName.test(name)
}

/**
 * What of a name a reader sees: after Unicode Technical Standard 39, section 4, for the letters that a name may have. Case
 * is read over; `_` and `-` are not.
 */
export function skeleton(name: string): string {
  return name
    .replace(/[I1|]/g, 'l')
    .toLowerCase()
    .replace(/0/g, 'o')
    .replace(/5/g, 's')
    .replace(/i/g, 'l')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
}
