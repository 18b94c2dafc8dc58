/** From a fresh start to a guarded call: a backend, a key, a program, and what the gateway decides of four prompts. */
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { Loaded, PageHeader } from '../components/view'
import { listModels } from '../first-steps/ask'
import { BackendStep, backendOf } from '../first-steps/backend-step'
import { ExamplesStep } from '../first-steps/examples-step'
import { KeyStep } from '../first-steps/key-step'
import { ProgramStep } from '../first-steps/program-step'
import type { Status, Upstreams } from '../types'

/** The gateway, wherever this page was reached. */
const base = new URL('..', document.baseURI).href.replace(/\/$/, '')
/** For as long as the tab is not loaded anew: other pages are looked at in between. */
const kept: { key: string; models: readonly string[] } = { key: '', models: [] }

export function FirstSteps() {
  const status = useQuery({ queryKey: ['status'], queryFn: api.status })
  const upstreams = useQuery({ queryKey: ['upstreams'], queryFn: api.upstreams })
  return (
    <>
      <PageHeader
        title="First steps"
        about="From a new gateway to a guarded call of your own backend in about a minute. You can begin without connecting anything."
      />
      <Loaded query={upstreams}>
        {(known) => <Loaded query={status}>{(facts) => <Steps upstreams={known} status={facts} />}</Loaded>}
      </Loaded>
    </>
  )
}

function Steps({ upstreams, status }: { upstreams: Upstreams; status: Status }) {
  const [key, setKey] = useState(kept.key)
  const [models, setModels] = useState(kept.models)
  const [chosen, setChosen] = useState<string>()
  const backend = backendOf(upstreams)
  const spoken = backend?.api ?? 'openai'
  // Those of a backend that was connected earlier, or is configured, are read as any program may read them.
  const listed = useQuery({
    queryKey: ['models', backend?.url, spoken, key],
    queryFn: () => listModels({ base, key, model: '', api: spoken }),
    enabled: backend !== undefined && key !== '' && models.length === 0,
    retry: false
  })
  const offered = backend === undefined ? ['demo'] : models.length > 0 ? models : (listed.data ?? [])
  const model = chosen ?? offered[0] ?? ''
  return (
    <Stack maw={920}>
      <BackendStep
        upstreams={upstreams}
        onModels={(next) => {
          kept.models = next
          setModels(next)
          setChosen(undefined)
        }}
      />
      <KeyStep
        apiKey={key}
        termsUrl={status.terms_url}
        onKey={(next) => {
          kept.key = next
          setKey(next)
        }}
      />
      <ProgramStep
        base={base}
        apiKey={key}
        model={model}
        models={offered}
        onModel={setChosen}
        // Until another is chosen; of another backend another is suggested.
        key={spoken}
        suggested={spoken}
      />
      <ExamplesStep asked={{ base, key, model, api: spoken }} isDemo={backend === undefined} />
    </Stack>
  )
}
