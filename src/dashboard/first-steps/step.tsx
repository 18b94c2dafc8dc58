/** One of the first steps: its number, or a tick once it is done, its title and what is to do. */
import { Card, Group, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'

interface StepProps {
  number: number
  title: string
  /** What the step says of itself under its title. */
  about: ReactNode
  done: boolean
  children: ReactNode
}

export function Step({ number, title, about, done, children }: StepProps) {
  return (
    <Card withBorder padding="lg" component="section" aria-label={title}>
      <Group gap="md" wrap="nowrap" align="flex-start" mb="md">
        <ThemeIcon size={32} radius="xl" color={done ? 'teal.8' : 'gray.7'} variant="filled" aria-hidden>
          {done ? <IconCheck size={18} stroke={2.5} /> : <span className="step-number">{number}</span>}
        </ThemeIcon>
        <div>
          <Title order={2} size="h4" lh="32px">
            {title}
            {done && <span className="visually-hidden"> (done)</span>}
          </Title>
          <Text size="sm" c="dimmed" component="div">
            {about}
          </Text>
        </div>
      </Group>
      <div className="step-body">{children}</div>
    </Card>
  )
}
