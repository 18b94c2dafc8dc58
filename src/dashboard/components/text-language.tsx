/** The choice of a language: languages that have texts, and any other by typing its code. */
import { Select } from '@mantine/core'
import { useState } from 'react'
import { isLanguage, languageName } from './text-occasions'

interface LanguageChoiceProps {
  known: readonly string[]
  value: string
  onChange(language: string): void
  size?: 'xs'
}

export function LanguageChoice({ known, value, onChange, size }: LanguageChoiceProps) {
  const [typed, setTyped] = useState('')
  const code = typed.trim().toLowerCase()
  const offered = [...new Set([...known, value, ...(isLanguage(code) ? [code] : [])])]
  return (
    <Select
      aria-label="Language"
      w={size === 'xs' ? 170 : 220}
      {...(size !== undefined && { size })}
      searchable
      allowDeselect={false}
      nothingFoundMessage="Type a code such as sv or cs"
      value={value}
      onSearchChange={setTyped}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
      data={offered
        .map((one) => ({
          value: one,
          label: known.includes(one) ? languageName(one) : `${languageName(one)} (${one})`
        }))
        .sort((a, b) => a.label.localeCompare(b.label, 'en'))}
    />
  )
}
