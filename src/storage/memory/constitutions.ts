/** Constitutions in this process. */
import {
  type ConstitutionActivation,
  type ConstitutionRow,
  type ConstitutionState,
  type ConstitutionStore,
  type ConstitutionVersion,
  type NewConstitution,
  nextVersion
} from '../contracts/constitution-store.js'

export function createMemoryConstitutions(call: <T>(work: () => T) => Promise<T>): ConstitutionStore {
  const rows: ConstitutionRow[] = []
  const states: ConstitutionState[] = []
  const activations: ConstitutionActivation[] = []

  const stateOf = (account: string, name: string) =>
    states.find((state) => state.account === account && state.name === name)
  const rowsOf = (account: string, name: string) =>
    rows.filter((row) => row.account === account && row.name === name).sort((a, b) => b.version - a.version)

  function insert(row: NewConstitution): ConstitutionRow {
    let state = stateOf(row.account, row.name)
    if (state === undefined) {
      state = {
        account: row.account,
        name: row.name,
        versions: 0,
        latest: 0,
        active: null,
        activatedOrigin: null,
        activatedAt: null,
        activatedBy: null,
        fileDigest: null
      }
      states.push(state)
    }
    const stored = { ...row, version: nextVersion(row.declared, state.latest) }
    rows.push(stored)
    state.latest = stored.version
    state.versions++
    return stored
  }

  function putInForce(state: ConstitutionState, change: Omit<ConstitutionActivation, 'seq' | 'from'>) {
    const activation = { ...change, from: state.active, seq: activations.length + 1 }
    activations.push(activation)
    const { to, at, by, origin } = change
    Object.assign(state, { active: to, activatedAt: at, activatedBy: by, activatedOrigin: origin })
    return activation
  }

  return {
    add: (row) =>
      call(() => {
        const [latest] = rowsOf(row.account, row.name)
        if (latest?.digest === row.digest) return { version: withoutSource(latest), created: false }
        return { version: withoutSource(insert(row)), created: true }
      }),
    get: (account, name, version) =>
      call(() => structuredClone(rowsOf(account, name).find((row) => row.version === version))),
    versions: (account, name, { before = Number.POSITIVE_INFINITY, limit }) =>
      call(() =>
        rowsOf(account, name)
          .filter((row) => row.version < before)
          .slice(0, limit)
          .map(withoutSource)
      ),
    states: (account, name) =>
      call(() =>
        structuredClone(
          states
            .filter((state) => state.account === account && (name === undefined || state.name === name))
            .sort((a, b) => (a.name < b.name ? -1 : 1))
        )
      ),
    activate: ({ ifActive, ...change }) =>
      call(() => {
        const { account, name, to } = change
        const state = stateOf(account, name)
        if (state === undefined || !rowsOf(account, name).some((row) => row.version === to))
          return { outcome: 'absent' }
        const from = state.active
        if (ifActive !== undefined && ifActive !== from) return { outcome: 'other', from }
        if (from === to) return { outcome: 'unchanged', from }
        putInForce(state, change)
        return { outcome: 'activated', from }
      }),
    adopt: (files, at) =>
      call(() => {
        const done: ConstitutionActivation[] = []
        for (const { displaces, ...file } of files) {
          const { account, name, digest } = file
          if (stateOf(account, name)?.fileDigest === digest) continue
          const { version } = rowsOf(account, name).find((row) => row.digest === digest) ?? insert(file)
          const state = stateOf(account, name)!
          state.fileDigest = digest
          const yields = displaces || state.activatedOrigin === null || state.activatedOrigin === 'file'
          if (!yields || state.active === version) continue
          done.push(putInForce(state, { account, name, to: version, at, by: null, origin: 'file' }))
        }
        return structuredClone(done)
      }),
    activations: (account, name, { before = Number.POSITIVE_INFINITY, limit }) =>
      call(() =>
        structuredClone(
          activations
            .filter((row) => row.account === account && row.name === name && row.seq < before)
            .reverse()
            .slice(0, limit)
        )
      ),
    revision: () => call(() => activations.length + rows.length)
  }
}

function withoutSource({ source: _, ...version }: ConstitutionRow): ConstitutionVersion {
  return structuredClone(version)
}
