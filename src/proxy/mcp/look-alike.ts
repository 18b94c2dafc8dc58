/** Detects names of tools that could be mistaken for each other. */

/** Valid names of tools (specification 2025-11-25, "Tool Names"); no model API accepts other characters either. */
const toolName = /^[A-Za-z0-9_./-]{1,128}$/

export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && toolName.test(name)
}

/**
 * The visible shape of a name, after Unicode Technical Standard 39, section 4, for the letters that a name may have.
 * Case is ignored; `_` and `-` are not.
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
