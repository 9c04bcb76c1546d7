/** A small invoice to try Docrail with: the ZUGFeRD sample of the repository. */
import sampleUrl from '../../../../samples/zf2_en16931_physiotherapeut.pdf?url'

import { send } from './queue'

export async function sendSample(): Promise<void> {
  const answer = await fetch(sampleUrl)
  if (!answer.ok) throw new Error(`expected the sample invoice, found ${answer.status}`)
  send([new File([await answer.blob()], 'sample-invoice.pdf', { type: 'application/pdf' })])
}
