/** The first step: what answers chats. */
import { Code, Text } from '@mantine/core'
import { Step } from './step'

export function BackendStep({ isDemo }: { isDemo: boolean }) {
  return (
    <Step number={1} title="Your backend" done={!isDemo} about="What the gateway stands in front of.">
      <Text size="sm">
        {isDemo ? (
          <>
            The built-in demo backend answers, in every dialect. For a real one, start the gateway with{' '}
            <Code>SLUICEGATE_UPSTREAM</Code>.
          </>
        ) : (
          'A backend is configured.'
        )}
      </Text>
    </Step>
  )
}
