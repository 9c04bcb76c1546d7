/** The text of a definition: YAML or JSON, kept as it is typed, valid or not. */
import { autocompletion, closeBrackets, type CompletionContext, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import { lintGutter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'

import { codeLook } from '@/kit/code'

import { meaning, type Schema, suggestions } from './suggestions'

/** What the editor knows of the language; it also works without. */
export type Knowledge = { schema: Schema; summaries: Readonly<Record<string, string>> }

type Props = {
  /** The text at the beginning; later changes of it are ignored. */
  initial: string
  label: string
  knowledge: Knowledge | undefined
  onChange: (text: string) => void
  /** Gives the editor to the page; undefined when it ends. */
  onView: (view: EditorView | undefined) => void
}

const WORD = /[\w.$-]*/

export function CodeEditor({ initial, label, knowledge, onChange, onView }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ initial, knowledge, onChange, onView })
  useEffect(() => {
    latest.current = { ...latest.current, knowledge, onChange, onView }
  })
  useEffect(() => {
    if (!host.current) return
    const known = () => latest.current.knowledge
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: latest.current.initial,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          indentUnit.of('  '),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          yaml(),
          autocompletion({ override: [(context) => complete(context, known())], icons: false }),
          hoverTooltip((target, position) => explain(target, position, known())),
          // Ctrl+Enter is the page's. After Esc, Tab leaves the editor.
          keymap.of([
            ...completionKeymap,
            ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
            ...historyKeymap,
            indentWithTab,
          ]),
          codeLook(label),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    latest.current.onView(view)
    return () => {
      latest.current.onView(undefined)
      view.destroy()
    }
  }, [label])
  return <div ref={host} style={{ height: '100%' }} />
}

function complete(context: CompletionContext, known: Knowledge | undefined) {
  const word = context.matchBefore(WORD)
  if (!known || (!context.explicit && word?.from === word?.to)) return null
  const found = suggestions(known.schema, known.summaries, context.state.doc.toString(), context.pos)
  const options = found.map(({ label, kind, description, type }) => ({
    label,
    detail: type || undefined,
    info: description || undefined,
    apply: kind === 'key' ? `${label}: ` : label,
  }))
  return options.length === 0 ? null : { from: word?.from ?? context.pos, options, validFor: /^[\w.$-]*$/ }
}

function explain(view: EditorView, position: number, known: Knowledge | undefined) {
  const word = view.state.wordAt(position)
  if (!known || !word) return null
  const text = meaning(known.schema, known.summaries, view.state.doc.toString(), word)
  if (text === undefined) return null
  return {
    pos: word.from,
    end: word.to,
    create: () => {
      const dom = document.createElement('div')
      dom.className = 'cm-meaning'
      dom.textContent = text
      return { dom }
    },
  }
}
