/**
 * Every detector, in the order in which they run; the trained classifier is the last one with findings of its own. To
 * add one: a file with a `Detector`, a line here, a table of its findings and of look-alikes.
 */
import { children } from './children.js'
import { classifier } from './classifier.js'
import type { Detector } from './detector.js'
import { encoder } from './encoder.js'
import { obfuscation } from './obfuscation.js'
import { personalData } from './personal-data.js'
import { secrets } from './secrets.js'

export const detectors: readonly Detector[] = [personalData, secrets, obfuscation, children, classifier, encoder]
