/** The contract of the outbox of the webhook. `index.ts` says what holds for every contract. */

/** One message that has not been taken yet. It is stored with the change that it tells of, in one transaction. */
export interface DeliveryRow {
  deliveryId: string
  account: string
  event: string
  /** Id of the review or the key that it tells of. */
  subject: string
  body: string
  /** `dead`: given up. */
  state: 'waiting' | 'dead'
  attempts: number
  /** Null where it is dead. */
  nextAt: number | null
  lastError: string | null
  createdAt: number
}

export interface DeliveryStore {
  /** Those that are due at `now`, the longest due first, each given to one taker until `leasedUntil`. */
  take(wanted: { now: number; leasedUntil: number; limit: number }): Promise<DeliveryRow[]>
  /** It was taken: nothing remains of it. */
  remove(deliveryId: string): Promise<void>
  /** @param outcome.nextAt null: given up */
  fail(deliveryId: string, outcome: { attempts: number; nextAt: number | null; error: string }): Promise<void>
  /** In order of creation; `after` is exclusive. */
  list(
    account: string,
    page: { state?: DeliveryRow['state'] | undefined; after?: string | undefined; limit: number }
  ): Promise<DeliveryRow[]>
  /** Lets a dead one wait again, due at `at`; undefined where there is none. */
  revive(account: string, deliveryId: string, at: number): Promise<DeliveryRow | undefined>
  /** Over all accounts; 10,000 stands for that many or more. */
  dead(): Promise<number>
  /** Removes the dead that were created before. @returns how many */
  purge(createdBefore: number): Promise<number>
}
