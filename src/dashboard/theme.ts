import { Checkbox, type CSSVariablesResolver, createTheme, type MantineColor, Modal } from '@mantine/core'
import type { Category, Decision, KeyRecord, ReviewStatus } from './types'

export const theme = createTheme({
  primaryColor: 'cyan',
  // Dark enough for white text on it (WCAG 2.2, 1.4.3).
  primaryShade: 9,
  autoContrast: true,
  luminanceThreshold: 0.32,
  defaultRadius: 'md',
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  focusRing: 'auto',
  components: {
    Checkbox: Checkbox.extend({ defaultProps: { radius: 'sm' } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } })
  }
})

/**
 * The hover colour of a filled button: darker, because white text on the library's lighter shade has too little
 * contrast.
 */
const hovered = 'color-mix(in srgb, var(--mantine-color-cyan-9) 85%, var(--mantine-color-black))'

/** The library's greys for secondary text fall short of 4.5 to 1 (WCAG 2.2, 1.4.3). */
export const readableGreys: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-primary-color-filled-hover': hovered,
    '--mantine-color-cyan-filled-hover': hovered,
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)'
  },
  dark: {
    '--mantine-primary-color-filled-hover': hovered,
    '--mantine-color-cyan-filled-hover': hovered,
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)'
  }
})

export const decisionColors: Record<Decision, MantineColor> = {
  permit: 'teal',
  depends: 'blue',
  divert: 'yellow',
  forbid: 'red'
}

export const statusColors: Record<ReviewStatus | KeyRecord['status'], MantineColor> = {
  pending: 'yellow',
  permitted: 'teal',
  forbidden: 'red',
  expired: 'gray',
  active: 'teal',
  retiring: 'yellow',
  revoked: 'gray'
}

/** Categories of one kind share a colour: the label names a finding, never the colour alone. */
export const categoryColors: Record<Category, MantineColor> = {
  hate: 'red',
  harassment: 'red',
  violence: 'red',
  weapons: 'red',
  self_harm: 'grape',
  sexual: 'pink',
  sexual_minors: 'pink',
  illicit: 'orange',
  cyber_misuse: 'orange',
  prompt_injection: 'violet',
  jailbreak: 'violet',
  personal_data: 'blue',
  secrets: 'blue',
  misinformation: 'yellow',
  profanity: 'yellow'
}
