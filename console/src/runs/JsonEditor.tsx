/** An editor for JSON. Its text is kept as it was typed, whether it is valid or not. */
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, linter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

type Props = {
  /** The text at the beginning; later changes of it are ignored. */
  initial: string
  label: string
  onChange: (text: string) => void
  onSubmit?: () => void
  height?: number
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--mantine-color-ink-text, var(--mantine-color-anchor))' },
  { tag: tags.string, color: 'var(--mantine-color-teal-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--mantine-color-orange-text)' },
])

const look = EditorView.theme({
  '&': { fontSize: '12.5px', border: '1px solid var(--line)', borderRadius: '6px', overflow: 'hidden', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-1px' },
  '.cm-content': { fontFamily: 'var(--mantine-font-family-monospace)', caretColor: 'var(--mantine-color-text)' },
  '.cm-scroller': { overflow: 'auto' },
  '.cm-gutters': {
    background: 'var(--surface-sunken)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'var(--surface-hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-tooltip': { background: 'var(--mantine-color-body)', border: '1px solid var(--line)' },
})

export function JsonEditor({ initial, label, onChange, onSubmit, height = 240 }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ onChange, onSubmit, initial })
  useEffect(() => {
    latest.current = { ...latest.current, onChange, onSubmit }
  })
  useEffect(() => {
    if (!host.current) return
    const submit = () => {
      latest.current.onSubmit?.()
      return true
    }
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: latest.current.initial,
        extensions: [
          keymap.of([{ key: 'Mod-Enter', run: submit }]),
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          keymap.of([...defaultKeymap, ...historyKeymap]), // without Tab: it leaves the editor, as in any field
          json(),
          linter(jsonParseLinter()),
          lintGutter(),
          syntaxHighlighting(colours),
          look,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [label])
  return <div ref={host} style={{ height }} />
}
