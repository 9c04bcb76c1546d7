/** What differs between two texts, line by line. */
import { yaml } from '@codemirror/lang-yaml'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { Modal } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { codeLook } from '@/kit/code'

type Props = { title: string; before: string; after: string; onClose: () => void }

export function DifferencesDialog({ title, before, after, onClose }: Props) {
  const { t } = useTranslation()
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
    <Modal opened onClose={onClose} title={title} size={960} closeButtonProps={{ 'aria-label': t('app.close') }}>
      <div ref={setHost} style={{ height: '68vh' }} />
    </Modal>
  )
}
