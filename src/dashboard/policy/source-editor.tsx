/** The editor of a constitution's text: YAML, problems at their place, completion and meaning from the schema, search. Loaded when opened. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, type Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers
} from '@codemirror/view'
import { useEffect, useRef } from 'react'
import type { Problem } from '../constitution-types'
import { appearance, nonce } from './editor-look'
import { type Known, meaningAt, offersAt } from './words'

export interface SourceEditorProps {
  label: string
  value: string
  onChange(value: string): void
  problems: readonly Problem[]
  warnings: readonly Problem[]
  known: Known
  /** The place to show; a new object shows the same place again. */
  goTo?: { line: number; column: number } | undefined
  readOnly?: boolean
}

export function SourceEditor(props: SourceEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const now = useRef(props)
  now.current = props
  const { label, value, problems, warnings, goTo, readOnly = false } = props

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; what changes is handed on below
  useEffect(() => {
    const editor = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(nonce()),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
          EditorState.readOnly.of(readOnly),
          indentUnit.of('  '),
          lineNumbers(),
          highlightActiveLineGutter(),
          highlightSpecialChars(),
          history(),
          foldGutter(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          lintGutter(),
          yaml(),
          appearance,
          autocompletion({
            icons: false,
            override: [
              ({ state, pos, explicit }) => {
                const found = offersAt(state.doc.toString(), pos, now.current.known)
                if (found === undefined || (!explicit && found.from === pos)) return null
                return {
                  from: found.from,
                  to: found.to,
                  validFor: /^[\w$.-]*$/,
                  options: found.offers.map(({ label, detail, info, isKey }) => ({
                    label,
                    apply: isKey && !/^\s*:/.test(state.sliceDoc(found.to, found.to + 8)) ? `${label}: ` : label,
                    type: isKey ? 'property' : 'enum',
                    ...(detail ? { detail } : {}),
                    ...(info ? { info } : {})
                  }))
                }
              }
            ]
          }),
          hoverTooltip((view, at) => {
            const meaning = meaningAt(view.state.doc.toString(), at, now.current.known)
            if (meaning === undefined) return null
            return { pos: meaning.from, end: meaning.to, above: true, create: () => ({ dom: told(meaning) }) }
          }),
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...completionKeymap,
            ...lintKeymap
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) now.current.onChange(update.state.doc.toString())
          })
        ]
      })
    })
    view.current = editor
    return () => editor.destroy()
  }, [])

  useEffect(() => {
    const editor = view.current
    if (editor === undefined || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: changeBetween(editor.state.doc.toString(), value) })
  }, [value])

  useEffect(() => {
    const editor = view.current
    if (editor === undefined) return
    const found = (list: readonly Problem[], severity: Diagnostic['severity']) =>
      list.map((problem) => diagnosticOf(editor.state.doc, problem, severity))
    editor.dispatch(setDiagnostics(editor.state, [...found(problems, 'error'), ...found(warnings, 'warning')]))
  }, [problems, warnings])

  useEffect(() => {
    const editor = view.current
    if (editor === undefined || goTo === undefined) return
    const anchor = offsetOf(editor.state.doc, goTo)
    editor.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
    editor.focus()
  }, [goTo])

  return <div ref={host} className="code-editor" />
}

/** One change from the first difference to the last, so that the place of the cursor and the history stay. */
function changeBetween(before: string, after: string) {
  let from = 0
  const most = Math.min(before.length, after.length)
  while (from < most && before[from] === after[from]) from++
  let end = 0
  while (end < most - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) }
}

function offsetOf(doc: Text, { line, column }: { line: number; column: number }): number {
  const { from, length } = doc.line(Math.min(Math.max(1, line), doc.lines))
  return from + Math.min(Math.max(0, column - 1), length)
}

function diagnosticOf(doc: Text, problem: Problem, severity: Diagnostic['severity']): Diagnostic {
  const from = offsetOf(doc, problem)
  const { to: end } = doc.lineAt(from)
  const length = /^[^\s,{}[\]]+/.exec(doc.sliceString(from, end))?.[0].length ?? 0
  const { path, message, accepted = [] } = problem
  const known = accepted.length === 0 || message.includes(accepted[0]!) ? '' : ` (${accepted.join(', ')})`
  return {
    from,
    to: Math.min(from + Math.max(1, length), Math.max(end, from)),
    severity,
    message: `${path === '' ? '' : `${path}: `}${message}${known}`
  }
}

/** Plain text nodes, no markup: the content comes from the gateway's schema. */
function told({ path, description, accepted }: { path: string; description: string; accepted: string }): HTMLElement {
  const box = document.createElement('div')
  box.className = 'code-meaning'
  for (const [name, text] of Object.entries({ path, description, accepted: accepted && `Accepted: ${accepted}` })) {
    if (text === '') continue
    const line = document.createElement('div')
    line.className = `code-meaning-${name}`
    line.textContent = text
    box.append(line)
  }
  return box
}
