/** Detects processor features that decide how the encoder's 8-bit products are summed. */
import { readFile } from 'node:fs/promises'

/**
 * Whether sums of 8-bit products may be cut off at 16 bits by the fastest kernel of onnxruntime: on x64 without VNNI
 * (Intel's and AMD's instructions for such sums, in 32 bits). Without that information, as outside Linux, the answer is
 * yes.
 * @param architecture as `process.arch`
 * @param cpuinfo a text as of `/proc/cpuinfo`, of whose processors all must have them; undefined: none
 */
export function mayCutOff(architecture: string, cpuinfo: string | undefined): boolean {
  if (architecture !== 'x64') return false
  const flags = [...(cpuinfo ?? '').matchAll(/^flags\s*:(.*)$/gm)].map(([, list]) => list!.trim().split(/\s+/))
  return flags.length === 0 || !flags.every((has) => has.includes('avx512_vnni') || has.includes('avx_vnni'))
}

/** The same of the machine at hand. */
export async function cutsOffHere(): Promise<boolean> {
  return mayCutOff(process.arch, await readFile('/proc/cpuinfo', 'utf8').catch(() => undefined))
}
