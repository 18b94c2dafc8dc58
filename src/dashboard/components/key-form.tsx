/** The form for a new key: its scopes, addresses, expiry and limits. */
import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Stack,
  TagsInput,
  Text,
  TextInput
} from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '../api'
import { type NewKey, type Scope, scopes } from '../types'
import { messageOf, sentence } from './notify'

const meanings: Record<(typeof scopes)[number], string> = {
  '*': 'everything, keys included (*)',
  'safety:evaluate': 'evaluate and chat',
  'safety:metrics': 'read metrics',
  'pdp:adjudicate': 'decide reviews',
  'constitutions:read': 'read constitutions',
  'constitutions:write': 'write constitutions',
  'billing:read': 'read usage',
  'keys:rotate': 'rotate itself, even if not allowed below',
  'mcp:call': 'use MCP servers'
}

/** Fields of the form. */
const fields = [
  'name',
  'scopes',
  'ip_allowlist',
  'expires_at',
  'rate_limit_per_minute',
  'max_concurrent',
  'self_rotation',
  'accept_terms'
]

interface KeyFormProps {
  /** The URL of the terms of use; null where the gateway has none, so that the form does not ask. */
  termsUrl: string | null
  onSubmit(key: NewKey): void
  busy: boolean
  error: Error | null
}

export function KeyForm({ termsUrl, onSubmit, busy, error }: KeyFormProps) {
  const [name, setName] = useState('')
  const [environment, setEnvironment] = useState<'live' | 'test'>('live')
  const [chosen, setChosen] = useState<string[]>(['safety:evaluate'])
  const [mcp, setMcp] = useState<string[]>([])
  const [addresses, setAddresses] = useState<string[]>([])
  const [expires, setExpires] = useState('')
  const [rate, setRate] = useState<number | string>('')
  const [concurrent, setConcurrent] = useState<number | string>('')
  const [selfRotation, setSelfRotation] = useState(true)
  const [terms, setTerms] = useState(false)
  // The API names the wrong field: its message is shown beside that field.
  const at = (field: string) =>
    error instanceof ApiError && error.field?.split('.')[0] === field ? sentence(error.message) : undefined
  const isPlaced = fields.some((field) => at(field) && (field !== 'accept_terms' || termsUrl !== null))

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit({
          name,
          environment,
          scopes: [...(chosen as Scope[]), ...mcp.map((part): Scope => `mcp:call:${part}`)],
          ...(terms && { accept_terms: true }),
          ...(addresses.length > 0 && { ip_allowlist: addresses }),
          ...(expires !== '' && { expires_at: new Date(expires).toISOString() }),
          ...(rate !== '' && { rate_limit_per_minute: Number(rate) }),
          ...(concurrent !== '' && { max_concurrent: Number(concurrent) }),
          ...(!selfRotation && { self_rotation: false })
        })
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="The program that will use the key, such as support-bot."
          required
          maxLength={100}
          data-autofocus
          value={name}
          error={at('name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div>
          <Text size="sm" fw={500} id="environment">
            Environment
          </Text>
          <SegmentedControl
            aria-labelledby="environment"
            value={environment}
            onChange={(value) => setEnvironment(value as 'live' | 'test')}
            data={['live', 'test']}
          />
          <Text size="xs" c="dimmed">
            Test keys cost nothing and have a lower limit.
          </Text>
        </div>
        <MultiSelect
          label="Scopes"
          required={mcp.length === 0}
          value={chosen}
          error={at('scopes')}
          onChange={setChosen}
          data={scopes.map((scope) => ({ value: scope, label: meanings[scope] }))}
        />
        {!chosen.includes('*') && !chosen.includes('mcp:call') && (
          <TagsInput
            label="MCP servers and tools"
            description="A server, or tools of a server by glob. Empty: no MCP server."
            placeholder="files/read_*, then Enter"
            value={mcp}
            onChange={setMcp}
          />
        )}
        <TagsInput
          label="Addresses"
          description="IP addresses and networks (CIDR) that may use the key. Empty: any."
          placeholder="10.0.0.0/8, then Enter"
          value={addresses}
          error={at('ip_allowlist')}
          onChange={setAddresses}
        />
        <Group grow align="flex-start">
          <TextInput
            label="Ends"
            description="Empty: never."
            type="datetime-local"
            value={expires}
            error={at('expires_at')}
            onChange={(event) => setExpires(event.currentTarget.value)}
          />
          <NumberInput
            label="Calls per minute"
            description="Empty: the environment’s limit."
            min={1}
            max={1_000_000}
            allowDecimal={false}
            value={rate}
            error={at('rate_limit_per_minute')}
            onChange={setRate}
          />
          <NumberInput
            label="Calls at once"
            description="Empty: the gateway’s limit."
            min={1}
            max={100_000}
            allowDecimal={false}
            value={concurrent}
            error={at('max_concurrent')}
            onChange={setConcurrent}
          />
        </Group>
        <Checkbox
          label="May rotate itself"
          description="Anyone who holds the key can then replace it; the webhook tells its owner."
          checked={selfRotation}
          onChange={(event) => setSelfRotation(event.currentTarget.checked)}
        />
        {termsUrl !== null && (
          <Checkbox
            label={
              <>
                I accept the{' '}
                <Anchor href={termsUrl} target="_blank" rel="noreferrer" inherit underline="always">
                  terms of use
                </Anchor>{' '}
                of this gateway
              </>
            }
            description="The record of the key says who accepted them, and when."
            required
            error={at('accept_terms')}
            checked={terms}
            onChange={(event) => setTerms(event.currentTarget.checked)}
          />
        )}
        {error !== null && !isPlaced && (
          <Alert color="red" variant="light" role="alert">
            {messageOf(error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={chosen.length === 0 && mcp.length === 0}>
            Create the key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
