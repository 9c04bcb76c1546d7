/** The API's client, typed by the API's own OpenAPI document: `await read(api.GET('/v1/runs/{run_id}', ...))`. */
import createClient from 'openapi-fetch'

import { basePath } from '@/app/base'

import { asProblem, problemOf } from './problem'
import type { components, paths } from './schema'
import { fetchSignedIn } from './signed_in'

export const api = createClient<paths>({ baseUrl: basePath, fetch: fetchSignedIn })

/** A model of the API by its name, for example `Model<'Run'>`. */
export type Model<Name extends keyof components['schemas']> = components['schemas'][Name]

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** Returns the body of the answer, or throws the `Problem`. */
export async function read<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked.catch((thrown: unknown) => {
    throw asProblem(thrown)
  })
  if (!response.ok) throw problemOf(response.status, error)
  return data as T
}
