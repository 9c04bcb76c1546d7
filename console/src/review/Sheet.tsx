import { Text, UnstyledButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { api, read } from '@/api/client'
import { isProblem, type Problem } from '@/api/problem'
import { queryClient } from '@/api/queries'
import { visible } from '@/format/text'
import { keysOf } from '@/keyboard/bindings'
import { isTextField, keyOf } from '@/keyboard/keys'
import { useCommands } from '@/keyboard/use_commands'
import { notifyProblem } from '@/kit/notify'
import { useTitle } from '@/kit/Page'

import { FieldRow } from './FieldRow'
import { Footer, type Panel } from './Footer'
import { LineGrid } from './LineGrid'
import {
  changedFields,
  changeOf,
  choicesOf,
  type Field,
  fieldOf,
  type Fields,
  gaveFirst,
  groupsOf,
  isBroken,
  LINE_ITEMS,
  newProblems,
  nextDoubt,
  type Place,
  type View,
} from './model'
import { Modes } from './Modes'
import { Notices } from './Notices'
import { type Marked, PagePane } from './PagePane'
import { Problems } from './Problems'
import { refresh, showFields, viewQuery } from './queries'
import { type Neighbour, type Neighbours, nextOf, previousOf } from './queue'
import classes from './review.module.css'
import { guard } from './seen'
import { SheetHeader } from './SheetHeader'
import { typedText } from './typing'
import { type Claim, useClaim } from './use_claim'
import { takeLate, useDecision } from './use_decision'
import { useLines } from './use_lines'
import { useSaving } from './use_saving'
import { nameOf, shownText } from './words'

type Props = {
  view: View
  page: number
  neighbours: Neighbours | undefined
  onPage: (page: number) => void
  onOpen: (neighbour: Neighbour) => void
  onNext: () => void
  /** The item is claimed, or someone else has it. */
  onClaim: (taken: { title: string; by: string } | undefined) => void
  onLeave: () => void
  onReload: () => void
}

/** One document at work: its pages at the left, at the right its problems and fields, below them the decision. */
export function Sheet({ view, page, neighbours, onPage, onOpen, onNext, onClaim, onLeave, onReload }: Props) {
  const { t } = useTranslation()
  const { review, fields, page_count: pageCount } = view
  const id = review.review_id
  const documentId = fields.document_id
  const may = useMemo(() => new Map(view.actions.map((action) => [action.name, action])), [view.actions])
  const [wantsClaim] = useState(may.get('claim')?.allowed ?? false)
  const claim = useClaim(id, wantsClaim)
  const isMine = claim.state === 'claiming' || claim.state === 'mine'
  const readOnly = !isMine
  useTitle(review.title)
  const takenBy = claim.state === 'mine' ? undefined : holderOf(view, claim)
  useEffect(() => {
    if (claim.state === 'mine') onClaim(undefined)
    else if (takenBy !== undefined && neighbours) onClaim({ title: visible(review.title), by: visible(takenBy) })
  }, [claim.state, neighbours, onClaim, review.title, takenBy])
  const following = neighbours && nextOf(neighbours)
  const preceding = neighbours && previousOf(neighbours)
  const waits = !following || following.below !== undefined

  const [current, setCurrent] = useState<string>()
  const [focus, setFocus] = useState<{ name: string; place: Place }>()
  const [showsWhy, setShowsWhy] = useState(false)
  const [isUnfolded, setUnfolded] = useState(false)
  const [showsLines, setShowsLines] = useState<boolean>()
  const [panel, setPanel] = useState<Panel>('none')
  const [late] = useState(() => takeLate(id))
  const [changed, setChanged] = useState<string[]>(() => (late ? differences(late.decided, fields) : []))
  const [isTyping, setTyping] = useState(false)
  const sheet = useRef<HTMLDivElement>(null)
  const side = useRef<HTMLDivElement>(null)
  const shown = useRef(fields)
  useLayoutEffect(() => {
    shown.current = fields
  }, [fields])

  const onSaved = useCallback((saved: Fields) => showFields(id, saved), [id])
  const { again, lose, token: claimToken } = claim
  const onLost = useCallback(
    async (problem: Problem) => {
      if (problem.kind === 'claim-lost') again() // it is over, or it is someone else's now
      const held = await claimToken().catch(() => undefined)
      const seen = await refresh(id) // after the claim: no one else changes it any more
      return held === undefined ? undefined : seen?.fields
    },
    [again, claimToken, id],
  )
  const isTaken = claim.state === 'mine' && isLaterClaim(view, claim.until)
  useEffect(() => {
    if (isTaken) lose()
  }, [isTaken, lose])
  const saving = useSaving({ fields, mayChange: isMine, token: claimToken, onSaved, onLost })
  const lines = useLines({ fields, inTurn: saving.inTurn, onSaved })
  const [grouped, setGrouped] = useState(() => ({ fields, groups: groupsOf(fields) }))
  if (grouped.fields !== fields) setGrouped({ fields, groups: merged(grouped.groups, groupsOf(fields)) })
  const { groups } = grouped

  const eyes = useMemo(() => ({ of: guard() }), [])
  useEffect(() => () => eyes.of.end(), [eyes])
  const onPainted = useCallback(() => {
    eyes.of.painted()
    sheet.current?.setAttribute('data-painted', '') // not a state, which would render all fields once more
  }, [eyes])

  const show = useCallback((name: string) => {
    setCurrent(name)
    const place = placeOf(fieldOf(shown.current, name))
    if (place) setFocus({ name, place })
  }, [])
  const enter = useCallback(
    (name: string, intoField = true) => {
      if (groups.rest.includes(name)) setUnfolded(true)
      if (name === LINE_ITEMS) setShowsLines(true)
      show(name)
      requestAnimationFrame(() => {
        const row = side.current?.querySelector<HTMLElement>(`[data-field="${name}"]`)
        const input = row?.querySelector<HTMLInputElement>('input')
        if (intoField) input?.select()
        ;(intoField ? input : row)?.focus()
      })
    },
    [groups.rest, show],
  )

  const decision = useDecision({ id, claim, title: review.title, late, waits, onNext, onOpen })
  /** A decision is on its way: what a save would do next would only render this document once more before the next one. */
  const deciding = useRef(false)
  const decide = async (kind: 'approve' | 'reject', why: string) => {
    if (!eyes.of.mayDecide() || decision.busy || readOnly) return
    deciding.current = true
    await flushAndSend(kind, why).finally(() => (deciding.current = false))
  }
  const flushAndSend = async (kind: 'approve' | 'reject', why: string) => {
    const before = shown.current
    const unsaved = await saving.flush()
    if (unsaved) return enter(unsaved)
    if (!(await lines.flush())) return enter(LINE_ITEMS)
    const now = queryClient.getQueryData<View>(viewQuery(id).queryKey)?.fields ?? before
    if (newProblems(before, now).length) return // they are on the screen now: the person looks again
    if (why.trim() === '' && (kind === 'reject' || isBroken(now))) return setPanel(kind)
    const problem = await decision.send(kind, now, why)
    if (problem) await explain(problem, now)
  }
  /** Shows why a decision was refused: what changed since the document was shown, or the reason that is needed. */
  const explain = async (problem: Problem, decided: Fields) => {
    setPanel('none')
    const fresh = await refresh(id)
    if (problem.kind === 'decision-outdated' && fresh) setChanged(differences(decided, fresh.fields))
  }
  const postpone = async (until: string, why: string) => {
    const problem = await decision.postpone(until, why)
    if (problem) notifyProblem(problem)
  }
  const undo = async () => {
    try {
      const before = shown.current
      const body = (token: number) => ({ params: { path: { document_id: documentId } }, body: { token } })
      const after = await saving.inTurn((token) => read(api.POST('/v1/documents/{document_id}/undo', body(token))))
      const names = changedFields(before, after)
      names.forEach(saving.forget)
      onSaved(after)
      const [first] = names
      if (first) enter(first, false)
      notifications.show({
        message: t('review.undone', { fields: names.map((name) => nameOf('fields', name, t)).join(', ') }),
        autoClose: 3000,
      })
    } catch (error) {
      notifyProblem(error)
    }
  }
  const unlock = async (field: Field) => {
    try {
      const path = { document_id: documentId, field: field.name as never }
      saving.forget(field.name)
      onSaved(
        await saving.inTurn((token) =>
          read(api.DELETE('/v1/documents/{document_id}/fields/{field}', { params: { path, query: { token } } })),
        ),
      )
    } catch (error) {
      notifyProblem(error)
    }
  }

  /** Accepts a field as it stands, and goes on to the next doubt; after the last one to the decision. */
  const accept = async (name: string | undefined, intoField: boolean) => {
    if (name !== undefined && !readOnly) {
      const field = fieldOf(shown.current, name)
      const entry = saving.entries[name]
      const isConfirmed = field !== undefined && !field.lock && field.value !== null && groups.doubts.includes(name)
      if (entry?.text !== undefined) {
        const isSaved = await saving.save(name)
        if (!isSaved || deciding.current) return
      } else if (field && isConfirmed) void saving.save(name, typedText(name, field.value), placeOf(field))
    }
    const next = nextDoubt(groups, name)
    if (next) return enter(next, intoField)
    side.current?.parentElement?.querySelector<HTMLElement>('[data-approve]')?.focus()
  }
  const order = [...groups.doubts, ...groups.sure, ...(isUnfolded ? groups.rest : [])]
  const move = (by: number) => {
    const index = current === undefined ? -1 : order.indexOf(current)
    const next = order[Math.min(Math.max(index + by, 0), order.length - 1)]
    if (next) enter(next, false)
  }
  const takeValue = (index: number) => {
    const field = current === undefined ? undefined : fieldOf(fields, current)
    const choice = field && choicesOf(field, saving.entries[field.name])[index]
    if (choice) void saving.save(field.name, typedText(field.name, choice.value), choice.place)
  }
  const escape = () => {
    if (panel !== 'none') setPanel('none')
    else if (isTextField(document.activeElement)) (document.activeElement as HTMLElement).blur()
    else onLeave()
  }

  useCommands({
    'review.next-field': () => move(1),
    'review.previous-field': () => move(-1),
    'review.accept': () => void accept(current, false),
    'review.approve': readOnly || panel !== 'none' ? undefined : () => void decide('approve', ''),
    'review.reject': readOnly ? undefined : () => setPanel('reject'),
    'review.postpone': readOnly ? undefined : () => setPanel('postpone'),
    'review.why': () => setShowsWhy(!showsWhy),
    'review.take-value': readOnly
      ? undefined
      : (event) => takeValue(event ? keysOf('review.take-value').indexOf(keyOf(event) ?? '') : 0),
    'review.undo': readOnly ? undefined : () => void undo(),
    'review.next-document': following && (() => onOpen(following)),
    'review.previous-document': preceding && (() => onOpen(preceding)),
    'review.leave': escape,
  })

  const marks = useMemo(() => marksOf(fields), [fields])
  const fillsField = isTyping && current !== undefined && current !== LINE_ITEMS && !readOnly
  const row = (name: string, isDoubt: boolean) => {
    const field = fieldOf(fields, name)
    if (!field) return null
    return (
      <FieldRow
        key={name}
        field={field}
        entry={saving.entries[name]}
        isCurrent={current === name}
        isDoubt={isDoubt}
        isChanged={changed.includes(name)}
        readOnly={readOnly}
        showsWhy={showsWhy}
        onFocus={() => show(name)}
        onType={(text) => saving.type(name, text)}
        onLeave={() => {
          if (saving.entries[name]?.text === typedText(name, field.value)) saving.forget(name)
          else void saving.save(name)
        }}
        onAccept={() => void accept(name, true)}
        onChoose={(text, place) => void saving.save(name, text, place)}
        onUnlock={() => void unlock(field)}
        onWhy={() => setShowsWhy(!showsWhy)}
        onForget={() => saving.forget(name)}
      />
    )
  }
  const linesBroken = fields.problems.some(
    (problem) => problem.field === LINE_ITEMS || problem.code === 'lines_disagree',
  )

  return (
    <div className={classes.sheet} data-testid="review" data-review={id} ref={sheet}>
      <PagePane
        documentId={documentId}
        pageCount={pageCount}
        startPage={page}
        marks={marks}
        focus={focus}
        fills={fillsField}
        onWord={(text, place) => current && saving.type(current, text, place)}
        onMark={(name) => enter(name)}
        onPage={onPage}
        onPainted={onPainted}
      />
      <div className={classes.side}>
        <SheetHeader view={view} neighbours={neighbours} onOpen={onOpen} onLeave={onLeave} />
        <Notices
          view={view}
          claim={claim}
          problem={decision.problem}
          changed={changed}
          onAgain={() => {
            decision.forget()
            claim.again()
            onReload()
          }}
          onNext={onNext}
        />
        <div
          className={classes.fields}
          ref={side}
          onFocus={(event) => setTyping(isTextField(event.target))}
          onBlur={() => setTyping(false)}
        >
          <Problems problems={fields.problems} changed={changed} onJump={enter} />
          {groups.doubts.length > 0 && (
            <FieldGroup title={t('review.toCheck', { count: groups.doubts.length })}>
              {groups.doubts.map((name) => row(name, true))}
            </FieldGroup>
          )}
          <FieldGroup title={groups.doubts.length || fields.problems.length ? t('review.clear') : t('review.allClear')}>
            {groups.sure.map((name) => row(name, false))}
          </FieldGroup>
          {groups.rest.length > 0 && (
            <>
              <UnstyledButton
                className={classes.fold}
                aria-expanded={isUnfolded}
                onClick={() => setUnfolded(!isUnfolded)}
              >
                {isUnfolded ? <IconChevronDown size={15} aria-hidden /> : <IconChevronRight size={15} aria-hidden />}
                <Text size="sm">{t('review.more', { count: groups.rest.length })}</Text>
                {!isUnfolded && (
                  <Text size="xs" c="dimmed" truncate className="numbers">
                    {groups.rest
                      .map((name) => fieldOf(fields, name))
                      .filter((field): field is Field => Boolean(field?.value))
                      .map((field) => shownText(field, t))
                      .slice(0, 6)
                      .join(' · ')}
                  </Text>
                )}
              </UnstyledButton>
              {isUnfolded && <FieldGroup>{groups.rest.map((name) => row(name, false))}</FieldGroup>}
            </>
          )}
          <Lines
            title={t('review.lines', { count: fields.line_items.length })}
            isOpen={showsLines ?? (linesBroken || Object.keys(lines.typed).length > 0)}
            onOpen={setShowsLines}
            data-changed={changed.includes(LINE_ITEMS)}
          >
            <LineGrid
              fields={fields}
              lines={lines}
              readOnly={readOnly}
              onPlace={(line) => {
                setCurrent(LINE_ITEMS)
                const place = line.page && line.box ? { page: Number(line.page), box: line.box as never } : undefined
                if (place) setFocus({ name: LINE_ITEMS, place })
              }}
            />
          </Lines>
        </div>
        <Modes isTyping={isTyping} isAtField={current !== undefined} />
        <Footer
          reviewId={id}
          panel={panel}
          allowed={{
            approve: isMine && (may.get('approve')?.allowed ?? false),
            reject: isMine && (may.get('reject')?.allowed ?? false),
            postpone: isMine,
          }}
          busy={decision.busy}
          needsSecond={fields.needs_second}
          firstApprovedBy={gaveFirst(view) ? null : review.first_approved_by}
          onPanel={setPanel}
          onApprove={(why) => void decide('approve', why)}
          onReject={(why) => void decide('reject', why)}
          onPostpone={(until, why) => void postpone(until, why)}
        />
      </div>
    </div>
  )
}

function FieldGroup({ title, children }: { title?: string; children: React.ReactNode }) {
  return (
    <section className={classes.group}>
      {title && <h2 className={classes.groupTitle}>{title}</h2>}
      {children}
    </section>
  )
}

type LinesProps = {
  title: string
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
  children: React.ReactNode
  'data-changed': boolean
}

function Lines({ title, isOpen, onOpen, children, 'data-changed': isChanged }: LinesProps) {
  return (
    <section className={classes.group} data-field={LINE_ITEMS} data-changed={isChanged || undefined} tabIndex={-1}>
      <UnstyledButton className={classes.fold} aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
        {isOpen ? <IconChevronDown size={15} aria-hidden /> : <IconChevronRight size={15} aria-hidden />}
        <Text size="sm">{title}</Text>
      </UnstyledButton>
      {isOpen && children}
    </section>
  )
}

/** The new groups, but a field that was a doubt stays where it is: nothing moves under the person's hands. */
function merged(before: ReturnType<typeof groupsOf>, after: ReturnType<typeof groupsOf>): ReturnType<typeof groupsOf> {
  const doubts = [...before.doubts, ...after.doubts.filter((name) => !before.doubts.includes(name))]
  const isOther = (name: string) => !doubts.includes(name)
  return {
    doubts,
    sure: [...before.sure, ...after.sure].filter(unique).filter(isOther),
    rest: after.rest.filter(isOther),
  }
}

/** What differs between what was decided and what is there now. */
function differences(decided: Fields, now: Fields): string[] {
  return [...changedFields(decided, now), ...newProblems(decided, now).map(changeOf)]
}

/** Who has claimed the item, if it is someone else. */
function holderOf(view: View, { problem }: Claim): string | undefined {
  if (isProblem(problem, 'claimed')) return problem.body.claimed_by ?? ''
  return isOthers(view) ? (view.review.claimed_by ?? '') : undefined
}

function isOthers({ actions }: View): boolean {
  return actions.some((each) => each.name === 'claim' && each.problem === 'claimed-by-other')
}

/** Whether someone else has claimed the item since this person's claim, which ended at `until`. */
function isLaterClaim(view: View, until: string | undefined): boolean {
  const theirs = view.review.claimed_until
  return isOthers(view) && until !== undefined && theirs !== null && Date.parse(theirs) > Date.parse(until)
}

function unique(name: string, index: number, names: string[]): boolean {
  return names.indexOf(name) === index
}

function placeOf(field: Field | undefined): Place | undefined {
  return field?.page && field.box ? { page: field.page, box: field.box as Place['box'] } : undefined
}

function marksOf(fields: Fields): Marked[] {
  return fields.fields.flatMap((field) => {
    const place = field.value === null ? undefined : placeOf(field)
    return place ? [{ name: field.name, ...place }] : []
  })
}
