/** One node of the drawing: a step, or a closed group of steps. It follows its own state only. */
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { IconStack2 } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { createContext, memo, use, useCallback, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { count } from '@/format/numbers'
import { visible } from '@/format/text'

import type { NodeState } from '../queries'
import { colourOf, StatusIcon, type StepStatus } from '../states'
import classes from './NodeView.module.css'
import type { NodeStates } from './node_states'

export type DrawnNode = Node<Model<'GraphNode'>, 'drawn'>

/** The states of the run that is drawn; undefined: a definition is drawn, which has none. */
export const StatesContext = createContext<NodeStates | undefined>(undefined)

function useNodeState(id: string): NodeState | undefined {
  const states = use(StatesContext)
  const subscribe = useCallback(
    (listener: () => void) => states?.subscribe(id, listener) ?? (() => undefined),
    [states, id],
  )
  return useSyncExternalStore(subscribe, () => states?.get(id))
}

export const NodeView = memo(function NodeView({ id, data, selected }: NodeProps<DrawnNode>) {
  const { t } = useTranslation()
  const state = useNodeState(id)
  const isGroup = data.kind === null
  const status = state?.status ?? 'pending'
  const title = isGroup ? groupTitle(data, t) : visible(data.title || id)
  const isOfRun = use(StatesContext) !== undefined
  const word = state ? t(`runs.status.${status}`) : isOfRun ? t('runs.status.unknown') : ''
  return (
    <div
      className={classes.node}
      data-status={state && status}
      data-group={isGroup || undefined}
      data-selected={selected || undefined}
      role="group"
      aria-label={word ? `${title}: ${word}` : title}
      style={{ '--colour': colourOf(status) } as React.CSSProperties}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {isOfRun && <div className={classes.icon}>{state ? <StatusIcon status={status} size={16} /> : null}</div>}
      <div className={classes.texts}>
        <div className={classes.title}>
          {isGroup && <IconStack2 size={13} aria-hidden />} {title}
        </div>
        <div className={classes.detail}>{isGroup ? <Counts state={state} /> : detailOf(id, data, state, word, t)}</div>
      </div>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})

function Counts({ state }: { state: NodeState | undefined }) {
  const { t } = useTranslation()
  const counts = Object.entries(state?.counts ?? {}) as [StepStatus, number][]
  return counts.map(([status, number]) => (
    <span key={status} className={classes.count} title={t(`runs.status.${status}`)}>
      <StatusIcon status={status} size={11} /> {count(number)}
      <span className={classes.hidden}>{t(`runs.status.${status}`)}</span>
    </span>
  ))
}

function groupTitle(node: Model<'GraphNode'>, t: TFunction): string {
  const layers = node.layer === node.last_layer ? t('runs.graph.layer', { layer: node.layer + 1 }) : undefined
  const range = layers ?? t('runs.graph.layers', { first: node.layer + 1, last: node.last_layer + 1 })
  return `${range} · ${t('runs.graph.steps', { count: node.steps })}`
}

function detailOf(
  id: string,
  node: Model<'GraphNode'>,
  state: NodeState | undefined,
  word: string,
  t: TFunction,
): string {
  if (state?.items) return t('runs.graph.items', { done: state.items.completed, total: state.items.total })
  const parts = [
    state?.error ? visible(state.error) : word,
    state && state.attempts > 1 && t('runs.attempts', { count: state.attempts }),
  ]
  const isPlain = state === undefined && word === ''
  const work = node.handler ?? (isPlain && node.kind ? t(`runs.kind.${node.kind}`) : undefined)
  return [...parts, node.title && !isPlain ? id : work].filter(Boolean).join(' · ')
}
