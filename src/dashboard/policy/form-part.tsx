/** What the parts of the form share: what they work with, and the mark of what is one's own. */
import { Badge, Button } from '@mantine/core'
import type { Effective, Language } from '../constitution-types'
import type { Opened } from './edits'

/** What every part of the form works with. */
export interface FormPart {
  opened: Opened
  effective: Effective
  language: Language
  /** Whether the text is laid over another: then each value has one of the base below it. */
  isOverlay: boolean
  change(source: string): void
}

/** Marks what the text says itself, over its base. */
export function Own() {
  return (
    <Badge size="xs" variant="light" color="grape" className="readable">
      yours
    </Badge>
  )
}

export function BackToBase({ label, onClick }: { label: string; onClick(): void }) {
  return (
    <Button size="compact-xs" variant="subtle" color="gray" className="quiet" aria-label={label} onClick={onClick}>
      as in the base
    </Button>
  )
}
