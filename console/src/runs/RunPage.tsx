/** One run, as it happens: its state, its drawing, timeline and list of steps, and the selected step. */
import { SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedValue, useInterval, useMediaQuery } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useCommands } from '@/keyboard/use_commands'
import { Banner } from '@/kit/Banner'
import { Loading } from '@/kit/Loading'
import { Page, useTitle } from '@/kit/Page'
import { Trouble } from '@/kit/Trouble'
import { useLiveState, useWatchedRun } from '@/live/live'

import type { BulkAction } from './actions'
import { ActDialog } from './ActDialog'
import { graphQuery, type NodeState, type RunHead, statesQuery, type StepLine, stepsQuery } from './queries'
import { RerunDialog } from './run/RerunDialog'
import { RunHeader } from './run/RunHeader'
import { nodeStates } from './run/node_states'
import { StepPanel } from './run/StepPanel'
import { StepsView } from './run/StepsView'
import { TimelineView } from './run/TimelineView'
import { WaitsBar } from './run/WaitsBar'
import classes from './RunPage.module.css'
import { type Panel, type RunSearch, type View, VIEWS } from './search'
import { isOver } from './states'

const RunGraphView = lazy(() => import('./run/RunGraphView').then((module) => ({ default: module.RunGraphView })))

const route = getRouteApi('/runs/$runId')

export function RunPage() {
  const { runId } = route.useParams()
  return <OneRun key={runId} runId={runId} />
}

function OneRun({ runId }: { runId: string }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const go = useGo()
  const client = useQueryClient()
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const view: View = search.view ?? (isPhone ? 'steps' : 'graph')
  const [typed, setTyped] = useState('')
  const [wanted] = useDebouncedValue(typed, 150)
  const [action, setAction] = useState<BulkAction>()
  const [rerun, setRerun] = useState<{ step?: string }>()
  useTitle(runId)

  const isLive = useLiveState() === 'live'
  const graph = useQuery(graphQuery(runId, search.open))
  const open = graph.data?.graph.open.join(',')
  const latest = useQuery({ ...statesQuery(runId, open ?? '', isLive), enabled: open !== undefined })
  const run = latest.data?.run ?? graph.data?.run
  const version = JSON.stringify([run?.status, run?.counts])
  const steps = useQuery({
    ...stepsQuery(runId, wanted, version),
    enabled: run !== undefined && (view !== 'graph' || wanted !== ''),
  })
  useWatchedRun(run && isOver(run.status) ? undefined : runId)
  const { refetch: drawAgain } = graph
  const isOutdated =
    graph.data !== undefined && latest.data !== undefined && graph.data.run.digest !== latest.data.run.digest
  useEffect(() => {
    if (isOutdated) void drawAgain() // it goes on under another version
  }, [isOutdated, drawAgain])
  const states = useMemo(() => nodeStates(), [])
  useEffect(() => {
    const known = latest.data?.states ?? graph.data?.states
    if (known) states.apply(known)
  }, [latest.data, graph.data, states])
  const now = useNow(run !== undefined && !isOver(run.status))

  const select = (step: string | undefined) => go({ ...search, step })
  const find = (step: StepLine) => go({ ...search, step: step.step_id, open: opened(open, step.groups) })
  const findTyped = async () => {
    const page = await client.fetchQuery(stepsQuery(runId, typed, version))
    const [first] = page.steps
    if (!first) return
    setTyped('')
    find(first)
  }
  const show = (panel: Panel) => go({ ...search, panel })
  const all = async () => {
    if (run === undefined) return []
    return (steps.data ?? (await client.ensureQueryData(stepsQuery(runId, '', version)))).steps
  }
  useStepKeys(all, search.step, (step) => (step && view === 'graph' ? find(step) : select(step?.step_id)))
  useCommands({ 'run.why': search.step === undefined ? undefined : () => show('why') })

  if (!graph.data || !run)
    return (
      <Page title={runId}>
        {graph.error ? <Trouble error={graph.error} retry={() => void graph.refetch()} /> : <Loading height={240} />}
      </Page>
    )
  const unknown = latest.data?.unknown ?? graph.data.unknown
  const found = wanted === '' ? undefined : steps.data
  return (
    <div className={classes.page}>
      <RunHeader run={run} now={now} onAct={(name) => (name === 'rerun' ? setRerun({}) : setAction(name))} />
      {latest.error && (
        <Banner color="yellow" hint={latest.error.message}>
          {t('runs.stale')}
        </Banner>
      )}
      {unknown && (
        <Banner color="yellow" hint={unknown}>
          {t('runs.unknown')}
        </Banner>
      )}
      {!isOver(run.status) && <WaitsBar runId={runId} version={version} onStep={select} />}
      <div className={classes.tools}>
        <SegmentedControl
          size="xs"
          value={view}
          aria-label={t('runs.view.label')}
          onChange={(value) => go({ ...search, view: VIEWS.find((each) => each === value) })}
          data={VIEWS.map((each) => ({ value: each, label: t(`runs.view.${each}`) }))}
        />
        <TextInput
          size="xs"
          className={classes.search}
          leftSection={<IconSearch size={14} aria-hidden />}
          placeholder={t('runs.search')}
          aria-label={t('runs.search')}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && typed !== '') void findTyped()
            if (event.key === 'Escape') setTyped('')
          }}
        />
        {search.open && view === 'graph' && (
          <button type="button" className={classes.collapse} onClick={() => go({ ...search, open: '' })}>
            {t('runs.graph.collapse')}
          </button>
        )}
      </div>
      <div className={classes.split}>
        <div className={classes.view}>
          {view === 'graph' && !found && (
            <Suspense>
              <RunGraphView
                digest={run.digest}
                graph={graph.data.graph}
                states={states}
                selected={search.step}
                focus={graph.data.focus ?? undefined}
                onSelect={select}
                onOpen={(group) => go({ ...search, open: opened(open, [group]) })}
              />
            </Suspense>
          )}
          {view === 'timeline' && (
            <TimelineView steps={steps.data?.steps ?? []} now={now} selected={search.step} onSelect={select} />
          )}
          {(view === 'steps' || (view === 'graph' && found)) && (
            <StepsView page={steps.data} error={steps.error} selected={search.step} onSelect={find} />
          )}
        </div>
        {search.step !== undefined && (
          <StepPanel
            runId={runId}
            stepId={search.step}
            version={versionOf(search.step, latest.data?.states, run)}
            panel={search.panel ?? 'why'}
            onPanel={show}
            onRerun={(step) => setRerun({ step })}
            onClose={() => select(undefined)}
          />
        )}
      </div>
      {action && <ActDialog asked={{ action, runIds: [runId], refused: 0 }} onClose={() => setAction(undefined)} />}
      {rerun && <RerunDialog run={run} step={rerun.step} onClose={() => setRerun(undefined)} />}
    </div>
  )
}

/** Changes with the step, so that its details are asked for again: its state if it is drawn, else that of the run. */
function versionOf(step: string, states: Readonly<Record<string, NodeState>> | undefined, run: RunHead): string {
  return JSON.stringify(states?.[step] ?? [run.status, run.counts])
}

/** The open groups with more of them; the last ones are the most important. */
function opened(open: string | undefined, more: readonly string[]): string {
  const before = (open ?? '').split(',').filter((group) => group !== '' && !more.includes(group))
  return [...before, ...more].join(',')
}

function useGo() {
  const navigate = route.useNavigate()
  return (search: RunSearch) => void navigate({ search, replace: true })
}

/** Seconds since the epoch, running while something on the page runs. */
function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(() => Date.now() / 1000)
  const { start, stop } = useInterval(() => setNow(Date.now() / 1000), 1000)
  useEffect(() => {
    if (isRunning) start()
    return stop
  }, [isRunning, start, stop])
  return now
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'parked'])

/** Moves among the steps in plan order; `all` fetches them where only a drawing is shown. */
function useStepKeys(
  all: () => Promise<readonly StepLine[]>,
  selected: string | undefined,
  select: (step: StepLine | undefined) => void,
) {
  const move = async (by: number, isWanted: (step: StepLine) => boolean = () => true) => {
    const among = (await all()).filter((step) => isWanted(step) || step.step_id === selected)
    const at = among.findIndex((step) => step.step_id === selected)
    const next = among[at === -1 ? (by > 0 ? 0 : among.length - 1) : at + by]
    if (next) select(next)
  }
  const hasFailed = ({ status }: StepLine) => FAILED.has(status)
  useCommands({
    'run.next-step': () => void move(1),
    'run.previous-step': () => void move(-1),
    'run.next-failure': () => void move(1, hasFailed),
    'run.previous-failure': () => void move(-1, hasFailed),
    'run.close': selected === undefined ? undefined : () => select(undefined),
  })
}
