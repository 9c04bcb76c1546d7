/** The graph of a version, and the config of the selected step. */
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { Trouble } from '@/kit/Trouble'
import { RunGraphView } from '@/runs/run/RunGraphView'

import { drawingQuery, type Stored } from './queries'
import type { DefinitionSearch } from './search'
import { StepCard } from './StepCard'

type Props = { stored: Stored; search: DefinitionSearch; onSearch: (search: DefinitionSearch) => void }

export function Drawing({ stored, search, onSearch }: Props) {
  const { t } = useTranslation()
  const found = useQuery(drawingQuery(stored.definition_id, stored.version, search.open))
  const select = (step: string | undefined) => {
    const { step: _, ...rest } = search
    onSearch(step === undefined ? rest : { ...rest, step })
  }
  const step = stepOf(stored, search.step)
  if (found.error) return <Trouble error={found.error} retry={() => void found.refetch()} />
  if (!found.data) return null
  return (
    <div style={{ position: 'relative', height: '100%' }} role="region" aria-label={t('definitions.tab.graph')}>
      <RunGraphView
        digest={stored.digest}
        graph={found.data}
        selected={search.step}
        focus={undefined}
        onSelect={select}
        onOpen={(group) => onSearch({ ...search, open: [...found.data.open, group].join(',') })}
      />
      {step && <StepCard step={step} onClose={() => select(undefined)} />}
    </div>
  )
}

function stepOf(stored: Stored, id: string | undefined): Record<string, unknown> | undefined {
  const steps = stored.body.steps as Record<string, unknown>[]
  return steps.find((each) => each.id === id)
}
