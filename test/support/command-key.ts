/** A key as `sluicegate keys create` makes it beside a running gateway: a hand of its own. */
import { systemClock } from '../../src/base/clock.js'
import { KeyService } from '../../src/identity/key-service.js'
import { openStorage } from '../../src/storage/open.js'

/** @param store URL of the gateway's storage, which other processes can open too */
export async function commandKey(store: string, ...scopes: string[]): Promise<string> {
  const { keys, audit, close } = await openStorage({ url: store, node: 'command' })
  try {
    const service = new KeyService({ keys, audit, clock: systemClock, invalidate() {} })
    return (await service.create({ accountId: 'default', scopes: ['*'] }, { name: 'command', scopes })).key
  } finally {
    await close()
  }
}
