/**
 * The documents that this page sends: a few at a time, each until it waits for a person or has failed. Plain TypeScript,
 * outside React, so that going to another page interrupts nothing.
 */
import { api, type Model, read } from '@/api/client'
import { keys } from '@/api/keys'
import { asProblem } from '@/api/problem'
import { queryClient } from '@/api/queries'
import { signal } from '@/app/signal'

type Listed = Model<'ListedDocument'>

export type Stage = 'queued' | 'sending' | 'reading' | 'ready' | 'failed' | 'refused' | 'cancelled'

export type Upload = {
  /** Also its idempotency key: an upload whose answer was lost is sent again and stays one document. */
  id: string
  name: string
  size: number
  stage: Stage
  documentId?: string
  /** The first document with the same bytes. */
  duplicateOf?: string
  /** Why it failed or was refused, in the server's words. */
  message?: string
}

export const uploads = signal<readonly Upload[]>([])

const AT_ONCE = 3
const FOLLOW_MS = 1_000
const LARGEST_PAGE = 500
const OF_OTHERS = 40 // documents that others send meanwhile
const MOST_PAGES = 10
const MOST_TRIES = 6
const LONGEST_WAIT_MS = 8_000
const PASSING = new Set([0, 429, 502, 503, 504])

const contents = new Map<string, File>()
const stops = new Map<string, AbortController>()
let following = false

const isUnsent = (each: Upload) => each.stage === 'queued' || each.stage === 'sending'
export const isSettled = (each: Upload) => !isUnsent(each) && each.stage !== 'reading'

// The page alone has what the server does not have yet: the browser asks before it is closed or loaded again.
uploads.subscribe(() => {
  if (uploads.get().some(isUnsent)) addEventListener('beforeunload', ask)
  else removeEventListener('beforeunload', ask)
})

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

/** Adds files to what is sent. */
export function send(files: readonly File[]): void {
  const added = files.map((file): Upload => {
    const id = crypto.randomUUID()
    contents.set(id, file)
    return { id, name: file.name, size: file.size, stage: 'queued' }
  })
  uploads.set([...uploads.get(), ...added])
  sendNext()
}

/** Stops what the server does not have yet. */
export function cancel(id: string): void {
  if (!uploads.get().some((each) => each.id === id && isUnsent(each))) return
  stops.get(id)?.abort()
  change(id, { stage: 'cancelled' })
  contents.delete(id)
  sendNext()
}

export function cancelAll(): void {
  for (const each of uploads.get()) cancel(each.id)
}

/** Sends a refused document once more. */
export function tryAgain(id: string): void {
  if (!contents.has(id)) return
  change(id, { stage: 'queued', message: undefined })
  sendNext()
}

/** Forgets the uploads that are settled. */
export function clear(): void {
  for (const each of uploads.get()) if (isSettled(each)) contents.delete(each.id)
  uploads.set(uploads.get().filter((each) => !isSettled(each)))
}

function sendNext(): void {
  const all = uploads.get()
  const room = AT_ONCE - all.filter((each) => each.stage === 'sending').length
  for (const each of all.filter(({ stage }) => stage === 'queued').slice(0, Math.max(room, 0))) void sendOne(each.id)
}

async function sendOne(id: string): Promise<void> {
  const file = contents.get(id)
  if (!file) return
  const stop = new AbortController()
  stops.set(id, stop)
  change(id, { stage: 'sending' })
  try {
    const document = await posted(id, file, stop.signal)
    contents.delete(id)
    change(id, { stage: 'reading', documentId: document.document_id, duplicateOf: document.duplicate_of ?? undefined })
    void queryClient.invalidateQueries({ queryKey: keys.documents.all })
    void follow()
  } catch (error) {
    if (!stop.signal.aborted) change(id, { stage: 'refused', message: asProblem(error).message })
  } finally {
    stops.delete(id)
    sendNext()
  }
}

async function posted(id: string, file: File, stop: AbortSignal): Promise<Model<'Document'>> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await read(
        api.POST('/v1/documents', {
          params: { header: { 'Idempotency-Key': id } },
          body: { file: file as unknown as string, sla_hours: 24, source: 'console' },
          bodySerializer: () => formOf(file),
          signal: stop,
        }),
      )
    } catch (error) {
      if (stop.aborted || tried === MOST_TRIES || !PASSING.has(asProblem(error).status)) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** tried, LONGEST_WAIT_MS)))
    }
  }
}

function formOf(file: File): FormData {
  const form = new FormData()
  form.append('file', file, file.name)
  form.append('source', 'console')
  return form
}

/** Reads from the list of documents how far the sent ones are, until all are settled. */
async function follow(): Promise<void> {
  if (following) return
  following = true
  try {
    while (uploads.get().some((each) => each.stage === 'reading')) {
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS))
      await look()
    }
  } finally {
    following = false
  }
}

async function look(): Promise<void> {
  const found = await loadListed()
  let settled = false
  for (const each of uploads.get()) {
    const listed = each.stage === 'reading' && each.documentId ? found.get(each.documentId) : undefined
    if (!listed || listed.status === 'reading') continue
    change(each.id, afterReading(listed))
    settled = true
  }
  if (settled) void queryClient.invalidateQueries({ queryKey: keys.documents.all })
}

/** The newest documents, by their ids, back to the first of this page's that is being read. */
async function loadListed(): Promise<Map<string, Listed>> {
  const found = new Map<string, Listed>()
  const isMissing = ({ stage, documentId }: Upload) => stage === 'reading' && documentId && !found.has(documentId)
  let limit = Math.min(uploads.get().length + OF_OTHERS, LARGEST_PAGE)
  let after: string | undefined
  for (let pages = 0; pages < MOST_PAGES && uploads.get().some(isMissing); pages += 1) {
    const query = { limit, sort: 'newest', ...(after && { after }) } as const
    const page = await read(api.GET('/v1/documents', { params: { query } })).catch(() => undefined)
    page?.documents.forEach((each) => found.set(each.document_id, each))
    after = page?.after ?? undefined
    if (!after) break
    limit = LARGEST_PAGE
  }
  return found
}

function afterReading({ status, reason, duplicate_of }: Listed): Partial<Upload> {
  const duplicateOf = duplicate_of ?? undefined
  return status === 'failed' ? { stage: 'failed', message: reason ?? '', duplicateOf } : { stage: 'ready', duplicateOf }
}

function change(id: string, changed: Partial<Upload>): void {
  uploads.set(uploads.get().map((each) => (each.id === id ? { ...each, ...changed } : each)))
}
