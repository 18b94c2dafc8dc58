/**
 * Every detector, in the order in which they run. To add one: a file with a `Detector`, a line here, a table of what it
 * finds and what only looks like it. The trained classifier (`src/classifier`) takes its place at the end of this list,
 * as one detector with a kind for each category.
 */
import type { Detector } from './detector.js'
import { obfuscation } from './obfuscation.js'
import { personalData } from './personal-data.js'
import { secrets } from './secrets.js'

export const detectors: readonly Detector[] = [personalData, secrets, obfuscation]
