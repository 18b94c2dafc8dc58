/** From a fresh start to a guarded call: a backend, a key, a program, and what the gateway decides of four prompts. */
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { Loaded, PageHeader } from '../components/view'
import { BackendStep } from '../first-steps/backend-step'
import { ExamplesStep } from '../first-steps/examples-step'
import { KeyStep } from '../first-steps/key-step'
import { ProgramStep } from '../first-steps/program-step'

/** The gateway, wherever this page was reached. */
const base = new URL('..', document.baseURI).href.replace(/\/$/, '')
/** For as long as the tab is not loaded anew: other pages are looked at in between. */
const kept = { key: '' }

export function FirstSteps() {
  const status = useQuery({ queryKey: ['status'], queryFn: api.status })
  const [key, setKey] = useState(kept.key)
  return (
    <>
      <PageHeader
        title="First steps"
        about="From here to a guarded call of your own backend, in about a minute. Nothing has to be connected to begin."
      />
      <Loaded query={status}>
        {({ terms_url, configuration }) => (
          <Stack maw={920}>
            <BackendStep isDemo={configuration.demo} />
            <KeyStep
              apiKey={key}
              termsUrl={terms_url}
              onKey={(next) => {
                kept.key = next
                setKey(next)
              }}
            />
            <ProgramStep base={base} apiKey={key} model="demo" suggested="openai" />
            <ExamplesStep asked={{ base, key, model: 'demo', api: 'openai' }} isDemo={configuration.demo} />
          </Stack>
        )}
      </Loaded>
    </>
  )
}
