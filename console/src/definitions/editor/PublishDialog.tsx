/** Publishes the text: for all new runs, as the canary for a share of them, or for none yet. */
import { Alert, Button, Checkbox, Group, NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'
import { isProblem } from '@/api/problem'
import { useCommands } from '@/keyboard/use_commands'
import { Dialog } from '@/kit/Dialog'
import { KeysOf } from '@/kit/Keys'
import { Trouble } from '@/kit/Trouble'

import { TestResults } from './TestResults'

const WAYS = ['all', 'canary', 'none'] as const
type Way = (typeof WAYS)[number]
const USUAL_PERCENT = 10

type Order = { way: Way; percent: number; reason: string; runTests: boolean }

type Props = {
  text: string
  id: string
  /** The newest version that the author has seen; 0: it is a new definition. */
  base: number
  /** Whether the id was changed, so that another definition begins. */
  isRenamed: boolean
  onDone: (published: Model<'Published'>) => void
  /** Shows what someone else has published meanwhile; undefined: the id is another definition's. */
  onOutdated: (() => void) | undefined
  onClose: () => void
}

export function PublishDialog({ text, id, base, isRenamed, onDone, onOutdated, onClose }: Props) {
  const { t } = useTranslation()
  const isFirst = base === 0
  const [order, setOrder] = useState<Order>({ way: 'all', percent: USUAL_PERCENT, reason: '', runTests: true })
  const set = (change: Partial<Order>) => setOrder({ ...order, ...change })
  const publish = usePublish(text, base, onDone)
  const send = () => {
    if (!publish.isPending) publish.mutate(order)
  }
  useCommands({ 'form.submit': send }, { inDialog: true })
  return (
    <Dialog
      onClose={onClose}
      title={isFirst ? t('editor.publish.first', { id }) : t('editor.publish.next', { id })}
      size={560}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <Stack gap="sm">
          {isRenamed && (
            <Alert color="yellow" p="xs">
              {t('editor.publish.renamed', { id })}
            </Alert>
          )}
          <TextInput
            label={t('editor.publish.reason')}
            placeholder={t('editor.publish.reasonHint')}
            value={order.reason}
            maxLength={500}
            data-autofocus
            onChange={(event) => set({ reason: event.currentTarget.value })}
          />
          {!isFirst && (
            <Radio.Group
              label={t('editor.publish.who')}
              value={order.way}
              onChange={(value) => set({ way: WAYS.find((way) => way === value) ?? 'all' })}
            >
              <Stack gap={6} mt={4}>
                {WAYS.map((way) => (
                  <Radio key={way} value={way} label={t(`editor.publish.way.${way}`)} />
                ))}
              </Stack>
            </Radio.Group>
          )}
          {order.way === 'canary' && (
            <NumberInput
              label={t('editor.publish.percent')}
              description={t('editor.publish.percentHint')}
              suffix=" %"
              min={0}
              max={100}
              allowDecimal={false}
              value={order.percent}
              onChange={(value) => set({ percent: Number(value) })}
            />
          )}
          <Checkbox
            label={t('editor.publish.tests')}
            checked={order.runTests}
            onChange={(event) => set({ runTests: event.currentTarget.checked })}
          />
          {publish.error && <Refusal error={publish.error} onOutdated={onOutdated} />}
          <Group justify="space-between" gap="xs">
            <Text size="xs" c="dimmed" span>
              <KeysOf command="form.submit" />
            </Text>
            <Group gap="xs">
              <Button variant="default" onClick={onClose}>
                {t('app.cancel')}
              </Button>
              <Button type="submit" loading={publish.isPending}>
                {t('editor.publish.send')}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

/** Publishing the same text again is the same version: if only the canary failed, sending again sets it. */
function usePublish(text: string, base: number, onDone: (published: Model<'Published'>) => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ way, percent, reason, runTests }: Order) => {
      const published = await read(
        api.POST('/v1/definitions', {
          params: { query: { run_tests: runTests } },
          body: { definition: text, promote: way === 'all', reason, based_on: base },
        }),
      )
      if (way !== 'canary' || base === 0) return published
      const path = { definition_id: published.definition_id, alias: 'canary' }
      const body = { version: published.version, percent, reason }
      await read(api.PUT('/v1/definitions/{definition_id}/aliases/{alias}', { params: { path }, body }))
      return published
    },
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: keys.definitions.all }),
  })
}

function Refusal({ error, onOutdated }: { error: Error; onOutdated: Props['onOutdated'] }) {
  const { t } = useTranslation()
  const results = isProblem(error, 'failed-tests') ? failedTests(error.body.problems) : []
  return (
    <Stack gap="xs">
      <Trouble error={error} />
      {results.length > 0 && <TestResults results={results} />}
      {onOutdated && isProblem(error, 'outdated') && (
        <Group>
          <Button variant="light" onClick={onOutdated}>
            {t('editor.publish.compare')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

/** The mismatches of a refusal, by test. */
function failedTests(problems: unknown): Model<'TrialResult'>[] {
  const byTest = Map.groupBy(problems as Model<'FailedTest'>[], (problem) => problem.test)
  return [...byTest].map(([name, found]) => ({ name, passed: false, problems: found }))
}
