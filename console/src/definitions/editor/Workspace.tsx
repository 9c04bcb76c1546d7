/** The text of a definition, its problems and its drawing, next to each other, while it is written. */
import type { EditorView } from '@codemirror/view'
import { Badge, Button, Group, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, type Model, read } from '@/api/client'
import { useMay } from '@/api/me'
import { useCommands } from '@/keyboard/use_commands'
import { Banner } from '@/kit/Banner'
import { Dialog } from '@/kit/Dialog'
import { KeyCaps, KeysOf } from '@/kit/Keys'
import { notifyDone, notifyProblem } from '@/kit/notify'
import { Trouble } from '@/kit/Trouble'

import { CodeEditor } from './CodeEditor'
import { DifferencesDialog } from './DifferencesDialog'
import classes from './editor.module.css'
import { Preview } from './Preview'
import { jumpTo, jumpToStep, nextProblem, type Problem, underline } from './problems'
import { Problems } from './Problems'
import { PublishDialog } from './PublishDialog'
import { newestQuery, schemaQuery, summariesQuery, validationQuery, versionQuery } from './queries'
import { TestResults } from './TestResults'
import { useDraftText } from './use_draft_text'

const ASKED_AFTER_MS = 250
const NO_PROBLEMS: Problem[] = []

type Props = {
  /** Empty: a new definition. */
  definitionId: string
  /** The text of the version that was opened. */
  published: string
  version: number
  /** The newest version now. */
  newest: number
  /** Opens the page anew, with what is published now. */
  onReload: () => void
}

type Dialog = 'publish' | 'differences' | 'theirs' | 'tests' | 'discard'

export function Workspace({ definitionId, published, version, newest, onReload }: Props) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const client = useQueryClient()
  const mayPublish = useMay('operate')
  const draft = useDraftText(definitionId, published, newest)
  const [text, setText] = useState(draft.initial)
  const [view, setView] = useState<EditorView>()
  const [dialog, setDialog] = useState<Dialog>()
  const [open, setOpen] = useState('')
  const [asked] = useDebouncedValue(text, ASKED_AFTER_MS)
  const found = useQuery(validationQuery(asked, open))
  const isCurrent = asked === text && found.data !== undefined && !found.isPlaceholderData
  const problems = found.data?.problems ?? NO_PROBLEMS
  const graph = useLast(found.data?.graph ?? undefined)
  const tests = useMutation({
    mutationFn: () => read(api.POST('/v1/definitions/test', { body: { definition: text } })),
  })
  const knowledge = useKnowledge()

  useEffect(() => {
    if (view && isCurrent) underline(view, problems, (word) => t('editor.problems.use', { word }))
  }, [view, isCurrent, problems, t])

  const isDraft = text !== published
  const isBehind = newest > draft.base
  const canPublish = mayPublish && isCurrent && found.data?.valid === true
  const id = found.data?.id ?? definitionId
  const isRenamed = definitionId !== '' && id !== definitionId
  const showNext = (by: 1 | -1) => {
    const next = view && nextProblem(view.state, problems, by)
    if (next) jumpTo(view, next)
  }
  useCommands({
    'editor.next-problem': () => showNext(1),
    'editor.previous-problem': () => showNext(-1),
    'editor.publish': canPublish ? () => setDialog('publish') : undefined,
  })

  const finish = (done: Model<'Published'>) => {
    draft.discard()
    client.setQueryData(
      newestQuery(done.definition_id).queryKey,
      isRenamed ? done.version : Math.max(done.version, newest),
    )
    notifyDone(t('editor.publish.done', { id: done.definition_id, version: done.version }))
    void navigate({ to: '/definitions/$definitionId', params: { definitionId: done.definition_id } })
  }
  return (
    <div className={classes.page}>
      {isBehind && (
        <Banner
          color="yellow"
          hint={t('editor.behind.hint', { version: draft.base })}
          action={
            <Group gap="xs" wrap="nowrap">
              <Button size="xs" variant="default" onClick={() => setDialog('theirs')}>
                {t('editor.behind.show')}
              </Button>
              <Button size="xs" onClick={() => (isDraft ? draft.rebase(newest) : onReload())}>
                {t('editor.behind.goOn', { version: newest })}
              </Button>
            </Group>
          }
        >
          {t('editor.behind.title', { version: newest })}
        </Banner>
      )}
      {draft.isUnkept && <Banner color="red">{t('editor.draft.unkept')}</Banner>}
      {found.error && !found.data && <Trouble error={found.error} retry={() => void found.refetch()} />}
      <header className={classes.header}>
        <Group justify="space-between" wrap="nowrap" gap="md" align="flex-start">
          <div className={classes.names}>
            <Title order={1} className={classes.title}>
              {definitionId === '' ? t('editor.new') : t('editor.edit', { id: definitionId })}
            </Title>
            <Group gap={8} className={classes.facts}>
              {version > 0 && <span>{t('editor.from', { version })}</span>}
              {isDraft ? (
                <>
                  <Badge color="yellow" c="var(--mantine-color-text)">
                    {t('editor.draft.badge')}
                  </Badge>
                  <span>{version > 0 ? t('editor.draft.differs', { version }) : t('editor.draft.kept')}</span>
                  <Button size="compact-xs" variant="subtle" onClick={() => setDialog('differences')}>
                    {t('editor.draft.show')}
                  </Button>
                  <Button size="compact-xs" variant="subtle" color="red" onClick={() => setDialog('discard')}>
                    {t('editor.draft.discard')}
                  </Button>
                </>
              ) : (
                <span>{t('editor.draft.none')}</span>
              )}
            </Group>
          </div>
          {mayPublish && (
            <Group gap="xs" wrap="nowrap">
              <Button
                variant="default"
                loading={tests.isPending}
                disabled={found.data?.valid !== true}
                onClick={() => tests.mutate(undefined, { onSuccess: () => setDialog('tests'), onError: notifyProblem })}
              >
                {t('editor.tests.run')}
              </Button>
              <Button disabled={!canPublish} onClick={() => setDialog('publish')}>
                {t('editor.publish.open')}
              </Button>
            </Group>
          )}
        </Group>
      </header>
      <div className={classes.split}>
        <div className={classes.left}>
          <div className={classes.code}>
            <CodeEditor
              initial={draft.initial}
              label={t('editor.text')}
              knowledge={knowledge}
              onView={setView}
              onChange={(typed) => {
                setText(typed)
                draft.type(typed)
              }}
            />
          </div>
          <Group gap={14} className={classes.keys}>
            <Group gap={5}>
              <KeyCaps value="Ctrl+ " /> {t('editor.keys.suggest')}
            </Group>
            <Group gap={5}>
              <KeyCaps value="Escape" /> <KeyCaps value="Tab" /> {t('editor.keys.leave')}
            </Group>
            {mayPublish && (
              <Group gap={5}>
                <KeysOf command="editor.publish" /> {t('editor.keys.publish')}
              </Group>
            )}
          </Group>
          <Problems
            problems={problems}
            isCurrent={isCurrent}
            isKnown={found.data !== undefined}
            onJump={(problem) => view && jumpTo(view, problem)}
          />
        </div>
        <Preview
          graph={graph}
          isCurrent={isCurrent && found.data?.valid === true}
          onStep={(step) => step !== undefined && view && jumpToStep(view, step)}
          onOpen={(group) => setOpen([...open.split(',').filter((each) => each !== ''), group].join(','))}
        />
      </div>
      {dialog === 'publish' && (
        <PublishDialog
          text={text}
          id={id}
          base={isRenamed ? 0 : draft.base}
          isRenamed={isRenamed}
          onDone={finish}
          onOutdated={definitionId === '' || isRenamed ? undefined : () => setDialog('theirs')}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'differences' && (
        <DifferencesDialog
          title={version > 0 ? t('editor.draft.title', { version }) : t('editor.draft.show')}
          before={published}
          after={text}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'theirs' && (
        <TheirChanges definitionId={definitionId} newest={newest} text={text} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'discard' && (
        <DiscardDialog
          onClose={() => setDialog(undefined)}
          onDiscard={() => {
            draft.discard()
            onReload()
          }}
        />
      )}
      {dialog === 'tests' && tests.data && (
        <Dialog onClose={() => setDialog(undefined)} title={t('editor.tests.title')}>
          <TestResults results={tests.data.tests} />
        </Dialog>
      )}
    </div>
  )
}

type TheirProps = { definitionId: string; newest: number; text: string; onClose: () => void }

/** What the draft would change in the newest version. */
function TheirChanges({ definitionId, newest, text, onClose }: TheirProps) {
  const { t } = useTranslation()
  const theirs = useQuery(versionQuery(definitionId, newest))
  if (!theirs.data) return null
  return (
    <DifferencesDialog
      title={t('editor.behind.dialog', { version: newest })}
      before={theirs.data.source}
      after={text}
      onClose={onClose}
    />
  )
}

function DiscardDialog({ onDiscard, onClose }: { onDiscard: () => void; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog onClose={onClose} title={t('editor.draft.ask')}>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" data-autofocus onClick={onClose}>
          {t('editor.draft.keep')}
        </Button>
        <Button color="red.8" onClick={onDiscard}>
          {t('editor.draft.discard')}
        </Button>
      </Group>
    </Dialog>
  )
}

/** The last value that was given. */
function useLast<T>(value: T | undefined): T | undefined {
  const [last, setLast] = useState(value)
  if (value !== undefined && value !== last) setLast(value)
  return value ?? last
}

function useKnowledge() {
  const schema = useQuery(schemaQuery).data
  const summaries = useQuery(summariesQuery).data
  return useMemo(() => schema && summaries && { schema, summaries }, [schema, summaries])
}
