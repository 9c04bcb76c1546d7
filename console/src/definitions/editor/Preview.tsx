/** The drawing of the text that is being written: that of the last text without errors. */
import { Badge, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { RunGraphView } from '@/runs/run/RunGraphView'

import classes from './editor.module.css'

type Graph = Model<'Graph'>

type Props = {
  graph: Graph | undefined
  /** Whether it is that of the text as it is now. */
  isCurrent: boolean
  onStep: (step: string | undefined) => void
  onOpen: (group: string) => void
}

export function Preview({ graph, isCurrent, onStep, onOpen }: Props) {
  const { t } = useTranslation()
  return (
    <section className={classes.preview} aria-label={t('editor.preview.label')}>
      {graph ? (
        <RunGraphView
          digest={structureOf(graph)}
          graph={graph}
          selected={undefined}
          focus={undefined}
          onSelect={onStep}
          onOpen={onOpen}
        />
      ) : (
        <Text className={classes.nothing} size="sm" c="dimmed">
          {t('editor.preview.none')}
        </Text>
      )}
      {graph && (
        <Badge className={classes.previewState} color="gray" c="var(--mantine-color-text)">
          {isCurrent ? t('editor.preview.steps', { count: graph.steps }) : t('editor.preview.before')}
        </Badge>
      )}
    </section>
  )
}

/** What the layout depends on: other titles move no node. */
function structureOf(graph: Graph): string {
  const edges = graph.edges.map(({ source, target }) => `${source}>${target}`)
  return [...graph.nodes.map(({ id }) => id), ...edges].join(' ')
}
