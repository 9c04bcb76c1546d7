/** What differs between two texts, line by line. */
import { yaml } from '@codemirror/lang-yaml'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useState } from 'react'

import { codeLook } from '@/kit/code'
import { Dialog } from '@/kit/Dialog'

type Props = { title: string; before: string; after: string; onClose: () => void }

export function DifferencesDialog({ title, before, after, onClose }: Props) {
  const [host, setHost] = useState<HTMLDivElement | null>(null)
  useEffect(() => {
    if (!host) return
    const view = new EditorView({
      parent: host,
      state: EditorState.create({
        doc: after,
        extensions: [
          lineNumbers(),
          yaml(),
          codeLook(title),
          EditorState.readOnly.of(true),
          unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
        ],
      }),
    })
    return () => view.destroy()
  }, [host, before, after, title])
  return (
    <Dialog onClose={onClose} title={title} size={960}>
      <div ref={setHost} style={{ height: '68vh' }} />
    </Dialog>
  )
}
