/**
 * Two texts of a constitution with their differences marked: side by side if there is room, else one below the other.
 */
import { yaml } from '@codemirror/lang-yaml'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { appearance, nonce } from './editor-look'

/** Pixels below which two columns of YAML show half a line each. */
const widest = 900
/** Beyond this the comparison gives up looking for the shortest difference: it stays quick. */
const scanned = { scanLimit: 2_000, timeout: 1_000 }

export interface TextDiffProps {
  before: string
  after: string
  names: { before: string; after: string }
}

export function TextDiff({ before, after, names }: TextDiffProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = host.current!
    const shared = (label: string) => [
      EditorView.cspNonce.of(nonce()),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true', tabindex: '0' }),
      lineNumbers(),
      EditorView.lineWrapping,
      yaml(),
      appearance
    ]
    const collapseUnchanged = { margin: 3, minSize: 6 }
    if (parent.clientWidth >= widest) {
      const view = new MergeView({
        parent,
        a: { doc: before, extensions: shared(names.before) },
        b: { doc: after, extensions: shared(names.after) },
        collapseUnchanged,
        diffConfig: scanned
      })
      return () => view.destroy()
    }
    const merged = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged, diffConfig: scanned })
    const view = new EditorView({
      parent,
      state: EditorState.create({ doc: after, extensions: [...shared(names.after), merged] })
    })
    return () => view.destroy()
  }, [before, after, names.before, names.after])
  return <div ref={host} className="code-diff" />
}
