/** Asks before what new runs get is moved. The dialog is the preview: what changes, and what stays as it is. */
import { Alert, Button, Group, List, NumberInput, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { Trouble } from '@/kit/Trouble'
import { Dialog } from '@/kit/Dialog'

import { type Move, useMove } from './moving'
import { countsQuery, type VersionPage } from './queries'
import { VersionCheck } from './VersionCheck'

type Props = { definitionId: string; move: Move; page: VersionPage; onClose: () => void }

const ALIAS = /^(?!v[0-9]+$)[a-z][a-z0-9_-]{0,31}$/

export function MoveDialog({ definitionId, move: first, page, onClose }: Props) {
  const { t } = useTranslation()
  const [move, setMove] = useState(first)
  const [reason, setReason] = useState('')
  const moving = useMove(definitionId)
  const version = 'version' in move ? move.version : undefined
  const stable = page.aliases.stable?.version
  const isComplete = move.kind !== 'alias' || ALIAS.test(move.alias)
  const send = () => {
    if (!isComplete || moving.isPending) return
    moving.mutate({ move, reason }, { onSuccess: onClose })
  }
  return (
    <Dialog onClose={onClose} title={titleOf(move, page, t)} size={560}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <Stack gap="sm">
          {move.kind === 'canary' && (
            <NumberInput
              label={t('definitions.share')}
              description={t('definitions.shareHint')}
              value={move.percent}
              min={0}
              max={100}
              clampBehavior="strict"
              allowDecimal={false}
              suffix=" %"
              styles={{ wrapper: { maxWidth: 140 } }}
              size="sm"
              data-autofocus
              onChange={(value) => setMove({ ...move, percent: Number(value) || 0 })}
            />
          )}
          {move.kind === 'alias' && (
            <TextInput
              label={t('definitions.aliasName')}
              description={t('definitions.aliasHint')}
              value={move.alias}
              maxLength={32}
              autoComplete="off"
              data-autofocus
              onChange={(event) => setMove({ ...move, alias: event.currentTarget.value })}
            />
          )}
          <Effects definitionId={definitionId} effects={effectsOf(move, page, t)} isAboutRuns={move.kind !== 'alias'} />
          {version !== undefined && stable !== undefined && (move.kind === 'promote' || move.kind === 'canary') && (
            <VersionCheck definitionId={definitionId} version={version} stable={stable} />
          )}
          <TextInput
            label={t('runs.reason')}
            placeholder={t('definitions.reasonHint')}
            value={reason}
            maxLength={500}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus={(move.kind !== 'canary' && move.kind !== 'alias') || undefined}
          />
          {moving.error && <Trouble error={moving.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('app.cancel')}
            </Button>
            <Button type="submit" disabled={!isComplete} loading={moving.isPending}>
              {doOf(move, page, t)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

/** What the move means for new runs, for those that are open, and for the canary. */
function Effects({
  definitionId,
  effects,
  isAboutRuns,
}: {
  definitionId: string
  effects: readonly string[]
  isAboutRuns: boolean
}) {
  const { t } = useTranslation()
  const counts = useQuery(countsQuery([definitionId]))
  const open = counts.data?.counts[0]?.open
  return (
    <Alert color="gray" p="sm" title={t('definitions.effects')}>
      <List size="sm">
        {effects.map((each) => (
          <List.Item key={each}>{each}</List.Item>
        ))}
        {isAboutRuns && (
          <List.Item>
            {open === undefined ? t('definitions.openStayUnknown') : t('definitions.openStay', { count: open })}
          </List.Item>
        )}
      </List>
    </Alert>
  )
}

function effectsOf(move: Move, { aliases, undo }: VersionPage, t: TFunction): string[] {
  const stable = aliases.stable?.version ?? 0
  const ends = aliases.canary && t('definitions.canaryEnds', { version: aliases.canary.version })
  switch (move.kind) {
    case 'promote': {
      const gets = t('definitions.newRunsGet', { version: move.version, before: stable })
      return ends ? [gets, ends] : [gets]
    }
    case 'canary':
      return [t('definitions.shareGets', { percent: move.percent, version: move.version, stable })]
    case 'alias':
      return [t('definitions.aliasMeans', { version: move.version })]
    case 'remove':
      return [t('definitions.aliasGoes', { alias: move.alias })]
    case 'rollback':
      return undo.map((each) =>
        each.after === null
          ? t('definitions.canaryEnds', { version: each.before?.version ?? 0 })
          : t('definitions.newRunsGet', { version: each.after.version, before: each.before?.version ?? 0 }),
      )
  }
}

function titleOf(move: Move, { aliases }: VersionPage, t: TFunction): string {
  switch (move.kind) {
    case 'promote':
      return t('definitions.ask.promote', { version: move.version })
    case 'canary':
      return t('definitions.ask.canary', { version: move.version })
    case 'alias':
      return t('definitions.ask.alias', { version: move.version })
    case 'remove':
      return t('definitions.ask.remove', { alias: move.alias })
    case 'rollback':
      return t(aliases.canary ? 'definitions.ask.endCanary' : 'definitions.ask.rollback')
  }
}

function doOf(move: Move, { aliases }: VersionPage, t: TFunction): string {
  switch (move.kind) {
    case 'promote':
      return t('definitions.do.promote')
    case 'canary':
      return t('definitions.do.setShare')
    case 'alias':
      return t('definitions.do.alias')
    case 'remove':
      return t('definitions.do.remove')
    case 'rollback':
      return t(aliases.canary ? 'definitions.do.endCanary' : 'definitions.do.rollback')
  }
}
