/** Shared by the parts of the form: their properties, and the mark for values that the text sets itself. */
import { Badge, Button } from '@mantine/core'
import type { Effective, Language } from '../constitution-types'
import type { Opened } from './edits'

/** The properties of every part of the form. */
export interface FormPart {
  opened: Opened
  effective: Effective
  language: Language
  /** Whether the text is laid over another: then each value has one of the base below it. */
  isOverlay: boolean
  change(source: string): void
}

/** Marks a value that the text sets itself, over its base. */
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
