/** The drawing of a run or of a definition. Nodes keep their places; their states come as patches (`node_states.ts`). */
import '@xyflow/react/dist/style.css'

import { Alert, Center, Loader, useComputedColorScheme } from '@mantine/core'
import {
  type AriaLabelConfig,
  Background,
  Controls,
  type Edge,
  MarkerType,
  MiniMap,
  Panel,
  ReactFlow,
  type ReactFlowInstance,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from '@xyflow/react'
import type { TFunction } from 'i18next'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'

import { EdgeView } from './EdgeView'
import { bendKey, type Layout, NODE_HEIGHT, NODE_WIDTH, type Place, type Places } from './layout'
import { layouts } from './layout_queue'
import classes from './RunGraphView.module.css'
import { type DrawnNode, NodeView, StatesContext } from './NodeView'
import type { NodeStates } from './node_states'

type Graph = Model<'Graph'>

type Props = {
  /** The same for all drawings of the same layout. */
  digest: string
  graph: Graph
  /** Those of the run; undefined for a definition. */
  states?: NodeStates
  selected: string | undefined
  /** The node to look at when the drawing opens. */
  focus: string | undefined
  onSelect: (step: string | undefined) => void
  onOpen: (group: string) => void
}

const NODE_TYPES = { drawn: NodeView }
const EDGE_TYPES = { drawn: EdgeView }
const LARGEST_FITTED = 40
const FIT = { maxZoom: 1, padding: 0.1 }
const READABLE_ZOOM = 0.25

export function RunGraphView(props: Props) {
  const { t } = useTranslation()
  const { placed, problem } = usePlaced(props.digest, props.graph)
  if (problem)
    return (
      <Alert color="red" title={t('runs.graph.failed')}>
        {problem}
      </Alert>
    )
  if (!placed) {
    return (
      <Center h="100%">
        <Loader size="sm" role="status" aria-label={t('runs.graph.drawing')} />
      </Center>
    )
  }
  return (
    <ReactFlowProvider>
      <StatesContext value={props.states}>
        <Canvas {...props} {...placed} />
      </StatesContext>
    </ReactFlowProvider>
  )
}

function Canvas({ graph, layout, selected, focus, states, onSelect, onOpen }: Props & Placed) {
  const { t } = useTranslation()
  const scheme = useComputedColorScheme('light')
  const nodes = useMemo(() => nodesOf(graph, layout.places, t), [graph, layout, t])
  const edges = useMemo(() => edgesOf(graph, layout, t), [graph, layout, t])
  const labels = useMemo(() => labelsOf(t), [t])
  const shown = useMemo(
    () => nodes.map((node) => (node.id === selected ? { ...node, selected: true } : node)),
    [nodes, selected],
  )
  const lookAtOpened = useView(graph, selected, focus)
  const act = (node: DrawnNode) => {
    if (node.data.kind !== null) return onSelect(node.id)
    lookAtOpened(node.id)
    onOpen(node.id)
  }
  return (
    <ReactFlow
      className={classes.canvas}
      nodes={shown}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
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
      fitViewOptions={FIT}
      ariaLabelConfig={labels}
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={24} size={1} />
      <Controls showInteractive={false} position="bottom-left" />
      {graph.nodes.length > 12 && (
        <MiniMap
          pannable
          zoomable
          position="bottom-right"
          nodeColor={(node) => MINIMAP[states?.get(node.id)?.status ?? 'pending']}
        />
      )}
      {graph.edges_omitted > 0 && (
        <Panel position="top-right" className={classes.note}>
          {t('runs.graph.omitted', { count: graph.edges_omitted })}
        </Panel>
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

/**
 * Moves the view: to what is selected or to look at in a large drawing, into a group that was opened, and over the whole
 * of a small drawing when its room changes, or to its beginning if the whole would be too small to read. States never move it. Returns what to call before a group opens.
 */
function useView(graph: Graph, selected: string | undefined, focus: string | undefined): (group: string) => void {
  const flow = useReactFlow<DrawnNode>()
  const width = useStore((state) => state.width)
  const height = useStore((state) => state.height)
  const isLarge = graph.nodes.length > LARGEST_FITTED
  const start = useRef(selected ?? focus)
  const place = useRef<number>(undefined)
  const show = useCallback(
    (id: string | undefined) => {
      const node = id === undefined ? undefined : flow.getNode(id)
      if (!node) return
      const { x, y } = node.position
      void flow.setCenter(x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2, { zoom: 0.9 })
    },
    [flow],
  )
  useEffect(() => {
    const opened = place.current === undefined ? undefined : graph.nodes[place.current]?.id
    place.current = undefined
    if (opened === undefined && graph.nodes.length <= LARGEST_FITTED) return
    return later(() => show(opened ?? start.current))
  }, [graph, show])
  useEffect(() => {
    if (isLarge) return later(() => show(selected))
  }, [isLarge, selected, show])
  const begin = useCallback(() => {
    const first = flow.getNodes().toSorted((a, b) => a.position.x - b.position.x)[0]
    if (start.current !== undefined) show(start.current)
    else if (first) void flow.setViewport({ x: 40, y: height / 2 - first.position.y - NODE_HEIGHT / 2, zoom: 1 })
  }, [flow, height, show])
  const count = graph.nodes.length
  useEffect(() => {
    if (!isLarge && width > 0 && count > 0) return later(() => (canFit(flow, width) ? void flow.fitView(FIT) : begin()))
  }, [flow, isLarge, width, count, begin])
  return (group) => {
    place.current = graph.nodes.findIndex((node) => node.id === group)
  }
}

/** Whether the whole drawing is readable in a room of this width. */
function canFit(flow: ReactFlowInstance<DrawnNode>, width: number): boolean {
  return (width * (1 - 2 * FIT.padding)) / Math.max(flow.getNodesBounds(flow.getNodes()).width, 1) >= READABLE_ZOOM
}

/** Runs once the nodes are drawn and have their room. */
function later(run: () => void): () => void {
  const timer = setTimeout(run, 50)
  return () => clearTimeout(timer)
}

type Placed = { graph: Graph; layout: Layout }

/** The drawing with its layout. While a new one is laid out, the one before stays. */
function usePlaced(digest: string, graph: Graph): { placed?: Placed; problem?: string } {
  const key = `${digest}|${graph.open.join(',')}`
  const [latest, setLatest] = useState<{ placed?: Placed; problem?: string }>({})
  useEffect(() => {
    let current = true
    layouts.place(key, graph).then(
      (layout) => current && setLatest({ placed: { graph, layout } }),
      (error: Error) => current && error.name !== 'AbortError' && setLatest({ problem: error.message }),
    )
    return () => {
      current = false
    }
  }, [key, graph])
  return latest
}

const NO_BENDS: Place[] = []

/** What React Flow says in English by itself. */
function labelsOf(t: TFunction): Partial<AriaLabelConfig> {
  return {
    'controls.ariaLabel': t('runs.graph.controls'),
    'controls.zoomIn.ariaLabel': t('runs.graph.zoomIn'),
    'controls.zoomOut.ariaLabel': t('runs.graph.zoomOut'),
    'controls.fitView.ariaLabel': t('runs.graph.fit'),
    'minimap.ariaLabel': t('runs.graph.minimap'),
    'node.a11yDescription.default': t('runs.graph.open'),
    'node.a11yDescription.keyboardDisabled': t('runs.graph.open'),
    'edge.a11yDescription.default': '', // no arrow can be selected
  }
}

function nodesOf(graph: Graph, places: Places, t: TFunction): DrawnNode[] {
  return graph.nodes.map((node) => ({
    id: node.id,
    type: 'drawn',
    position: places[node.id] ?? { x: 0, y: 0 },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    data: node,
    draggable: false,
    domAttributes: { 'aria-roledescription': t('runs.graph.node') },
  }))
}

function edgesOf(graph: Graph, { bends }: Layout, t: TFunction): Edge[] {
  return graph.edges.map((edge) => ({
    id: `${edge.source}>${edge.target}>${edge.branch ?? ''}`,
    type: 'drawn',
    data: { bends: bends[bendKey(edge.source, edge.target)] ?? NO_BENDS },
    source: edge.source,
    target: edge.target,
    label: edge.branch ?? undefined,
    markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
    focusable: false,
    ariaLabel: t('runs.graph.edgeOf', { source: edge.source, target: edge.target }),
    domAttributes: { 'aria-roledescription': t('runs.graph.edge') },
  }))
}
