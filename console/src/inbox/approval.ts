/** The bulk approval: preview, commit in turns, a result for each item. */
import { api, type Model, read } from '@/api/client'

export type Preview = Model<'ApprovalPreview'>
export type Outcome = Model<'BulkOutcome'>

/** Some items, or all documents that match a search. */
export type Wanted = { review_ids: string[] } | { matching: { text?: string } }

/** The server previews so many at a time. */
const MOST = 500

/** What would become of the items; of very many, of the first ones, and `matching` says how many there are. */
export async function previewApproval(wanted: Wanted): Promise<Preview> {
  const body = 'matching' in wanted ? wanted : { review_ids: wanted.review_ids.slice(0, MOST) }
  const preview = (await read(api.POST('/v1/reviews/approve/preview', { body }))) as Preview
  return 'matching' in wanted ? preview : { ...preview, matching: wanted.review_ids.length }
}

/** Approves exactly what the preview showed. The server takes a hundred at a time; `onProgress` sees what is done. */
export async function approvePreviewed(
  preview: Preview,
  onProgress: (outcomes: readonly Outcome[]) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let token = preview.token; token !== null;) {
    const result = (await read(api.POST('/v1/reviews/approve', { body: { token } }))) as Model<'BulkResult'>
    outcomes.push(...result.items)
    onProgress([...outcomes])
    token = result.token
  }
  return outcomes
}
