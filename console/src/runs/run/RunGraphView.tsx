/** The drawing of a run. Nodes keep their places; their states come as patches (`node_states.ts`). */
import '@xyflow/react/dist/base.css'

import { Alert, Center, Loader, useComputedColorScheme } from '@mantine/core'
import {
  Background,
  Controls,
  type Edge,
  MarkerType,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react'
import { useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'

import { NODE_HEIGHT, NODE_WIDTH, type Places } from './layout'
import { layouts } from './layout_queue'
import classes from './RunGraphView.module.css'
import { type DrawnNode, NodeView, StatesContext } from './NodeView'
import type { NodeStates } from './node_states'

type Graph = Model<'Graph'>

type Props = {
  digest: string
  graph: Graph
  states: NodeStates
  selected: string | undefined
  /** The node to look at when the drawing opens. */
  focus: string | undefined
  onSelect: (step: string | undefined) => void
  onOpen: (group: string) => void
}

const NODE_TYPES = { drawn: NodeView }
const LARGEST_FITTED = 40

export function RunGraphView(props: Props) {
  const { t } = useTranslation()
  const { places, problem } = usePlaces(props.digest, props.graph)
  if (problem)
    return (
      <Alert color="red" title={t('runs.graph.failed')}>
        {problem}
      </Alert>
    )
  if (!places) {
    return (
      <Center h="100%">
        <Loader size="sm" aria-label={t('runs.graph.drawing')} />
      </Center>
    )
  }
  return (
    <ReactFlowProvider>
      <StatesContext value={props.states}>
        <Canvas {...props} places={places} />
      </StatesContext>
    </ReactFlowProvider>
  )
}

function Canvas({ graph, places, selected, focus, states, onSelect, onOpen }: Props & { places: Places }) {
  const { t } = useTranslation()
  const scheme = useComputedColorScheme('light')
  const nodes = useMemo(() => nodesOf(graph, places), [graph, places])
  const edges = useMemo(() => edgesOf(graph), [graph])
  const shown = useMemo(
    () => nodes.map((node) => (node.id === selected ? { ...node, selected: true } : node)),
    [nodes, selected],
  )
  useLookAt(selected ?? focus, graph)
  const act = (node: DrawnNode) => (node.data.kind === null ? onOpen(node.id) : onSelect(node.id))
  return (
    <ReactFlow
      className={classes.canvas}
      nodes={shown}
      edges={edges}
      nodeTypes={NODE_TYPES}
      colorMode={scheme}
      onNodeClick={(_, node) => act(node)}
      onPaneClick={() => onSelect(undefined)}
      onKeyDown={(event) => {
        const id = (event.target as HTMLElement).closest('.react-flow__node')?.getAttribute('data-id')
        const node = event.key === 'Enter' && nodes.find((each) => each.id === id)
        if (node) act(node)
      }}
      minZoom={0.05}
      maxZoom={1.5}
      nodesDraggable={false}
      nodesConnectable={false}
      edgesFocusable={false}
      onlyRenderVisibleElements
      fitView={graph.nodes.length <= LARGEST_FITTED}
      fitViewOptions={{ maxZoom: 1, padding: 0.1 }}
      ariaLabelConfig={{ 'controls.ariaLabel': t('runs.graph.controls'), 'minimap.ariaLabel': t('runs.graph.minimap') }}
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={24} size={1} />
      <Controls showInteractive={false} position="bottom-left" />
      {graph.nodes.length > 12 && (
        <MiniMap
          pannable
          zoomable
          position="bottom-right"
          nodeColor={(node) => MINIMAP[states.get(node.id)?.status ?? 'pending']}
        />
      )}
    </ReactFlow>
  )
}

const MINIMAP: Record<Model<'StepStatus'>, string> = {
  pending: 'var(--mantine-color-gray-4)',
  queued: 'var(--mantine-color-gray-5)',
  running: 'var(--mantine-color-blue-6)',
  waiting: 'var(--mantine-color-yellow-6)',
  parked: 'var(--mantine-color-grape-6)',
  completed: 'var(--mantine-color-teal-5)',
  failed: 'var(--mantine-color-red-6)',
  skipped: 'var(--mantine-color-gray-4)',
  cancelled: 'var(--mantine-color-orange-6)',
}

/** Moves the view to a node when it is selected or found; not when states change. */
function useLookAt(wanted: string | undefined, graph: Graph): void {
  const flow = useReactFlow()
  const isDrawn = wanted !== undefined && graph.nodes.some((node) => node.id === wanted)
  const isLarge = graph.nodes.length > LARGEST_FITTED
  useEffect(() => {
    if (!isDrawn || !isLarge) return
    const timer = requestAnimationFrame(() => {
      const node = flow.getNode(wanted)
      if (!node) return
      const { x, y } = node.position
      void flow.setCenter(x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2, { zoom: 0.9 })
    })
    return () => cancelAnimationFrame(timer)
  }, [wanted, isDrawn, isLarge, flow])
}

function usePlaces(digest: string, graph: Graph): { places?: Places; problem?: string } {
  const key = `${digest}|${graph.open.join(',')}`
  const [latest, setLatest] = useState<{ key: string; places?: Places; problem?: string }>({ key: '' })
  useEffect(() => {
    let current = true
    layouts.place(key, graph).then(
      (places) => current && setLatest({ key, places }),
      (error: Error) => current && error.name !== 'AbortError' && setLatest({ key, problem: error.message }),
    )
    return () => {
      current = false
    }
  }, [key, graph])
  const places = layouts.known(key)
  return places ? { places } : latest.key === key ? latest : {}
}

function nodesOf(graph: Graph, places: Places): DrawnNode[] {
  return graph.nodes.map((node) => ({
    id: node.id,
    type: 'drawn',
    position: places[node.id] ?? { x: 0, y: 0 },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    data: node,
    draggable: false,
  }))
}

function edgesOf(graph: Graph): Edge[] {
  return graph.edges.map((edge) => ({
    id: `${edge.source}>${edge.target}>${edge.branch ?? ''}`,
    source: edge.source,
    target: edge.target,
    label: edge.branch ?? undefined,
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
    focusable: false,
  }))
}
