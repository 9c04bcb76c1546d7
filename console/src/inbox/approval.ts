/** The bulk approval: preview, commit in turns, a result for each item. */
import { api, type Model, read } from '@/api/client'

export type Preview = Model<'ApprovalPreview'>
export type Outcome = Model<'BulkOutcome'>

/** Some items, or all documents that match a search. */
export type Wanted = { review_ids: string[] } | { matching: { text?: string } }

export function previewApproval(wanted: Wanted): Promise<Preview> {
  return read(api.POST('/v1/reviews/approve/preview', { body: wanted }))
}

/** Approves exactly what the preview showed. The server takes a hundred at a time; `onProgress` sees what is done. */
export async function approvePreviewed(
  preview: Preview,
  onProgress: (outcomes: readonly Outcome[]) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let token = preview.token; token !== null;) {
    const result: Model<'BulkResult'> = await read(api.POST('/v1/reviews/approve', { body: { token } }))
    outcomes.push(...result.items)
    onProgress([...outcomes])
    token = result.token
  }
  return outcomes
}
