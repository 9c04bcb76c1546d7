import { Paper, Text } from '@mantine/core'
import { IconFileUpload } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { notifyProblem } from '@/kit/notify'

import { add } from './add'
import classes from './DropZone.module.css'
import { droppedFiles } from './files'

/** Makes the whole page take files, folders and archives; shown while something is dragged over it. */
export function DropZone() {
  const { t } = useTranslation()
  const isOver = useDrop((transfer) => void droppedFiles(transfer).then(add).catch(notifyProblem))
  if (!isOver) return null
  return (
    <div className={classes.over}>
      <Paper className={classes.sign} shadow="lg">
        <IconFileUpload size={32} stroke={1.5} aria-hidden />
        <Text fw={600}>{t('inbox.upload.dropTitle')}</Text>
        <Text size="sm" c="dimmed">
          {t('inbox.upload.dropHint')}
        </Text>
      </Paper>
    </div>
  )
}

function useDrop(take: (transfer: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    let depth = 0 // every element below the pointer enters and leaves
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const handlers: Record<string, (event: DragEvent) => void> = {
      dragenter: (event) => {
        if (!hasFiles(event)) return
        depth += 1
        setOver(true)
      },
      dragleave: (event) => {
        if (!hasFiles(event)) return
        depth -= 1
        if (depth <= 0) setOver(false)
      },
      dragover: (event) => hasFiles(event) && event.preventDefault(),
      drop: (event) => {
        if (!hasFiles(event) || !event.dataTransfer) return
        event.preventDefault()
        depth = 0
        setOver(false)
        take(event.dataTransfer)
      },
    }
    const stop = new AbortController()
    for (const [name, handler] of Object.entries(handlers)) {
      addEventListener(name, (event) => handler(event as DragEvent), { signal: stop.signal })
    }
    return () => stop.abort()
  }, [take])
  return isOver
}
