/** Opens the encoder of a configuration, or only looks whether it would open, with what its routes need of it. */
import { join } from 'node:path'
import { systemClock } from '../base/clock.js'
import type { Settings } from '../base/settings.js'
import type { EncoderKeeper } from '../encoder/keeper.js'
import { EncoderFileError, fileNames, readEncoderFiles } from '../encoder/manifest.js'
import { noReport, type OpenEncoder, openEncoder } from '../encoder/open.js'
import { guardedRoutes } from './media-readers.js'

type Needed = Pick<Settings, 'encoder' | 'routes' | 'mcp'>

/** @throws EncoderFileError, or RuntimeError where the encoder is required and does not run here */
export async function openSecondReader(settings: Needed, encoders: EncoderKeeper): Promise<OpenEncoder> {
  const opened = await encoders.open(settings.encoder)
  const route = routeWithNames(settings)
  if (route === undefined || opened.encoder?.findsNames === true) return opened
  // As with the encoder itself: faulty files stop the start; a platform that cannot run the encoder does not.
  if (opened.encoder === undefined)
    return { ...opened, weakening: `${opened.weakening}; ${route}, and is refused with evaluator_unavailable` }
  await opened.close()
  throw withoutNames(settings, route)
}

/** Starts no thread unless the encoder is required: then it must run here. @throws as `openSecondReader` */
export async function checkSecondReader(settings: Needed): Promise<void> {
  const { encoder } = settings
  if (encoder.use === 'off') return
  const { names } = await readEncoderFiles(encoder.folder)
  const route = routeWithNames(settings)
  if (route !== undefined && names === undefined) throw withoutNames(settings, route)
  if (encoder.use !== 'required') return
  const opened = await openEncoder(encoder, { clock: systemClock, report: noReport, crashed() {} })
  await opened.close()
}

function routeWithNames(settings: Pick<Settings, 'routes' | 'mcp'>): string | undefined {
  const needing = guardedRoutes(settings).find(({ redact }) => redact.includes('names'))
  return needing === undefined ? undefined : `route ${needing.id}: redact lists names`
}

function withoutNames({ encoder }: Pick<Settings, 'encoder'>, route: string): EncoderFileError {
  return new EncoderFileError(`${join(encoder.folder, fileNames.manifest)}: has no names, and ${route}`)
}
