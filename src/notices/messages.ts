/**
 * Writes the messages about alerts and rotated keys for webhooks and e-mail: ids, counts, names of the configuration,
 * and links.
 */
import type { NoticeSettings, WebhookFormat } from '../base/settings.js'
import { isoTime } from '../base/units.js'
import type { SelfRotation } from '../identity/key-service.js'
import { type AlertEvent, delivery, keyRotated, rotationBody, rotationSentence } from '../review/webhook.js'
import type { DeliveryRow } from '../storage/contracts/reviews.js'
import { type AlertKind, alertOf, tellings } from './kinds.js'
import type { Told } from './transitions.js'

/** Most items of one kind in a message; the rest is counted. */
const mostListed = 20

/** Content of an e-mail; sender and recipients come only from the configuration. */
export interface Mail {
  subject: string
  text: string
}

export interface Telling {
  settings: Pick<NoticeSettings, 'webhook' | 'email'>
  /** Account of the messages. */
  account: string
  /** The public address, without a final slash; undefined: no links. */
  publicUrl: string | undefined
  now: number
}

const beginnings: Readonly<Record<AlertEvent, string>> = {
  'alert.began': '',
  'alert.reminded': 'Still: ',
  'alert.ended': 'Over: '
}

/** One message for each kind, event and configured channel. */
export function messagesOf(told: readonly Told[], telling: Telling): DeliveryRow[] {
  const groups = new Map<string, Told[]>()
  for (const one of told) {
    const key = `${one.event} ${one.condition.kind}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const { webhook, email } = telling.settings
  return [...groups.values()].flatMap((group) => {
    const { event, condition } = group[0]!
    const row = { account: telling.account, subject: condition.kind }
    const rows: DeliveryRow[] = []
    if (webhook !== undefined) {
      const body = webhookBody(group, webhook.format, telling)
      rows.push(delivery(event, { ...row, body }, telling.now, 'webhook'))
    }
    if (email !== undefined) {
      const body = JSON.stringify(mailOf(group, telling))
      rows.push(delivery(event, { ...row, body }, telling.now, 'email'))
    }
    return rows
  })
}

/** Messages about a key that rotated itself, an event rather than a state. */
export function rotationMessages(rotation: SelfRotation, { settings, publicUrl }: Omit<Telling, 'now' | 'account'>) {
  const { webhook, email } = settings
  const { account, keyId: subject } = rotation.old
  const rows: DeliveryRow[] = []
  if (webhook !== undefined) {
    const body = rotationBody(rotation, webhook.format)
    rows.push(delivery(keyRotated, { account, subject, body }, rotation.at, 'webhook'))
  }
  if (email !== undefined) {
    const text = mailText([rotationSentence(rotation)], linkTo('keys', publicUrl))
    const body = JSON.stringify({ subject: 'Sluicegate: A key rotated itself', text } satisfies Mail)
    rows.push(delivery(keyRotated, { account, subject, body }, rotation.at, 'email'))
  }
  return rows
}

function webhookBody(group: readonly Told[], format: WebhookFormat, { publicUrl, now }: Telling): string {
  const { event, condition } = group[0]!
  const { kind } = condition
  const link = linkTo(tellings[kind].page, publicUrl)
  if (format === 'slack') {
    const lines = [`${titleOf(event, kind)}.`, ...sentencesOf(group), ...(link === undefined ? [] : [link])]
    return JSON.stringify({ text: lines.join('\n') })
  }
  const alerts = group.slice(0, mostListed).map(({ condition, alertId, since }) => {
    const { page: _, kind: __, ...alert } = alertOf({ ...condition, alertId, since })
    return alert
  })
  const data = { kind, count: group.length, alerts, link: link ?? null }
  return JSON.stringify({ type: event, timestamp: isoTime(now), data })
}

function mailOf(group: readonly Told[], { publicUrl }: Telling): Mail {
  const { event, condition, since } = group[0]!
  const { kind } = condition
  const began = event === 'alert.began' ? [] : [`It began at ${isoTime(since)}.`]
  return {
    subject: `Sluicegate: ${titleOf(event, kind)}`,
    text: mailText([...sentencesOf(group), ...began], linkTo(tellings[kind].page, publicUrl))
  }
}

function mailText(lines: readonly string[], link: string | undefined): string {
  return `${[...lines, ...(link === undefined ? [] : ['', link])].join('\n')}\n`
}

/** Fixed words; names and numbers are in the text. */
function titleOf(event: AlertEvent, kind: AlertKind): string {
  return `${beginnings[event]}${tellings[kind].title}`
}

/** The sentences; for an ended alert, with its last facts. */
function sentencesOf(group: readonly Told[]): string[] {
  const sentences = group
    .slice(0, mostListed)
    .map(({ condition: { kind, subject, facts } }) => tellings[kind].sentence(subject, facts))
  const more = group.length - sentences.length
  return more > 0 ? [...sentences, `And ${more} more.`] : sentences
}

function linkTo(page: string, publicUrl: string | undefined): string | undefined {
  return publicUrl === undefined ? undefined : `${publicUrl}/dashboard/#/${page}`
}
