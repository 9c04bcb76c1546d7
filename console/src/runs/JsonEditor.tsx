/** An editor for JSON. Its text is kept as it was typed, whether it is valid or not. */
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { lintGutter, linter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'

import { codeLook } from '@/kit/code'

type Props = {
  /** The text at the beginning; later changes of it are ignored. */
  initial: string
  label: string
  onChange: (text: string) => void
  onSubmit?: () => void
  height?: number
}

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
          codeLook(label),
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
