/** One definition: its versions, what new runs get, and what may be done with it. */
import { getRouteApi } from '@tanstack/react-router'

import { Page } from '@/kit/Page'

const route = getRouteApi('/definitions/$definitionId')

export function DefinitionPage() {
  const { definitionId } = route.useParams()
  return <Page title={definitionId}>{null}</Page>
}
