/** How code looks, light and dark: by the page's own colours, so that both follow one switch. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The page's policy lets no `<style>` element in without the nonce of this answer. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
}

const shade = (light: string, dark: string) => `light-dark(var(--mantine-color-${light}), var(--mantine-color-${dark}))`

const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: shade('cyan-9', 'cyan-3') },
  { tag: [tags.string, tags.special(tags.string)], color: shade('teal-9', 'green-3') },
  { tag: [tags.comment, tags.lineComment], color: shade('gray-7', 'dark-1'), fontStyle: 'italic' },
  { tag: [tags.keyword, tags.typeName, tags.labelName], color: shade('grape-9', 'grape-3') },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: shade('gray-7', 'dark-1') }
])

const border = '1px solid var(--mantine-color-default-border)'
const raised = { backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)', border }

const frame = EditorView.theme({
  '&': { backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    caretColor: 'var(--mantine-color-text)',
    padding: '8px 0'
  },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': { backgroundColor: shade('gray-0', 'dark-8'), color: shade('gray-7', 'dark-1'), borderRight: border },
  '.cm-activeLine': { backgroundColor: shade('gray-0', 'dark-6') },
  '.cm-activeLineGutter': { backgroundColor: shade('gray-2', 'dark-5') },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: `${shade('cyan-1', 'cyan-9')} !important`
  },
  '.cm-panels': {
    backgroundColor: shade('gray-0', 'dark-6'),
    color: 'var(--mantine-color-text)',
    borderBottom: border
  },
  '.cm-panels button, .cm-panels input': { ...raised, backgroundImage: 'none', borderRadius: '4px' },
  '.cm-tooltip': { ...raised, borderRadius: '8px', boxShadow: 'var(--mantine-shadow-md)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: shade('cyan-9', 'cyan-8'),
    color: 'var(--mantine-color-white)'
  },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: 0.8, marginLeft: '1em' },
  '.cm-completionInfo': { maxWidth: '360px' },
  // The library's own marks are images in the style itself, which the page's policy does not load.
  '.cm-lintRange': { backgroundImage: 'none', textDecoration: 'underline wavy', textUnderlineOffset: '3px' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecorationColor: 'var(--mantine-color-red-6)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecorationColor: 'var(--mantine-color-yellow-7)' },
  '.cm-lint-marker': { width: '9px', height: '9px', margin: '5px 0 0', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: 'none', backgroundColor: 'var(--mantine-color-red-6)' },
  '.cm-lint-marker-warning': { content: 'none', backgroundColor: 'var(--mantine-color-yellow-7)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--mantine-color-red-7)' },
  '.cm-foldPlaceholder': { backgroundColor: 'transparent', border, color: 'inherit' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: shade('teal-0', 'dark-6') },
  '.cm-deletedChunk': { backgroundColor: shade('red-0', 'dark-7') },
  // The library's own sign is in few fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
  '.cm-collapsedLines': { color: 'var(--mantine-color-dimmed)', background: shade('gray-1', 'dark-6') }
})

export const appearance = [frame, syntaxHighlighting(colours)]
